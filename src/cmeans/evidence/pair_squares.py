"""Squared distances of all pairs of rows, by a product of matrices and, of pairs too near for it,
by differences."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans

SURE = 1e-6  # of two squared lengths, above which what is left of them has nine digits and more
NUMBERS = 2**21  # in memory at a time, beside rows and squares


def pair_squares(x: Float64) -> Float64:
    """Return the squared distances (n, n) of rows (n, d) from each other."""
    n = len(x)
    about_mean = x - x.mean(axis=0)
    squares: Float64 = about_mean @ about_mean.T
    lengths = squares.diagonal().copy()
    for start, stop in spans(n, max(1, NUMBERS // n)):
        some, both = squares[start:stop], lengths[start:stop, None] + lengths
        some *= -2.0
        some += both
        row, other = np.nonzero(some <= SURE * both)
        row += start
        earlier = other < row  # whose squares are complete, so that both places can be written
        row, other = row[earlier], other[earlier]
        squares[row, other] = squares[other, row] = _by_differences(x, row, other)
    np.fill_diagonal(squares, 0.0)
    return squares


def _by_differences(x: Float64, row: IntArray, other: IntArray) -> Float64:
    found = np.empty(len(row))
    for start, stop in spans(len(row), max(1, NUMBERS // x.shape[1])):
        apart = x[row[start:stop]] - x[other[start:stop]]
        found[start:stop] = np.einsum("ij,ij->i", apart, apart)
    return found
