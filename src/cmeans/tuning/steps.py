"""Steps in which the values of columns are told, such as ages in fives."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64

COPIES = 2.0  # rows for each value of a column, at least, that is told in steps
ROUNDINGS = 8  # of the largest value of a column: values no further apart are the same


def steps_of(
    x: Float64,  # (n, d); NaN where a value is missing
    weight: Float64,  # (n,) counts of rows
    resolution: float,  # of the rows' type
) -> Float64:
    """Return (d,) the distance at which most rows' values have the next one, of columns of few
    values; 0 of others, and of columns of one value."""
    return np.array([_step(column, weight, resolution) for column in x.T])


def _step(column: Float64, weight: Float64, resolution: float) -> float:
    there = ~np.isnan(column)
    values, number = np.unique(column[there], return_inverse=True)
    mass = np.bincount(number, weight[there], minlength=len(values))
    if len(values) < 2:
        return 0.0
    new = np.diff(values) > ROUNDINGS * resolution * np.abs(values).max()
    firsts = np.flatnonzero(np.r_[True, new])
    values, mass = values[firsts], np.add.reduceat(mass, firsts)
    if len(values) < 2 or COPIES * len(values) > mass.sum():
        return 0.0
    gaps = np.diff(values)
    nearest = np.minimum(np.r_[np.inf, gaps], np.r_[gaps, np.inf])
    order = np.argsort(nearest, kind="stable")
    reached = np.cumsum(mass[order])
    return float(nearest[order[np.searchsorted(reached, reached[-1] / 2.0)]])
