"""Rows placed in many clusters of bounded sizes: along shortest paths among the clusters that each
knows; where no path leads on, where there is room, those first that have most to lose.

The prices are a lower bound of the cost of all assignments all the same, so that the gap of the one
that is found is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ... import native
from ...data.arrays import Array, Float64, IntArray
from ...data.partitions import Partition
from ...native.calls import ADDRESS, WHOLE, address
from ...runtime.user_warnings import NOT_FINITE, OutOfRangeError
from ...spaces import Space
from ...sweeps.final_pass import GivenLabels
from ...sweeps.passes import MarginPass, SweepPass
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import Statistics
from ..solution import NEXT_CENTRES, StepResult
from .near import MEASURED, SWEPT, NearestClusters, NearSearch, in_rows, near_prices
from .prices import SizeBounds

EXACTLY = 1e-12  # share of the costs that is rounding
TOLERANCE = 1e-3  # least share of the costs by which they are to fall in a sweep
PLACE = (WHOLE, WHOLE, *[ADDRESS] * 8)


@dataclass(frozen=True)
class PlacedRows:
    """Rows in clusters within the bounds."""

    labels: IntArray  # (n,)
    d2: Float64  # (n,) squared distances to them
    mass: Float64  # (c,)
    prices: Float64  # (c,)
    cost: float  # the sum of the squared distances, by the weights
    # by how much they may cost more, less these prices, than where they cost least
    excess: float = 0.0

    @classmethod
    def of(
        cls,
        problem: Problem,
        rows: NearestClusters,
        bounds: SizeBounds,
        state: State,
        slacks: Sequence[float],
    ) -> PlacedRows:
        """Place all rows at least cost, but for the last slack; rows of no weight stay where they
        cost least. The bounds are multiples of the weight that all others have."""
        prices, n = state.known_scales(), len(rows.d2)
        settled = rows.settled(bounds, prices, slacks)
        if settled is None:
            return cls._in_turn(problem, rows, bounds, state)
        ranks, prices = settled
        at = np.arange(n), np.maximum(ranks, 0)
        labels, d2 = rows.clusters[at].astype(np.intp), rows.d2[at].astype(np.float64)
        left = np.flatnonzero(ranks < 0)
        if len(left):
            weighs = rows.weight > 0
            held = np.bincount(labels[weighs & (ranks >= 0)], minlength=len(prices))
            room = _Room.of(bounds, int(weighs.sum())).beside(held, len(left))
            cheapest = d2[left] - prices[labels[left]]
            _place_among_all(problem, left, State(state.centres, prices), room, labels, d2)
            # so that more rows know clusters that are far from most
            dearer, prices = d2[left] - prices[labels[left]] - cheapest, prices.copy()
            rise = np.zeros(len(prices))
            np.maximum.at(rise, labels[left], dearer)
            prices += rise
        return cls._in(labels, d2, rows.weight, prices)

    @classmethod
    def _in(cls, labels: IntArray, d2: Float64, weight: Array, prices: Float64) -> PlacedRows:
        mass = _sums_of(labels, weight, len(prices))
        return cls(labels, d2, mass, prices, float(d2 @ weight))

    @classmethod
    def _in_turn(
        cls, problem: Problem, rows: NearestClusters, bounds: SizeBounds, state: State
    ) -> PlacedRows:
        """Place all rows, those first that lose most where their cluster is full."""
        prices, n = state.known_scales(), len(rows.d2)
        net, weighs = rows.net(prices), np.flatnonzero(rows.weight > 0)
        two = np.partition(net[weighs], 1, axis=1)
        order = weighs[np.argsort(two[:, 0] - two[:, 1], kind="stable")]
        room, ranks = _Room.of(bounds, len(weighs)), np.argmin(net, axis=1)
        ranks[order] = room.place(rows, order, prices)[order]
        at = np.arange(n), np.maximum(ranks, 0)
        labels, d2 = rows.clusters[at].astype(np.intp), rows.d2[at].astype(np.float64)
        _place_among_all(problem, order[ranks[order] < 0], state, room, labels, d2)
        return cls._in(labels, d2, rows.weight, prices)

    @property
    def are_cheapest(self) -> bool:
        """True where no placement costs less, but for rounding."""
        return self.excess <= EXACTLY * self.cost

    def sums(self, problem: Problem) -> Statistics:
        """The sums of a sweep that has the rows in these clusters."""
        blocks, c = problem.rows.blocks, len(self.mass)
        weight = np.asarray(blocks.weight[:], np.float64)
        spread = _sums_of(self.labels, weight * self.d2, c)
        return replace(problem.sums_of(Partition(self.labels, c, blocks.x)), spread=spread)

    def beside_others(self, rows: NearestClusters, found_at: Float64) -> PlacedRows:
        """Return the same with the excess, where rows know the nearest clusters by some prices:
        others are as far as the last of these at least, less what prices have risen by."""
        d2, weight = rows.d2.astype(np.float64), rows.weight.astype(np.float64)
        others = (d2[:, -1] - found_at[rows.clusters[:, -1]]) - (self.prices - found_at).max()
        least = np.minimum((d2 - self.prices[rows.clusters]).min(axis=1), others)
        beyond = np.maximum(self.d2 - self.prices[self.labels] - least, 0.0)
        return replace(self, excess=float(weight @ beyond))

    def beside(self, cheapest: NearestClusters) -> PlacedRows:
        """Return the same with the excess, where the cheapest cluster of each row by these prices
        is known."""
        least = (cheapest.d2 - self.prices[cheapest.clusters]).min(axis=1)
        beyond = np.maximum(self.d2 - self.prices[self.labels] - least, 0.0)
        return replace(self, excess=float(cheapest.weight @ beyond))

    def numbered(self, order: IntArray) -> PlacedRows:
        """Return the same with the clusters in another order (c,)."""
        labels = np.argsort(order)[self.labels]
        return replace(self, labels=labels, mass=self.mass[order], prices=self.prices[order])

    def moves(self, problem: Problem, state: State, space: Space) -> GivenLabels:
        """The clusters of all rows, as the last pass reads them."""
        return GivenLabels(self.labels, self.d2, self.excess)


@dataclass(frozen=True)
class _Room:
    """Room in the clusters, in rows, and the rows that are left beyond the least sizes."""

    least: npt.NDArray[np.int64]  # (c,)
    most: npt.NDArray[np.int64]  # (c,)
    spare: npt.NDArray[np.int64]  # (1,)

    @classmethod
    def of(cls, bounds: SizeBounds, n_rows: int) -> _Room:
        least, most = in_rows(bounds, n_rows)
        return cls(least, most, np.array([n_rows - least.sum()]))

    def beside(self, held: IntArray, left: int) -> _Room:
        """Return the room for so many rows that are left, where clusters hold others (c,)."""
        least = np.maximum(self.least - held, 0)
        return _Room(least, self.most - held, np.array([left - least.sum()]))

    def place(
        self, rows: NearestClusters, order: IntArray, prices: Float64
    ) -> npt.NDArray[np.int32]:
        """Return the rank (n,) of the cluster that each row of the order goes to among those that
        it knows, -1 where none has room, and take the room."""
        ranks = np.full(len(rows.d2), -1, np.int32)
        order = np.ascontiguousarray(order, np.int64)
        own = prices.astype(rows.d2.dtype)
        if native.is_available():
            arrays = (order, rows.clusters, rows.d2, own, self.least, self.most, self.spare, ranks)
            native.function("place_rows", rows.d2.dtype, PLACE, WHOLE)(
                len(order), rows.d2.shape[1], *(address(array) for array in arrays)
            )
            return ranks
        net = rows.net(prices)
        for row in order.tolist():
            clusters = rows.clusters[row]
            may = (self.least[clusters] > 0) | ((self.spare[0] > 0) & (self.most[clusters] > 0))
            if not may.any():
                continue
            ranks[row] = rank = int(np.argmin(np.where(may, net[row], np.inf)))
            j = clusters[rank]
            self.spare[0] -= self.least[j] == 0
            self.least[j] -= self.least[j] > 0
            self.most[j] -= 1
        return ranks


def _sums_of(labels: IntArray, values: Array, n_clusters: int) -> Float64:
    """(c,) the sum of each cluster's values (n,)."""
    return np.bincount(labels, values, n_clusters).astype(np.float64)


