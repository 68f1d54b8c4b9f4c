"""Covariances from the sums of a sweep, shrunken towards what is known of them beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...data.arrays import Float64, IntArray
from ...runtime.stored_classes import stored
from ...spaces import Metrics
from ...spaces.centres import Centres
from ...sweeps.statistics import Statistics
from .shapes import Shape, diagonals, inverse_factors

RIDGE = 1e-6  # added to the variances of the target, in columns of variance 1


@stored
@dataclass(frozen=True)
class StandardColumns:
    """Columns divided by their deviations, so that no constant carries a unit. Columns of one value
    say nothing of clusters, and are left out."""

    deviations: Float64  # (r,) of all rows; 0 for columns of one value

    @cached_property
    def live(self) -> IntArray:
        """Numbers of the columns that differ (l,)."""
        return np.flatnonzero(self.deviations > 0)

    @property
    def log_volume(self) -> float:
        """The logarithm of the product of all deviations."""
        return float(np.log(self.deviations[self.live]).sum())

    @property
    def typical(self) -> float:
        """The geometric mean of the deviations."""
        return float(np.exp(self.log_volume / len(self.live)))

    @cached_property
    def _units(self) -> Float64:
        return self.deviations[self.live]

    def inwards(self, scatter: Float64) -> Float64:
        """Return matrices (c, r, r), or diagonals (c, r), of the rows in standard columns: l in
        place of r."""
        unit = self._units
        inside: Float64 = self._some(scatter)
        return inside / (unit * unit if scatter.ndim == 2 else unit[:, None] * unit)

    def outwards(self, covariance: Float64) -> Float64:
        """Return a covariance (l, l), or a diagonal (l,), in standard columns as one of the rows, 0
        in columns of one value."""
        out, unit = np.zeros((len(self.deviations),) * covariance.ndim), self._units
        places = self.live if covariance.ndim == 1 else np.ix_(self.live, self.live)
        out[places] = covariance * (unit**2 if covariance.ndim == 1 else unit[:, None] * unit)
        return out

    def metrics(self, factors: Float64) -> Metrics:
        """Return metrics of the rows from factors (c, l, l), or diagonals, in standard columns."""
        r, found = len(self.deviations), factors / self._units
        if len(self.live) < r:
            out = np.zeros((len(factors), *(r,) * (factors.ndim - 1)))
            out[self._places(factors.ndim)] = found
            found = out
        return Metrics(found)

    def factors(self, metrics: Metrics) -> Float64:
        """Return the way back."""
        found: Float64 = self._some(metrics.factors) * self._units
        return found

    def _some(self, matrices: Float64) -> Float64:
        """Return matrices, or diagonals, of the columns that differ."""
        if len(self.live) == len(self.deviations):
            return matrices
        found: Float64 = matrices[self._places(matrices.ndim)]
        return found

    def _places(self, dimensions: int) -> Any:
        """Return the index of the numbers of columns that differ, in matrices or diagonals."""
        if dimensions == 2:
            return slice(None), self.live
        return slice(None), self.live[:, None], self.live


@stored
@dataclass(frozen=True)
class Shrinkage:
    """The estimate of covariances that maximises the likelihood of rows less

    (nu / 2) sum_j [ln |S_j| + tr(S_j^-1 T)],

    as if nu rows of covariance T had been seen in each cluster (of tied ones, in all together). So
    no cluster can degenerate while T is regular, and T is: a millionth of the columns' variances is
    added to its own.
    """

    shape: Shape
    columns: StandardColumns
    target: Float64  # (l, l) or (l,) T in standard columns
    rows: float  # nu, in the unit of the rows' weights
    errors: Float64 | None = None  # (r,) variances of what rounding has taken from the rows

    @classmethod
    def towards(
        cls,
        shape: Shape,
        columns: StandardColumns,
        scatter: Float64,
        rows: float,
        errors: Float64 | None = None,
    ) -> Shrinkage:
        """Return the estimate shrunken towards a covariance (r, r), or (r,), of the rows, and what
        rounding has taken from it."""
        if errors is not None:
            scatter = scatter + (errors if scatter.ndim == 1 else np.diag(errors))
        target = columns.inwards(scatter[None])[0]
        target = target + RIDGE * shape.identity(len(columns.live))
        return cls(shape, columns, target, rows, errors)

    def metrics(self, factors: Float64) -> Metrics:
        """Return metrics of the rows from factors in standard columns."""
        return replace(self.columns.metrics(factors), errors=self.errors)

    def mixed(self, other: Shrinkage, share: float) -> Shrinkage:
        """Return the estimate for rows of two kinds, of which `share` are the other's: shrunken
        towards the mean of both covariances, by as many rows as this one."""
        mine, its = self.columns.deviations, other.columns.deviations
        columns = StandardColumns(np.sqrt((1.0 - share) * mine**2 + share * its**2))
        parts = (one.columns.outwards(one.target) for one in (self, other))
        first, second = (columns.inwards(part[None])[0] for part in parts)
        return replace(self, columns=columns, target=(1.0 - share) * first + share * second)

    def covariances(self, sums: Statistics, centres: Centres) -> Float64:
        """(c, l, l) or (c, l) S_j in standard columns, from the sums of a sweep and the centres
        that they make."""
        assert sums.second is not None, "the state that was swept has metrics"
        about = sums.second.about(centres, sums.mass, sums.moment)
        values, mass = about.values, sums.pulling_mass
        if self.errors is not None:
            lost = self.errors if values.ndim == 2 else np.diag(self.errors)
            values = values + mass.reshape((-1,) + (1,) * lost.ndim) * lost
        scatter = self.columns.inwards(values)
        return self.shape.covariances(scatter, sums.covered_mass, self.rows, self.target)

    def log_volumes(self, sums: Statistics, centres: Centres) -> Float64:
        """(c,) ln |S_j| of the covariances that sums make, each by itself where they are tied."""
        alone = replace(self, shape=replace(self.shape, is_tied=False))
        factors = inverse_factors(alone.covariances(sums, centres))
        return self.log_determinants(self.columns.metrics(factors))

    def log_determinants(self, metrics: Metrics) -> Float64:
        """(c,) ln |S_j| where S_j^-1 = F_j^T F_j, in the rows' own units."""
        diagonal = diagonals(metrics.factors)
        if len(self.columns.live) < diagonal.shape[1]:
            diagonal = diagonal[:, self.columns.live]
        volumes: Float64 = -2.0 * np.log(diagonal).sum(axis=1)
        return volumes

    def traces(self, metrics: Metrics) -> Float64:
        """(c,) tr(F_j T F_j^T), which is tr(S_j^-1 T)."""
        factors = self.columns.factors(metrics)
        if factors.ndim == 2:
            squares: Float64 = (factors * factors) @ self.target
            return squares
        traces: Float64 = ((factors @ self.target) * factors).sum(axis=(1, 2))
        return traces

    def penalty(self, values: Float64) -> float:
        """nu sum_j value_j, where what is the same for all clusters counts once."""
        return self.rows * float(values[0] if self.shape.is_tied else values.sum())
