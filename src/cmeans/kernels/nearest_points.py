"""The nearest of some fixed points to every row, and how far they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from .. import native
from ..data.arrays import (
    Array,
    Float64,
    central_point,
    host_float64,
    in_float64,
    in_form_of,
    in_order,
    is_sparse,
    squared_differences,
    squared_norms,
    to_numpy,
)
from ..data.blocks import blocks_of
from ..data.precision import resolution, rounding
from ..native.calls import ADDRESS, WHOLE, Structure, address, members, pitch, pointer_to
from .native_values import LINE, panels_of, serves

# roundings of products, below which a squared distance found by one has lost too many digits
LOST = 256.0
PRODUCTS = 2**21  # of rows and points in memory at a time, without native code


class _NeighboursArgument(Structure):
    """struct neighbours"""

    _fields_ = [
        *members("rows panels scores numbers", ADDRESS),
        *members("count depth pitch n_panels wanted", WHOLE),
    ]


NEIGHBOURS = pointer_to(_NeighboursArgument)


class NearestPoints:
    """The `count` nearest of points (s, d) to rows of any form, the nearest first, equally near
    ones in their order.

    They are found by |p|^2 / 2 - x.p about a point amid the points, which keeps rounding small (CSR
    rows or points: about the origin). Rows to which all of them are so near that it is not small,
    as where rows and points are far from that point, are compared by differences.
    """

    def __init__(self, points: Array, count: int) -> None:
        if count < 1:  # compiled code would write before the first
            raise ValueError(f"{count} nearest points, where one is the least")
        self.points, self._count = points, count  # in float64
        self._centre = np.zeros(points.shape[1]) if is_sparse(points) else central_point(points)
        # by dtype: shift, panels or moved points, |p|^2
        self._prepared: dict[Any, tuple[Array, Array, Array]] = {}

    def __call__(self, x: Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """Numbers (b, count) of the points and squared distances (b, count), 0 where they are below
        rounding."""
        given = x = x if is_sparse(x) else to_numpy(x)
        if x.shape[1] != self.points.shape[1]:  # compiled code would read beyond the points
            of = self.points.shape[1]
            raise ValueError(f"rows of {x.shape[1]} columns have no distances to points of {of}")
        points, panels, norms = self._points_for(x)
        if not is_sparse(x):
            x = in_order(x - self._centre.astype(x.dtype))
        if panels is not None:
            numbers, scores = self._native(x, panels)
        else:
            parts = [
                _chosen(part, points, norms, self._count)
                for part in blocks_of(x, max(1, PRODUCTS // len(norms)))
            ]
            numbers, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
        kxx = squared_norms(x)[:, None]
        d2, sizes = kxx + 2.0 * scores, kxx + norms[numbers]
        lost = np.flatnonzero(d2[:, -1] < LOST * resolution(x.dtype) * sizes[:, -1])
        d2[d2 <= rounding(x.dtype) * sizes] = 0.0
        for rows in blocks_of(lost, max(1, PRODUCTS // len(norms))):
            lost_rows = in_float64(given[rows])
            if is_sparse(x):
                exact = squared_distances(lost_rows, self.points)
            else:
                exact = cdist(lost_rows, in_form_of(self.points, lost_rows), "sqeuclidean")
            numbers[rows], d2[rows] = nearest_columns(exact, self._count)
        return numbers, d2

    def _points_for(self, x: Array) -> tuple[Array, Array | None, Array]:
        """Points (d, s), column by column, their panels where native code takes the rows, and their
        squared norms, in the rows' dtype and about their origin."""
        key = x.dtype, is_sparse(x)
        if key not in self._prepared:
            if is_sparse(x) and is_sparse(self.points):
                points = self.points.astype(x.dtype, copy=False)
                self._prepared[key] = points.T.tocsr(), None, squared_norms(points)
                return self._prepared[key]
            centre = 0.0 if is_sparse(x) else self._centre.astype(x.dtype)
            points = np.ascontiguousarray(host_float64(self.points) - centre, x.dtype)
            norms = squared_norms(points)
            self._prepared[key] = points.T, _panels(points, norms) if serves(x) else None, norms
        return self._prepared[key]

    def _native(self, x: Array, panels: Array) -> tuple[Array, Array]:
        numbers = np.empty((len(x), self._count), np.int32)
        scores = np.empty((len(x), self._count), x.dtype)
        places = (address(array) for array in (x, panels, scores, numbers))
        argument = _NeighboursArgument(
            *places, len(x), x.shape[1], pitch(x), len(panels), self._count
        )
        native.function("find_neighbours", x.dtype, (NEIGHBOURS,))(argument)
        return numbers, scores


class NearestColumns:
    """The same of rows (b, s) that are distances to s points."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __call__(self, x: Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """Numbers (b, count) of the columns and squared distances (b, count)."""
        if is_sparse(x):
            raise ValueError(
                "X holds distances to landmarks and is sparse; give all of them, as a dense array."
            )
        x = to_numpy(x)
        if len(x) and x.min() < 0:
            raise ValueError(
                'X holds negative numbers; metric="precomputed" takes distances to landmarks.'
            )
        numbers, distances = nearest_columns(x, self._count)
        return numbers, distances**2


def nearest_columns(
    x: npt.NDArray[Any], count: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return the numbers (b, count) of the smallest values of each row (b, s), the first of equal
    ones, and these values."""
    numbers = np.argsort(x, axis=1, kind="stable")[:, :count]
    return numbers.astype(np.int32), np.take_along_axis(x, numbers, axis=1)


def squared_distances(x: Array, points: Array) -> Float64:
    """|x_i - p_l|^2 (b, s) of rows and points in float64, dense or CSR, by products, and from
    differences where these lose digits."""
    sizes = squared_norms(x)[:, None] + squared_norms(points)[None, :]
    d2: Float64 = sizes - 2.0 * host_float64(x @ points.T)
    near = d2 < LOST * resolution(np.float64) * sizes
    i, j = np.nonzero(near)
    d2[near] = squared_differences(x, points, i, j)
    return d2


def _panels(points: Array, norms: Array) -> Array:
    """Return |p|^2 / 2 and -p in panels, an even number of them; what pads them is infinitely
    far."""
    lanes = LINE // points.itemsize
    padded = np.zeros(
        (-(-len(points) // (2 * lanes)) * 2 * lanes, 1 + points.shape[1]), points.dtype
    )
    padded[:, 0] = np.inf
    padded[: len(points), 0], padded[: len(points), 1:] = norms / 2, -points
    return panels_of(padded)


def _chosen(x: Array, points: Array, norms: Array, count: int) -> tuple[Array, Array]:
    """The same by NumPy, for a few rows."""
    products = x @ points
    scores = norms / 2 - (products.toarray() if is_sparse(products) else products)
    numbers, kept = np.empty((x.shape[0], count), np.int32), np.empty((x.shape[0], count), x.dtype)
    rows = np.arange(x.shape[0])
    for place in range(count):
        best = np.argmin(scores, axis=1)  # the first of equal ones
        numbers[:, place], kept[:, place] = best, scores[rows, best]
        scores[rows, best] = np.inf
    return numbers, kept
