"""Search: ways out of poor optima, by clusters that come where errors are large and go where they
serve least.

Breathing k-means (Fritzke 2020): b centres are added in the b clusters of largest error, which
sweeps settle; then the b clusters of least utility go, and sweeps settle the rest. What lowers the
objective is kept; b = 5, one less after each failure. Here centres come at rows, so that it works
in any space, and all else are sums of a pass. Few rows are then looked at one by one
(`sweeps/exchange.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .. import native
from ..data.arrays import Float64, IntArray
from ..data.partitions import one_hot
from ..data.precision import ascending, first_largest, rounding
from ..rules import Hard
from ..sampling.drawing import DrawWithinPass, new_key
from ..sampling.population import Population
from ..spaces.centres import Centres
from ..sweeps.bounded import sweep_of_fewer
from ..sweeps.choice import SweepFunction
from ..sweeps.exchange import exchanged
from ..sweeps.passes import CostPass, NearestRowsPass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from .fixed_point import solve
from .observer import Observer, Progressed, known
from .solution import Solution

BREADTH = 5  # clusters that come and go together, at first
# sweeps in which added clusters find their places, and after which a trial without prospects ends
A_FEW = 4
# clusters for each further try of a breadth: of many, others than those of the largest errors may
# be the ones to divide
MANY = 16
# clusters from which on a share of them comes and goes together, and half as many after each
# failure
VERY_MANY = 256
GAIN = 1e-4  # share of the objective that is worth a further try
# movement of the centres, relative to the typical distance, at which a trial is settled well enough
# to be judged
TOLERANCE = 1e-2
STARTS = 9  # further starts, drawn and swept, whose row visits a search makes at most
DRAWING = 20  # sweeps over plain rows in the time of drawing a start
# the same of very many clusters: a third of the time for .4 percent of the objective
STARTS_OF_MANY, DRAWING_OF_MANY = 2, 3
ROWS = 1000  # rows of a sample for each cluster that are enough to search on
FEW_ROWS = 1000  # rows up to which they are looked at one by one
TRIALS = 20  # for each cluster, of others that begin anew there, at most
# rows times columns times clusters times trials, at most: some five milliseconds
TRIED_VALUES = 2_000_000
LEAST_TRIALS = 4  # fewer are not worth the time that it takes to begin
# share of the sum of a Gram matrix's eigenvalues that points may lack: what is found by them is
# judged by sweeps
LEFT_OUT = 1e-4
NEGATIVE = 1e-8  # share of the largest eigenvalue of a Gram matrix below which it is rounding


@dataclass(frozen=True)
class Searched:
    """A solution that search has found, or the one that it began with."""

    solution: Solution
    row_visits: int  # of the search and of the sweeps after it


class Searching(Protocol):
    """Looks for a better solution than the one that a run has ended in."""

    def on_sample(self) -> Searching:
        """Search on a sample of the rows."""

    def __call__(
        self, problem: Problem, solution: Solution, observer: Observer, reach: int = 1
    ) -> Searched:
        """Return a better solution, or the same. `reach`: visits of a further start for each of one
        over these rows alone."""


def stage_of(sizes: list[int], n_clusters: int) -> int:
    """Return which of some growing samples is searched on: the first that shows all clusters well,
    else the last."""
    return next(
        (number for number, size in enumerate(sizes) if size >= ROWS * n_clusters), len(sizes) - 1
    )


def is_enough(sizes: list[int], n_clusters: int) -> bool:
    """True where the largest sample shows all clusters well, so that all rows would say the
    same."""
    return sizes[-1] >= ROWS * n_clusters


@dataclass(frozen=True)
class Breathing:
    """Search around a solution.

    By default it looks for the best hard partition, from which the rule's own sweeps go on: in the
    plain space that finds what a search under a soft rule finds, in less time. It ends once its row
    visits are more than those of nine further starts, of two from 256 clusters on.
    """

    population: Population | None  # that centres are drawn from; None: all rows
    rng: np.random.RandomState
    # under the rule itself where it has utilities, and for as long as it gains
    thorough: bool = False

    def on_sample(self) -> Breathing:
        """Search on a sample of the population."""
        return replace(self, population=None)

    def __call__(
        self, problem: Problem, solution: Solution, observer: Observer, reach: int = 1
    ) -> Searched:
        """As of `Searching`."""
        seed = self.rng.randint(2**31)
        if not solution.converged or solution.ended or len(solution.state.centres) < 2:
            return Searched(solution, 0)
        last = None if solution.last is None else solution.last[1]
        reached = solution.history[-1] / problem.rows.blocks.unit
        # should it be interrupted
        observer.note(
            Progressed(problem.rule, known(solution.state), solution.n_iter, reached, last)
        )
        starts, drawing = (
            (STARTS, DRAWING)
            if len(solution.state.centres) < VERY_MANY
            else (STARTS_OF_MANY, DRAWING_OF_MANY)
        )
        most = (
            math.inf
            if self.thorough
            else reach
            * starts
            * (solution.row_visits + drawing * _sweep_share(problem) * problem.n_rows)
        )
        trial = self._trial(problem)
        found = _Search(trial, self.population, seed, most, observer).run(solution.state.centres)
        observer.solved()
        centres = _exchanged(trial, found, self.population, seed)
        searched = Searched(solution, found.row_visits)
        # Another rule's sweeps may have led out of a poor optimum alone, before any breath, and
        # further from there than from a better hard partition.
        if trial.rule is not problem.rule or (found.gained and centres is None):
            searched = better(problem, solution, found.centres, found.row_visits, observer)
        if centres is None:
            return searched
        return better(
            problem, searched.solution, centres, searched.row_visits, observer.within("exchanged")
        )

    def _trial(self, problem: Problem) -> Problem:
        """The problem whose solutions are compared."""
        rule = problem.rule  # a hard partition would divide the noise too
        own = not rule.is_soft or (
            (self.thorough or rule.noise_distance is not None) and rule.has_removal_costs
        )
        stopping = replace(
            problem.stopping, tol=max(problem.stopping.tol, TOLERANCE), criterion=None
        )
        return replace(problem, rule=problem.rule if own else Hard(), stopping=stopping)


def _exchanged(
    problem: Problem, found: _Breath, population: Population | None, seed: int
) -> Centres | None:
    """Return centres of few rows that are better than those found, by rows that change clusters one
    by one; None where there are none, or no points in which means of rows are means."""
    n, c, rows, space = problem.n_rows, len(found.centres), problem.rows, problem.space
    if (
        n > FEW_ROWS
        or problem.rule != Hard()
        or not native.is_available()
        or not space.norms_are_offsets
        or space.spherical
    ):
        return None
    numbers, weights = (
        (population.rows, population.weights)
        if population is not None
        else (np.arange(n), rows.blocks.weight)
    )
    if (
        LEAST_TRIALS * len(numbers) * min(space.size, len(numbers)) * c > TRIED_VALUES
        or not weights.min() > 0
    ):
        return None
    points = _points(space.compared(rows.blocks.take(numbers), numbers))
    if points is None or not points.size:  # rows that a kernel does not tell apart
        return None
    trials = min(TRIALS * c, TRIED_VALUES // (points.size * c))
    labels = np.concatenate(
        [nearest for nearest, _ in problem.map(NearestRowsPass(problem.rule, State(found.centres)))]
    )
    draws = np.random.RandomState([seed, TRIALS]).uniform(size=(trials, 2))
    end = exchanged(
        points, weights, labels if population is None else population.of(labels), c, draws
    )
    if end is None or end.objective >= (1.0 - GAIN) * end.before:
        return None
    everywhere = end.labels if population is None else end.labels[population.members()]
    return problem.centres_of(one_hot(everywhere, c, np.zeros(0)))


def _points(rows: Centres) -> Float64 | None:
    """Return coordinates of rows over an orthonormal basis, the principal ones of a Gram matrix;
    None where it is indefinite."""
    if rows.duals is rows.coordinates:
        return rows.coordinates
    values, vectors = np.linalg.eigh(rows.inner(rows))
    if values[0] < -NEGATIVE * values[-1]:
        return None
    kept = np.cumsum(values) > LEFT_OUT * values.sum()
    points: Float64 = vectors[:, kept] * np.sqrt(values[kept])
    return points


def better(
    problem: Problem, solution: Solution, centres: Centres, row_visits: int, observer: Observer
) -> Searched:
    """Return where the problem's own sweeps lead from centres that were found in so many visits, or
    the solution where it is no worse."""
    after = solve(problem, State(centres), observer.within("found").without_callbacks())
    visits = row_visits + after.row_visits
    if after.history[-1] >= solution.history[-1] - GAIN * abs(solution.history[-1]):
        return Searched(solution, visits)
    if observer.after_sweep is not None:  # callbacks hear of what is kept alone
        after = solve(problem, State(centres), observer.within("heard"))
    return Searched(after, visits)


def _sweep_share(problem: Problem) -> float:
    """The cost of a sweep over plain rows, relative to one in the space."""
    return min(1.0, int(problem.rows.blocks.x.shape[1]) / problem.space.size)


@dataclass(frozen=True)
class _Breath:
    """The state of a search."""

    centres: Centres
    objective: float
    errors: Float64  # (c,)
    breadth: int
    failures: int = 0  # at this breadth since the last gain
    number: int = 0
    row_visits: int = 0
    gained: bool = False

    def packed(self) -> dict[str, Any]:
        """The same in values that a checkpoint can hold."""
        return vars(self)


@dataclass(frozen=True)
class _Search:
    """The parts of a search that stay the same from breath to breath."""

    problem: Problem
    population: Population | None
    seed: int
    most_visits: float
    observer: Observer

    def run(self, centres: Centres) -> _Breath:
        """Breathe until nothing is gained by it any more."""
        section = self.observer.at("search").section()
        now = self._first(centres) if section.found is None else _Breath(**section.found)
        rng = np.random.RandomState(0)  # which takes many times longer to make than to seed
        packed: Callable[[], dict[str, Any]] = now.packed
        try:
            while now.breadth > 0 and now.row_visits < self.most_visits:
                rng.seed([self.seed, now.number])
                now = self._breathe(now, rng)
                packed = now.packed
                section.note(packed)
        except BaseException:
            section.break_off(packed)
            raise
        section.end(packed)
        return now

    def _first(self, centres: Centres) -> _Breath:
        start = self._settled(centres)
        return _Breath(
            *_judged(start, self.problem), first_breadth(len(centres)), row_visits=start.row_visits
        )

    def _breathe(self, now: _Breath, rng: np.random.RandomState) -> _Breath:
        """Add clusters, remove as many, and keep what is better."""
        n = self.problem.n_rows
        drawn = self._drawn(now, rng)
        if not len(drawn):
            return replace(now, breadth=0, row_visits=now.row_visits + n)
        blocks = self.problem.rows.blocks
        wide = self._settled(
            Centres.stack([now.centres, self.problem.space.embed(blocks.take(drawn), drawn)]), A_FEW
        )
        costs = self.problem.engine.fold(self.problem.rows, CostPass(self.problem.rule, wide.state))
        kept = kept_clusters(costs.utility, wide.state.centres, len(drawn))
        end = self._settled(wide.state.centres[kept], A_FEW, sweep_of_fewer(wide.sweep, kept))
        visits = now.row_visits + 2 * n + wide.row_visits + end.row_visits
        if may_fall_below(now.objective, end, blocks.unit):
            end = self._settled(end.state.centres, sweep=end.sweep)
            visits += end.row_visits
        centres, objective, errors = _judged(end, self.problem)
        if objective < now.objective - GAIN * abs(now.objective):
            return _Breath(centres, objective, errors, now.breadth, 0, now.number + 1, visits, True)
        failures, breadth = now.failures + 1, now.breadth
        if len(centres) >= VERY_MANY:
            breadth = breadth // 2 if breadth >= 2 * BREADTH else 0
        elif failures > len(centres) // MANY:
            failures, breadth = 0, breadth - 1
        return replace(
            now, breadth=breadth, failures=failures, number=now.number + 1, row_visits=visits
        )

    def _drawn(self, now: _Breath, rng: np.random.RandomState) -> IntArray:
        """Draw rows to begin clusters at, each within a cluster of large error in proportion to
        weight and squared distance."""
        # After a failure, other clusters than those of the largest errors are tried, in proportion
        # to these.
        keys = rng.exponential(size=len(now.errors)) if now.failures else np.ones(len(now.errors))
        worst = np.sort(ascending(-now.errors / keys)[: now.breadth])
        few = self.population
        over = DrawWithinPass(self.problem.rule, State(now.centres), worst, new_key(rng))
        # in the order of the population, equal ones as one
        if few is not None and few.member is not None:
            parts = self.problem.map(NearestRowsPass(self.problem.rule, State(now.centres)))
            labels, distances = (few.of(np.concatenate(part)) for part in zip(*parts, strict=True))
            drawn = over.drawn(few.rows, few.weights, labels, distances, 0)
        else:
            drawn = self.problem.engine.fold(self.problem.rows, over)
        return drawn.rows[np.isfinite(drawn.times)]

    def _settled(
        self, centres: Centres, max_iter: int | None = None, sweep: SweepFunction | None = None
    ) -> Solution:
        """Sweep from some centres until they hardly move; nothing of it is a result of the fit.
        `sweep` knows them from before."""
        stopping = self.problem.stopping
        stopping = (
            stopping
            if max_iter is None
            else replace(stopping, max_iter=min(max_iter, stopping.max_iter))
        )
        return solve(
            replace(self.problem, stopping=stopping),
            State(centres),
            Observer(self.observer.at("search").reporter),
            sweep=sweep,
        )


def first_breadth(n_clusters: int) -> int:
    """Return how many clusters come and go together at first: of very many a share, as the number
    of those that are badly placed grows with theirs."""
    return min(BREADTH, n_clusters) if n_clusters < VERY_MANY else n_clusters // MANY


def usual_visits_of_search(n_clusters: int, sweeps: int) -> int:
    """Return how often a search after so many sweeps usually visits each row: half as often again
    as it does where no trial gains, but no more often than it may."""
    starts = STARTS if n_clusters < VERY_MANY else STARTS_OF_MANY
    trials = first_breadth(n_clusters) * (1 + n_clusters // MANY)
    return min(starts * sweeps, trials * 2 * (1 + A_FEW) * 3 // 2)


def may_fall_below(objective: float, trial: Solution, unit: float) -> bool:
    """True where further sweeps could bring a trial below an objective: if each gained three
    quarters of what the one before it did."""
    before, reached = trial.history[max(len(trial.history) - 2, 0)], trial.history[-1]
    return not trial.converged and reached - 3 * max(before - reached, 0.0) < objective * unit


def kept_clusters(utility: Float64, centres: Centres, removed: int) -> IntArray:
    """Return the clusters that stay when some of least utility go. The neighbour of one that goes
    stays, as long as others may go: where two share a crowd, each is of little use while the other
    is there."""
    widest = 4.0 * centres.squared_distances_from_mean(np.ones(len(centres))).max()
    noise = rounding(np.float64) * float(widest)
    order = ascending(utility)
    gone: set[int] = set()
    needed: set[int] = set()
    for cluster in itertools.chain(order, order):
        if len(gone) == removed:
            break
        if cluster not in gone and (cluster not in needed or len(gone | needed) == len(centres)):
            gone.add(int(cluster))
            apart = (centres - centres[[cluster]]).squared_norms()  # all pairs may be too many
            apart[cluster] = np.inf
            needed.add(first_largest(-apart, noise))
    return np.array([cluster for cluster in range(len(centres)) if cluster not in gone])


def _judged(solution: Solution, problem: Problem) -> tuple[Centres, float, Float64]:
    """The centres of a trial, its objective and the errors of its clusters."""
    assert solution.last is not None, "a trial makes a sweep at least"
    return (
        solution.state.centres,
        solution.history[-1] / problem.rows.blocks.unit,
        solution.last[1].spread,
    )
