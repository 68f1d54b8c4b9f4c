"""Projected gradients over tables of any size: in each sweep a share of the rows fix their least likely cluster.

The feasible set is a product and the objective concave, so every row may go its own way, none farther than a quantile of how far they
could: quantile 0 is the paper's algorithm, 1 makes every row fix a cluster in every sweep.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...data.arrays import Array, Float64, IntArray, as_like, device, namespace, resolution, take, to_numpy
from ...data.blocks import spans
from ...engines import Pass
from ...runtime.user_warnings import NOT_FINITE
from ...sampling.farthest import farthest_rows
from ...sampling.quantiles import Parts, weighted_quantile
from ...spaces import ProductRows, Rows
from ...spaces.centres import Centres
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedBlock, RepresentedRows
from ...sweeps.state import State
from ..checkpoints import Beside, Packed
from ..observer import UNOBSERVED, Observer, Progressed
from .projection import AfterStep, Path, largest

SETTLED = 1e-7  # a membership below this is none
SELECTED = 0.7  # of a block's rows: fewer are worth picking out


class _Ways(NamedTuple):
    """The ways that a few rows may go."""

    rows: IntArray  # (b,) their numbers
    direction: Array  # (b, c)
    first: IntArray  # (b,) the cluster that a row would lose
    reach: Float64  # (b,)


@dataclass(frozen=True)
class _DirectionPass(Pass[list[_Ways]]):
    """Directions and reaches of the active rows, block by block."""

    p: Array  # (n, c)
    active: npt.NDArray[np.bool_]  # (n,)
    centres: Centres
    start: int = 0  # number of the first row

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> list[_Ways]:
        view, found = None, []
        for block in rows.task(task):
            if view is None:
                view = rows.space.view(self.centres, block.rows.kxx)
            which = np.flatnonzero(self.active[block.start : block.start + block.rows.kxx.shape[0]])
            if len(which) == 0:
                continue
            some, picked = _picked(block, which)
            d2 = to_numpy(some.squared_distances(view))
            d2 = d2 if picked else d2[which]
            if not np.isfinite(d2).all():
                raise ValueError(NOT_FINITE)
            p = self.p[block.start + which]
            free = p > 0
            mean = np.where(free, d2, 0.0).sum(axis=1) / free.sum(axis=1)
            direction = np.where(free, mean[:, None] - d2, 0.0).astype(p.dtype)
            direction[np.abs(direction).max(axis=1) <= 4 * resolution(p.dtype) * np.abs(d2).max(axis=1)] = 0.0
            ratio = np.where(direction < 0, p / np.where(direction < 0, -direction, 1.0), np.inf)
            found.append(_Ways(self.start + block.start + which, direction, ratio.argmin(axis=1), ratio.min(axis=1)))
        return found

    def part(self, start: int, stop: int) -> _DirectionPass:
        return replace(self, p=self.p[start:stop], active=self.active[start:stop], start=self.start + start)


@dataclass(frozen=True)
class _ChangePass(Pass[Float64]):
    """(c, moment_width) the change of the moments by a step of the active rows."""

    change: Array  # (n, c) of P
    active: npt.NDArray[np.bool_]  # (n,)
    moment_width: int

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> Float64:
        total: Array = None
        for block in rows.task(task):
            like = block.rows.kxx
            if total is None:
                xp = namespace(like)
                total = xp.zeros((self.change.shape[1], self.moment_width), dtype=xp.float64, device=device(like))
            here = slice(block.start, block.start + like.shape[0])
            which = np.flatnonzero(self.active[here])
            if len(which) == 0:
                continue
            change = self.change[here] * block.weight[:, None]
            some, picked = _picked(block, which)
            change = change[which] if picked else np.where(self.active[here][:, None], change, 0.0)
            some.add_moment(as_like(change, like), total)
        moved: Float64 = to_numpy(total)
        return moved

    def part(self, start: int, stop: int) -> _ChangePass:
        return replace(self, change=self.change[start:stop], active=self.active[start:stop])


@dataclass
class _BatchedWalk:
    """P with all that depends on it, and what the last look at the rows has shown."""

    problem: Problem  # of a hard rule
    p: Array  # (n, c) in the rows' dtype
    direction: Array  # (n, c) where to; after a step, how far it went
    reach: Float64  # (n,) how long a step the row can make; infinite where no way leads down
    first: npt.NDArray[np.int32]  # (n,) the cluster that it would lose there
    active: npt.NDArray[np.bool_]  # (n,) rows with more than one cluster left
    constant: float  # sum of w k(x, x)
    row_visits: int = 0

    def renew(self) -> None:
        """The sums from P alone."""
        sums = self.problem.sums_of(self.p)
        self.mass, self.moment = sums.mass, sums.moment
        self.row_visits += self.problem.n_rows

    @property
    def centres(self) -> Centres:
        return self.problem.space.centres(self.mass, self.moment)

    def objective(self, centres: Centres) -> float:
        return max(self.constant - float(self.mass @ centres.squared_norms()), 0.0)

    def look(self, centres: Centres) -> None:
        """Directions and reaches of the active rows."""
        for found in self.problem.map(_DirectionPass(self.p, self.active, centres)):
            for ways in found:
                self.direction[ways.rows], self.first[ways.rows], self.reach[ways.rows] = ways.direction, ways.first, ways.reach
        self.row_visits += int(self.active.sum())

    def step(self, quantile: float) -> float:
        """All active rows move, none beyond its reach; gives how far they could at most."""
        if any(len(reach) for reach, _ in self._reaches()):
            longest = weighted_quantile(self._reaches, quantile)
            for rows in self.some():
                self._go(rows, longest)
        else:  # flat everywhere: the objective is concave, so any vertex will do
            longest, tied = math.inf, max(1, math.ceil(quantile * int(self.active.sum())))
            for rows in self.some():
                self._choose(rows, tied)
                tied = max(0, tied - len(rows))
        self._follow()
        for rows in self.some():
            self.active[rows] = (self.p[rows] > 0).sum(axis=1) > 1
        return longest

    def some(self) -> Iterator[IntArray]:
        """The active rows, a few at a time."""
        for start, stop in spans(len(self.active), self.problem.rows.blocks.limits.rows_at_once):
            rows = start + np.flatnonzero(self.active[start:stop])
            if len(rows):
                yield rows

    def _reaches(self) -> Parts:
        """Lengths of the steps that active rows can make, with their weights."""
        for rows in self.some():
            reach = self.reach[rows]
            finite = np.isfinite(reach)
            yield reach[finite], self.problem.rows.blocks.weight[rows[finite]]

    def _go(self, rows: IntArray, longest: float) -> None:
        reach, p = self.reach[rows], self.p[rows]
        length = np.where(np.isfinite(reach), np.minimum(reach, longest), 0.0)
        new = p + (length[:, None] * self.direction[rows]).astype(p.dtype)
        reached = np.flatnonzero(reach <= longest)
        new[reached, self.first[rows[reached]]] = 0.0
        self._settle(rows, new)

    def _choose(self, rows: IntArray, count: int) -> None:
        """The first of these rows at one of the clusters that they may belong to."""
        new = self.p[rows]
        new[:count] = np.arange(new.shape[1])[None, :] == (new[:count] > 0).argmax(axis=1)[:, None]
        self._settle(rows, new)

    def _settle(self, rows: IntArray, new: Array) -> None:
        new[new < SETTLED] = 0.0
        new /= new.sum(axis=1, keepdims=True)
        self.direction[rows] = new - self.p[rows]
        self.p[rows] = new

    def _follow(self) -> None:
        """Sums after a step, from what has changed."""
        self.moment = self.moment + self.problem.engine.fold(
            self.problem.rows, _ChangePass(self.direction, self.active, self.moment.shape[1])
        )
        blocks, mass = self.problem.rows.blocks, np.zeros(self.p.shape[1])
        weight = blocks.weight[:]
        for start, stop in spans(len(weight), blocks.limits.rows_at_once):
            mass += (weight[start:stop, None] * self.p[start:stop]).sum(axis=0, dtype=np.float64)
        self.mass = mass
        self.row_visits += int(self.active.sum())

    def refill(self) -> None:
        """Clusters that have lost all mass take the rows farthest from all others."""
        weight = self.problem.rows.blocks.weight[:]
        empty = np.flatnonzero(self.mass < 1e-6 * np.min(weight, where=weight > 0, initial=np.inf))
        if len(empty) == 0:
            return
        kept = np.setdiff1d(np.arange(len(self.mass)), empty)
        far = farthest_rows(self.problem, self.centres[kept], len(empty))
        self.row_visits += far.passes * self.problem.n_rows
        for cluster, row in zip(empty, far.rows, strict=False):
            self.p[row] = np.arange(len(self.mass)) == cluster
            self.active[row] = False
        self.p[:, empty[len(far.rows) :]] = 0.0
        self.renew()


@dataclass
class _BatchedCourse:
    """A walk from its beginning, and what a checkpoint keeps of it."""

    walk: _BatchedWalk
    history: list[float]  # the objective before each step, and now
    steps: list[float]  # how far rows could go in each
    ended: bool = False  # by a callback

    @classmethod
    def begun(cls, walk: _BatchedWalk) -> _BatchedCourse:
        walk.renew()
        walk.refill()
        return cls(walk, [walk.objective(walk.centres)], [])

    @classmethod
    def found(cls, walk: _BatchedWalk, found: Packed) -> _BatchedCourse:
        """Return the walk as a checkpoint has kept it."""
        walk.mass, walk.moment, walk.row_visits = found["mass"], found["moment"], found["visits"]
        if "labels" in found:
            labels = walk.problem.rows.blocks.empty_labels(walk.p.shape[1])
            found["labels"].read_into(labels)
            blocks = walk.problem.rows.blocks
            for start, stop in spans(blocks.n_rows, blocks.limits.rows_at_once):
                rows = start + np.flatnonzero(blocks.weight[start:stop] > 0)
                walk.p[rows] = labels[rows][:, None] == np.arange(walk.p.shape[1])
            walk.active[:] = False
        else:
            found["p"].read_into(walk.p)
            found["active"].read_into(walk.active)
        return cls(walk, found["history"].tolist(), found["steps"].tolist(), found["ended"])

    def packed(self) -> Packed:
        """Return what a checkpoint keeps: P, or labels where it is a partition."""
        walk, blocks = self.walk, self.walk.problem.rows.blocks
        numbers = {"history": np.array(self.history), "steps": np.array(self.steps), "ended": self.ended, "visits": walk.row_visits}
        sums = {"mass": walk.mass, "moment": walk.moment}
        if walk.active.any():
            return {"p": Beside(walk.p), "active": Beside(walk.active), **sums, **numbers}
        return {"labels": Beside(largest(walk.p, blocks)), **sums, **numbers}


def follow_batched(
    problem: Problem,  # of a hard rule
    start: Array,  # (n, c) rows that sum to one
    quantile: float,
    max_iter: int,
    constant: float,  # sum of w k(x, x)
    after_step: AfterStep | None = None,
    observer: Observer = UNOBSERVED,
) -> tuple[Path, int]:
    """From `start`, which is written over, to a partition, and how many rows were visited; `after_step` may end the walk."""
    blocks, weight = problem.rows.blocks, problem.rows.blocks.weight[:]
    active = np.empty(len(weight), np.bool_)
    for first, last in spans(len(weight), blocks.limits.rows_at_once):
        active[first:last] = (weight[first:last] > 0) & ((start[first:last] > 0).sum(axis=1) > 1)
    direction, reach, lost = blocks.by_row(start.dtype, start.shape[1]), blocks.by_row(np.float64), blocks.by_row(np.int32)
    walk = _BatchedWalk(problem, start, direction, reach, lost, active, constant)
    section = observer.within("path").section()
    course = _BatchedCourse.begun(walk) if section.found is None else _BatchedCourse.found(walk, section.found)
    centres, history, steps, between = walk.centres, course.history, course.steps, True
    _note(observer, problem, centres, len(steps), history[-1] if steps else math.inf)
    try:
        while walk.active.any() and len(steps) < max_iter and not course.ended:
            walk.look(centres)
            between = False  # P and its sums do not belong together until the step is over
            steps.append(walk.step(quantile))
            walk.refill()
            centres = walk.centres
            history.append(walk.objective(centres))
            between = True
            _note(observer, problem, centres, len(steps), history[-1])
            course.ended = after_step is not None and after_step(walk.p, len(steps), history[-1])
            section.note(course.packed)
    except BaseException:
        if between:
            section.break_off(course.packed)
        raise
    if observer.log is not None:
        kept = course.packed()  # now, as else P would stay in memory for it
        section.end(lambda: kept)
    return Path(walk.p, history, len(steps), not walk.active.any(), steps), walk.row_visits


def _note(observer: Observer, problem: Problem, centres: Centres, steps: int, objective: float) -> None:
    observer.note(Progressed(problem.rule, lambda: State(centres), steps, objective))


def _picked(block: RepresentedBlock, which: IntArray) -> tuple[Rows, bool]:
    """Return the given rows of a block alone where they are few and can be picked out (True), else all of its rows."""
    rows = block.rows
    if isinstance(rows, ProductRows) and len(which) < SELECTED * rows.kxx.shape[0]:
        return ProductRows(take(rows.g, which), take(rows.kxx, which)), True
    return rows, False