def _place_among_all(
    problem: Problem, left: IntArray, state: State, room: _Room, labels: IntArray, d2: Float64
) -> None:
    """Set the clusters of some rows, by the order of their numbers, and the squared distances to
    them, where all clusters are asked."""
    most = max(1, MEASURED // len(state.centres))
    for start in range(0, len(left), most):
        some = left[start : start + most]
        labels[some], d2[some] = _among_all(problem, some, state, room)


def _among_all(
    problem: Problem, some: IntArray, state: State, room: _Room
) -> tuple[IntArray, Float64]:
    ascending, c = np.sort(some), len(state.centres)
    part = replace(problem, rows=problem.rows.part(ascending, np.ones(len(some))))
    found = problem.engine.fold(part.rows, MarginPass(problem.rule, state, np.inf))
    every = np.tile(np.arange(c, dtype=np.int32), (len(some), 1))
    rows = NearestClusters(every, np.ascontiguousarray(found.d2, np.float64), np.ones(len(some)))
    order = np.searchsorted(ascending, some)
    labels = room.place(rows, order, state.known_scales())[order].astype(np.intp)
    return labels, found.d2[order, labels]


@dataclass(frozen=True)
class PlacingStep:
    """New centres, those of rows that are placed within the bounds, and the prices for that."""

    bounds: SizeBounds
    search: NearSearch = field(default_factory=NearSearch)
    needs_labels: bool = False
    keeps_clusters: bool = True
    needs_sums: ClassVar[bool] = False

    def __call__(
        self,
        problem: Problem,
        swept: SweepPass,
        sums: Statistics,
        last: tuple[State, Statistics] | None,
    ) -> StepResult:
        at = swept.state
        rows = self.search(problem, State(at.centres, np.zeros(len(at.centres))))
        prices = near_prices(problem, rows, self.bounds, at.known_scales())
        placed = PlacedRows.of(problem, rows, self.bounds, State(at.centres, prices), SWEPT)
        sums = placed.sums(problem)
        if not sums.is_finite():
            raise OutOfRangeError(NOT_FINITE)
        new = NEXT_CENTRES(problem, swept, sums, last)
        visits = 2 * problem.n_rows + new.row_visits
        return StepResult(State(new.state.centres, placed.prices), visits, sums=sums)


def until_costs_stand(problem: Problem) -> Problem:
    """Return a problem whose runs end where the costs of placed rows stand."""
    stopping = problem.stopping
    ends = replace(
        stopping,
        tol=max(stopping.tol, TOLERANCE),
        criterion=CostsStand(),
        acceleration=None,  # a mixture of centres has no prices
    )
    return replace(problem, stopping=ends)


@dataclass(frozen=True)
class CostsStand:
    """The end of a run where costs fall by no larger share in a sweep than `tol`: rows that are
    placed within bounds go to and fro between clusters that are full."""

    name: str = "costs"

    def __call__(
        self, problem: Problem, before: State | None, at: State, history: Sequence[float]
    ) -> tuple[bool, float]:
        if len(history) < 2:
            return False, np.inf
        fall = (history[-2] - history[-1]) / history[-1] if history[-1] > 0 else 0.0
        return fall <= problem.stopping.tol, max(fall, 0.0)
