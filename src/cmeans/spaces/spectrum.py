"""The largest eigenvalue of a symmetric matrix, exact or estimated, the sum of its largest ones,
and leading directions of points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from ..data.arrays import Float64, IntArray
from ..data.precision import binary_exponent

# further vectors of the basis of leading directions, and how often it is multiplied
OVERSAMPLED, TURNS = 8, 3
MORE = 10  # additional vectors, so that the last of those wanted converges
BLOCKS = 5  # of vectors, each the products of the one before
POWERS = 12  # of a matrix, from which its largest eigenvalue is known to a factor of two
ORTHOGONAL = 1e-9  # product of two unit vectors below which an eigenvalue is not counted twice
SEED = 0
DIRECTING_ROWS = 2048  # rows of which directions are taken
DENSE = 200  # rows up to which factoring the whole matrix is no slower


def largest_eigenvalue(matrix: Float64) -> float:
    """Return the largest eigenvalue of a positive semidefinite matrix (n, n), exact up to
    rounding."""
    n = len(matrix)
    if n <= DENSE:
        try:
            return float(scipy.linalg.eigvalsh(matrix, subset_by_index=(n - 1, n - 1))[0])
        except np.linalg.LinAlgError:
            # LAPACK may not find some where many coincide, as of the rows of an identity matrix
            return float(scipy.linalg.eigvalsh(matrix)[-1])
    start = np.random.RandomState(SEED).standard_normal(n)
    return float(
        scipy.sparse.linalg.eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)[0]
    )


def estimated_largest_eigenvalue(matrix: Float64) -> float:
    """Return the largest absolute eigenvalue of a symmetric matrix to a factor of two, from below,
    by power iteration."""
    return estimated_largest_eigenvalue_by_products(lambda v: matrix @ v, len(matrix))


def estimated_largest_eigenvalue_by_products(
    product: Callable[[Float64], Float64], n: int
) -> float:
    """Return the same for a matrix (n, n) given by its products; infinite where a number is not
    finite, or all are zero."""
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
    # with a matrix (p, p) of p rows of n, each entry weighted by the roots of two rows' shares
    product: Callable[[Float64], Float64],
    diagonal: Float64,  # (p,) of that matrix
    count: int,
    sampled: float,  # p / n
    near: Float64 | None = None,
) -> tuple[float, Float64]:
    """Return the sum of the `count` largest eigenvalues of the whole matrix (n, n), estimated from
    some of its rows and columns.

    A row weighs more in the sample than in the whole, and so does its diagonal entry, which would
    appear as an eigenvalue that does not exist; so the diagonal gets its weight in the whole
    (Koltchinskii & Gine 2000 leave it out). The eigenvalues are those in the span of some vectors
    and their first few products with the matrix (block Lanczos). Also returned are the vectors
    (`near`) from which the search in a slightly different matrix starts.
    """
    shift = (1.0 - sampled) * float(diagonal.max(initial=0.0))  # keeps it positive semidefinite
    change = (shift - (1.0 - sampled) * diagonal)[:, None]
    n, width = len(diagonal), count + MORE
    if 2 * width >= n:
        vectors: Float64 = np.eye(n)
        values = np.linalg.eigvalsh(product(vectors) + change * vectors)
        return float(np.maximum(values[-count:] - shift, 0.0).sum()), vectors
    block = np.random.RandomState(SEED).standard_normal((n, width)) if near is None else near
    blocks = min(BLOCKS if near is None else BLOCKS // 2, n // width)
    whole, images = np.empty((2, n, blocks * width))
    for start in range(0, blocks * width, width):
        basis, here = whole[:, :start], slice(start, start + width)
        block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        # by rounding: much where a block is nearly in the span of those before
        left = basis.T @ block
        if np.abs(left).max(initial=0.0) > ORTHOGONAL:
            block = np.linalg.qr(block - basis @ left)[0]
        whole[:, here] = block
        images[:, here] = block = product(block) + change * block
    inner = whole.T @ images
    values, axes = np.linalg.eigh((inner + inner.T) / 2.0)
    return float(np.maximum(values[-count:] - shift, 0.0).sum()), whole @ axes[:, -width:]


def directing_rows(n: int) -> IntArray:
    """Return numbers of some of n rows, evenly spaced, whose directions stand for those of all."""
    return np.unique(np.linspace(0, n - 1, DIRECTING_ROWS).astype(np.intp))


def leading_directions(x: Float64, count: int) -> Float64:
    """Return at most `count` orthonormal directions (k, d) along which points (s, d), at least one,
    are longest."""
    x = x / (np.abs(x).max() or 1.0)
    basis = np.random.default_rng(0).normal(size=(x.shape[1], min(count + OVERSAMPLED, x.shape[1])))
    # powers of the points' scatter matrix, by which a random basis turns towards its first
    # eigenvectors
    for _ in range(TURNS):
        basis, _ = np.linalg.qr(x.T @ (x @ basis))
    _, _, turned = np.linalg.svd(x @ basis, full_matrices=False)
    directions: Float64 = (basis @ turned[:count].T).T
    return directions
