"""Rows that stand for several rows each, as clusters with metrics see them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..data.arrays import Array, Float64, IntArray, as_like, host_float64
from .metrics import Metrics


@dataclass(frozen=True)
class MemberScatter:
    """Members of rows that stand for several, by their differences from the mean.

    A row's squared distance in a metric is that of its mean, and the mean of what its members have
    beside:  |F (x - v)|^2 + sum_i share_i |F away_i|^2.
    """

    away: Float64  # (q, r) of the members from the mean of their row
    row: IntArray  # (q,) their rows, ascending
    share: Float64  # (q,) of the weight of its row that a member has
    count: Float64  # (n,) the members of every row, by weight; 1 of a row that stands for itself
    # True where the densities of the members are multiplied, and a row counts as one in the shares
    # of a mixture; else it counts for its members, at their mean distance
    are_multiplied: bool = False

    def of_rows(self, numbers: IntArray) -> MemberScatter:
        """Return the members of some rows, in the order of these."""
        first = np.searchsorted(self.row, numbers)
        counts = np.searchsorted(self.row, numbers, side="right") - first
        row = np.repeat(np.arange(len(numbers)), counts)
        place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        member = first[row] + place
        parts = self.away[member], row, self.share[member], self.count[numbers]
        return MemberScatter(*parts, self.are_multiplied)

    def multiplied(self) -> MemberScatter:
        """Return the same where densities are multiplied."""
        return replace(self, are_multiplied=True)

    def costs(self, d2: Array, metrics: Metrics) -> Array:
        """Return what memberships are made of (b, c), from mean squared distances: of k members
        k d2 + (k - 1) (ln |S_j| + d ln 2 pi), so that a density has the size of one row's."""
        if not self.are_multiplied:
            return d2
        k = as_like(self.count, d2)[:, None]
        return k * d2 + (k - 1.0) * as_like(metrics.log_sizes, d2)[None, :]

    def squared_distances(self, metrics: Metrics, like: Array) -> Array:
        """Return what the members add to squared distances `like` these (b, c)."""
        total: npt.NDArray[np.float64] = np.zeros(like.shape)
        centres = np.zeros((len(metrics), self.away.shape[1]))
        d2 = host_float64(metrics.squared_distances(self.away, centres))
        np.add.at(total, self.row, self.share[:, None] * d2)
        return as_like(total, like)

    def add_second_moments(self, w: Float64, total: Float64) -> None:
        """total_j (c, r, r), or (c, r), += sum_i w_ij share_i away_i away_i^T, for weights (b, c)
        of the rows."""
        for j, weight in enumerate((w[self.row] * self.share[:, None]).T):
            weighted = self.away * weight[:, None]
            total[j] += (
                (weighted * self.away).sum(axis=0) if total.ndim == 2 else weighted.T @ self.away
            )
