"""The space spanned by given rows, over as few of them as possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import Array, Float64, IntArray, take
from ..data.precision import resolution
from ..kernels import Kernel
from .conjugate_gradients import solver_tolerance
from .kernel_centring import Centring
from .landmark import LandmarkSpace, gram_matrix, landmark_space
from .whiteners import inverse_transposed, pivoted_cholesky, pivoted_whitener

MANY = 64  # landmarks from which on a space may do without some of them
FEW = 2  # of which at most one is needed then


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


def over_few(space: LandmarkSpace, dtype: Any) -> tuple[LandmarkSpace, IntArray]:
    """Return the same span for rows of a dtype over as few of its landmarks as span the others but
    for rounding, and their numbers; over all, where they are not `MANY`, or more than one in `FEW`
    is needed."""
    count, kernel, gram = space.n_landmarks, space.kernel, space.gram
    all_of_them, most = np.arange(count), count // FEW
    if (
        count < MANY
        or gram is None
        or not 0 < space.n_coordinates <= most
        or not kernel.positive_definite
    ):
        return space, all_of_them
    # What is left out of a landmark is less than its values can tell.
    cut = 1e-7 if resolution(dtype) > 1e-10 else 1e-11
    pivots, _ = pivoted_cholesky(gram, cut * space.mean_square / float(np.diag(gram).max()))
    if len(pivots) > most:
        return space, all_of_them
    needed = np.sort(pivots)
    points, few = take(space.points, needed), gram[np.ix_(needed, needed)]
    return landmark_space(kernel, points, few, dtype, spherical=space.spherical), needed


def _gram_about(row: int, gram: Float64) -> Float64:
    """Gram matrix of the differences of all rows from one row."""
    differences: Float64 = gram - gram[row][:, None]
    differences -= gram[row][None, :] - gram[row, row]
    return differences
