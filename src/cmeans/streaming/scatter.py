"""Scatter of the past rows of a stream about their clusters' centres."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ..data.arrays import Float64, IntArray
from ..runtime.stored_classes import stored
from ..solvers.solution import Solution
from ..solvers.stretched import NextClusters
from ..spaces.centres import Centres
from ..sweeps.second_moments import SecondMoments


@stored
@dataclass(frozen=True)
class Scatter:
    """W_j = sum_i w_ij (x_i - v_j)(x_i - v_j)^T of the rows that have gone by, and how metrics are
    made of it: what their covariances shrink towards is settled on the first rows."""

    values: Float64  # (c, r, r) W_j, or (c, r), the diagonals
    step: NextClusters

    def __post_init__(self) -> None:
        shape, columns = self.values.shape, self.step.shrinkage.columns
        if shape[1:] != (len(columns.deviations),) * (len(shape) - 1):
            raise ValueError(f"Scatter: sums of shape {shape} do not fit the columns")

    @classmethod
    def of(cls, solution: Solution, second: SecondMoments) -> Scatter:
        """Return the scatter of a run's rows, of their second moments about the last centres."""
        return cls(second.values, cast(NextClusters, solution.step))

    def about(self, centres: Centres) -> SecondMoments:
        """Return the second moments about the centres, which are the means."""
        return SecondMoments(centres.coordinates, self.values)

    @property
    def traces(self) -> Float64:
        """(c,) the sums of the rows' squared distances in the space, whatever the metrics."""
        traces = self.values if self.values.ndim == 2 else np.einsum("jaa->ja", self.values)
        found: Float64 = np.maximum(traces, 0.0).sum(axis=1)
        return found

    def __mul__(self, factor: float) -> Scatter:
        return replace(self, values=self.values * factor)

    def __getitem__(self, which: IntArray) -> Scatter:
        return replace(self, values=self.values[which])

    def joined(self, other: Scatter, values: Float64, share: float) -> Scatter:
        """Return the scatter of two streams' rows, of which `share` of the weight are the other's;
        covariances shrink towards the mean of what each shrank towards."""
        shrinkage = self.step.shrinkage.mixed(other.step.shrinkage, share)
        return Scatter(values, replace(self.step, shrinkage=shrinkage))
