"""The wide shape, for many columns: rows are stored as they are, and vectors run along the columns.

The passes read the rows in a given order, so that some may be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...data.arrays import Array
from ...spaces import ProductRows, Rows
from .door import inlined
from .products import ABREAST, ROWS, add_weighted_part, add_weighted_rows, row_distances
from .tiles import GROUP, LINE, TILE, Tile, label_nearest, read_only, set_to_zero
from .vectors import VECTOR, prefetch

# Reading rows from memory is far slower than the arithmetic unless they are prefetched early and evenly: the distances prefetch the
# first half of the next tile, and the work on a tile after its distances the second.
ROWS_PER_PASS = 8  # rows for which all centres are computed before the next rows


@dataclass(frozen=True)
class FlatRows(ProductRows):
    """Rows, one after the other in memory."""

    @classmethod
    def from_rows(cls, rows: Rows) -> FlatRows:
        """Return rows of any form in contiguous memory."""
        plain = rows.plain()
        return cls(read_only(np.ascontiguousarray(plain.g)), read_only(np.ascontiguousarray(plain.kxx)))

    @cached_property
    def data(self) -> tuple[Array, Array]:
        """The rows in the form that the compiled passes read."""
        return self.g, np.arange(len(self.kxx))


arranged = FlatRows.from_rows


def empty_rows(dtype: type) -> tuple[Array, Array]:
    """Return no rows, in the form that the passes read."""
    return read_only(np.empty((0, 0), dtype)), np.arange(0)


@inlined
def prefetch_next(rows: tuple[Array, Array], number: int, t: int) -> None:
    """Prefetch a row of the second half of the next tile, after row t of this one."""
    g, order = rows
    i = (number + 1) * TILE + (TILE + t) // 2
    if t % 2 == 0 and i < order.shape[0]:
        for f in range(0, g.shape[1], LINE // g.itemsize):
            prefetch(g, (order[i], f))


@inlined
def distances(rows: tuple[Array, Array], number: int, centres: Array, norms: Array, rounding: float, tile: Tile) -> None:
    """Set d2 = k(x, x) + |v|^2 - 2 g.a of one tile, for a few rows at a time, which stay in the cache for all centres."""
    g, order = rows
    start = number * TILE
    for first in range(0, TILE, ROWS_PER_PASS):
        for j in range(0, centres.shape[0], GROUP):
            for t in range(first, first + ROWS_PER_PASS, ROWS):
                row_distances(g, order, start, centres, norms, j, tile.kxx, t, tile.d2, tile.low)
    set_to_zero(tile, norms, rounding)


@inlined
def nearest(rows: tuple[Array, Array], number: int, centres: Array, norms: Array, rounding: float, tile: Tile) -> None:
    """Set the distances and the labels."""
    distances(rows, number, centres, norms, rounding, tile)
    label_nearest(tile)


@inlined
def moments(rows: tuple[Array, Array], number: int, tile: Tile, total: Array) -> None:
    """total_j += sum_t w_jt g_t, for some columns at a time, which stay in the cache for all clusters."""
    g, order = rows
    start, columns, lanes = number * TILE, g.shape[1], VECTOR // g.itemsize
    whole = columns - columns % (ABREAST * lanes)
    for f in range(0, whole, ABREAST * lanes):
        for j in range(0, total.shape[0], GROUP):
            add_weighted_rows(g, order, start, tile.w, j, f, total)
    for f in range(whole, columns, lanes):
        for j in range(0, total.shape[0], GROUP):
            add_weighted_part(g, order, start, tile.w, j, f, total)


@inlined
def label_moments(rows: tuple[Array, Array], number: int, tile: Tile, total: Array) -> None:
    """The same where a row has weight for the cluster of its label only."""
    g, order = rows
    start, last = number * TILE, order.shape[0] - 1
    for t in range(TILE):
        prefetch_next(rows, number, t)
        row, sums, w = g[order[min(start + t, last)]], total[tile.label[t]], tile.weight[t]
        for f in range(g.shape[1]):
            sums[f] += w * row[f]
