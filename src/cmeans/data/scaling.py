"""Extremes, means and deviations of columns, and columns in other units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .arrays import Array, Float64, as_like, is_sparse, to_numpy
from .blocks import rows_between, spans

_CELLS = 1_000_000  # numbers that are read together: what is copied to float64 stays small
_SPARSE_ROWS = 4096  # at least, where rows are sparse


class Units(Protocol):
    """A function from rows or points (k, d) in one kind of units to those in another."""

    def __call__(self, x: Array) -> Array:
        """Return the rows in the other units."""

    @property
    def inverse(self) -> Units:
        """The way back."""


@dataclass(frozen=True)
class FeatureUnits:
    """Features multiplied by a factor each: a function of rows or points (k, d)."""

    factors: Float64  # (d,)

    def __call__(self, x: Array) -> Array:
        if not is_sparse(x):
            return x * as_like(self.factors, x)[None, :]
        columns = x.copy()
        columns.data *= self.factors.astype(x.dtype)[x.indices]
        return columns

    @property
    def inverse(self) -> FeatureUnits:
        """The way back."""
        return FeatureUnits(1.0 / self.factors)


def extremes(x: Array, weight: Float64 | None) -> tuple[Float64, Float64]:
    """Return the smallest and largest values (d,) of rows of positive weight, all without weights;
    inf and -inf where there are none."""
    low, high = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for block, w in _weighted_blocks(x, weight):
        counted = block if w.all() else block[np.flatnonzero(w > 0)]
        if counted.shape[0] == 0:
            continue
        if is_sparse(counted):
            lowest = counted.min(axis=0).toarray().ravel()
            highest = counted.max(axis=0).toarray().ravel()
        else:
            # of what is not missing
            lowest, highest = np.fmin.reduce(counted), np.fmax.reduce(counted)
        low, high = np.fmin(low, lowest), np.fmax(high, highest)
    return low, high


def mean_and_deviation(
    x: Array,
    weight: Float64 | None,
    origin: Float64,
    function: Callable[[Float64], Float64] | None = None,
) -> tuple[Float64, Float64]:
    """Return the means and standard deviations (d,) of dense rows; a weight of k counts as k
    copies.

    Sums are relative to an origin among the values, so that a large offset costs no digits and a
    constant column has its value as mean. Missing values have no part in them. `function`: is
    applied to each block before.
    """

    def numbers(block: Array) -> Float64:
        return block.astype(np.float64) if function is None else function(block)

    total, mean, square = np.zeros(x.shape[1]), np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for block, w in _weighted_blocks(x, weight):
        away = numbers(block) - origin
        holes = np.isnan(away)
        if holes.any():
            total, mean = total + w @ ~holes, mean + w @ np.where(holes, 0.0, away)
        else:
            total, mean = total + w.sum(), mean + w @ away
    mean = origin + mean / total
    for block, w in _weighted_blocks(x, weight):
        away = numbers(block) - mean
        square += w @ np.where(np.isnan(away), 0.0, away) ** 2
    return mean, np.sqrt(square / total)


def cuts(x: Array) -> Iterator[tuple[int, int]]:
    """(start, stop) of the rows that are read together."""
    return spans(
        int(x.shape[0]), max(_SPARSE_ROWS if is_sparse(x) else 1, _CELLS // max(1, int(x.shape[1])))
    )


def _weighted_blocks(x: Array, weight: Float64 | None) -> Iterator[tuple[Array, Float64]]:
    for start, stop in cuts(x):
        block = rows_between(x, start, stop)
        yield (
            block if is_sparse(block) else to_numpy(block),
            np.ones(stop - start) if weight is None else weight[start:stop],
        )
