"""The nearest neighbours of all rows among themselves."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from .plain_lengths import squared_lengths

PAIRS = 2**21  # in memory at a time, without native code


def nearest_rows(points: Float64, k: int, rows: IntArray) -> tuple[Float64, IntArray]:
    """Return squared distances (b, k) from some rows to the nearest others and the numbers of
    these, the nearest first and of equal ones the smaller number."""
    n = len(points)
    squares, numbers = np.empty((len(rows), k)), np.empty((len(rows), k), np.int64)
    for start, stop in spans(len(rows), max(1, PAIRS // n)):
        some = rows[start:stop]
        all_squares = squared_lengths(points, some[:, None], np.arange(n)[None, :])
        all_squares[np.arange(len(some)), some] = np.inf
        numbers[start:stop] = np.argsort(all_squares, axis=1, kind="stable")[:, :k]
        squares[start:stop] = np.take_along_axis(all_squares, numbers[start:stop], axis=1)
    return squares, numbers
