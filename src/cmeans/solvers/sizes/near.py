"""The clusters that each row knows where these are many and bounded in size, prices for all of them
at once, and rows that move along shortest paths until the bounds hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from ... import native
from ...data.arrays import Array, Float64, IntArray
from ...data.blocks import spans
from ...engines import Pass
from ...native.calls import ADDRESS, REAL, WHOLE, address, done
from ...spaces import Space
from ...spaces.centres import Centres
from ...sweeps.choice import AboutFunction, about_for
from ...sweeps.passes import AboutNearestPass, FewNearestPass, MarginPass
from ...sweeps.problem import Problem
from ...sweeps.state import State
from .flow import Flow
from .prices import SizeBounds

NEAR = 16  # clusters that a row knows: FEW in native/placing.c
STEPS = 15
# temperatures in median margins between a row's two nearest clusters: the first ones (from no
# prices, and from those of the sweep before), by what they fall from step to step, and the last
WARM_FIRST, WARM, COOLING, COLD = 1.0, 0.3, 0.8, 0.03
# by how much steps go beyond what brings sizes between their bounds, which settles them sooner
# (Thibault, Chizat, Dossal and Papadakis 2021)
BEYOND = 1.7
LEAST = 0.05  # share of a mean size below which a size says no more of its price
CHUNK = 8192  # rows whose masses are summed together
# shares of the clusters whose prices may be lowered in the end, and rows that show which is best
DEAREST, JUDGES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0), 4096
ABOUT = 48  # centres about a row's nearest among which those that it knows are, of very many
FOUND = 1 << 31  # rows times clusters times columns from which on they are so many
MEASURED = 1 << 21  # distances of rows to all clusters that are looked at together
SHARE = (WHOLE, ADDRESS, ADDRESS, ADDRESS, ADDRESS, REAL, ADDRESS)
SETTLE = (WHOLE, WHOLE, *[ADDRESS] * 3, WHOLE, *[ADDRESS] * 2, REAL, *[WHOLE] * 3, *[ADDRESS] * 3)
PAUSED = -3  # of native/settling.c
# slacks by which costs are compared, in margins, one after the other: of placements that sweeps
# follow, of those that are given out, and of the cheapest one
SWEPT, LAST, CHEAPEST = (1.0, 1 / 8), (1.0, 1 / 8, 1 / 64), (1.0, 1 / 16, 1 / 256, 0.0)
ROUNDING = 2.0**-44  # least slack, in the largest of all numbers
STAY = 1 / 400  # share of the rows that need not be placed before the last slack
MARGINS = 1 << 14  # rows that show the margin
WORK = 1 << 25  # ways between clusters after which signals are heard: a part of a second


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
        """Return the least that placements in clusters that rows know can cost, by these prices."""
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

    def margin(self, prices: Float64) -> float:
        """Return the median of what rows cost more in their second cluster than in their first; 0
        where they know one."""
        if self.d2.shape[1] == 1:
            return 0.0
        step = -(-len(self.d2) // MARGINS)
        some = replace(self, clusters=self.clusters[::step], d2=self.d2[::step])
        two = np.partition(some.net(prices), 1, axis=1)
        return float(np.median(two[:, 1] - two[:, 0]))

    def settled(
        self, bounds: SizeBounds, prices: Float64, slacks: Sequence[float] = CHEAPEST
    ) -> tuple[npt.NDArray[np.int32], Float64] | None:
        """Return the ranks (n,) of the clusters in the cheapest placement within the bounds, and
        prices by which every row is where it costs least, but for the last slack. Rows from whose
        clusters no move leads on are left (-1); None where that is not told."""
        weighs = self.weight > 0
        least, most = in_rows(bounds, int(np.count_nonzero(weighs)))
        if native.is_available():
            return self._settled(least, most, prices, slacks)
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
        kept = flow.holdings
        ranks[rows[kept.row]] = np.argmax(clusters[kept.row] == kept.cluster[:, None], axis=1)
        return ranks, flow.prices[:-1] - flow.prices[-1]

    def _settled(
        self, least: IntArray, most: IntArray, prices: Float64, slacks: Sequence[float]
    ) -> tuple[npt.NDArray[np.int32], Float64]:
        new, held = np.array(prices, np.float64), np.full(len(prices), -1, np.int64)
        ranks = np.argmin(self.net(prices), axis=1).astype(np.int32)
        settle = native.function("settle_rows", self.d2.dtype, SETTLE, WHOLE)
        known = address(self.clusters), address(self.d2), address(self.weight)
        given, to = (address(least), address(most)), (address(new), address(ranks), address(held))
        margin = self.margin(prices)
        tiny = max(ROUNDING * max(self.d2.max(), np.abs(prices).max()), np.finfo(float).tiny)
        for slack in slacks:
            last, by = slack == slacks[-1], max(slack * margin, tiny)
            stay, result = 0 if last else int(len(self.d2) * STAY), PAUSED
            while result == PAUSED:
                result = settle(*self.d2.shape, *known, len(new), *given, by, stay, last, WORK, *to)
            done(result)
        return ranks, new


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


def cautious_prices(
    problem: Problem, bounds: SizeBounds, state: State, space: Space | None = None
) -> Float64:
    """Return the prices of a state of which the highest are lower, by which placements cost most at
    least, as some rows show that ask all clusters: those that few rows know are dear to these, and
    would be cheap to all others."""
    prices, weighs = state.known_scales(), np.flatnonzero(problem.rows.blocks.weight[:] > 0)
    every = np.minimum(prices, np.quantile(prices, 1 - np.array(DEAREST))[:, None])
    some = weighs[:: -(-len(weighs) // JUDGES)]
    costs = np.zeros(len(every))
    for a, b in spans(len(some), max(1, MEASURED // len(prices))):
        part = problem.rows.part(some[a:b], np.ones(b - a))
        found = problem.engine.fold(part, MarginPass(problem.rule, state, np.inf, space))
        costs += [float((found.d2 - lower).min(axis=1).sum()) for lower in every]
    costs *= bounds.total / len(some)
    best: Float64 = every[np.argmax(costs + [bounds.dual_part(lower) for lower in every])]
    return best


def near_prices(
    problem: Problem, rows: NearestClusters, bounds: SizeBounds, prices: Float64
) -> Float64:
    """Return prices from some others, or from none where those are worth less, by steps of which
    each would bring every cluster's size between its bounds, were the other prices to stay, while
    the temperature falls."""
    none, warm = np.zeros(len(prices)), WARM
    if not prices.any() or rows.dual(none, bounds) >= rows.dual(prices, bounds):
        prices, warm = none, WARM_FIRST
    margin = rows.margin(prices)
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


def in_rows(bounds: SizeBounds, n_rows: int) -> tuple[IntArray, IntArray]:
    """Return the bounds in numbers of rows."""
    assert bounds.quantum is not None
    least = np.rint(bounds.low / bounds.quantum).astype(np.int64)
    return least, np.rint(np.minimum(bounds.high / bounds.quantum, n_rows)).astype(np.int64)
