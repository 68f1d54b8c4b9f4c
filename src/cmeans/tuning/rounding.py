"""The variance that rounding has taken from columns of few values."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64

FEW = 1e-3  # share of a column's variance below which rounding says nothing
LEAST = 0.05  # of u^2 - 1, so that a column that nearly always has one value is no more than noise


def rounding_of(
    x: Float64,  # (n, d); NaN where a value is missing
    weight: Float64,  # (n,)
) -> Float64 | None:
    """Return (d,) the share of each column's variance that rounding has taken; None where it says
    nothing in any.

    u equally spaced values have the variance (u^2 - 1) delta^2 / 12, and rounding to steps of delta
    takes delta^2 / 12 (Sheppard): 1 / (u^2 - 1). u = 1 / sum_v p_v^2 is the effective number of
    values, of shares p_v.
    """
    shares = np.array([_share(column, weight) for column in x.T])
    return shares if (shares > FEW).any() else None


def _share(column: Float64, weight: Float64) -> float:
    there = ~np.isnan(column)
    values, number = np.unique(column[there], return_inverse=True)
    if len(values) < 2:
        return 0.0
    mass = np.bincount(number, weight[there])
    effective = float(mass.sum()) ** 2 / float(mass @ mass)
    return 1.0 / max(effective * effective - 1.0, LEAST)
