"""Whiteners of a Gram matrix G, W with W^T G W = I: from its eigenpairs, its Cholesky factor, or a
pivoted Cholesky factor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from ..data.arrays import Float64, IntArray
from .spectrum import estimated_largest_eigenvalue, estimated_largest_eigenvalue_by_products

MANY = 256  # columns from which a Cholesky factor is tried before eigenpairs
# factor by which an estimated eigenvalue must exceed the cut: far more than the errors of the
# estimates
CLEARLY = 8.0
NEARLY = 4.0  # factor by which an eigenvalue that is kept may lie below the cut
# width of the subspace searched for directions to cut: at least, at most one in so many, and to
# spare
LEAST, FEW, SPARE = 16, 8, 8
STEPS = 6  # of subspace iteration


def whitener(gram: Float64, relative_cut: float, floor: float = 0.0) -> Float64:
    """W (r, k) with W^T G W = I on the eigenvectors of G above `floor` and above relative_cut times
    the largest eigenvalue.

    The cut keeps the pseudo-inverse bounded when landmarks are redundant; it also clips negative
    eigenvalues of an indefinite kernel.
    """
    pairs = _few_leading_pairs(gram, relative_cut, floor) if len(gram) >= MANY else None
    if pairs is not None:
        return np.ascontiguousarray(pairs[1] / np.sqrt(pairs[0]))
    # Many columns by divide and conquer: LAPACK's other driver takes five times as long where
    # eigenvalues lie very close together.
    values, vectors = scipy.linalg.eigh(
        gram, driver="evd" if len(gram) >= MANY else "evr", check_finite=False
    )
    kept = values > max(relative_cut * values[-1], floor)
    return np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))


def _few_leading_pairs(
    gram: Float64, relative_cut: float, floor: float
) -> tuple[Float64, Float64] | None:
    """Return the eigenpairs above the cut, where those beyond it by absolute value are at most one
    in `FEW`; else None.

    They are those in the image of some random vectors: where the rest of the spectrum is nothing,
    that image is all there is. It takes an eighth of the time of all pairs, and adds as much where
    it fails.
    """
    n = len(gram)
    start = np.random.RandomState(0).standard_normal((n, n // FEW))
    basis = np.linalg.qr(gram @ start)[0]
    image = gram @ basis
    inner = basis.T @ image
    values, turn = scipy.linalg.eigh((inner + inner.T) / 2.0, driver="evd", check_finite=False)
    cut = max(relative_cut * values[-1], floor)
    small = np.abs(values) <= cut / NEARLY
    if not cut > 0 or np.count_nonzero(small) < SPARE:
        return None

    def left_out(v: Float64) -> Float64:
        image = gram @ (v - basis @ (basis.T @ v))
        return image - basis @ (basis.T @ image)

    rest = estimated_largest_eigenvalue_by_products(left_out, n)
    if not (rest < cut / NEARLY or rest == np.inf):  # infinite: nothing is left out at all
        return None
    kept = values > cut
    return values[kept], basis @ turn[:, kept]


def tries_cholesky(count: int) -> bool:
    """True for a Gram matrix of so many columns that its Cholesky factor is tried first."""
    return count >= MANY


def cholesky_whitener(gram: Float64, smallest: float) -> Float64 | None:
    """Return the same from a Cholesky factor, several times as fast, where G has one and few
    eigenvalues, if any, lie below `smallest`.

    None otherwise, where rounding of the factor comes near the cut, and where G is small. Upper
    triangular if nothing is cut.
    """
    if not tries_cholesky(len(gram)):
        return None
    factor, failed = scipy.linalg.lapack.dpotrf(gram, lower=1)
    if failed:
        return None
    w = inverse_transposed(factor)
    rounding = 10.0 * len(gram) * np.finfo(float).eps * estimated_largest_eigenvalue(gram)
    inverse = estimated_largest_eigenvalue_by_products(lambda v: w.T @ (w @ v), len(gram))
    if CLEARLY * max(smallest, rounding) * inverse < 1.0:
        return w
    if smallest >= rounding and inverse < np.inf:
        return _whitener_without_weakest(w, smallest)
    return None


def _whitener_without_weakest(w: Float64, smallest: float) -> Float64 | None:
    """Return W for the G-orthogonal complement of the eigenvectors of G below `smallest`, from a
    square W; None if these are not few.

    They are W y for the eigenvectors y of W^T W, whose eigenvalues are the inverse ones. The rest
    whitens for any orthonormal y, so that y need not be more exact than the cut is.
    """
    n, random = len(w), np.random.RandomState(0)
    width = max(LEAST, n // 50)
    while FEW * width <= n:
        y = random.standard_normal((n, width))
        for _ in range(STEPS):
            y = np.linalg.qr(w.T @ (w @ y))[0]
        image = w @ y
        inverses, turn = np.linalg.eigh(image.T @ image)
        weak = y @ turn[:, inverses * smallest > 1.0]
        if (
            weak.shape[1] + SPARE <= width
            and estimated_largest_eigenvalue_by_products(_restricted_product(w, weak), n) * smallest
            < NEARLY
        ):
            return _whitener_of_complement(w, weak)
        width *= 2
    return None


def _restricted_product(w: Float64, weak: Float64) -> Callable[[Float64], Float64]:
    """Return the products with W^T W restricted to the orthogonal complement of some directions."""

    def product(v: Float64) -> Float64:
        image = w.T @ (w @ (v - weak @ (weak.T @ v)))
        return image - weak @ (weak.T @ image)

    return product


def _whitener_of_complement(w: Float64, weak: Float64) -> Float64:
    """Return W Q (n, n - k) for an orthonormal basis Q of the orthogonal complement of k
    directions."""
    if not weak.shape[1]:
        return w
    (reflectors, factors), _ = scipy.linalg.qr(weak, mode="raw", check_finite=False)
    turned, _, _ = scipy.linalg.lapack.dormqr("L", "T", reflectors, factors, w.T, lwork=64 * len(w))
    return np.ascontiguousarray(turned.T[:, weak.shape[1] :])


def pivoted_cholesky(gram: Float64, relative_cut: float) -> tuple[IntArray, Float64]:
    """Pivots (k,) and the triangular factor L (k, k) of their Gram matrix, G[pivots][:, pivots] = L
    L^T.

    The next pivot is always the element of largest residual, until that falls below relative_cut
    times the largest diagonal entry. It costs n k^2 operations; all other elements lie in the span
    of the pivots up to that residual.
    """
    largest = float(np.diag(gram).max(initial=0.0))
    if not largest > 0:
        return np.zeros(0, dtype=np.intp), np.zeros((0, 0))
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(gram, lower=1, tol=relative_cut * largest)
    return order[:rank].astype(np.intp) - 1, np.tril(factor[:rank, :rank])


def pivoted_whitener(gram: Float64, relative_cut: float) -> Float64:
    """W (r, k) with W^T G W = I on the span of the pivots: the triangular inverse in their rows,
    zero in all others."""
    pivots, factor = pivoted_cholesky(gram, relative_cut)
    w = np.zeros((len(gram), len(pivots)))
    w[pivots] = inverse_transposed(factor)
    return w


def inverse_transposed(factor: Float64) -> Float64:
    """L^-T (k, k) of a lower triangular factor."""
    if not len(factor):
        return factor
    inverse, _ = scipy.linalg.lapack.dtrtri(factor, lower=1)
    return np.ascontiguousarray(inverse.T)
