"""Projected gradients over tables of any size: in each sweep a share of the rows fix their least
likely cluster.

The feasible set is a product and the objective concave, so every row may go its own way, none
farther than a quantile of how far they could: quantile 0 is the paper's algorithm, 1 makes every
row fix a cluster in every sweep.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ...data.arrays import Array, IntArray, as_like, device, namespace, to_numpy
from ...data.outputs import label_type
from ...data.precision import numpy_dtype
from ...engines import NumberedPass, Pass
from ...rules import Rule
from ...runtime.user_warnings import NOT_FINITE, OutOfRangeError
from ...sampling.farthest import farthest_rows
from ...sampling.quantiles import DigitWeights, QuantileSearch, quantile_of_sums
from ...solvers.checkpoints import Beside, Packed, as_list
from ...solvers.observer import UNOBSERVED, Observer, Progressed
from ...solvers.stopping import rounding_of
from ...spaces import Rows
from ...spaces.centres import Centres
from ...sweeps.generic import gather
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedBlock, RepresentedRows
from ...sweeps.state import State
from .distributions import Distributions, GivenStart, LargestPass, OntoPartition, PathSums, Start
from .projection import Path

# takes what is asked for the centres, and the same numbers
AfterStep: TypeAlias = Callable[[Callable[[], Centres], int, float], bool]
SETTLED = 1e-7  # a membership below this is none
SELECTED = 0.7  # of a block's rows: fewer are worth picking out


@dataclass(frozen=True)
class _LookPass(Pass[Any]):
    """Directions and reaches of the active rows, written down; the sum begins the search of a
    quantile of these."""

    centres: Centres

    def work(self, rows: RepresentedRows, task: int, kept: Distributions) -> Any:
        view = None
        for block in rows.task(task):
            if view is None:
                view = rows.space.view(self.centres, block.rows.kxx)
            which = _active(block, kept)
            if len(which) == 0:
                continue
            some, picked = _picked(block, which)
            d2 = to_numpy(some.squared_distances(view))
            d2 = d2 if picked else d2[which]
            if not np.isfinite(d2).all():
                raise OutOfRangeError(NOT_FINITE)
            numbers = block.start + which
            p = kept.p[numbers]
            free = p > 0
            mean = np.where(free, d2, 0.0).sum(axis=1) / free.sum(axis=1)
            direction = np.where(free, mean[:, None] - d2, 0.0).astype(p.dtype)
            size = to_numpy(some.kxx if picked else some.kxx[which]) + float(
                to_numpy(view.norms).max()
            )
            # equal distances, which differ by rounding alone
            direction[np.abs(direction).max(axis=1) <= rounding_of(rows) * size] = 0.0
            ratio = np.where(direction < 0, p / np.where(direction < 0, -direction, 1.0), np.inf)
            kept.direction[numbers], kept.labels[numbers], kept.reach[numbers] = (
                direction,
                ratio.argmin(axis=1),
                ratio.min(axis=1),
            )
        return _ReachPass(QuantileSearch()).work(rows, task, kept)


@dataclass(frozen=True)
class _ReachPass(NumberedPass[Any]):
    """The weights of reaches, for the search of their quantile; where no row has a reach, of the
    numbers of active rows."""

    search: QuantileSearch
    flat: bool = False

    def work(self, rows: RepresentedRows, task: int, kept: Distributions) -> Any:
        start, stop = rows.task_range(task)
        numbers = start + np.flatnonzero(kept.active[start:stop])
        if self.flat:
            return self.search.weights(
                (self.first + numbers).astype(np.float64), np.ones(len(numbers))
            )
        numbers = numbers[np.isfinite(kept.reach[numbers])]
        return self.search.weights(kept.reach[numbers], rows.blocks.weight[numbers])


@dataclass(frozen=True)
class _StepPass(NumberedPass[PathSums]):
    """All active rows move, none beyond its reach; where no row has one, those up to a number
    settle at any vertex."""

    flat: bool
    longest: float
    moment_width: int

    def work(self, rows: RepresentedRows, task: int, kept: Distributions) -> PathSums:
        moment: Array = None
        mass, n_active = np.zeros(kept.p.shape[1]), 0
        for block in rows.task(task):
            like, here = block.rows.kxx, slice(block.start, block.start + block.rows.kxx.shape[0])
            if moment is None:
                xp = namespace(like)
                moment = xp.zeros(
                    (len(mass), self.moment_width), dtype=xp.float64, device=device(like)
                )
            which = _active(block, kept)
            if len(which):
                numbers = block.start + which
                before = kept.p[numbers]
                new = self._moved(before, numbers, kept)
                kept.p[numbers], kept.active[numbers] = new, (new > 0).sum(axis=1) > 1
                some, picked = _picked(block, which)
                change = (new - before) * block.weight[which, None]
                if not picked:
                    of_some, change = change, np.zeros((like.shape[0], len(mass)))
                    change[which] = of_some
                some.add_moment(as_like(change, like), moment)
                n_active += int(np.count_nonzero(kept.active[numbers]))
            mass += block.weight @ kept.p[here].astype(np.float64, copy=False)
        return PathSums(mass, to_numpy(moment), n_active)

    def _moved(self, before: Array, numbers: IntArray, kept: Distributions) -> Array:
        """Return the distributions of active rows after the step."""
        new = before.copy()
        if self.flat:  # the objective is concave, so any vertex will do
            chosen = new[self.first + numbers <= self.longest]
            new[: len(chosen)] = (
                np.arange(new.shape[1])[None, :] == (chosen > 0).argmax(axis=1)[:, None]
            )
        else:
            reach = kept.reach[numbers]
            length = np.where(np.isfinite(reach), np.minimum(reach, self.longest), 0.0)
            new += (length[:, None] * kept.direction[numbers]).astype(new.dtype)
            reached = np.flatnonzero(reach <= self.longest)
            new[reached, kept.labels[numbers[reached]]] = 0.0
        new[new < SETTLED] = 0.0
        new /= new.sum(axis=1, keepdims=True)
        return new


@dataclass(frozen=True)
class _RefillPass(NumberedPass[PathSums]):
    """Rows put wholly into clusters that have lost all mass; those for which there is none are
    given up."""

    rule: Rule
    rows: IntArray  # (k,) numbers
    clusters: IntArray  # (k,)
    given_up: IntArray

    def work(self, rows: RepresentedRows, task: int, kept: Distributions) -> PathSums:
        start, stop = rows.task_range(task)
        here = (self.rows >= self.first + start) & (self.rows < self.first + stop)
        kept.p[self.rows[here] - self.first] = self.clusters[here, None] == np.arange(
            kept.p.shape[1]
        )
        kept.p[start:stop, self.given_up] = 0.0
        n_active = kept.find_active(rows.blocks.weight[start:stop], slice(start, stop))
        sums = gather(rows, self.rule, kept.p, task)
        return PathSums(sums.mass, sums.moment, n_active)


@dataclass
class _BatchedWalk:
    """The sums of P, which is kept beside the rows."""

    problem: Problem  # of a hard rule
    kept: Any  # `Distributions`, wherever the rows are
    sums: PathSums
    least: float  # the smallest positive weight
    constant: float  # sum of w k(x, x)
    row_visits: int

    @property
    def centres(self) -> Centres:
        return self.problem.space.centres(self.sums.mass, self.sums.moment)

    def objective(self, centres: Centres) -> float:
        return max(self.constant - float(self.sums.mass @ centres.squared_norms()), 0.0)

    def written(self, over: Pass[Any]) -> Any:
        """Return the sum of a pass that writes to what is kept."""
        total, self.kept = self.problem.engine.keep(self.problem.rows, over, self.kept)
        return total

    def step(self, centres: Centres, quantile: float) -> float:
        """All active rows move, none beyond its reach; gives how far they could at most."""
        looked: DigitWeights = self.written(_LookPass(centres))
        flat = not looked.weights.any()

        def weights(search: QuantileSearch) -> Any:
            known = search == QuantileSearch() and not flat
            if known:
                return looked
            return self.problem.engine.fold(
                self.problem.rows, _ReachPass(search, flat), kept=self.kept
            )

        longest, before = quantile_of_sums(weights, quantile), self.sums
        self.row_visits += before.n_active
        after = self.written(_StepPass(flat, longest, before.moment.shape[1]))
        self.sums = replace(after, moment=before.moment + after.moment)
        self.row_visits += after.n_active
        return math.inf if flat else longest

    def refill(self) -> None:
        """Clusters that have lost all mass take the rows farthest from all others."""
        empty = np.flatnonzero(self.sums.mass < 1e-6 * self.least)
        if len(empty) == 0:
            return
        others = np.setdiff1d(np.arange(len(self.sums.mass)), empty)
        far = farthest_rows(self.problem, self.centres[others], len(empty))
        self.row_visits += (far.passes + 1) * self.problem.n_rows
        count = len(far.rows)
        self.sums = self.written(
            _RefillPass(self.problem.rule, far.rows, empty[:count], empty[count:])
        )


@dataclass
class _BatchedCourse:
    """A walk from its beginning, and what a checkpoint keeps of it."""

    walk: _BatchedWalk
    history: list[float]  # the objective before each step, and now
    steps: list[float]  # how far rows could go in each
    ended: bool = False  # by a callback

    @classmethod
    def begun(cls, walk: _BatchedWalk) -> _BatchedCourse:
        walk.refill()
        return cls(walk, [walk.objective(walk.centres)], [])

    @classmethod
    def found(cls, walk: _BatchedWalk, found: Packed) -> _BatchedCourse:
        """Return the walk as a checkpoint has kept it."""
        n_active = walk.sums.n_active
        if "labels" in found:
            labels = walk.problem.rows.blocks.by_row(label_type(len(walk.sums.mass)))
            found["labels"].read_into(labels)
            n_active = walk.written(OntoPartition(labels))
        walk.sums = PathSums(found["mass"], found["moment"], n_active)
        walk.row_visits = found["visits"]
        return cls(walk, as_list(found["history"]), as_list(found["steps"]), found["ended"])

    def packed(self) -> Packed:
        """Return what a checkpoint keeps: P, or labels where it is a partition."""
        walk = self.walk
        numbers = {
            "history": np.array(self.history),
            "steps": np.array(self.steps),
            "ended": self.ended,
            "visits": walk.row_visits,
        }
        sums = {"mass": walk.sums.mass, "moment": walk.sums.moment}
        if walk.sums.n_active:
            return {"p": Beside(walk.kept.column("p")), **sums, **numbers}
        walk.written(LargestPass())
        return {"labels": Beside(walk.kept.column("labels")), **sums, **numbers}


def follow_batched(
    problem: Problem,  # of a hard rule
    start: Start,
    quantile: float,
    max_iter: int,
    constant: float,  # sum of w k(x, x)
    after_step: AfterStep | None = None,
    observer: Observer = UNOBSERVED,
) -> tuple[Path, int]:
    """From a start to a partition, and how many rows were visited; `after_step` may end the walk. P
    stays where the rows are."""
    section = observer.within("path").section()
    if section.found is not None and "p" in section.found:
        p = problem.rows.blocks.by_row(numpy_dtype(problem.rows.blocks.x), start.n_clusters)
        section.found["p"].read_into(p)
        start = GivenStart(start.rule, start.n_clusters, p)
    sums, kept = problem.engine.keep(problem.rows, start)
    walk = _BatchedWalk(problem, kept, sums, sums.least, constant, problem.n_rows)
    if section.found is None:
        course = _BatchedCourse.begun(walk)
    else:
        course = _BatchedCourse.found(walk, section.found)
    centres, history, steps, between = walk.centres, course.history, course.steps, True
    _note(observer, problem, centres, len(steps), history[-1] if steps else math.inf)
    try:
        while walk.sums.n_active and len(steps) < max_iter and not course.ended:
            between = False  # P and its sums do not belong together until the step is over
            steps.append(walk.step(centres, quantile))
            walk.refill()
            centres = walk.centres
            history.append(walk.objective(centres))
            between = True
            _note(observer, problem, centres, len(steps), history[-1])
            course.ended = after_step is not None and after_step(
                lambda: walk.centres, len(steps), history[-1]
            )
            section.note(course.packed)
    except BaseException:
        if between:
            section.break_off(course.packed)
        raise
    if observer.log is not None:
        kept_then = course.packed()  # now, as else P would stay in memory for it
        section.end(lambda: kept_then)
    return Path(walk.kept, history, len(steps), not walk.sums.n_active, steps), walk.row_visits


def _note(
    observer: Observer, problem: Problem, centres: Centres, steps: int, objective: float
) -> None:
    observer.note(Progressed(problem.rule, lambda: State(centres), steps, objective))


def _active(block: RepresentedBlock, kept: Distributions) -> IntArray:
    """Return which rows of a block are active."""
    return np.flatnonzero(kept.active[block.start : block.start + block.rows.kxx.shape[0]])


def _picked(block: RepresentedBlock, which: IntArray) -> tuple[Rows, bool]:
    """Return the given rows of a block alone where they are few and can be picked out (True), else
    all of its rows."""
    rows = block.rows
    some = rows.some(which) if len(which) < SELECTED * rows.kxx.shape[0] else None
    return (rows, False) if some is None else (some, True)
