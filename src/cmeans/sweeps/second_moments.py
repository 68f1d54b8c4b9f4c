"""Second moments of clusters, the sums that their metrics are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Float64
from ..runtime.stored_classes import stored
from ..spaces.centres import Centres
from .state import State


@stored
@dataclass(frozen=True)
class SecondMoments:
    """M_j = sum_i w_ij (x_i - b_j)(x_i - b_j)^T, or their diagonals, float64.

    They are about the centres b_j that the sweep started from: differences from these are small
    where the clusters are, so that the scatter about the next centres, which is their difference
    with another product, keeps its digits.
    """

    points: Float64  # (c, r) b_j
    values: Float64  # (c, r, r), symmetric; or (c, r), the diagonals
    # (c,) of the weights in these and in the moments, where rows far out pull less than they count
    # for; None: the clusters' masses
    mass: Float64 | None = None
    # whether that is so since rows stand for several, which these hold and clusters count as one
    holds_members: bool = False

    @classmethod
    def asked_by(cls, state: State) -> SecondMoments | None:
        """Return zeros to add to, of the form that the metrics of a state are made of; None for one
        without metrics."""
        if state.metrics is None:
            return None
        return cls(state.centres.coordinates, np.zeros(state.metrics.factors.shape))

    def __add__(self, other: SecondMoments) -> SecondMoments:
        if self.points is not other.points and not np.array_equal(self.points, other.points):
            raise ValueError(
                "second moments about different centres cannot be added: bring them about the same "
                "ones first (Statistics.about)"
            )
        mass = None if self.mass is None or other.mass is None else self.mass + other.mass
        values = self.values + other.values
        return SecondMoments(self.points, values, mass, self.holds_members)

    def __mul__(self, factor: float) -> SecondMoments:
        mass = None if self.mass is None else self.mass * factor
        return replace(self, values=self.values * factor, mass=mass)

    def about(self, centres: Centres, mass: Float64, moment: Float64) -> SecondMoments:
        """Return the moments about other centres:  M + m b^T + b m^T + N b b^T,  where N is the
        mass of the cluster, m its moment about the old centre, and b = old - new."""
        points, own = centres.coordinates, self.mass
        mass = mass if own is None else own
        b, m = self.points - points, moment - mass[:, None] * self.points
        if self.values.ndim == 2:
            values = self.values + 2.0 * m * b + mass[:, None] * b * b
            return replace(self, points=points, values=values)
        cross = m[:, :, None] * b[:, None, :]
        square = mass[:, None, None] * (b[:, :, None] * b[:, None, :])
        values = self.values + cross + np.swapaxes(cross, 1, 2) + square
        return replace(self, points=points, values=values)
