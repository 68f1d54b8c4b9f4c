"""Shapes of covariances: which numbers of them are free."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from ...data.arrays import Float64
from ...runtime.stored_classes import stored


@stored
@dataclass(frozen=True)
class Shape:
    """A shape that covariances may have.

    Matrices of a diagonal shape are kept as their diagonals, (c, d) for (c, d, d). A round one has
    the same variance in all columns of the rows as they are given.
    """

    name: str
    is_diagonal: bool = False
    is_round: bool = False
    is_tied: bool = False  # the same for all clusters

    def prior_rows(self, d: int) -> float:
        """Return the number of rows that the prior counts for where nothing else is given."""
        return 2.0 / d if self.is_round else 2.0 if self.is_diagonal else d + 1.0

    def n_parameters(self, c: int, d: int) -> int:
        """Return the number of free numbers in the covariances of c clusters."""
        if self.is_round:
            return c
        return (d if self.is_diagonal else d * (d + 1) // 2) * (1 if self.is_tied else c)

    def identity(self, d: int) -> Float64:
        """Return the identity, as matrices of this shape are kept."""
        return np.ones(d) if self.is_diagonal else np.eye(d)

    def covariances(
        self,
        scatter: Float64,  # (c, d, d) or (c, d) W_j
        mass: Float64,  # (c,) N_j
        rows: float,  # nu
        target: Float64,  # (d, d) or (d,) T
    ) -> Float64:
        """S_j = (W_j + nu T) / (N_j + nu), or T where both are nothing: the maximisers of the
        penalised likelihood. Of tied ones W and N are those of all clusters together, of round ones
        the variances of the columns are averaged."""
        c = len(mass)
        if self.is_tied:
            scatter, mass = scatter.sum(axis=0, keepdims=True), mass.sum(keepdims=True)
        divisor = (mass + rows).reshape((-1,) + (1,) * target.ndim)
        if (empty := divisor <= 0).any():
            scatter, divisor = np.where(empty, target, scatter), np.where(empty, 1.0, divisor)
        found = scatter + rows * target
        found /= divisor
        if self.is_round:
            found = np.broadcast_to(found.mean(axis=1, keepdims=True), found.shape)
        return np.repeat(found, c, axis=0) if self.is_tied else found


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("full"),
        Shape("diag", is_diagonal=True),
        Shape("tied", is_tied=True),
        Shape("spherical", is_diagonal=True, is_round=True),
    )
}


class SingularError(ValueError):
    """A covariance without an inverse."""

    def __init__(self) -> None:
        super().__init__(
            "the rows of a cluster have a covariance without an inverse, as they lie in fewer "
            "directions than there are columns, and prior=0 adds nothing to it; leave prior out, "
            'take fewer clusters, or covariance="diag".'
        )


def inverse_factors(covariances: Float64) -> Float64:
    """Return F_j with F_j^T F_j = S_j^-1: the inverses of the Cholesky factors, (c, d, d) lower
    triangles, or (c, d) where only diagonals are kept. SingularError for a matrix without an
    inverse."""
    if covariances.ndim == 2:
        if not (covariances > 0).all():
            raise SingularError()
        return 1.0 / np.sqrt(covariances)
    try:
        lower = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        raise SingularError() from None
    inverses = [lapack.dtrtri(factor, lower=1) for factor in lower]  # zeros above stay
    if any(info != 0 for _, info in inverses):
        raise SingularError()
    return np.array([inverse for inverse, _ in inverses])


def diagonals(matrices: Float64) -> Float64:
    """Return the diagonals (c, d) of matrices (c, d, d) or of those kept as diagonals."""
    return matrices if matrices.ndim == 2 else np.diagonal(matrices, axis1=1, axis2=2)
