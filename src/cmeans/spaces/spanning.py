"""The space that given rows span, over as few of them as that takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, Float64, resolution, take
from ..kernels import Kernel
from .centring import Centring
from .landmark import LandmarkSpace, gram_matrix, landmark_space
from .linear_solvers import inverse_transposed, pivoted_cholesky, pivoted_whitener, solver_tolerance


def spanning_space(kernel: Kernel, rows: Array, dtype: Any) -> LandmarkSpace:
    """The span of all rows (n, d), from one pivoted Cholesky factorisation of their kernel matrix.

    Landmarks are its k pivots, so that a sweep reads n k numbers: for smooth kernels k is the numerical rank, a few hundred.
    An indefinite kernel, which has no such factor, keeps all rows and is cut by its eigenvalues.
    """
    if not kernel.positive_definite:
        return landmark_space(kernel, rows, None, dtype)
    # What is left out; the smaller, the more the factor enlarges rounding: below 1e-4 float32 centres do not come to rest.
    cut = 1e-4 if resolution(dtype) > 1e-10 else 1e-11
    gram = gram_matrix(kernel, rows)
    if kernel.constant_part:
        origin = int(np.argmin(np.diag(gram) - 2.0 * gram.mean(axis=0)))
        pivots, _ = pivoted_cholesky(_about(origin, gram), cut)
        pivots = np.append(pivots, origin)  # their differences from it, and itself, are the whole span
    else:
        pivots, factor = pivoted_cholesky(gram, cut)
    if not len(pivots):
        return landmark_space(kernel, rows, None, dtype)  # rows that the kernel cannot tell from nothing
    points, own = take(rows, pivots), gram[pivots[:, None], pivots]
    if not kernel.constant_part:
        return LandmarkSpace(kernel, points, own, None, inverse_transposed(factor), solver_tolerance(dtype))
    centring = Centring.of(own)
    return LandmarkSpace(kernel, points, own, centring, pivoted_whitener(centring.gram(own), cut), solver_tolerance(dtype))


def _about(row: int, gram: Float64) -> Float64:
    """Gram matrix of the rows' differences from one of them."""
    differences: Float64 = gram - gram[row][:, None]
    differences -= gram[row][None, :] - gram[row, row]
    return differences
