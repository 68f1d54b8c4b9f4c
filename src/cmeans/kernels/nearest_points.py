"""The nearest of some fixed points to every row, and how far they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Array, Float64, in_order, is_sparse, rounding, squared_norms, to_numpy
from ..data.blocks import blocks_of
from ..native.calls import ADDRESS, WHOLE, Structure, address, pitch, pointer_to
from .native_values import LINE, panels_of, serves

PRODUCTS = 2**21  # of rows and points in memory at a time, without native code


class _NeighboursArgument(Structure):
    """struct neighbours"""

    _fields_ = [
        ("rows", ADDRESS),
        ("panels", ADDRESS),
        ("scores", ADDRESS),
        ("numbers", ADDRESS),
        ("count", WHOLE),
        ("depth", WHOLE),
        ("pitch", WHOLE),
        ("n_panels", WHOLE),
        ("wanted", WHOLE),
    ]


NEIGHBOURS = pointer_to(_NeighboursArgument)


class NearestPoints:
    """The `count` nearest of points (s, d) to rows of any form, the nearest first, equally near ones in their order.

    They are found by |p|^2 / 2 - x.p about the points' mean, which keeps rounding small (CSR rows: about the origin).
    """

    def __init__(self, points: Float64, count: int) -> None:
        self._points, self._count, self._mean = points, count, points.mean(axis=0)
        self._prepared: dict[Any, tuple[Array, Array, Array]] = {}  # by dtype: shift, panels or moved points, |p|^2

    def __call__(self, x: Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """Numbers (b, count) of the points and squared distances (b, count), 0 where they are below rounding."""
        x = x if is_sparse(x) else to_numpy(x)
        points, panels, norms = self._points_for(x)
        if not is_sparse(x):
            x = in_order(x - self._mean.astype(x.dtype))
        if panels is not None:
            numbers, scores = self._native(x, panels)
        else:
            parts = [_chosen(part, points, norms, self._count) for part in blocks_of(x, max(1, PRODUCTS // len(points)))]
            numbers, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
        kxx = squared_norms(x)[:, None]
        d2 = kxx + 2.0 * scores
        d2[d2 <= rounding(x.dtype) * (kxx + norms[numbers])] = 0.0
        return numbers, d2

    def _points_for(self, x: Array) -> tuple[Array, Array | None, Array]:
        """Points, their panels where native code takes the rows, and their squared norms, in the rows' dtype and about their origin."""
        key = x.dtype, is_sparse(x)
        if key not in self._prepared:
            points = np.ascontiguousarray(self._points - (0.0 if is_sparse(x) else self._mean), x.dtype)
            norms = squared_norms(points)
            self._prepared[key] = points, _panels(points, norms) if serves(x) else None, norms
        return self._prepared[key]

    def _native(self, x: Array, panels: Array) -> tuple[Array, Array]:
        numbers, scores = np.empty((len(x), self._count), np.int32), np.empty((len(x), self._count), x.dtype)
        places = (address(array) for array in (x, panels, scores, numbers))
        argument = _NeighboursArgument(*places, len(x), x.shape[1], pitch(x), len(panels), self._count)
        native.function("find_neighbours", x.dtype, (NEIGHBOURS,))(argument)
        return numbers, scores


class NearestColumns:
    """The same of rows (b, s) that are distances to s points."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __call__(self, x: Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """Numbers (b, count) of the columns and squared distances (b, count)."""
        if is_sparse(x):
            raise ValueError("X holds distances to landmarks and is sparse; give all of them, as a dense array.")
        x = to_numpy(x)
        if len(x) and x.min() < 0:
            raise ValueError('X holds negative numbers; metric="precomputed" takes distances to landmarks.')
        numbers = np.argsort(x, axis=1, kind="stable")[:, : self._count]  # the first of equal ones
        return numbers.astype(np.int32), np.take_along_axis(x, numbers, axis=1) ** 2


def _panels(points: Array, norms: Array) -> Array:
    """Return |p|^2 / 2 and -p in panels, an even number of them; what pads them is infinitely far."""
    lanes = LINE // points.itemsize
    padded = np.zeros((-(-len(points) // (2 * lanes)) * 2 * lanes, 1 + points.shape[1]), points.dtype)
    padded[:, 0] = np.inf
    padded[: len(points), 0], padded[: len(points), 1:] = norms / 2, -points
    return panels_of(padded)


def _chosen(x: Array, points: Array, norms: Array, count: int) -> tuple[Array, Array]:
    """The same by NumPy, for a few rows."""
    scores = norms / 2 - x @ points.T
    numbers, kept = np.empty((x.shape[0], count), np.int32), np.empty((x.shape[0], count), x.dtype)
    rows = np.arange(x.shape[0])
    for place in range(count):
        best = np.argmin(scores, axis=1)  # the first of equal ones
        numbers[:, place], kept[:, place] = best, scores[rows, best]
        scores[rows, best] = np.inf
    return numbers, kept
