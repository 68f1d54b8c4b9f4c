"""Projected gradients over the distributions of all rows, in closed form and in memory (Liu et al.
2021, AGP and FAGP).

The feasible set is a product of simplices, so Rosen's projector needs no matrix: with g_lk =
|phi(x_l) - v_k|^2 and F_l the free clusters of row l, the direction is d_lk = -(g_lk - mean_F g_l)
for k in F_l, 0 elsewhere. Where every row has one free cluster, the multiplier of a fixed one is
g_lk - g_l,own; a negative one is freed again, the most negative first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ...data.arrays import Array, Float64, IntArray
from ...data.precision import first_largest
from ...solvers.checkpoints import CheckpointSection, Packed, as_list
from .grams import Gram

# takes P, the number of steps and the objective after each; True ends it
AfterStep: TypeAlias = Callable[[Array, int, float], bool]
FEWER = 0.85  # of the rows whose products are kept up: from there on only those that still move are
# of k(x, x) and its mean: differences of distances that are rounding, and count as none
FLAT = 1e-11


@dataclass(frozen=True)
class Path:
    """The end of a path along projected gradients."""

    memberships: Any  # (n, c), or what is kept of the rows wherever they are
    history: list[float]  # the objective before each step, and at the end
    n_iter: int
    finished: bool  # at a partition from which no free constraint leads down
    steps: list[float]  # how far each step went


@dataclass
class _Walk:
    """P with all that depends on it, kept up step by step: for all rows while one moves, for those
    that move while many do."""

    gram: Gram
    weight: Float64  # (n,)
    p: Float64  # (n, c)
    # (n, c) constraints that do not hold p at 0
    free: np.ndarray[tuple[int, int], np.dtype[np.bool_]]

    constant: float  # of the objective

    def __post_init__(self) -> None:
        self.every_row = np.arange(len(self.p))
        # the rows whose products are kept up while many move, and their gram
        self.near, self._among = self.every_row, self.gram
        mean = float(self.weight @ self.gram.diag) / float(self.weight.sum())
        self.flat = FLAT * (self.gram.diag + mean)  # (n,)
        self.renew()

    def renew(self) -> None:
        """Everything from P alone."""
        weighted = self.weight[:, None] * self.p
        self.products = self.gram.product(weighted)  # K (w p_k) (n, c)
        self.stale = False  # whether they hold for some rows only
        self.mass = weighted.sum(axis=0)
        self.squares = np.einsum("lk,lk->k", weighted, self.products)

    @property
    def objective(self) -> float:
        return max(
            self.constant - float((self.squares / np.where(self.mass > 0, self.mass, 1.0)).sum()),
            0.0,
        )

    def gradient(self, rows: IntArray) -> Float64:
        """g (rows, c) but for k(x, x); infinite for clusters without mass."""
        mass = np.where(self.mass > 0, self.mass, 1.0)
        return np.where(
            self.mass > 0, self.squares / mass**2 - 2.0 * self.products[rows] / mass, np.inf
        )

    def add(self, rows: IntArray, change: Float64) -> None:
        """P[rows] += change for rows that fewer and fewer are, and what follows from it for
        them."""
        if len(rows) <= FEWER * len(self.near):
            self.keep_up(rows)
        weighted = np.zeros((len(self.near), change.shape[1]))
        weighted[np.searchsorted(self.near, rows)] = self.weight[rows][:, None] * change
        moved, known = self._among.product(weighted), self.products[self.near]
        self.squares += np.einsum("lk,lk->k", weighted, 2.0 * known + moved)
        self.products[self.near] = known + moved
        self.stale = len(self.near) < len(self.p)
        self.mass += weighted.sum(axis=0)
        self.p[rows] += change

    def keep_up(self, rows: IntArray) -> None:
        """From now on keep up the products of these rows, while many of them move."""
        self.near = rows
        self._among = self.gram if len(rows) == len(self.p) else self.gram.among(rows)

    def undecided(self) -> IntArray:
        """Rows that count and have more than one free cluster."""
        return np.flatnonzero((self.weight > 0) & (self.free.sum(axis=1) > 1))

    def add_one(self, row: int, change: Float64) -> None:
        """P[row] += change, and what follows from it for all rows: one column of K."""
        if self.stale:
            self.renew()
        weighted = self.weight[row] * change
        self.squares += weighted * (2.0 * self.products[row] + weighted * self.gram.diag[row])
        self.products += self.gram.column(row)[:, None] * weighted[None, :]
        self.mass += weighted
        self.p[row] += change

    def put(self, row: int, cluster: int) -> None:
        """A row wholly into one cluster."""
        target = np.zeros(self.p.shape[1])
        target[cluster] = 1.0
        self.add_one(row, target - self.p[row])
        self.p[row] = target
        self.free[row] = target > 0

    def refill(self) -> None:
        """A cluster that has lost all mass takes the row that is farthest from where it belongs."""
        least = 1e-9 * float(self.weight[self.weight > 0].min())
        lost = np.flatnonzero(self.mass < least)
        if len(lost):
            self.renew()
        for cluster in lost:
            distance = self.gram.diag + (
                np.where(self.mass >= least, self.gradient(self.every_row), 0.0) * self.p
            ).sum(axis=1)
            # who is all there is of a cluster stays
            alone = self.weight[:, None] * self.p >= 0.999 * self.mass
            distance = np.where((self.weight > 0) & ~alone.any(axis=1), distance, -np.inf)
            row = first_largest(distance, float(self.flat.max()))
            if not np.isfinite(distance[row]):
                return
            self.put(row, int(cluster))
            self.renew()


@dataclass
class _GradientCourse:
    """A walk from its beginning, and what a checkpoint keeps of it."""

    walk: _Walk
    active: IntArray  # rows with more than one free cluster
    history: list[float]  # the objective before each step, and now
    steps: list[float]  # how far each step went
    lowest: float = np.inf  # the objective where a constraint was freed last
    ended: bool = False  # by `after_step`
    finished: bool = False

    @classmethod
    def begun(cls, walk: _Walk) -> _GradientCourse:
        walk.refill()
        return cls(walk, walk.undecided(), [walk.objective], [])

    @classmethod
    def found(cls, walk: _Walk, found: Packed) -> _GradientCourse:
        """Return the walk as a checkpoint has kept it."""
        walk.p = found["p"]
        walk.free = found["free"].astype(np.bool_)
        walk.products = found["products"]
        walk.mass, walk.squares, walk.stale = found["mass"], found["squares"], found["stale"]
        walk.keep_up(found["near"])
        numbers = found["lowest"], found["ended"], found["finished"]
        return cls(
            walk, found["active"], as_list(found["history"]), as_list(found["steps"]), *numbers
        )

    def packed(self) -> Packed:
        """Return what a checkpoint keeps."""
        walk = self.walk
        of_walk = {
            "p": walk.p,
            "free": walk.free.astype(np.int8),
            "products": walk.products,
            "near": walk.near,
        }
        sums = {"mass": walk.mass, "squares": walk.squares, "stale": walk.stale}
        own = {
            "active": self.active,
            "history": np.array(self.history),
            "steps": np.array(self.steps),
        }
        return {
            **of_walk,
            **sums,
            **own,
            "lowest": self.lowest,
            "ended": self.ended,
            "finished": self.finished,
        }


def follow(
    gram: Gram,
    weight: Float64,  # (n,)
    start: Float64,  # (n, c) rows that sum to one
    max_iter: int,
    constant: float,  # sum of w k(x, x), of which the gram may know a part only
    step: float | None = None,
    after_step: AfterStep | None = None,
    section: CheckpointSection | None = None,
) -> Path:
    """From `start` to a partition, one constraint after the other.

    Each step is as long as all distributions allow (FAGP), or `step` if that is shorter (AGP).
    `after_step` may end the walk.
    """
    section = section or CheckpointSection()
    walk = _Walk(gram, weight, start.copy(), start > 0, constant)
    if section.found is None:
        course = _GradientCourse.begun(walk)
    else:
        course = _GradientCourse.found(walk, section.found)
    between = True
    try:
        while len(course.steps) < max_iter and not course.ended and not course.finished:
            between = False  # what depends on P belongs to it again when the step is over
            _advance(course, np.inf if step is None else step)
            between = True
            if not course.finished:
                course.ended = after_step is not None and after_step(
                    walk.p, len(course.steps), course.history[-1]
                )
                section.note(course.packed)
    except BaseException:
        if between:
            section.break_off(course.packed)
        raise
    if not course.ended and not course.finished:
        walk.renew()
        course.finished = len(course.active) == 0 and _most_negative(walk) is None
    kept = course.packed()
    section.end(lambda: kept)
    # Where all distances are rounding, steps along them are long, and rows that were cut short on
    # their way do not quite sum to one.
    p = walk.p if course.finished else walk.p / walk.p.sum(axis=1, keepdims=True)
    return Path(p, course.history, len(course.steps), course.finished, course.steps)


def _advance(course: _GradientCourse, longest: float) -> None:
    """Make one step, or find that none leads on."""
    walk = course.walk
    if len(course.active) == 0:
        if walk.stale:
            walk.renew()
        dropped = _most_negative(walk)
        # a kernel that is not definite could lead round in circles
        if dropped is None or course.history[-1] >= course.lowest:
            course.finished = True
            return
        course.lowest = course.history[-1]
        walk.free[dropped] = True
        course.active = np.array([dropped[0]])
    course.steps.append(_step(walk, course.active, longest))
    walk.refill()
    course.active = course.active[walk.free[course.active].sum(axis=1) > 1]
    if len(course.active) == 0:
        course.active = walk.undecided()  # a cluster may have been refilled from a finished row
    course.history.append(walk.objective)


def _step(walk: _Walk, active: IntArray, longest: float) -> float:
    """One step of the rows with more than one free cluster; gives its length."""
    g, p, free = walk.gradient(active), walk.p[active], walk.free[active]
    mean = np.where(free, g, 0.0).sum(axis=1) / free.sum(axis=1)
    d = np.where(free, mean[:, None] - g, 0.0)
    d[np.abs(d).max(axis=1) <= walk.flat[active]] = 0.0
    ratio = np.where(d < 0, -p / np.where(d < 0, d, -1.0), np.inf)
    first = int(np.argmin(ratio))
    row, cluster = divmod(first, ratio.shape[1])
    # no way leads down at first sight: the objective is concave, so any vertex will do
    if not np.isfinite(ratio[row, cluster]):
        walk.put(int(active[0]), int(np.argmax(free[0])))
        return np.inf
    length = float(min(ratio[row, cluster], longest))
    if len(active) > 1:
        walk.add(active, length * d)
    else:
        walk.add_one(int(active[0]), length * d[0])
    reached = active[row]
    if ratio[row, cluster] <= longest:
        walk.p[reached, cluster] = 0.0
        walk.free[reached, cluster] = False
    walk.p[active] = np.maximum(walk.p[active], 0.0)
    if walk.free[reached].sum() == 1:
        walk.p[reached] = walk.free[reached].astype(np.float64)
    return length


def _most_negative(walk: _Walk) -> tuple[int, int] | None:
    """The fixed constraint of a partition that leads down most steeply when freed, of equal ones
    the first; None if none does."""
    g = walk.gradient(walk.every_row)
    own = walk.p.argmax(axis=1)
    multiplier = g - g[walk.every_row, own][:, None]
    multiplier[(walk.weight == 0)[:, None] | (multiplier >= -walk.flat[:, None])] = 0.0
    steepest = int(np.argmin(multiplier)) // multiplier.shape[1]
    row, cluster = divmod(
        first_largest(-multiplier, float(walk.flat[steepest])), multiplier.shape[1]
    )
    return (row, cluster) if multiplier[row, cluster] < 0 else None
