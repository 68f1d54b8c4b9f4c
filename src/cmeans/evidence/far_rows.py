"""Rows far from all others, which a sample may not hold."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray

TIMES = 3.0  # as far as the row that is farther than 99% of all
MOST = 500  # rows that are taken


def far_rows(distances: Float64) -> IntArray:
    """Return the rows that are far from the centres of a sample, the farthest first, by the
    distances (n,) of all rows to the nearest."""
    usual = float(np.quantile(distances, 0.99))
    found = np.flatnonzero(distances > TIMES * usual)
    return found[np.argsort(-distances[found], kind="stable")][:MOST]
