"""Metrics of clusters: how far a row is from a centre in every direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Array, Float64, IntArray, as_like, namespace
from ..runtime.stored_classes import stored


@stored
@dataclass(frozen=True)
class Metrics:
    """A metric of each cluster, in the coordinates of a space whose axes are orthonormal.

    The squared distance of a row x to the centre v_j is |F_j (x - v_j)|^2, so that F_j^T F_j is an
    inverse covariance where F_j is the inverse of its Cholesky factor. Directions that say nothing
    have zeros.
    """

    factors: Float64  # (c, r, r) F_j, lower triangular; or (c, r), of diagonal ones the diagonals

    def __post_init__(self) -> None:
        shape = self.factors.shape
        if not (len(shape) == 2 or (len(shape) == 3 and shape[1] == shape[2])):
            raise ValueError(
                f"Metrics: factors {shape} must be lower triangles (c, r, r), or diagonals (c, r)"
            )

    @classmethod
    def same(cls, factor: Float64, count: int) -> Metrics:
        """Return one metric for all of `count` clusters."""
        return cls(np.ascontiguousarray(np.broadcast_to(factor, (count, *factor.shape))))

    def __len__(self) -> int:
        return len(self.factors)

    def __getitem__(self, which: slice | IntArray) -> Metrics:
        return Metrics(self.factors[which])

    @property
    def are_diagonal(self) -> bool:
        """True where only the diagonals of the factors are kept."""
        return self.factors.ndim == 2

    def coordinates(
        self,
        points: Float64,  # (k, r)
        weights: Float64,  # (c,)
    ) -> Float64:
        """Return coordinates of points in which squared distances are those of the weighted mean of
        the metrics: (k, r)."""
        shares = weights / weights.sum() if weights.any() else np.full(len(self), 1 / len(self))
        found: Float64
        if self.are_diagonal:
            found = points * np.sqrt(shares @ (self.factors * self.factors))
            return found
        mean = np.einsum("j,jab,jac->bc", shares, self.factors, self.factors)
        values, vectors = np.linalg.eigh(mean)
        found = points @ vectors * np.sqrt(np.maximum(values, 0.0))
        return found

    @property
    def matrices(self) -> Float64:
        """A_j = F_j^T F_j (c, r, r), or the diagonals (c, r): d2 = (x - v_j)^T A_j (x - v_j)."""
        if self.are_diagonal:
            return self.factors * self.factors
        return np.swapaxes(self.factors, 1, 2) @ self.factors

    def squared_distances(
        self,
        x: Array,  # (b, r)
        centres: Float64,  # (c, r)
    ) -> Array:
        """d2 (b, c)."""
        xp, columns = namespace(x), []
        for factor, centre in zip(self.factors, centres, strict=True):
            away, f = x - as_like(centre, x)[None, :], as_like(factor, x)
            stretched = away * f[None, :] if self.are_diagonal else away @ f.T
            columns.append(xp.sum(stretched * stretched, axis=1))
        return xp.stack(columns, axis=1)
