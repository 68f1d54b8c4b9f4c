"""Clusters with metrics of their own, found from hard partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from ...data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    host_float64,
    is_sparse,
    namespace,
    resolution,
)
from ...data.blocks import blocks_of
from ...rules import Rule, SizedHard
from ...sampling.population import Population, draw, sample
from ...spaces import Metrics, ProductRows
from ...spaces.centres import Centres
from ...spaces.completed import CompletedRows
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
from .shapes import Shape, diagonals, inverse_factors
from .shrinkage import RIDGE, Shrinkage, StandardColumns
from .step import NextClusters, ObjectiveStands
from .volumes import SweptSums, Volumes

RANDOM_STARTS = 6  # from random rows
# rows on which these show first whether they gain much, where all are twice as many or more: for
# each cluster and column, so that what a run gains by fitting single rows is small beside much; and
# at least
SHOWING_ROWS, LEAST_SHOWING = 50, 2000
# of the Gaussian of values that are there: sweeps at most, and the change of a covariance in one,
# in standard columns, below which they end
MOST_SWEEPS, SETTLED = 100, 1e-6
FILLED_VALUES = 2**22  # of covariances at once
ROUNDINGS = 4  # of a column's typical value: deviations that are no larger say nothing
# the same share where squares are sums about the origin, of CSR rows
SPARSE_ROUNDING = 1e-6


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
class FilledRows:
    """A function of rows: the same with what one Gaussian expects in place of missing values."""

    metric: Metrics  # one
    mean: Float64  # (r,) the point of it

    def __call__(self, x: Array) -> Array:
        # a row's pattern of holes may have a covariance of its own
        step = max(FILLED_VALUES // len(self.mean) ** 2, 1)
        return namespace(x).concat([self._filled(part) for part in blocks_of(x, step)])

    def _filled(self, x: Array) -> Array:
        away = host_float64(x) - self.mean
        holes = np.isnan(away)
        given = ProductRows(np.where(holes, 0.0, away), np.zeros(len(away)), holes)
        seen = CompletedRows.of(given, self.metric, np.zeros((1, len(self.mean))))
        return namespace(x).where(namespace(x).isnan(x), as_like(seen.x[0] + self.mean, x), x)


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
    rows: _RowsToStretch


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
        rows = _RowsToStretch.of(
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

    def _shrinkage(self, rows: _RowsToStretch, plain: State, partition: Statistics) -> Shrinkage:
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
        rows: _RowsToStretch,
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

    def _showing(self, problem: Problem, rows: _RowsToStretch, c: int) -> Showing:
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
        self, given: GivenClusters, problem: Problem, step: NextClusters, rows: _RowsToStretch
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
        return self.volumes.state(step.shrinkage, given.centres, inwards, given.shares, weight)


@dataclass(frozen=True)
class _RowsToStretch:
    """Rows of which the total covariance is known."""

    problem: Problem
    columns: StandardColumns
    mean: Centres  # one
    point: Float64  # (r,) the mean as a row, where centres are points
    total: Float64  # (r, r) or (r,) the covariance of all rows

    # (r, r) or (r,) the mean covariance of what is missing, where expectations stand in its place
    lacking: Float64 | None = None
    expected: FilledRows | None = None  # what the rows lack, by one Gaussian; None: nothing
    sweeps: int = 2  # that this took, and one of the last pass

    @classmethod
    def of(cls, problem: Problem, shape: Shape) -> _RowsToStretch:
        """Return the rows of a problem, by one sweep of a single cluster; where values are missing,
        by those that find the Gaussian of the values that are there (EM)."""
        first = problem.space.first_metric(diagonal=shape.is_diagonal)
        state = State(Centres.orthonormal(np.zeros((1, problem.space.n_coordinates))), None, first)
        rows = cls._swept(problem, shape, state)
        while rows.expected is not None and rows.sweeps < MOST_SWEEPS:
            new = cls._swept(problem, shape, rows.as_cluster)
            change = np.abs(new.covariance - rows.covariance).max()
            rows = replace(new, sweeps=rows.sweeps + 1)
            if change <= SETTLED:
                break
        return rows

    @classmethod
    def _swept(cls, problem: Problem, shape: Shape, state: State) -> _RowsToStretch:
        sums = _hard_sums(problem.whole, state)
        centres = problem.space.centres(sums.pulling_mass, sums.moment)
        about = sums.about(centres).second
        assert about is not None, "the state that was swept has metrics"
        covariance = about.values / sums.covered_mass[0]
        variances = np.maximum(diagonals(covariance)[0], 0.0)
        points = problem.space.as_points(centres)
        point = centres.coordinates[0] if points is None else points[0]
        x = problem.rows.blocks.x
        digits = SPARSE_ROUNDING if is_sparse(x) else ROUNDINGS * resolution(x.dtype)
        rounding = digits * np.abs(point)
        deviations = np.where(variances > rounding**2, np.sqrt(variances), 0.0)
        if not deviations.any():
            raise ValueError(
                "all rows of positive weight are equal, so that they have no covariance (n_samples="
                f"{problem.n_rows}); give rows that differ, or cluster them without covariances."
            )
        if shape.is_round:
            deviations = np.where(deviations > 0, np.sqrt(np.mean(variances[deviations > 0])), 0.0)
        columns = StandardColumns(deviations)
        expected = None
        if problem.space.completes_rows:
            before = problem.space.as_points(state.centres)
            assert before is not None, "rows with missing values are points"
            assert state.metrics is not None, "so that their covariance is known"
            expected = FilledRows(state.metrics, before[0])
        return cls(problem, columns, centres, point, covariance[0], expected=expected)

    @cached_property
    def covariance(self) -> Float64:
        """(l, l) or (l,) that of all rows in standard columns."""
        inside: Float64 = self.columns.inwards(self.total[None])[0]
        return inside

    @property
    def variances(self) -> Float64:
        """(r,) of the columns."""
        found: Float64 = diagonals(self.total[None])[0]
        return np.maximum(found, 0.0)

    @property
    def as_cluster(self) -> State:
        """All rows as one cluster of their covariance."""
        factor = inverse_factors((self.covariance + RIDGE * self._identity)[None])
        return State(self.mean, None, self.columns.metrics(factor))

    def filled(self, problem: Problem) -> _RowsToStretch:
        """Return the same rows where expectations stand in place of what they lack."""
        one = Metrics.same(np.ones(self.width) if self.total.ndim == 1 else np.eye(self.width), 1)
        second = _hard_sums(problem.whole, State(self.mean, None, one)).about(self.mean).second
        assert second is not None, "the state that was swept has metrics"
        lacking = self.total - second.values[0] / self.problem.whole.rows.blocks.weight.sum()
        return replace(self, problem=problem, lacking=lacking)

    def part(self, numbers: IntArray, weights: Float64) -> _RowsToStretch:
        """Return some of the rows, which stand for all; those without weight stay without."""
        weights = np.where(self.problem.rows.blocks.weight[numbers] > 0, weights, 0.0)
        problem = self.problem.on_sample(numbers, weights, self.problem.stopping)
        return replace(self, problem=problem)

    @property
    def width(self) -> int:
        """r, the number of coordinates."""
        return len(self.point)

    @property
    def standard(self) -> Float64:
        """(r, r) or (r,) the factor that divides columns by their deviations."""
        return self.metric_of(self._identity)

    @cached_property
    def whitening(self) -> Float64:
        """(l, l) or (l,) the factor of the total covariance, in standard columns."""
        factor: Float64 = inverse_factors((self.covariance + RIDGE * self._identity)[None])[0]
        return factor

    @property
    def _identity(self) -> Float64:
        live = len(self.columns.live)
        return np.ones(live) if self.covariance.ndim == 1 else np.eye(live)

    def metric_of(self, factor: Float64) -> Float64:
        """Return a factor in standard columns as one of the rows, (r, r) or (r,)."""
        metric: Float64 = self.columns.metrics(factor[None]).factors[0]
        return metric

    def coordinates(self, factor: Float64) -> Float64:
        """Return the matrix (l, r), or the numbers (r,), by which rows are multiplied to have the
        coordinates of a factor in standard columns."""
        metric = self.metric_of(factor)
        return metric if metric.ndim == 1 else metric[self.columns.live]

    def back(self, points: Float64) -> Centres:
        """Return the centres whose points in the coordinates of the whitened rows these are."""
        live, unit = self.columns.live, self.columns.deviations[self.columns.live]
        centres = np.repeat(self.mean.coordinates, len(points), axis=0)
        if self.covariance.ndim == 1:
            centres[:, live] += points[:, live] * unit / self.whitening
        else:
            centres[:, live] += np.linalg.solve(self.whitening, points.T).T * unit
        return Centres.orthonormal(centres)

    def in_metric(self, centres: Centres, factor: Float64) -> State:
        """Return clusters in one metric, without prices."""
        return State(centres, None, Metrics.same(factor, len(centres)))

    def hard_sums(self, state: State) -> Statistics:
        """Return the sums of the rows' nearest clusters."""
        sums = _hard_sums(self.problem, state)
        if self.lacking is None:
            return sums
        assert sums.second is not None, "the state that was swept has metrics"
        lacking = sums.mass.reshape((-1,) + (1,) * self.lacking.ndim) * self.lacking
        second = replace(sums.second, values=sums.second.values + lacking)
        return replace(sums, second=second)


def shown_rows(n: int, c: int, d: int) -> int:
    """Return of how many of n rows runs from random rows show what they gain, c clusters in d
    columns; n where these are few."""
    size = max(SHOWING_ROWS * c * d, LEAST_SHOWING)
    return size if 2 * size <= n else n


def _hard_sums(problem: Problem, state: State) -> Statistics:
    state = replace(state, scales=np.zeros(len(state.centres)))
    return replace(problem, rule=SizedHard()).sweep(state)


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
