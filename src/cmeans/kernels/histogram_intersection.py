"""The kernel of histogram intersection: how far two rows of counts or shares overlap."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from ..data.arrays import Array, Float64, is_foreign, is_sparse, namespace
from ..data.csr import canonical_csr
from .base import Columns, Kernel
from .native_values import NativeValues, serves


@dataclass(frozen=True, repr=False)
class HistogramIntersection(Kernel):
    """k(x, y) = sum_f min(x_f, y_f), features at least 0: the overlap of two histograms (Swain &
    Ballard 1991).

    Use it for counts and shares: words of texts or images, colours, species. k(x, x) is the row's
    sum, and the squared distance in feature space, k(x, x) - 2 k(x, y) + k(y, y), is the Manhattan
    distance of the rows. Positive definite. Rows of unequal totals are usually better divided by
    them first (scikit-learn's `Normalizer(norm="l1")`).

    Raises
    ------
    ValueError
        If a feature is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import HistogramIntersection
    >>> others = np.array([[1.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    >>> HistogramIntersection()(np.array([[3.0, 1.0, 0.0]]), others)
    array([[2., 3.]])

    References
    ----------
    M. J. Swain, D. H. Ballard, Color indexing, International Journal of Computer Vision 7 (1991)
    11-32.
    """

    name = "histogram_intersection"
    is_for_tables = False
    constant_part = True  # the counts that all rows have in each bin

    def prepare(self, y: Array) -> Columns:
        check_not_negative(self, y)
        intersections = intersections_with(y)

        def columns(x: Array, room: Array | None = None) -> Array:
            check_not_negative(self, x)
            return in_dtype(intersections(x), x)

        return columns

    def diag(self, x: Array) -> Array:
        check_not_negative(self, x)
        return in_dtype(row_sums(x), x)


def check_not_negative(kernel: Kernel, x: Array) -> None:
    values = x.data if is_sparse(x) else x
    if math.prod(values.shape) and bool(namespace(values).any(values < 0)):
        least = float(namespace(values).min(values))
        raise ValueError(
            f"{type(kernel).__name__}: features must not be negative, and {least:g} came: rows are "
            "histograms (counts, shares, intensities). Leave the rows unscaled or scale them to "
            "[0, 1]; for features with signs take another kernel."
        )


def row_sums(x: Array) -> Array:
    """k(x, x) = sum_f x_f (b,), in float64 for NumPy and CSR."""
    if is_foreign(x):
        return namespace(x).sum(x, axis=1)
    return np.asarray(x.sum(axis=1, dtype=np.float64)).ravel()


def in_dtype(values: Array, x: Array) -> Array:
    """Return the values in the rows' dtype, or in float64 where rows are integers."""
    xp = namespace(x)
    return xp.astype(
        values, x.dtype if xp.isdtype(x.dtype, "real floating") else xp.float64, copy=False
    )


def intersections_with(y: Array) -> Callable[[Array], Array]:
    """Return a function of rows x that gives sum_f min(x_if, y_lf) (b, s); no (b, s, d) array is
    made.

    In float64. Without native code, and for CSR, min(a, b) = (a + b - |a - b|) / 2, summed by
    Manhattan distances.
    """
    if is_foreign(y):
        return lambda x: _sums_of_minima(x, y)
    if serves(np.zeros(0)) and not is_sparse(y):
        native = NativeValues("intersections", np.asarray(y, np.float64))
    else:
        native = None
    totals = row_sums(y)
    points = canonical_csr(y) if is_sparse(y) else np.ascontiguousarray(y, dtype=np.float64)

    def columns(x: Array) -> Float64:
        if native is not None and not is_sparse(x):
            overlaps: Float64 = native(np.asarray(x, np.float64))
            return overlaps
        if is_sparse(x):
            distances = manhattan_distances(canonical_csr(x), points)
        else:
            distances = cdist(x, points, "cityblock")
        values: Float64 = np.asarray(distances, dtype=np.float64)
        np.subtract(totals[None, :], values, out=values)
        values += row_sums(x)[:, None]
        values *= 0.5
        return values

    return columns


def _sums_of_minima(x: Array, y: Array) -> Array:
    """sum_f min(x_if, y_lf) (b, s) for other array libraries, one feature at a time."""
    xp = namespace(x)
    y = xp.astype(y, x.dtype, copy=False)
    total = xp.minimum(x[:, 0][:, None], y[:, 0][None, :])
    for f in range(1, x.shape[1]):
        total += xp.minimum(x[:, f][:, None], y[:, f][None, :])
    return total
