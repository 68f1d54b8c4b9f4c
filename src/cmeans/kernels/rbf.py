"""The Gaussian kernel (RBF)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.arrays import (
    Array,
    central_point,
    in_type_of,
    is_sparse,
    namespace,
    replaced,
    squared_differences,
    squared_norms,
    to_numpy,
)
from ..data.precision import itemsize, resolution
from ..runtime.checks import known_number
from .base import Columns, GammaName, Kernel, check_gamma
from .native_values import NativeValues, native_gaussians, panels_of, serves
from .products import exponential, ones_of

# gamma |x|^2 of rows, by bytes of a number, up to which products miss values by 1e-6 and 1e-11 or
# so
FAR = {4: 4.0, 8: 2.0**14}
FEW_COLUMNS = 4  # up to which differences take no longer than products
# from which on sums round by more than their last step does, as walks of random steps grow
COLUMNS = 16
SLACK = 32.0  # rounding of an argument, as a share of that


@dataclass(frozen=True, repr=False)
class RBF(Kernel):
    """k(x, y) = exp(-gamma |x - y|^2).

    Widths in papers: sigma of Havens 2011 is 1/gamma; a standard deviation s means gamma = 1/(2
    s^2).

    Parameters
    ----------
    gamma : "scale", "median" or float > 0, default="scale"
        Factor of squared distances. "scale": the inverse of the sum of the columns' variances,
        "median": of the median squared distance of different rows among at most 1,000, whatever
        random_state is, both of a fit's rows.

    Raises
    ------
    ValueError
        If gamma is neither a name nor a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.kernels import RBF
    >>> RBF(gamma=0.5)(np.array([[0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.368]])

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011.
    """

    gamma: GammaName | float = "scale"
    name = "rbf"
    prepares_lightly = True

    def __post_init__(self) -> None:
        check_gamma(self)

    def prepare(self, y: Array) -> Columns:
        return GaussianColumns(known_number(self, "gamma"), y)

    def diag(self, x: Array) -> Array:
        return ones_of(x)


@dataclass(frozen=True)
class _PreparedPoints:
    """Fixed points (s, d) in the dtype of some rows."""

    points: Array  # as they are
    shift: Array | None  # (d,) that products are about; None for CSR: the origin
    # (s, d + 2) points about it, with 1 and -gamma |y|^2, or panels of these; for CSR -gamma |y|^2
    # (s,) alone
    right: Array


class GaussianColumns:
    """exp(-gamma |x - y|^2) of rows against fixed points, each value of its own row and point
    alone.

    The argument is one product of rows and points about a shift, which rounds by a share of gamma
    (|x|^2 + |y|^2). Where that is more than the value may miss, for rows far from the shift and
    points near to them, it is found from the difference of the two; of few columns in single
    precision it always is where native code takes the rows, as that takes no longer.
    """

    def __init__(self, gamma: float, points: Array) -> None:
        self._gamma = gamma
        if isinstance(points, np.ndarray):
            # so that a model read from a file gives the same bits as the one it was saved from
            points = np.ascontiguousarray(points)
        self._points, self._shift = points, None if is_sparse(points) else central_point(points)
        self._of_few = NativeValues("gaussians_of_few", self._points, gamma)
        # by the rows' dtype, and whether native code takes them
        self._prepared: dict[Any, _PreparedPoints] = {}

    def __call__(self, x: Array, room: Array | None = None) -> Array:
        far = FAR[itemsize(x)] / math.sqrt(1.0 + x.shape[1] / COLUMNS)
        if serves(x) and serves(self._points):
            if itemsize(x) == 4 and x.shape[1] <= FEW_COLUMNS:
                return self._of_few(x, room)
            known = self._prepared_for(x, native=True)
            return native_gaussians(
                x, known.right, known.points, known.shift, self._gamma, far, room
            )
        known = self._prepared_for(x, native=False)
        s, sizes = self._products(x, known, room)
        return exponential(_at_most_zero(self._with_near_pairs(s, sizes, far, x, known.points)))

    def _products(
        self, x: Array, known: _PreparedPoints, room: Array | None
    ) -> tuple[Array, Array]:
        """Return the arguments (b, s) of the exponential by products, and gamma |x|^2 (b,)."""
        if known.shift is None:
            sizes = squared_norms(x) * self._gamma
            s = (x @ known.points.T).toarray()
            s *= x.dtype.type(2.0 * self._gamma)
            s -= sizes[:, None]
            s += known.right[None, :]
            return s, sizes
        moved = x - known.shift[None, :]
        sizes = squared_norms(moved) * self._gamma
        left = _with_columns(moved * (2.0 * self._gamma), -sizes, namespace(x).ones_like(sizes))
        right = known.right
        return (
            left @ right.T
            if room is None
            else np.matmul(left, right.T, out=room[:, : right.shape[0]])
        ), sizes

    def _prepared_for(self, x: Array, *, native: bool) -> _PreparedPoints:
        key = x.dtype, native
        if key not in self._prepared:
            self._prepared[key] = self._of_dtype(x, native=native)
        return self._prepared[key]

    def _of_dtype(self, x: Array, *, native: bool) -> _PreparedPoints:
        points = in_type_of(self._points, x)
        if self._shift is None:
            return _PreparedPoints(points, None, squared_norms(points) * -self._gamma)
        # A shift that the rows' type holds moves rows and points by the same; points of more digits
        # lose some of them only then.
        shift = in_type_of(self._shift, x)
        moved = self._points - in_type_of(shift, self._points)[None, :]
        sizes = squared_norms(moved) * -self._gamma
        right = in_type_of(_with_columns(moved, namespace(sizes).ones_like(sizes), sizes), x)
        return _PreparedPoints(points, shift, panels_of(right) if native else right)

    def _with_near_pairs(self, s: Array, sizes: Array, far: float, x: Array, y: Array) -> Array:
        """Return s (b, s) with the arguments of near pairs of far rows from differences."""
        xp = namespace(s)
        rows = (sizes > far) & (sizes < math.inf)
        if not bool(xp.any(rows)):
            return s
        ratios = xp.where(rows, sizes, xp.ones_like(sizes) * far) / far
        least = -(xp.log(ratios) + SLACK * resolution(x.dtype) * sizes)
        near = rows[:, None] & (s > least[:, None])
        i, j = (to_numpy(numbers) for numbers in xp.nonzero(near))
        if not len(i):
            return s
        return replaced(s, near, squared_differences(x, y, i, j) * -self._gamma)


def _with_columns(x: Array, *columns: Array) -> Array:
    return namespace(x).concat([x, *(column[:, None] for column in columns)], axis=1)


def _at_most_zero(s: Array) -> Array:
    """The smaller of s and 0, NaN where s is, in place for NumPy."""
    xp = namespace(s)
    if isinstance(s, np.ndarray):
        return np.minimum(s, 0.0, out=s)
    return xp.where(s > 0, xp.zeros_like(s), s)
