"""Squared distances between rows by one fixed formula, whose bits depend on the two rows alone."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray


def squared_lengths(points: Float64, i: IntArray, j: IntArray) -> Float64:
    """Return |x_i - x_j|^2 (m,) of pairs of rows of points (n, d): squares of differences, added
    from the first column to the last.

    Native code adds them in the same order, without fused products, so both have the same bits.
    """
    sums = np.zeros(np.broadcast_shapes(i.shape, j.shape))
    for column in points.T:
        differences = column[i] - column[j]
        sums += differences * differences
    return sums
