"""Metrics of clusters: how far a row is from a centre in every direction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Array, Float64, IntArray, as_like, in_float64, is_sparse, namespace
from ..data.csr import with_values
from ..runtime.stored_classes import stored

LOG_CIRCLE = math.log(2.0 * math.pi)


@stored
@dataclass(frozen=True)
class Metrics:
    """A metric of each cluster, in the coordinates of a space whose axes are orthonormal.

    The squared distance of a row x to the centre v_j is |F_j (x - v_j)|^2, so that F_j^T F_j is an
    inverse covariance where F_j is the inverse of its Cholesky factor. Directions that say nothing
    have zeros.
    """

    factors: Float64  # (c, r, r) F_j, lower triangular; or (c, r), of diagonal ones the diagonals
    # (r,) variances of what rounding has taken from the coordinates of rows; None: nothing
    errors: Float64 | None = None

    def __post_init__(self) -> None:
        shape = self.factors.shape
        if self.errors is not None and self.errors.shape != shape[-1:]:
            raise ValueError(f"Metrics: errors {self.errors.shape} do not fit factors {shape}")
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
        return Metrics(self.factors[which], self.errors)

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
        # a power of two, which rounds nothing; the squares of the factors may be no numbers
        unit = np.ldexp(1.0, np.frexp(np.abs(self.factors).max())[1])
        factors = self.factors / unit
        found: Float64 = points * unit
        if self.are_diagonal:
            found *= np.sqrt(shares @ (factors * factors))
            return found
        values, vectors = np.linalg.eigh(np.einsum("j,jab,jac->bc", shares, factors, factors))
        found = found @ vectors
        found *= np.sqrt(np.maximum(values, 0.0))
        return found

    @property
    def matrices(self) -> Float64:
        """A_j = F_j^T F_j (c, r, r), or the diagonals (c, r): d2 = (x - v_j)^T A_j (x - v_j)."""
        with np.errstate(over="ignore", invalid="ignore"):  # of columns that hardly vary
            if self.are_diagonal:
                return self.factors * self.factors
            return np.swapaxes(self.factors, 1, 2) @ self.factors

    def traces(self, moments: Float64) -> Float64:
        """(c,) tr(A_j M_j) of matrices M_j (c, r, r), or diagonals (c, r): of second moments about
        the centres the sum of squared distances."""
        traces: Float64 = (self.matrices * moments).reshape(len(self), -1).sum(axis=1)
        return traces

    @property
    def live(self) -> IntArray:
        """Numbers of the columns that the metrics see: those that differ among the rows."""
        diagonal = self.factors if self.are_diagonal else np.einsum("jaa->ja", self.factors)
        return np.flatnonzero(diagonal[0] > 0)

    @property
    def log_volumes(self) -> Float64:
        """(c,) ln |S_j|, where S_j^-1 = F_j^T F_j in the columns that these see."""
        diagonal = self.factors if self.are_diagonal else np.einsum("jaa->ja", self.factors)
        volumes: Float64 = -2.0 * np.log(diagonal[:, self.live]).sum(axis=1)
        return volumes

    @property
    def log_sizes(self) -> Float64:
        """(c,) what -2 ln of the density of a row has beside its squared distance."""
        return self.log_volumes + self.expected_errors + len(self.live) * LOG_CIRCLE

    @property
    def covariances(self) -> Float64:
        """S_j (c, r, r), or the diagonals (c, r); 0 in columns that the metrics do not see."""
        live, out = self.live, np.zeros(self.factors.shape)
        if self.are_diagonal:
            out[:, live] = self.factors[:, live] ** -2.0
            return out
        lower = np.linalg.inv(self.factors[:, live[:, None], live])
        out[:, live[:, None], live] = lower @ np.swapaxes(lower, 1, 2)
        return out

    @property
    def variances(self) -> Float64:
        """(c, r) the diagonals of S_j."""
        found = self.covariances
        return found if self.are_diagonal else np.einsum("jaa->ja", found)

    @property
    def expected_errors(self) -> Float64:
        """(c,) tr(S_j^-1 E): what a row's squared distance is expected to be larger by, were it not
        rounded."""
        if self.errors is None:
            return np.zeros(len(self))
        squares = np.square(self.factors) if self.are_diagonal else np.square(self.factors).sum(1)
        found: Float64 = squares @ self.errors
        return found

    def blurred(self, variances: Float64) -> Metrics:
        """Return the metrics of S_j + diag(variances (r,)), in the columns that these see."""
        live, out = self.live, np.zeros(self.factors.shape)
        covariances = self.covariances
        if self.are_diagonal:
            out[:, live] = (covariances + variances)[:, live] ** -0.5
            return Metrics(out)
        here = covariances[:, live[:, None], live] + np.diag(variances[live])
        units = np.sqrt(np.einsum("jaa->ja", here))  # so that no column is small beside another
        lower = np.linalg.cholesky(here / (units[:, :, None] * units[:, None, :]))
        out[:, live[:, None], live] = np.linalg.inv(lower) / units[:, None, :]
        return Metrics(out)

    def squared_distances(
        self,
        x: Array,  # (b, r)
        centres: Float64,  # (c, r)
    ) -> Array:
        """d2 (b, c). CSR rows are measured by diagonal metrics, as they are."""
        if is_sparse(x):
            squares, x64 = self.factors * self.factors, in_float64(x)
            found = with_values(x64, x64.data**2) @ squares.T - 2.0 * (x64 @ (squares * centres).T)
            found += (squares * centres * centres).sum(axis=1)
            return np.maximum(found, 0.0).astype(x.dtype)
        xp, columns = namespace(x), []
        for factor, centre in zip(self.factors, centres, strict=True):
            away, f = x - as_like(centre, x)[None, :], as_like(factor, x)
            stretched = away * f[None, :] if self.are_diagonal else away @ f.T
            columns.append(xp.sum(stretched * stretched, axis=1))
        return xp.stack(columns, axis=1)
