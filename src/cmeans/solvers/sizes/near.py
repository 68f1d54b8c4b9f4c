"""Bounds of sizes for many clusters: rows know their nearest clusters alone, prices are found for
all clusters at once, and rows then move along shortest paths until the bounds hold; where no path
leads on, rows are placed where there is room, those first that have most to lose.

The prices are a lower bound of the cost of all assignments all the same, so that the gap of the one
that is found is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ... import native
from ...data.arrays import Array, Float64, IntArray
from ...data.blocks import spans
from ...data.partitions import Partition
from ...engines import Pass
from ...native.calls import ADDRESS, REAL, WHOLE, address, done
from ...runtime.user_warnings import NOT_FINITE, OutOfRangeError
from ...spaces import Space
from ...spaces.centres import Centres
from ...sweeps.choice import AboutFunction, about_for
from ...sweeps.final_pass import GivenLabels
from ...sweeps.passes import AboutNearestPass, FewNearestPass, MarginPass, SweepPass
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import Statistics
from ..solution import NEXT_CENTRES, StepResult
from .flow import Flow
from .prices import SizeBounds

EXACTLY = 1e-12  # share of the costs that is rounding
NEAR = 16  # clusters that a row knows: FEW in native/placing.c
STEPS = 15
# temperatures in median margins between a row's two nearest clusters: the first ones, from no prices
# and from those of the sweep before, by what they fall from step to step, and the last
WARM_FIRST, WARM, COOLING, COLD = 1.0, 0.3, 0.8, 0.03
# by how much steps go beyond what brings sizes between their bounds, which settles them sooner
# (Thibault, Chizat, Dossal and Papadakis 2021)
BEYOND = 1.7
LEAST = 0.05  # share of a mean size below which a size says no more of its price
TOLERANCE = 1e-3  # least share of the costs by which they are to fall in a sweep
CHUNK = 8192  # rows whose masses are summed together
# shares of the clusters whose prices may be lowered in the end, and of the costs that they may take
# off the lower bound
DEAREST, CAUTION = (0.1, 0.05, 0.02, 0.01, 0.005), 5e-4
ABOUT = 48  # centres about a row's nearest among which those that it knows are, of very many
FOUND = 1 << 31  # rows times clusters times columns from which on they are so many
MEASURED = 1 << 21  # distances of rows to all clusters that are looked at together
SHARE = (WHOLE, ADDRESS, ADDRESS, ADDRESS, ADDRESS, REAL, ADDRESS)
SETTLE = (WHOLE, WHOLE, *[ADDRESS] * 3, WHOLE, ADDRESS, ADDRESS, WHOLE, WHOLE, *[ADDRESS] * 3)
PAUSED = -3  # of native/placing.c
WORK = 1 << 25  # ways between clusters after which signals are heard: a part of a second
PLACE = (WHOLE, WHOLE, *[ADDRESS] * 8)


def nearest_centres(centres: Centres) -> npt.NDArray[np.int32]:
    """Return the numbers (c, ABOUT) of the centres nearest to each, some at a time."""
    c, norms = len(centres), centres.squared_norms()
    numbers = np.empty((c, ABOUT), np.int32)
    for a, b in spans(c, max(1, MEASURED // c)):
        apart = norms - 2.0 * centres.coordinates[a:b] @ centres.duals.T
        numbers[a:b] = np.argpartition(apart.astype(np.float32), ABOUT, axis=1)[:, :ABOUT]
    return numbers


@dataclass(frozen=True)
class NearestClusters:
    """Rows with the clusters that have them for least by some prices, the cheapest first."""

    clusters: npt.NDArray[np.int32]  # (n, NEAR)
    d2: npt.NDArray[np.floating]  # (n, NEAR)
    weight: npt.NDArray[np.floating]  # (n,)

    @classmethod
    def of(
        cls, problem: Problem, state: State, most: int = NEAR, space: Space | None = None
    ) -> NearestClusters:
        """Find them by a pass."""
        return cls.found(problem, FewNearestPass(problem.rule, state, most, space))

    @classmethod
    def found(cls, problem: Problem, by: Pass[tuple[IntArray, Array]]) -> NearestClusters:
        """Find them by a pass of some kind."""
        parts = zip(*problem.map(by), strict=True)
        clusters, d2 = (np.concatenate(part) for part in parts)
        weight = np.ascontiguousarray(problem.rows.blocks.weight[:], d2.dtype)
        return cls(clusters, d2, weight)

    def replaced(
        self, problem: Problem, kept: IntArray, new: Centres, n_clusters: int
    ) -> NearestClusters:
        """Return the nearest of the clusters that are kept, numbered anew, and of new centres after
        them."""
        number = np.full(n_clusters, -1, np.int32)
        number[kept] = np.arange(len(kept))
        state = State(new, np.zeros(len(new)))
        others = NearestClusters.of(problem, state, min(self.clusters.shape[1], len(new)))
        clusters = np.hstack([number[self.clusters], others.clusters + np.int32(len(kept))])
        d2 = np.where(clusters < 0, np.inf, np.hstack([self.d2, others.d2])).astype(self.d2.dtype)
        order = np.argsort(d2, axis=1, kind="stable")[:, : self.clusters.shape[1]]
        clusters = np.maximum(np.take_along_axis(clusters, order, axis=1), 0)
        return replace(self, clusters=clusters, d2=np.take_along_axis(d2, order, axis=1))

    def net(self, prices: Float64) -> Array:
        """(n, NEAR) squared distances less prices."""
        return self.d2 - prices.astype(self.d2.dtype)[self.clusters]

    def dual(self, prices: Float64, bounds: SizeBounds) -> float:
        """What all placements in clusters that rows know cost at least, by these prices."""
        return float(self.net(prices).min(axis=1) @ self.weight) + bounds.dual_part(prices)

    def masses(self, prices: Float64, temperature: float, problem: Problem) -> Float64:
        """(c,) masses by memberships in proportion to exp((g_j - d2_ij) / T)."""
        share = partial(self._masses, prices.astype(self.d2.dtype), temperature)
        total = np.zeros(len(prices))
        for part in problem.engine.run(share, -(-len(self.d2) // CHUNK)):
            total += part
        return total

    def _masses(self, prices: Array, temperature: float, chunk: int) -> Float64:
        here = slice(chunk * CHUNK, (chunk + 1) * CHUNK)
        clusters, d2, weight = self.clusters[here], self.d2[here], self.weight[here]
        mass = np.zeros(len(prices))
        if native.is_available():
            arrays = map(address, (clusters, d2, weight, prices))
            native.function("share_rows", d2.dtype, SHARE)(
                len(d2), *arrays, temperature, address(mass)
            )
            return mass
        net = d2 - prices[clusters]
        shares = np.exp((net.min(axis=1, keepdims=True) - net) / temperature)
        shares *= (weight / shares.sum(axis=1))[:, None]
        np.add.at(mass, clusters, shares)
        return mass

    def settled(
        self, bounds: SizeBounds, prices: Float64
    ) -> tuple[npt.NDArray[np.int32], Float64] | None:
        """Return the ranks (n,) of the clusters in the cheapest placement within the bounds, and
        prices by which every row is where it costs least. Rows from whose clusters no move leads on
        are left (-1); None where that is not told."""
        weighs = self.weight > 0
        least, most = _in_rows(bounds, int(np.count_nonzero(weighs)))
        if native.is_available():
            ranks, new = np.empty(len(self.d2), np.int32), np.array(prices, np.float64)
            settle = native.function("settle_rows", self.d2.dtype, SETTLE, WHOLE)
            held, left, begun = np.empty(len(new), np.int64), PAUSED, 0
            known = address(self.clusters), address(self.d2), address(self.weight)
            given = address(least), address(most)
            to = address(new), address(ranks), address(held)
            while left == PAUSED:
                left, begun = settle(*self.d2.shape, *known, len(new), *given, WORK, begun, *to), 1
            done(left)
            return ranks, new
        ranks = np.argmin(self.net(prices), axis=1).astype(np.int32)
        rows, clusters = np.flatnonzero(weighs), self.clusters[weighs]
        d2 = np.full((len(rows), len(prices)), np.inf)
        np.put_along_axis(d2, clusters, self.d2[weighs], axis=1)
        labels = clusters[np.arange(len(rows)), ranks[rows]]
        mass = np.bincount(labels, minlength=len(prices)).astype(np.float64)
        low, high = least.astype(np.float64), most.astype(np.float64)
        whole = SizeBounds(low, high, float(len(rows)), 1.0, 1.0)
        flow = Flow(d2, labels, np.ones(len(rows)), mass, prices, whole)
        if not flow.settle():
            return None
        held = flow.holdings
        ranks[rows[held.row]] = np.argmax(clusters[held.row] == held.cluster[:, None], axis=1)
        return ranks, flow.prices[:-1] - flow.prices[-1]


def are_many(problem: Problem, n_clusters: int) -> bool:
    """True where rows know some of the clusters about their nearest, as to ask all takes long."""
    return n_clusters > ABOUT and problem.n_rows * n_clusters * problem.space.size > FOUND


@dataclass
class NearSearch:
    """Finds the clusters that rows know; of many among those about each row's nearest, which it
    follows as sweeps do, so that an object is for runs from near centres."""

    function: AboutFunction | None = None

    def __call__(self, problem: Problem, state: State) -> NearestClusters:
        few = FewNearestPass(problem.rule, state, NEAR)
        c = len(state.centres)
        if not are_many(problem, c):
            return NearestClusters.found(problem, few)
        self.function = self.function or about_for(problem.rows, problem.rule, c)
        if self.function is None:
            return NearestClusters.found(problem, few)
        about = AboutNearestPass(few, nearest_centres(state.centres), self.function)
        return NearestClusters.found(problem, about)


def cautious_prices(rows: NearestClusters, bounds: SizeBounds, prices: Float64) -> Float64:
    """Return prices of which the highest are lower, where that takes hardly anything off what
    placements cost at least: clusters that few rows know are dear to these, and would be cheap to
    all others."""
    dual = rows.dual(prices, bounds)
    for share in DEAREST:
        lower = np.minimum(prices, np.quantile(prices, 1 - share))
        if dual - rows.dual(lower, bounds) <= CAUTION * abs(dual):
            return lower
    return prices


def near_prices(
    problem: Problem, rows: NearestClusters, bounds: SizeBounds, prices: Float64
) -> Float64:
    """Return prices from some others, or from none where those are worth less, by steps of which
    each would bring every cluster's size between its bounds, were the other prices to stay, while
    the temperature falls."""
    none, warm = np.zeros(len(prices)), WARM
    if not prices.any() or rows.dual(none, bounds) >= rows.dual(prices, bounds):
        prices, warm = none, WARM_FIRST
    net = np.partition(rows.net(prices), 1, axis=1)
    margin = float(np.median(net[:, 1] - net[:, 0]))
    least = LEAST * bounds.total / len(prices)
    for step in range(STEPS if margin > 0 else 0):
        temperature = margin * max(warm * COOLING**step, COLD)
        mass = np.maximum(rows.masses(prices, temperature, problem), least)
        with np.errstate(divide="ignore"):
            low = prices + BEYOND * temperature * np.log(bounds.low / mass)
            high = prices + BEYOND * temperature * np.log(bounds.high / mass)
        prices = np.clip(0.0, low, high)  # the price nearest to none
    if (bounds.low == bounds.high).all():  # equal changes of all prices change nothing
        prices = prices - prices.mean()
    return prices


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
        cls, problem: Problem, rows: NearestClusters, bounds: SizeBounds, state: State
    ) -> PlacedRows:
        """Place all rows at least cost; rows of no weight stay where they cost least. The bounds
        are multiples of the weight that all others have."""
        prices, n = state.known_scales(), len(rows.d2)
        settled = rows.settled(bounds, prices)
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
        least, most = _in_rows(bounds, n_rows)
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


def _in_rows(bounds: SizeBounds, n_rows: int) -> tuple[IntArray, IntArray]:
    """Return the bounds in numbers of rows."""
    assert bounds.quantum is not None
    least = np.rint(bounds.low / bounds.quantum).astype(np.int64)
    return least, np.rint(np.minimum(bounds.high / bounds.quantum, n_rows)).astype(np.int64)


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
        placed = PlacedRows.of(problem, rows, self.bounds, State(at.centres, prices))
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
