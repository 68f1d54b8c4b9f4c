"""Bounds of the clusters' sizes, and prices that keep them: a concave dual by Newton's method,
whose derivatives are sums of a pass."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...data.arrays import Float64, IntArray
from ...data.column_facts import ColumnFacts
from ...rules import Rule
from ...runtime.numerals import in_digits
from ...spaces.centres import Centres
from ...sweeps.passes import PricePass
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import PriceStatistics
from ..stopping import rounding_of

SLACK = 1e-9  # share by which a bound may be off for rounding
STEPS = 100  # of Newton's method at most
LEAST = 1e-6  # of the mean size that follows a change of a price by `reach`
PATTERNS = 50  # sets of bounds that hold, tried for a step
# largest first change of a price: temperatures, or mean squared distances where there is no
# temperature
REACH = 8.0
SHARED = 25.0  # rows
WARM, COLD = 0.05, 1e-9  # first and last temperature, in mean squared distances
HEATING, HEATINGS = 4.0, 8  # where that is too cold, by which it is raised, and how often at most
SHARED_AT_FIRST = 0.1  # share of all rows
COOLING = 8.0  # by which one temperature may lie below the one before
TRIES = 8  # refused steps in a row after which rounding has the last word


@dataclass(frozen=True)
class SizeBounds:
    """Bounds for some rows, in their unit of weight."""

    low: Float64  # (c,)
    high: Float64  # (c,)
    total: float  # weight of all rows
    # the weight of every row that has any, of which the bounds are multiples; None where weights
    # differ
    quantum: float | None
    largest: float  # weight of a row

    def dual_part(self, prices: Float64) -> float:
        """sum_j low_j max(g_j, 0) - high_j max(-g_j, 0): the bounds' part of the dual."""
        return float(self.low @ np.maximum(prices, 0.0) - self.high @ np.maximum(-prices, 0.0))

    def excess(self, mass: Float64, clusters: slice | IntArray = slice(None)) -> Float64:
        """By how much each mass, of all clusters or of some, lies below its lower bound or above
        its upper one."""
        beyond: Float64 = np.maximum(
            np.maximum(self.low[clusters] - mass, mass - self.high[clusters]), 0.0
        )
        return beyond

    def are_kept(self, mass: Float64, slack: float = SLACK) -> bool:
        """True where no mass misses its bounds by more than so small a share of all."""
        return bool((self.excess(mass) <= slack * self.total).all())

    def missed(self, prices: Float64, mass: Float64) -> Float64:
        """(c,) by how much each mass misses what its price asks for: the lower bound of prices
        above zero, the upper one below."""
        within = self.excess(mass)
        return np.where(
            prices > 0,
            np.abs(mass - self.low),
            np.where(prices < 0, np.abs(mass - self.high), within),
        )


