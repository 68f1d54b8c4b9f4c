"""The largest eigenvalue of a symmetric matrix, exact or estimated, and the sum of its largest ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from ..data.arrays import Float64, binary_exponent

MORE = 10  # additional vectors, so that the last of those wanted converges
STEPS = 12  # of subspace iteration
POWERS = 12  # of a matrix, from which its largest eigenvalue is known to a factor of two
SEED = 0
DENSE = 200  # rows up to which factoring the whole matrix is no slower


def largest_eigenvalue(matrix: Float64) -> float:
    """Return the largest eigenvalue of a positive semidefinite matrix (n, n), exact up to rounding."""
    n = len(matrix)
    if n <= DENSE:
        return float(scipy.linalg.eigvalsh(matrix, subset_by_index=(n - 1, n - 1))[0])
    start = np.random.RandomState(SEED).standard_normal(n)
    return float(scipy.sparse.linalg.eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def estimated_largest_eigenvalue(matrix: Float64) -> float:
    """Return the largest absolute eigenvalue of a symmetric matrix to a factor of two, from below, by power iteration."""
    return estimated_largest_eigenvalue_by_products(lambda v: matrix @ v, len(matrix))


def estimated_largest_eigenvalue_by_products(product: Callable[[Float64], Float64], n: int) -> float:
    """Return the same for a matrix (n, n) given by its products; infinite where a number is not finite, or all are zero."""
    v = np.random.RandomState(SEED).normal(size=n)
    size = float(np.linalg.norm(v))
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(POWERS):
            v = product(v / size)
            scale = binary_exponent(v)
            size = float(np.ldexp(np.linalg.norm(np.ldexp(v, -scale)), scale))
            if not 0.0 < size < np.inf:
                return np.inf
    return size


def leading_sum(
    matrix: Float64,  # (p, p) of p rows of n, each entry weighted by the roots of two rows' shares
    count: int,
    sampled: float,  # p / n
    near: Float64 | None = None,
) -> tuple[float, Float64]:
    """Return the sum of the `count` largest eigenvalues of the whole matrix (n, n), estimated from some of its rows and columns.

    A row weighs more in the sample than in the whole, and so does its diagonal entry, which would appear as an eigenvalue that does not
    exist; so the diagonal gets its weight in the whole (Koltchinskii & Gine 2000 leave it out). Also returned is the space of the
    subspace iteration, from which (`near`) the iteration for a slightly different matrix starts.
    """
    diag = np.diag(matrix)
    shift = (1.0 - sampled) * float(diag.max(initial=0.0))  # keeps it positive semidefinite
    matrix = matrix + np.diag(shift - (1.0 - sampled) * diag)
    n, width = len(matrix), count + MORE
    if 2 * width >= n:
        basis: Float64 = np.eye(n)
        values = np.linalg.eigvalsh(matrix)
    else:
        basis = np.random.RandomState(SEED).standard_normal((n, width)) if near is None else near
        for _ in range(STEPS if near is None else STEPS // 2):
            basis = np.linalg.qr(matrix @ basis)[0].astype(np.float64)
        values = np.linalg.eigvalsh(basis.T @ (matrix @ basis))
    return float(np.maximum(values[-count:] - shift, 0.0).sum()), basis
