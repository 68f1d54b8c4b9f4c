"""Rows whose clusters are to be stretched: their covariance, found by sweeps of one cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...data.arrays import Array, Float64, IntArray, as_like, host_float64, is_sparse, namespace
from ...data.blocks import blocks_of
from ...data.precision import resolution
from ...rules import SizedHard
from ...spaces import Metrics, ProductRows
from ...spaces.centres import Centres
from ...spaces.completed import CompletedRows
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import Statistics
from .shapes import Shape, diagonals, inverse_factors
from .shrinkage import RIDGE, StandardColumns

# of the Gaussian of values that are there: sweeps at most, and the change of a covariance in one,
# in standard columns, below which they end
MOST_SWEEPS, SETTLED = 100, 1e-6
FILLED_VALUES = 2**22  # of covariances at once
ROUNDINGS = 4  # of a column's typical value: deviations that are no larger say nothing
# the same share where squares are sums about the origin, of CSR rows
SPARSE_ROUNDING = 1e-6


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
class RowsToStretch:
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
    def of(cls, problem: Problem, shape: Shape) -> RowsToStretch:
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
    def _swept(cls, problem: Problem, shape: Shape, state: State) -> RowsToStretch:
        sums = hard_sweep(problem.whole, state)
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

    def filled(self, problem: Problem) -> RowsToStretch:
        """Return the same rows where expectations stand in place of what they lack."""
        one = Metrics.same(np.ones(self.width) if self.total.ndim == 1 else np.eye(self.width), 1)
        second = hard_sweep(problem.whole, State(self.mean, None, one)).about(self.mean).second
        assert second is not None, "the state that was swept has metrics"
        lacking = self.total - second.values[0] / self.problem.whole.rows.blocks.weight.sum()
        return replace(self, problem=problem, lacking=lacking)

    def part(self, numbers: IntArray, weights: Float64) -> RowsToStretch:
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
        sums = hard_sweep(self.problem, state)
        if self.lacking is None:
            return sums
        assert sums.second is not None, "the state that was swept has metrics"
        lacking = sums.mass.reshape((-1,) + (1,) * self.lacking.ndim) * self.lacking
        second = replace(sums.second, values=sums.second.values + lacking)
        return replace(sums, second=second)


def hard_sweep(problem: Problem, state: State) -> Statistics:
    state = replace(state, scales=np.zeros(len(state.centres)))
    return replace(problem, rule=SizedHard()).sweep(state)