@dataclass(frozen=True)
class SizeLimits:
    """Bounds of sizes as they were given, each as a share of the weight of all rows."""

    given: str  # the estimator and its arguments, for messages
    low: Float64  # (c,)
    high: Float64  # (c,)
    # (c,) rounded down to whole rows where all weigh the same: a third of ten rows is no whole
    # number
    low_is_share: npt.NDArray[np.bool_]
    high_is_share: npt.NDArray[np.bool_]  # (c,) rounded up
    in_means: bool = False  # the same multiple of the mean size for all, however many they are

    def for_clusters(self, count: int) -> SizeLimits:
        """Return the same multiples of the mean size for fewer clusters."""
        larger = len(self.low) / count
        high = np.minimum(self.high[:count] * larger, 1.0)
        shares = self.low_is_share[:count], self.high_is_share[:count]
        return SizeLimits(self.given, self.low[:count] * larger, high, *shares, in_means=True)

    def over(self, weight: ColumnFacts, *, soft: bool, sampled: bool = False) -> SizeBounds:
        """Bounds for rows of these weights; of a sample, wide enough for whole rows."""
        largest, smallest, total = weight.largest, weight.least_positive, weight.total
        low, high = self.low * total, self.high * total
        if soft or smallest < largest:
            return SizeBounds(low, high, total, None, largest)
        rows, most = low / largest, high / largest
        down, up = self.low_is_share | sampled, self.high_is_share | sampled
        low = np.where(down, np.floor(rows * (1 + SLACK)), np.ceil(rows * (1 - SLACK)))
        high = np.where(up, np.ceil(most * (1 - SLACK)), np.floor(most * (1 + SLACK)))
        return SizeBounds(low * largest, high * largest, total, largest, largest)

    def complaint(self, bounds: SizeBounds, unit: float, what: str) -> str | None:
        """Say what makes bounds impossible, in the user's unit of weight, which is of `what`; None
        where they can be met."""

        def said(value: float) -> str:
            return f"{in_digits(value * unit, 6)} {what}"

        if (worst := np.flatnonzero(bounds.low > bounds.high * (1 + SLACK))).size:
            j = int(worst[0])
            return (
                f"cluster {j} would hold at least {said(bounds.low[j])} and at most "
                f"{said(bounds.high[j])}"
            )
        least, most, total = math.fsum(bounds.low), math.fsum(bounds.high), bounds.total
        if least > total * (1 + SLACK):
            return (
                f"the clusters would hold at least {said(least)} together, and there are "
                f"{said(total)}"
            )
        if most < total * (1 - SLACK):
            return (
                f"the clusters could hold at most {said(most)} together, and there are "
                f"{said(total)}"
            )
        return None


@dataclass(frozen=True)
class Priced:
    """Prices, the sums that they make, and the rows visited to find them."""

    prices: Float64
    sums: PriceStatistics
    row_visits: int


def solve_prices(
    problem: Problem, rule: Rule, bounds: SizeBounds, at: State, reach: float, tolerance: float
) -> Priced:
    """Maximise  sum_i min_u (cost_i(u) - g.u) + sum_j low_j max(g_j, 0) - high_j max(-g_j, 0)  over
    g, until no mass misses its bound by more than `tolerance`, by Newton steps of at most `reach`,
    which shrinks where the dual falls and grows where it rises."""

    def sums_at(prices: Float64) -> PriceStatistics:
        return problem.engine.fold(problem.rows, PricePass(rule, State(centres, prices)))

    centres: Centres = at.centres
    prices = at.known_scales()
    sums, refused, visits = sums_at(prices), 0, problem.n_rows
    if not reach > 0:  # all rows lie at one point: prices in no unit
        return Priced(prices, sums, visits)
    value = _dual(sums, prices, bounds)
    slack, least = rounding_of(problem.rows), LEAST * bounds.total / (len(prices) * reach)
    for _ in range(STEPS):
        missed = bounds.missed(prices, sums.mass)
        if missed.max() <= tolerance or refused >= TRIES:
            break
        step = newton_step(prices, sums, bounds, least)
        longest = float(np.abs(step).max())
        if not longest > 0:
            break
        shortened = longest > reach
        new = _landed(prices, step * (reach / longest) if shortened else step, bounds)
        new_sums = sums_at(new)
        visits += problem.n_rows
        new_value = _dual(new_sums, new, bounds)
        rises = new_value - value
        flat = abs(rises) <= slack * (abs(sums.cost) + abs(new_sums.cost))
        if rises > 0 or (flat and bounds.missed(new, new_sums.mass).max() < missed.max()):
            prices, sums, value, refused = new, new_sums, max(value, new_value), 0
            reach = 2.0 * reach if shortened else reach
        else:
            reach, refused = min(reach, longest) / 4.0, refused + 1
    return Priced(prices, sums, visits)


def _dual(sums: PriceStatistics, prices: Float64, bounds: SizeBounds) -> float:
    return sums.cost - float(prices @ sums.mass) + bounds.dual_part(prices)


def _landed(prices: Float64, step: Float64, bounds: SizeBounds) -> Float64:
    """Return prices after a step that does not pass zero, where the dual has a kink."""
    new = prices + step
    kinked = bounds.low < bounds.high
    return np.where(kinked & (np.sign(new) * np.sign(prices) < 0), 0.0, new)


