"""The space spanned by given rows, over as few of them as possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import Array, Float64, take
from ..data.precision import resolution
from ..kernels import Kernel
from .conjugate_gradients import solver_tolerance
from .kernel_centring import Centring
from .landmark import LandmarkSpace, gram_matrix, landmark_space
from .whiteners import inverse_transposed, pivoted_cholesky, pivoted_whitener


def spanning_space(kernel: Kernel, rows: Array, dtype: Any) -> LandmarkSpace:
    """Return the span of all rows (n, d), from one pivoted Cholesky factorisation of their kernel
    matrix.

    Landmarks are its k pivots, so that a sweep reads n k numbers: for smooth kernels k is the
    numerical rank, a few hundred. For an indefinite kernel, which has no such factor, all rows are
    kept and its eigenvalues are cut.
    """
    if not kernel.positive_definite:
        return landmark_space(kernel, rows, None, dtype)
    # A smaller cut leaves out less, but the factor enlarges rounding more: below 1e-4 float32
    # centres do not converge.
    cut = 1e-4 if resolution(dtype) > 1e-10 else 1e-11
    gram = gram_matrix(kernel, rows)
    if kernel.constant_part:
        origin = int(np.argmin(np.diag(gram) - 2.0 * gram.mean(axis=0)))
        pivots, _ = pivoted_cholesky(_gram_about(origin, gram), cut)
        # the span is that of their differences from the origin row, and that row
        pivots = np.append(pivots, origin)
    else:
        pivots, factor = pivoted_cholesky(gram, cut)
    if not len(pivots):
        # the kernel is zero on all rows, up to rounding
        return landmark_space(kernel, rows, None, dtype)
    points, pivot_gram = take(rows, pivots), gram[pivots[:, None], pivots]
    if not kernel.constant_part:
        return LandmarkSpace(
            kernel, points, pivot_gram, None, inverse_transposed(factor), solver_tolerance(dtype)
        )
    centring = Centring.of(pivot_gram)
    return LandmarkSpace(
        kernel,
        points,
        pivot_gram,
        centring,
        pivoted_whitener(centring.gram(pivot_gram), cut),
        solver_tolerance(dtype),
    )


def _gram_about(row: int, gram: Float64) -> Float64:
    """Gram matrix of the differences of all rows from one row."""
    differences: Float64 = gram - gram[row][:, None]
    differences -= gram[row][None, :] - gram[row, row]
    return differences
