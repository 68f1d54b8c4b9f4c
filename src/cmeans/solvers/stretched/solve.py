"""Clusters with metrics of their own, found from hard partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from ...data.arrays import Float64
from ...rules import Rule
from ...sampling.population import Population, draw, sample
from ...spaces.centres import Centres
from ...sweeps.passes import PartitionPass
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedRows
from ...sweeps.state import State
from ...sweeps.statistics import Statistics
from ..fixed_point import solve
from ..multistart import BestRun, FitResult, Runs, ScalesPilot, Solving, best_of, concluded
from ..observer import Observer, Progressed, known
from ..solution import Solution
from ..stopping import reason
from .rows import FilledRows, RowsToStretch
from .shapes import Shape
from .shrinkage import Shrinkage
from .step import NextClusters, ObjectiveStands
from .volumes import FoundClusters, SweptSums, Volumes

RANDOM_STARTS = 6  # from random rows
# rows on which these show first whether they gain much, where all are twice as many or more: for
# each cluster and column, so that what a run gains by fitting single rows is small beside much; and
# at least
SHOWING_ROWS, LEAST_SHOWING = 50, 2000


@dataclass(frozen=True)
class GivenClusters:
    """Clusters to start from, in the coordinates of the space: with covariances and shares; or as
    centres, to the nearest of which rows belong; or as memberships of all rows."""

    centres: Centres | None = None
    covariances: Float64 | None = None  # (c, r, r) or (c, r)
    shares: Float64 | None = None  # (c,) of the weight
    memberships: Any = None  # (n, c)
    rows: RepresentedRows | None = None  # that have these


class Mapped(NamedTuple):
    """Runs over rows in other coordinates, and the points of centres there."""

    runs: Runs
    points: Callable[[Centres], Float64]


@dataclass(frozen=True)
class StretchedStart:
    """Clusters that a run starts from, and in words where they come from."""

    state: State
    source: str
    is_random: bool = False  # so that it must gain much to take the place of the best before it


@dataclass(frozen=True)
class Showing:
    """Some rows that stand for all, on which runs show what they gain."""

    problem: Problem
    rows: RowsToStretch


@dataclass(frozen=True)
class Stretched(Solving):
    """A solver of clusters with metrics.

    The best hard partition of the rows says towards what covariances shrink, the same for all
    starts, so that their objectives compare. Runs start from it, from the best hard partition of
    the rows in the metric of their total covariance, and from random rows, which may replace these
    only where they gain much.
    """

    shape: Shape
    volumes: Volumes
    prior: float | None  # rows that the prior counts for; None: as many as the shape says
    # the rule, settled, and its pilot, for rows whose scatter within clusters is known
    rules: Callable[[Shrinkage], tuple[Rule, ScalesPilot | None]]
    partition: Runs  # that find the best hard partition
    # the same over rows in other coordinates, the products of a matrix (l, r), or of numbers (r,),
    # with their differences from a point (r,); None where there are none
    mapped: Callable[[Float64, Float64], Mapped | None]
    population: Population
    rng: np.random.RandomState
    # the same solver over other rows in the place of these, from which it may start
    over: Callable[[FilledRows], Stretched]
    given: GivenClusters | None = None  # None: starts are drawn
    # the same solver over rows of which some, far out, weigh nothing: from these it starts
    near: Stretched | None = None
    # (r,) shares of the columns' variances that rounding has taken from the rows; None: none
    rounding: Float64 | None = None
    random_starts: int = RANDOM_STARTS

    def best(self, runs: Runs) -> tuple[Problem, BestRun]:
        problem = runs.problem
        source = self.near or self
        rows = RowsToStretch.of(
            problem if self.near is None else source.partition.problem, self.shape
        )
        hidden = runs.observer.of_pilot(lambda *_: None)
        centres, visits = rows.mean, rows.sweeps * problem.n_rows
        if rows.expected is not None:
            source = source.over(rows.expected)
            rows = rows.filled(source.partition.problem)
        if self.given is None or self.prior != 0:
            hard = _hard_partition(source.partition, hidden.within("partition"))
            centres, visits = hard.solution.state.centres, visits + hard.row_visits
        plain = rows.in_metric(centres, self.shape.identity(rows.width))
        partition = rows.hard_sums(plain)
        shrinkage = self._shrinkage(rows, plain, partition)
        rule, pilot = self.rules(shrinkage)
        step = NextClusters(shrinkage, self.volumes)
        every = problem.whole.rows.blocks.weight
        whole = partition.weight if self.near is None else float(every.sum())
        final = step.until_it_stands(replace(problem, rule=rule), whole)
        first = final if pilot is None else replace(final, rule=pilot.rule)
        if self.given is None:
            plain = step.start(first, partition, plain)
            showing = self._showing(first, rows, len(centres))
            starts = source._drawn(first, step, rows, plain, showing, hidden)
        else:
            showing, state = Showing(first, rows), self._given(self.given, first, step, rows)
            starts = iter([StretchedStart(state, "the given one")])
        best = _best_of(starts, first, step, runs.observer, showing.problem)
        if pilot is not None:
            state = best.solution.state
            scaled = pilot.state(state, first.sweep(state))
            solution = solve(final, scaled, runs.observer.within("scaled").at("fit"), step)
            visits += solution.row_visits + problem.n_rows
            attributes = {**best.attributes, "pilot_m_": getattr(pilot.rule, "m", 1.0)}
            best = replace(best, solution=solution, attributes=attributes)
        return final, replace(best, row_visits=best.row_visits + visits)

    def conclude(
        self, best: BestRun, problem: Problem, observer: Observer, numbered_along: Population | None
    ) -> FitResult:
        result = concluded(best, problem, observer, numbered_along=numbered_along)
        ends, unit = cast(ObjectiveStands, problem.stopping.criterion), problem.rows.blocks.unit
        final = result.assignment
        swept = SweptSums(final.objective / unit, final.mass, ends.weight)
        shrinkage = ends.step.shrinkage
        value = unit * self.volumes.objective(shrinkage, swept, result.state)
        found = self.volumes.attributes(shrinkage, swept, result.state)
        return replace(
            result,
            assignment=replace(final, objective=value),
            history=[*best.solution.history, value],
            reason=f"{reason(best.solution, problem.stopping, value)}{_said_of_starts(best)}",
            attributes={**best.attributes, **found},
        )

    def _shrinkage(self, rows: RowsToStretch, plain: State, partition: Statistics) -> Shrinkage:
        about = partition.about(rows.problem.means(plain, partition)).second
        assert about is not None, "the state that was swept has metrics"
        several = about.holds_members
        weight = float(partition.covered_mass.sum()) if several else partition.weight
        within = about.values.sum(axis=0) / weight
        count = self.shape.prior_rows(len(rows.columns.live)) if self.prior is None else self.prior
        unit = rows.problem.rows.blocks.unit
        errors = None if self.rounding is None else self.rounding * rows.variances
        return Shrinkage.towards(self.shape, rows.columns, within, count / unit, errors)

    def _drawn(
        self,
        problem: Problem,
        step: NextClusters,
        rows: RowsToStretch,
        plain: State,
        showing: Showing,
        observer: Observer,
    ) -> Iterator[StretchedStart]:
        """Yield starts from the two partitions, and those from random rows."""
        c = len(plain.centres)
        yield StretchedStart(plain, "the best partition of the rows as they are")
        if c == 1:
            return
        mapped = self.mapped(rows.coordinates(rows.whitening), rows.point)
        if mapped is not None:
            found = _hard_partition(mapped.runs, observer.within("whitened"))
            points = mapped.points(found.solution.state.centres)
            whitened = rows.in_metric(rows.back(points), rows.metric_of(rows.whitening))
            yield StretchedStart(
                step.start(problem, rows.hard_sums(whitened), whitened),
                "the best partition of the whitened rows",
            )
        known = problem.known
        tells_all = known is not None and bool((known.mass > 0).all())
        few = c > len(self.population) or tells_all
        for _ in range(0 if few else self.random_starts):
            numbers = self.population.at(draw(self.population, c, self.rng))
            centres = problem.space.embed(problem.rows.blocks.take(numbers), numbers)
            centres = centres if known is None else known.in_place_of(centres)
            near = rows.in_metric(centres, rows.standard)
            sums = showing.rows.hard_sums(near)
            yield StretchedStart(
                step.start(showing.problem, sums, near), "random rows", is_random=True
            )

    def _showing(self, problem: Problem, rows: RowsToStretch, c: int) -> Showing:
        """Return a fair sample of the rows, on which starts from random rows show what they gain;
        all of them where these are few, or where a sample's clusters may have no inverse
        covariance."""
        size = shown_rows(len(self.population), c, len(rows.columns.live))
        if size == len(self.population) or self.prior == 0:
            return Showing(problem, rows)
        positions, weights = sample(self.population, size, self.rng)
        numbers, whole = self.population.at(positions), problem.rows.blocks.weight
        weights *= float(whole.sum()) / weights.sum()
        return Showing(
            problem.on_sample(numbers, weights, problem.stopping), rows.part(numbers, weights)
        )

    def _given(
        self, given: GivenClusters, problem: Problem, step: NextClusters, rows: RowsToStretch
    ) -> State:
        """Return the clusters of a start that is given."""
        plain = self.shape.identity(rows.width)
        if given.memberships is not None:
            means = rows.mean[np.zeros(given.memberships.shape[1], np.intp)]
            about = rows.in_metric(means, plain)
            by = PartitionPass(problem.rule, given.memberships, about)
            assert given.rows is not None, "memberships are those of rows"
            sums = problem.engine.fold(given.rows, by)
            return step.start(problem, problem.with_known(sums, about), about)
        assert given.centres is not None, "a start has centres or memberships"
        if given.covariances is None or given.shares is None:
            at = rows.in_metric(given.centres, plain)
            return step.start(problem, rows.hard_sums(at), at)
        inwards = step.shrinkage.columns.inwards(given.covariances)
        weight = 1.0 / self.volumes.first_share
        found = FoundClusters(given.centres, inwards, given.shares, weight)
        return self.volumes.state(step.shrinkage, found)


def shown_rows(n: int, c: int, d: int) -> int:
    """Return of how many of n rows runs from random rows show what they gain, c clusters in d
    columns; n where these are few."""
    size = max(SHOWING_ROWS * c * d, LEAST_SHOWING)
    return size if 2 * size <= n else n


def _hard_partition(runs: Runs, observer: Observer) -> BestRun:
    """Return the best hard partition."""
    more: dict[str, Any] = {"schedule": runs.schedule, "search": runs.search}
    return best_of(runs.starts, runs.n_starts, runs.problem, observer, **more)


def _best_of(
    starts: Iterator[StretchedStart],
    problem: Problem,
    step: NextClusters,
    observer: Observer,
    showing: Problem,
) -> BestRun:
    """Follow every start, and return the run that ends lowest. One from random rows must gain more
    than the little by which components that describe no cluster lower the objective: on the rows
    that show it, before it is followed over all."""
    best: BestRun | None = None
    shown: Solution | None = None  # the best run on the rows that show what others gain
    visits, count, hidden = 0, 0, observer.without_callbacks().within("showing")
    for number, start in enumerate(starts):
        state, count, trial = start.state, number + 1, None
        if start.is_random and showing is not problem:
            assert best is not None, "random rows come last"
            if shown is None:
                shown = solve(showing, best.solution.state, hidden.at("fit"), step)
                visits += shown.row_visits
            trial = solve(showing, state, hidden.at("fit", number), step)
            visits, state = visits + trial.row_visits, trial.state
            if not _is_lower(trial, shown, showing, step, much=True):
                continue
        solution = solve(problem, state, observer.at("fit", number), step)
        visits += solution.row_visits
        if best is None or _is_lower(solution, best.solution, problem, step, much=start.is_random):
            best, shown = BestRun(solution, None, 0, {"start_": start.source}), trial
            value, sums = _value(solution, problem), _last_sums(solution)
            ended = Progressed(problem.rule, known(solution.state), solution.n_iter, value, sums)
            observer.best_start(ended)
        if solution.ended:
            break
    assert best is not None, "there is always a start"
    observer.best_start(None)
    return replace(best, row_visits=visits, attributes={**best.attributes, "n_starts_": count})


def _is_lower(
    solution: Solution, other: Solution, problem: Problem, step: NextClusters, *, much: bool
) -> bool:
    """True where a run ends lower than another; `much`: by as much as is worth more than what
    components gain that describe no cluster."""
    lowest, least = _value(other, problem), 0.0
    if much:
        weight, columns = _last_sums(solution).weight, len(step.shrinkage.columns.live)
        least = step.volumes.much(weight, lowest, columns)
    return lowest - _value(solution, problem) > least


def _value(solution: Solution, problem: Problem) -> float:
    """Return the objective at the end of a run, of weights as the problem has them."""
    return solution.history[-1] / problem.rows.blocks.unit


def _last_sums(solution: Solution) -> Statistics:
    assert solution.last is not None, "there was a sweep"
    return solution.last[1]


def _said_of_starts(best: BestRun) -> str:
    count = best.attributes["n_starts_"]
    return f"; the best of {count} starts: {best.attributes['start_']}" if count > 1 else ""
