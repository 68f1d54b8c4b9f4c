"""The largest eigenvalues of a symmetric matrix, where the rest do not matter."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from .arrays import Float64

MORE = 10  # vectors beyond those asked for, which make the last of them converge
STEPS = 12
SEED = 0
DENSE = 200  # rows up to which factoring the whole matrix takes no longer


def largest_eigenvalue(matrix: Float64) -> float:
    """The largest eigenvalue of a positive semidefinite matrix (n, n), to rounding."""
    n = len(matrix)
    if n <= DENSE:
        return float(scipy.linalg.eigvalsh(matrix, subset_by_index=(n - 1, n - 1))[0])
    start = np.random.RandomState(SEED).standard_normal(n)
    return float(scipy.sparse.linalg.eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def leading_sum(
    matrix: Float64,  # (p, p) of p rows of n, each entry weighted by the roots of two rows' shares
    count: int,
    sampled: float,  # p / n
    near: Float64 | None = None,
) -> tuple[float, Float64]:
    """The sum of the `count` largest eigenvalues of the whole matrix (n, n), estimated from some of its rows and columns.

    A row weighs more in the sample than in the whole, and with it its diagonal entry, which would show as an eigenvalue where there is
    none; so the diagonal is taken at its weight in the whole (Koltchinskii & Gine 2000 leave it out). By subspace iteration; returned with
    the space, which is where to start (`near`) for a matrix that differs a little.
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
