"""Systems with a Gram matrix: by its eigenpairs, by Cholesky factors, or by conjugate gradients without factoring it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ..arrays import Float64, IntArray, resolution

MANY = 256  # columns from which on looking for a cheaper factor than eigenpairs is worth it
CLEARLY = 8.0  # times an eigenvalue that was estimated must exceed what eigenvalues are cut at: far beyond the estimates' errors
NEARLY = 4.0  # times that an eigenvalue which is kept may lie below the cut
POWERS = 12  # of a matrix, from which its largest eigenvalue is known to a factor of two
LEAST, FEW, SPARE = 16, 8, 8  # directions among which those to be cut are looked for: at least, at most one of so many, and beyond them
STEPS = 6  # of subspace iteration


def whitener(gram: Float64, relative_cut: float, floor: float = 0.0) -> Float64:
    """W (r, k) with W^T G W = I on the eigenvectors of G above `floor` and above relative_cut times the largest eigenvalue.

    Cutting keeps the pseudo-inverse sane when landmarks are redundant; negative eigenvalues of an indefinite kernel are clipped with it.
    """
    # Of many columns by divide and conquer: LAPACK's other way takes five times as long wherever eigenvalues lie very close together.
    values, vectors = scipy.linalg.eigh(gram, driver="evd" if len(gram) >= MANY else "evr", check_finite=False)
    kept = values > max(relative_cut * values[-1], floor)
    return np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]))


def cholesky_whitener(gram: Float64, smallest: float) -> Float64 | None:
    """The same from a Cholesky factor, several times as fast, where G has one and few directions if any lie below `smallest`.

    None where that is not so, where rounding of the factor comes near the cut, or G is small. Upper triangular if nothing is cut.
    """
    if len(gram) < MANY:
        return None
    factor, failed = scipy.linalg.lapack.dpotrf(gram, lower=1)
    if failed:
        return None
    w = inverse_transposed(factor)
    rounding = 10.0 * len(gram) * np.finfo(float).eps * largest_of(gram)
    inverse = _largest_eigenvalue(lambda v: w.T @ (w @ v), len(gram))
    if CLEARLY * max(smallest, rounding) * inverse < 1.0:
        return w
    return _without_weakest(w, smallest) if smallest >= rounding and inverse < np.inf else None


def _without_weakest(w: Float64, smallest: float) -> Float64 | None:
    """W for what lies G-orthogonal to the eigenvectors of G below `smallest`, from a square W; None if these are not few.

    They are W y for the eigenvectors y of W^T W, whose eigenvalues are the inverse ones. For any orthonormal y what is left whitens, so
    that y need not be more exact than the cut is.
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
        if weak.shape[1] + SPARE <= width and _largest_eigenvalue(_restricted(w, weak), n) * smallest < NEARLY:
            return _complement(w, weak)
        width *= 2
    return None


def _restricted(w: Float64, weak: Float64) -> Callable[[Float64], Float64]:
    """Products with W^T W on what is orthogonal to some directions."""

    def product(v: Float64) -> Float64:
        image = w.T @ (w @ (v - weak @ (weak.T @ v)))
        return image - weak @ (weak.T @ image)

    return product


def _complement(w: Float64, weak: Float64) -> Float64:
    """W Q (n, n - k) for an orthonormal basis Q of what is orthogonal to k directions."""
    if not weak.shape[1]:
        return w
    (reflectors, factors), _ = scipy.linalg.qr(weak, mode="raw", check_finite=False)
    turned, _, _ = scipy.linalg.lapack.dormqr("L", "T", reflectors, factors, w.T, lwork=64 * len(w))
    return np.ascontiguousarray(turned.T[:, weak.shape[1] :])


def largest_of(gram: Float64) -> float:
    """The largest absolute eigenvalue of a symmetric matrix, to a factor of two from below."""
    return _largest_eigenvalue(lambda v: gram @ v, len(gram))


def _largest_eigenvalue(product: Callable[[Float64], Float64], n: int) -> float:
    """The same of a matrix known by its products; infinite where a number is not finite, or all are zero."""
    v, size = np.random.RandomState(0).normal(size=n), 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(POWERS):
            v /= np.linalg.norm(v)
            v = product(v)
            size = float(np.linalg.norm(v))
            if not 0.0 < size < np.inf:
                return np.inf
    return size


def pivoted_cholesky(gram: Float64, relative_cut: float) -> tuple[IntArray, Float64]:
    """Pivots (k,) and the triangular factor L (k, k) of their Gram matrix, G[pivots][:, pivots] = L L^T.

    The next pivot is always the element of largest residual; the end is where that falls below relative_cut times the largest
    diagonal entry. So it costs n k^2, and what is left out lies in the span of the pivots as far as that.
    """
    largest = float(np.diag(gram).max(initial=0.0))
    if not largest > 0:
        return np.zeros(0, dtype=np.intp), np.zeros((0, 0))
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(gram, lower=1, tol=relative_cut * largest)
    return order[:rank].astype(np.intp) - 1, np.tril(factor[:rank, :rank])


def pivoted_whitener(gram: Float64, relative_cut: float) -> Float64:
    """W (r, k) with W^T G W = I on the span of the pivots: the triangular inverse in their rows, zero in all others."""
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


def solver_tolerance(dtype: Any) -> float:
    """How far to go on products of rows of a dtype: no further than their rounding."""
    return 3e-6 if resolution(dtype) > 1e-10 else 1e-12


def conjugate_gradients(
    product: Callable[[Float64], Float64],  # a (c, r) -> a G (c, r), G symmetric and positive semi-definite
    t: Float64,  # (c, r) right-hand sides
    tolerance: float,  # stop when every residual is below this fraction of its right-hand side
    ridge: float,  # added to G's diagonal: where G is nearly singular it plays the part of the eigenvalue cut
    max_iter: int = 2000,
) -> Float64:
    """a with (G + ridge) a = t, all right-hand sides side by side.

    It starts from zero each time: a warm start would carry what lies in the null space of G from sweep to sweep, and let it grow.
    """
    a = np.zeros_like(t)
    residual, direction = t.copy(), t.copy()
    rho = _row_squares(residual)
    goal = tolerance**2 * np.maximum(rho, np.finfo(float).tiny)
    largest = 0.0  # the largest stretch seen: what "negative beyond rounding" is measured by
    for _ in range(max_iter):
        running = rho > goal
        if not running.any():
            break
        image = product(direction) + ridge * direction
        curvature = np.einsum("ij,ij->i", direction, image)
        lengths = _row_squares(direction)
        largest = max(largest, float(np.sqrt((_row_squares(image) / np.where(lengths > 0, lengths, 1.0)).max())))
        if (running & (curvature < -1e-8 * largest * lengths)).any():
            raise ValueError(
                "the kernel has negative eigenvalues on these rows, which conjugate gradients cannot solve with: "
                'take landmark_solver="eigh", which clips them (and, without landmarks, start from rows instead of points).'
            )
        running &= curvature > 0  # a direction of nothing: no more to gain there
        if not running.any():
            break
        step = np.where(running, rho / np.where(curvature > 0, curvature, 1.0), 0.0)[:, None]
        a += step * direction
        residual -= step * image
        new = _row_squares(residual)
        direction = residual + np.where(running, new / np.where(running, rho, 1.0), 0.0)[:, None] * direction
        rho = np.where(running, new, 0.0)
    return a


def _row_squares(x: Float64) -> Float64:
    squares: Float64 = np.einsum("ij,ij->i", x, x)
    return squares
