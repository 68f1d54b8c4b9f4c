"""Cells that lie far from all others of their column: slips of typing, and codes for nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ..data.arrays import Array, Float64, is_sparse

SAMPLED = 1_000  # rows that show which columns may have such cells
FEWEST = 20  # cells from which on a column shows what is usual
SHARES = (0.05, 0.95)  # of the cells, between which usual ones lie
RANGES = 10.0  # of usual cells, from which on others are far
Mask = npt.NDArray[np.bool_]


def far_cells(x: Array | None, weight: Float64) -> Mapping[int, Mask]:
    """Return by column which cells of rows (n, d) lie more than ten ranges of the usual ones away
    from these, where they are most of the sum of squares about the column's median. Usual are the
    nine tenths in the middle of the cells that are not the median, so that rare amounts among zeros
    are usual. None of sparse rows."""
    there = weight > 0
    rows = np.flatnonzero(there)
    if x is None or is_sparse(x) or len(rows) < FEWEST:
        return {}
    sample = np.sort(x[rows[:: -(-len(rows) // SAMPLED)]], axis=0)  # NaN comes last
    last = np.maximum((~np.isnan(sample)).sum(axis=0) - 1, 0)
    low, middle, high = (
        np.take_along_axis(sample, (share * last).astype(int)[None], axis=0)[0]
        for share in (SHARES[0], 0.5, SHARES[1])
    )
    wide = RANGES / 2 * (high - low)
    beyond = (np.fmin.reduce(x, axis=0) < low - wide) | (np.fmax.reduce(x, axis=0) > high + wide)
    found = dict[int, Mask]()
    for k in np.flatnonzero(beyond).tolist():
        cells = np.ascontiguousarray(x[:, k])
        others = cells[there & (cells != middle[k]) & (cells == cells)]
        if len(others) < FEWEST:
            continue
        least = float(np.quantile(others, SHARES[0], method="higher"))
        most = float(np.quantile(others, SHARES[1], method="lower"))
        away = RANGES * (most - least)
        if away <= 0:
            continue
        heavy = (others < least - away) | (others > most + away)
        squares = np.minimum(np.abs(others - middle[k]) / away, 1e100) ** 2  # none is infinite
        if squares[heavy].sum() > squares.sum() / 2:
            found[k] = (cells < least - away) | (cells > most + away)
    return found