def newton_step(
    prices: Float64, sums: PriceStatistics, bounds: SizeBounds, least: float
) -> Float64:
    """Return the change of prices after which masses, to first order, are what prices of their
    signs ask for.

    Clusters are bound to their lower or upper bound, or free with price zero; which of them are is
    found by trying. `least`: mass that at least follows a unit of a price, where no row near the
    border says how much.
    """
    mass, c = sums.mass, len(prices)
    curvature = np.diag(sums.coupling.sum(axis=1)) - sums.coupling
    equal = bounds.low == bounds.high
    at_low = equal | (prices > 0) | ((prices == 0) & (mass < bounds.low))
    at_high = ~at_low & ((prices < 0) | ((prices == 0) & (mass > bounds.high)))
    step: Float64 = np.zeros(c)
    for _ in range(PATTERNS):
        bound = at_low | at_high
        target = np.where(at_low, bounds.low, bounds.high)
        # one of them must have room, and a price of zero
        if bound.all() and abs(target.sum() - bounds.total) > 1e-9 * bounds.total:
            free = int(np.argmin(np.where(equal, np.inf, np.abs(prices))))
            at_low[free] = at_high[free] = bound[free] = False
        step[:] = np.where(bound, 0.0, -prices)
        wanted = (target - mass - curvature @ step)[bound]
        step[bound] = _solved(
            curvature[np.ix_(bound, bound)], wanted, least, whole=bool(bound.all())
        )
        new, predicted = prices + step, mass + curvature @ step
        slack = 1e-9 * bounds.total
        loose = ~equal & ((at_low & (new < 0)) | (at_high & (new > 0)))
        low = ~bound & (predicted < bounds.low - slack)
        high = ~bound & (predicted > bounds.high + slack)
        if not (loose | low | high).any():
            break
        at_low, at_high = (at_low & ~loose) | low, (at_high & ~loose) | high
    return step


def _solved(matrix: Float64, right: Float64, least: float, *, whole: bool) -> Float64:
    """Solve with a part of the curvature; all of it is singular along equal changes of all
    prices."""
    c = len(matrix)
    if not c:
        return right
    shift = max(float(matrix.diagonal().max()), least) / c if whole else 0.0
    matrix = matrix + shift + least * np.eye(c)
    return np.asarray(np.linalg.solve(matrix, right), np.float64)


def cooled(
    problem: Problem, rule: Rule, bounds: SizeBounds, at: State, scale: float
) -> tuple[Priced, float]:
    """Prices of a rule whose memberships jump, by its smooth form: from a warm one down to where
    few rows are shared; `scale`: the mean squared distance, which temperatures are measured by.

    Returns them and the temperature reached: each cluster shares the weight of some `SHARED` rows
    with others there, fewer where clusters are small, so that its own rows are as many as it should
    have up to a few.
    """
    c = len(bounds.low)
    shared = min(SHARED * bounds.largest, bounds.total / (4 * c))
    temperature, visits = _warm(problem, rule, bounds, at, scale)
    state = at
    while True:
        found = solve_prices(
            problem,
            rule.smoothed(temperature),
            bounds,
            state,
            REACH * temperature,
            0.05 * bounds.total / c,
        )
        visits, state = visits + found.row_visits, State(at.centres, found.prices)
        soft = temperature * float(found.sums.coupling.sum()) / c
        if soft <= 1.5 * shared or temperature <= COLD * scale:
            return replace(found, row_visits=visits), temperature
        temperature *= max(shared / soft, 1.0 / COOLING)


def _warm(
    problem: Problem, rule: Rule, bounds: SizeBounds, at: State, scale: float
) -> tuple[float, int]:
    """A temperature at which clusters share so many rows that masses say where prices lead to, and
    the rows visited to find it."""
    temperature, visits = WARM * scale, 0
    for _ in range(HEATINGS):
        sums = problem.engine.fold(problem.rows, PricePass(rule.smoothed(temperature), at))
        visits += problem.n_rows
        if temperature * sums.coupling.sum() >= SHARED_AT_FIRST * bounds.total:
            break
        temperature *= HEATING
    return temperature, visits
