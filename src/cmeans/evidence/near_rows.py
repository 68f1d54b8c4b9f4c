"""The nearest rows of each row, equally near ones by their shares, and the rows' dimension."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.arrays import Float64, IntArray
from ..engines import Engine
from ..graphs.nearest_neighbours import nearest_neighbours
from .pair_squares import pair_squares

MANY = 20  # neighbours that are sought
FEW = 3  # of them that a cluster is asked to hold


@dataclass(frozen=True)
class NearRows:
    """Rows that are judged, their weights, and the nearest others of each."""

    x: Float64  # (n, d)
    weights: Float64  # (n,)
    distances: Float64  # (n, k) ascending
    numbers: IntArray  # (n, k)
    shares: Float64  # (n, k) with which each counts among the nearest few; rows sum to their number

    @classmethod
    def of(cls, x: Float64, weights: Float64, engine: Engine | None = None) -> NearRows:
        found = nearest_neighbours(x, MANY, engine)
        return cls(x, weights, found.distances, found.numbers, nearest_shares(found.distances, FEW))

    @cached_property
    def squares(self) -> Float64:
        """The squared distances (n, n) of all pairs of the rows."""
        return pair_squares(self.x)

    @property
    def light(self) -> float:
        """The weight below which a cluster is a crumb: 1% of all, and that of five rows."""
        return max(0.01 * float(self.weights.sum()), 5.0 * float(np.median(self.weights)))


def nearest_shares(distances: Float64, few: int) -> Float64:
    """Return the shares (n, k) of neighbours among the nearest few: 1 of those that are nearer than
    the last, and of those that are as far as it equal parts of what is left."""
    few = min(few, distances.shape[1])
    if not few:  # a row alone has none
        return np.zeros_like(distances)
    last = distances[:, few - 1 : few]
    nearer, level = distances < last, distances == last
    left = few - nearer.sum(axis=1, keepdims=True)
    shares: Float64 = nearer + level * (left / level.sum(axis=1, keepdims=True))
    return shares


def intrinsic_dimension(distances: Float64) -> float:
    """Return the dimension of rows whose distances (n, k) to the nearest ascend, the harmonic mean
    over rows (Levina & Bickel 2004; MacKay & Ghahramani 2005)."""
    floored = np.maximum(distances, 1e-300)
    inverse = np.log(floored[:, -1:] / floored[:, :-1]).mean(axis=1)
    inverse = inverse[(distances[:, 0] > 0) & (inverse > 0)]
    return 1.0 / float(inverse.mean()) if len(inverse) else 1.0
