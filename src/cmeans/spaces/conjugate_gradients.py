"""Systems with a Gram matrix by conjugate gradients, without factoring it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.arrays import Float64
from ..data.precision import binary_exponent, resolution


def solver_tolerance(dtype: Any) -> float:
    """Return the tolerance for products of rows of a dtype: not below their rounding."""
    return 3e-6 if resolution(dtype) > 1e-10 else 1e-12


def conjugate_gradients(
    # a (c, r) -> a G (c, r), G symmetric and positive semi-definite
    product: Callable[[Float64], Float64],
    t: Float64,  # (c, r) right-hand sides
    tolerance: float,  # stop when every residual is below this fraction of its right-hand side
    # added to G's diagonal: it replaces the eigenvalue cut where G is nearly singular
    ridge: float,
    max_iter: int = 2000,
) -> Float64:
    """Return a with a (G + ridge I) = t, all right-hand sides side by side.

    The start is always zero: a warm start would carry components in the null space of G from sweep
    to sweep and let them grow. Squares are taken of t and of products with G, so powers of two
    bring both to a size of about 1 first.
    """
    of_t, of_g = binary_exponent(t), binary_exponent(ridge)
    t, ridge = np.ldexp(t, -of_t), float(np.ldexp(ridge, -of_g))
    a = np.zeros_like(t)
    residual, direction = t.copy(), t.copy()
    rho = _row_squares(residual)
    goal = tolerance**2 * np.maximum(rho, np.finfo(float).tiny)
    # the largest |image| / |direction| so far, the scale for "negative beyond rounding"
    largest = 0.0
    for _ in range(max_iter):
        running = rho > goal
        if not running.any():
            break
        image = np.ldexp(product(direction), -of_g) + ridge * direction
        curvature = np.einsum("ij,ij->i", direction, image)
        lengths = _row_squares(direction)
        largest = max(
            largest,
            float(np.sqrt((_row_squares(image) / np.where(lengths > 0, lengths, 1.0)).max())),
        )
        if (running & (curvature < -1e-8 * largest * lengths)).any():
            raise ValueError(
                "the kernel has negative eigenvalues on these rows, which conjugate gradients "
                "cannot solve with: take Landmarks(...), whose factor clips them (and, without "
                "landmarks, start from rows instead of points)."
            )
        running &= curvature > 0  # zero curvature: no further progress
        if not running.any():
            break
        step = np.where(running, rho / np.where(curvature > 0, curvature, 1.0), 0.0)[:, None]
        a += step * direction
        residual -= step * image
        new = _row_squares(residual)
        direction = (
            residual
            + np.where(running, new / np.where(running, rho, 1.0), 0.0)[:, None] * direction
        )
        rho = np.where(running, new, 0.0)
    return np.ldexp(a, of_t - of_g)


def _row_squares(x: Float64) -> Float64:
    squares: Float64 = np.einsum("ij,ij->i", x, x)
    return squares
