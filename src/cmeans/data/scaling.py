"""Extremes, means and deviations of columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .arrays import Array, Float64, is_sparse, to_numpy
from .blocks import rows_between, spans

_CELLS = 1_000_000  # numbers that are read together: what is copied to float64 stays small
_SPARSE_ROWS = 4096  # at least, where rows are sparse


def extremes(x: Array, weight: Float64 | None) -> tuple[Float64, Float64]:
    """Return the smallest and largest values (d,) of rows of positive weight, all without weights; inf and -inf where there are none."""
    low, high = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for block, w in _weighted_blocks(x, weight):
        counted = block if w.all() else block[np.flatnonzero(w > 0)]
        if counted.shape[0] == 0:
            continue
        lowest, highest = counted.min(axis=0), counted.max(axis=0)
        if is_sparse(counted):
            lowest, highest = lowest.toarray().ravel(), highest.toarray().ravel()
        low, high = np.minimum(low, lowest), np.maximum(high, highest)
    return low, high


def mean_and_deviation(x: Array, weight: Float64 | None, origin: Float64) -> tuple[Float64, Float64]:
    """Return the means and standard deviations (d,) of dense rows; a weight of k counts as k copies.

    Sums are relative to an origin among the values, so that a large offset costs no digits and a constant column has its value as mean.
    """
    total, mean, square = 0.0, np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for block, w in _weighted_blocks(x, weight):
        total, mean = total + w.sum(), mean + w @ (block.astype(np.float64) - origin)
    mean = origin + mean / total
    for block, w in _weighted_blocks(x, weight):
        square += w @ (block.astype(np.float64) - mean) ** 2
    return mean, np.sqrt(square / total)


def cuts(x: Array) -> Iterator[tuple[int, int]]:
    """(start, stop) of the rows that are read together."""
    return spans(int(x.shape[0]), max(_SPARSE_ROWS if is_sparse(x) else 1, _CELLS // max(1, int(x.shape[1]))))


def _weighted_blocks(x: Array, weight: Float64 | None) -> Iterator[tuple[Array, Float64]]:
    for start, stop in cuts(x):
        block = rows_between(x, start, stop)
        yield block if is_sparse(block) else to_numpy(block), np.ones(stop - start) if weight is None else weight[start:stop]
