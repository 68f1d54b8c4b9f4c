"""Columns of few values, such as counts and grades: rows of one value are no cluster by themselves,
so that they are spread over the steps between values before rows are judged."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray
from .kind import MANY, kind_of

FEW = 20  # values that hold nearly all rows
SHARE = 0.9  # that is nearly all
FEWEST = 3  # values: two are a category, whose rows belong together
RARE = 0.05  # of the weight, which is all that values beside the most frequent have in others
ROWS = 5  # for each value, on average at least


def stepped_columns(x: Float64, weights: Float64, most: int) -> IntArray:
    """Return the columns of rows (n, d) in which few values hold nearly all the weight; none of
    rows of many columns, which tell clusters apart together. `most` as of `spread_copies`."""
    if kind_of(x.shape[1]) == MANY:
        return np.zeros(0, np.intp)
    rows = int(_copies(weights, most).sum())
    return np.array([k for k in range(x.shape[1]) if _is_stepped(x[:, k], weights, rows)], np.intp)


def _is_stepped(column: Float64, weights: Float64, rows: int) -> bool:
    values, members = np.unique(column, return_inverse=True)
    shares = np.sort(np.bincount(members, weights))[::-1] / weights.sum()
    some = FEWEST <= len(values) <= rows / ROWS and shares[0] < 1.0 - RARE
    return some and float(shares[:FEW].sum()) >= SHARE


def spread_copies(
    x: Float64, weights: Float64, columns: IntArray, most: int, seed: int
) -> tuple[Float64, Float64, IntArray]:
    """Return the copies that rows (n, d) stand for by their weights, some `most` at most, their
    weights, and of which rows they are. Their values in some columns are drawn evenly from what is
    nearer to them than to the column's other values; the same for rows in any order."""
    copies = _copies(weights, most)
    numbers = np.repeat(np.arange(len(x)), copies)
    whole, rng = x[numbers], np.random.default_rng(seed)
    spread, drawn = whole.copy(), np.empty((len(whole), len(columns)))
    drawn[np.lexsort(whole.T[::-1])] = rng.random(drawn.shape)
    for place, k in enumerate(columns):
        values, members = np.unique(whole[:, k], return_inverse=True)
        half = np.diff(values) / 2.0
        below, above = np.append(half[:1], half)[members], np.append(half, half[-1:])[members]
        spread[:, k] += drawn[:, place] * (below + above) - below
    return spread, (weights / copies)[numbers], numbers


def _copies(weights: Float64, most: int) -> IntArray:
    unit = max(float(weights.min()), float(weights.sum()) / most)
    return np.maximum(np.rint(weights / unit).astype(np.intp), 1)
