"""The minimum spanning tree of few rows, or of a matrix of distances, grown row by row.

Prim 1957
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data.arrays import Float64, IntArray


def grown_by_rows(lengths_from: Callable[[int], Float64], n: int) -> tuple[IntArray, Float64]:
    """Return the edges (n - 1, 2) of the tree and their lengths, from the lengths (n,) of all edges
    that begin at a row; infinite ones join nothing, and are to be left out."""
    best = np.full(n, np.inf)  # shortest edge from the tree to each row outside
    ends = np.zeros(n, np.int64)  # where it begins
    keys = np.zeros(n, np.int64)  # its place among equally long ones
    outside = np.ones(n, bool)
    every = np.arange(n)
    edges = np.empty((max(n - 1, 0), 2), np.int64)
    lengths = np.full(max(n - 1, 0), np.inf)
    row = 0
    for step in range(n - 1):
        outside[row] = False
        new = lengths_from(row)
        key = np.minimum(every, row) * n + np.maximum(every, row)
        closer = outside & ((new < best) | ((new == best) & (key < keys)))
        best[closer], ends[closer], keys[closer] = new[closer], row, key[closer]
        waiting = np.where(outside, best, np.inf)
        nearest = np.flatnonzero(outside & (waiting == waiting.min()))
        row = int(nearest[np.argmin(keys[nearest])])
        edges[step] = row, ends[row]
        lengths[step] = best[row]
    return edges, lengths
