"""Clusters of bounded sizes: centres, prices for them, and the cheapest assignment within the
bounds, in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...data.arrays import Float64, IntArray
from ...data.blocks import Blocks
from ...data.column_facts import facts_of
from ...data.precision import itemsize, resolution
from ...rules import Rule
from ...runtime.numerals import in_digits
from ...runtime.user_warnings import warn
from ...sampling.population import Population
from ...spaces import Space
from ...spaces.centres import Centres
from ...sweeps.final_pass import assign_all
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import Statistics
from ..fixed_point import solve
from ..multistart import (
    BestRun,
    FitResult,
    Runs,
    Solving,
    best_of,
    by_decreasing_mass,
    concluded,
    mass_of,
    portable,
)
from ..observer import Observer
from ..solution import Solution
from .apportioned import better_start
from .assignment import WholeRows, assigned
from .near import (
    CHEAPEST,
    LAST,
    MEASURED,
    NEAR,
    NearestClusters,
    NearSearch,
    cautious_prices,
    near_prices,
)
from .placed import PlacedRows, PlacingStep, until_costs_stand
from .priced import PricedStep, Pricing, mean_distance
from .prices import SLACK, SizeBounds, SizeLimits, cooled

SETTLED = 1e-12  # of the mean size: how far soft sizes may miss their bounds, in float64
SETTLED_ROUGHLY = 1e-5  # in float32
MISSED = 1e-3  # of the mean size by which sums of memberships may miss their bounds unsaid
EXACT = 32  # clusters up to which the cheapest assignment is sought in every sweep
# of a move between two clusters, of those from each cluster (measured: 100, with their room), and
# of a row's neighbours in its cluster
BYTES_OF_A_MOVE, MOVES, BYTES_OF_LINKS = 24, 224, 16
COPIES = 3  # of the distances of all rows to all clusters, that the repair holds at once
TURNS = 4  # of the repair, each with the clusters that rows know by the prices of the one before
REPAIRED = 1 << 25  # rows times clusters up to which it is sought in the end all the same
BORDER = (
    1e-3  # of the mean squared distance: margin within which the last moves are sought at first
)


def bytes_of_placing(blocks: Blocks, n_clusters: int) -> int:
    """Bytes of what rows are placed by, where they are few enough and clusters more than a few: the
    clusters that each knows twice, as blocks are joined, or once beside the moves between clusters,
    and of all distances the copies of the last repair."""
    n = blocks.n_rows
    if n_clusters <= EXACT or n > blocks.most_gathered:
        return 0
    known = n * NEAR * (np.dtype(np.int32).itemsize + itemsize(blocks.x))
    moves = BYTES_OF_LINKS * n + BYTES_OF_A_MOVE * n_clusters * min(n_clusters, MOVES)
    known += max(known, moves)
    distances = n * n_clusters
    return known + COPIES * 8 * (distances if distances <= REPAIRED else min(distances, MEASURED))


@dataclass(frozen=True)
class Sized(Solving):
    """A solver within limits of the clusters' sizes, for a rule that has no prices by itself."""

    limits: SizeLimits
    plain: Rule
    n_rows: int  # of the fit: fewer are a sample
    matched: bool  # whether starts are brought into the order of the bounds, as drawn ones are

    @property
    def takes_fewer_starts(self) -> bool:
        """True where clusters have bounds of their own, or numbers of rows, and several that begin
        at one centre divide its rows."""
        return not self.limits.in_means

    def for_clusters(self, count: int) -> Sized:
        """Return the solver for fewer clusters, of which each may hold more."""
        if not self.limits.in_means or count == len(self.limits.low):
            return self
        return replace(self, limits=self.limits.for_clusters(count))

    @property
    def rule(self) -> Rule:
        """The rule with prices."""
        rule = self.plain.with_prices()
        assert rule is not None, "estimators refuse other rules"
        return rule

    def bounds(self, problem: Problem) -> SizeBounds:
        """The bounds for the rows of a problem."""
        return self.limits.over(
            facts_of(problem.rows.blocks.weight),
            soft=problem.rule.is_soft,
            sampled=problem.n_rows < self.n_rows,
        )

    def __call__(self, problem: Problem, state: State, observer: Observer) -> Solution:
        """Follow centres and prices from a state, whose prices may be missing, until the centres
        stand still."""
        if self.are_placed(problem):
            if state.scales is None:
                state = State(state.centres, np.zeros(len(state.centres)))
            return solve(problem, state, observer, PlacingStep(self.bounds(problem)))
        pricing, prices, visits = self.pricing(problem, state)
        # a mixture of centres has no prices
        plain = replace(problem, stopping=replace(problem.stopping, acceleration=None))
        solution = solve(plain, State(state.centres, prices), observer, PricedStep(pricing))
        return replace(solution, row_visits=solution.row_visits + visits)

    def are_placed(self, problem: Problem) -> bool:
        """True where clusters are so many that rows are placed among those that each knows, as the
        cheapest assignment of all would cost many times the sweeps."""
        placeable = not problem.rule.is_soft and self.bounds(problem).quantum is not None
        few_rows = problem.n_rows <= problem.rows.blocks.most_gathered
        return placeable and few_rows and len(self.limits.low) > EXACT

    def pricing(self, problem: Problem, state: State) -> tuple[Pricing, Float64, int]:
        """A way to prices here, those of a state, and rows visited."""
        bounds, c = self.bounds(problem), len(state.centres)
        state = State(state.centres, np.zeros(c)) if state.scales is None else state
        scale, visits = mean_distance(problem, state), problem.n_rows
        if not scale > 0:  # all rows lie at all centres: no price moves any
            return Pricing(bounds, 0.0, scale, 0.0), state.known_scales(), visits
        if problem.rule.is_soft:
            settled = (
                SETTLED if resolution(problem.rows.blocks.x.dtype) < 1e-10 else SETTLED_ROUGHLY
            )
            pricing = Pricing(bounds, 0.0, scale, settled * bounds.total / c)
            prices, visited = pricing.prices(problem, state)
            return pricing, prices, visits + visited
        found, temperature = cooled(problem, problem.rule, bounds, state, scale)
        tolerance = max(bounds.largest, 1e-3 * bounds.total / c)
        return (
            Pricing(bounds, temperature, 8.0 * temperature, tolerance),
            found.prices,
            visits + found.row_visits,
        )

    def best(self, runs: Runs) -> tuple[Problem, BestRun]:
        """Solve from every start, and with a `search` from where that for the best plain partition
        ends too."""
        first = list(runs.starts)
        return self.for_clusters(max(map(len, first)))._best(runs, first)

    def _best(self, runs: Runs, first: list[Centres]) -> tuple[Problem, BestRun]:
        problem, observer, schedule = runs.problem, runs.observer, runs.schedule
        within, visits = replace(problem, rule=self.rule), 0
        if runs.search is not None:
            before = observer.of_pilot(self._as_final)
            found = best_of(
                first,
                runs.n_starts,
                problem,
                before,
                stage="plain",
                schedule=schedule,
                search=runs.search,
            )
            first, visits = [*first, found.solution.state.centres], found.row_visits
        if self.matched:
            first, visits = (
                [self._matched(centres, problem) for centres in first],
                visits + len(first) * problem.n_rows,
            )
        starts: list[Centres] | list[State] = first
        if self.are_placed(within):
            within = until_costs_stand(within)
            first = first if runs.search is None else first[-1:]  # one run, from the plain solution
            starts = self._apportioned(first, within) or first
            visits += 2 * problem.n_rows * len(starts)
        best = best_of(starts, len(starts), within, observer, schedule=schedule, solver=self)
        return within, replace(best, row_visits=visits + best.row_visits)

    def _apportioned(self, first: list[Centres], problem: Problem) -> list[State]:
        """Return starts with prices that cost less where clusters of too many rows have several
        centres; none for given ones, and for bounds that differ."""
        bounds = self.bounds(problem)
        if not self.matched or self._differ:
            return []
        return [better_start(problem, centres, bounds) for centres in first]

    @property
    def _differ(self) -> bool:
        """True where clusters have bounds of their own."""
        return bool(np.ptp(self.limits.low) or np.ptp(self.limits.high))

    def _as_final(self, rule: Rule, state: State, sums: Statistics | None) -> tuple[Rule, State]:
        """Return an interrupted plain run as one without bounds that hold."""
        return self.rule, State(state.centres, np.zeros(len(state.centres)))

    def _matched(self, centres: Centres, problem: Problem) -> Centres:
        """The centres in such an order that of two bounds the larger is for the cluster that has
        more rows without any.

        Where rows are at fewer places than there are clusters, several begin at one, which divide
        its rows.
        """
        c = len(self.limits.low)
        if not self._differ and len(centres) == c:
            return centres
        mass = problem.sweep(State(centres)).mass
        sharing = np.ones(len(centres), dtype=np.intp)
        for _ in range(c - len(centres)):
            sharing[np.argmax(mass / sharing)] += 1
        order, places = np.empty(c, dtype=np.intp), np.repeat(np.arange(len(centres)), sharing)
        order[np.argsort(self.limits.low + self.limits.high, kind="stable")] = places[
            np.argsort((mass / sharing)[places], kind="stable")
        ]
        return centres[order]

    def conclude(
        self, best: BestRun, problem: Problem, observer: Observer, numbered_along: Population | None
    ) -> FitResult:
        """The last pass over all rows, within the bounds, and how far its cost may be from the
        least; `numbered_along` as of `multistart.concluded`, for clusters of the same bounds."""
        sized = self.for_clusters(len(best.solution.state.centres))
        return sized._concluded(best, problem, observer, numbered_along)

    def _concluded(
        self, best: BestRun, problem: Problem, observer: Observer, numbered_along: Population | None
    ) -> FitResult:
        bounds, visits = self.bounds(problem), best.row_visits
        space, state = portable(best, problem)
        whole: WholeRows | PlacedRows | None = None
        if self.are_placed(problem):
            state, whole, visited = self._placed(problem, bounds, state, space)
            visits += visited
        elif not problem.rule.is_soft:
            width = BORDER * mean_distance(problem, best.solution.state)
            found = assigned(problem, problem.rule, bounds, state, width, space)
            state = State(state.centres, found.prices)
            # of those at borders by the final prices too
            whole = WholeRows.of(problem, problem.rule, bounds, state, width, space)
            visits += found.row_visits + whole.row_visits + problem.n_rows
        if numbered_along is not None:
            mass = mass_of(best, problem) if whole is None else whole.mass

            def first_places() -> Float64:
                moves = None if whole is None else whole.moves(problem, state, space)
                labels = assign_all(
                    problem.rows, space, problem.rule, state, problem.engine, moves=moves
                ).labels
                return numbered_along.first_places(labels.astype(np.intp), len(mass))

            order = self._within_bounds_alike(by_decreasing_mass(mass, state.centres, first_places))
            state, whole = state[order], None if whole is None else whole.numbered(order)
        moves = None if whole is None else whole.moves(problem, state, space)
        result = concluded(
            replace(best, row_visits=visits),
            problem,
            observer,
            numbered_along=None,
            at=(space, state),
            moves=moves,
        )
        prices = state.known_scales()
        mass = result.assignment.mass
        cost = result.assignment.objective / problem.rows.blocks.unit
        gap = float(prices @ mass) - bounds.dual_part(prices)
        if moves is not None:
            gap += moves.excess(prices, problem.rows.blocks.weight)
        if not bounds.are_kept(mass, MISSED / len(mass) if problem.rule.is_soft else SLACK):
            self._warn_of_missed(bounds, mass, problem)
        return replace(result, size_gap=max(gap, 0.0) / abs(cost) if cost else 0.0)

    def _placed(
        self, problem: Problem, bounds: SizeBounds, state: State, space: Space
    ) -> tuple[State, WholeRows | PlacedRows, int]:
        """Return the state with its last prices, the rows in their clusters, and rows visited:
        where they are few enough the cheapest of all assignments."""
        centres, prices, visits = state.centres, state.known_scales(), 0
        if problem.n_rows * len(centres) > REPAIRED:
            return _placed_once(problem, bounds, state, space)
        for _ in range(TURNS):
            # a price that is nearly right shows which clusters matter
            at = State(centres, prices)
            rows = NearestClusters.of(problem, at, space=space)
            placed = PlacedRows.of(problem, rows, bounds, at, CHEAPEST).beside_others(rows, prices)
            prices, visits = placed.prices, visits + 2 * problem.n_rows
            if placed.are_cheapest:
                return State(centres, prices), placed, visits
        found = assigned(problem, problem.rule, bounds, State(centres, prices), np.inf, space)
        whole = WholeRows.of_equal(found, bounds)
        return State(centres, found.prices), whole, visits + found.row_visits

    def _within_bounds_alike(self, order: IntArray) -> IntArray:
        """Return an order of the clusters (c,) in which those that have the same bounds alone have
        changed places."""
        limits, result = self.limits, np.empty_like(order)
        _, kind = np.unique(
            [limits.low, limits.high, limits.low_is_share, limits.high_is_share],
            axis=1,
            return_inverse=True,
        )
        for bounds in range(kind.max() + 1):
            result[kind == bounds] = order[kind[order] == bounds]
        return result

    def _warn_of_missed(self, bounds: SizeBounds, mass: Float64, problem: Problem) -> None:
        """Say by how much bounds are missed, in which cluster most of all, and what helps."""
        unit, missed, c = problem.rows.blocks.unit, bounds.excess(mass), len(mass)
        worst = int(np.argmax(missed))
        above = mass[worst] > bounds.high[worst]
        asked = (
            f"{'at most' if above else 'at least'} "
            f"{in_digits((bounds.high if above else bounds.low)[worst] * unit, 6)}"
        )
        help_ = (
            "no row is light enough to move; divide the weight of heavy rows among several, or "
            "take wider bounds or fewer clusters"
        )
        if problem.rule.is_soft:
            help_ = (
                "rounding or equal rows leave no prices for them; take float64 rows, wider "
                "bounds or fewer clusters"
            )
        warn(
            f"{self.limits.given}: {np.count_nonzero(missed > SLACK * bounds.total)} of {c} sizes "
            "miss their bounds, by "
            f"{in_digits(missed.sum() * unit, 4)} in all: cluster {worst} holds "
            f"{in_digits(mass[worst] * unit, 6)} in place of {asked}, as {help_}.",
            ConvergenceWarning,
        )


def _placed_once(
    problem: Problem, bounds: SizeBounds, state: State, space: Space
) -> tuple[State, PlacedRows, int]:
    """Return the same where rows are placed among the clusters that are nearest to each, and only
    the gap asks for all."""
    centres, plain = state.centres, State(state.centres, np.zeros(len(state.centres)))
    if space is problem.space:
        rows = NearSearch()(problem, plain)
    else:
        rows = NearestClusters.of(problem, plain, space=space)
    prices = near_prices(problem, rows, bounds, state.known_scales())
    placed = PlacedRows.of(problem, rows, bounds, State(centres, prices), LAST)
    last = State(centres, cautious_prices(problem, bounds, State(centres, placed.prices), space))
    cheapest = NearestClusters.of(problem, last, 1, space)
    placed = replace(placed, prices=last.known_scales()).beside(cheapest)
    return last, placed, 4 * problem.n_rows
