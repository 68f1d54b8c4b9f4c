"""The wide shape: many columns. Rows stay as they are and vectors run along the columns.

The passes get the rows together with the order to visit them in, so that some may be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array
from ..spaces import ProductRows, Rows
from .door import inlined
from .products import ABREAST, ROWS, add_weighted_part, add_weighted_rows, row_distances
from .tiles import GROUP, LINE, TILE, Tile, label_nearest, read_only, set_to_zero
from .vectors import VECTOR, prefetch

# Rows come from memory far slower than they are worked on unless they are asked for in time, and evenly: distances ask for the
# first half of the next tile meanwhile, and whoever works on a tile after its distances for the second.
NEAR = 8  # rows that centres pass by together


@dataclass(frozen=True)
class FlatRows(ProductRows):
    """Rows one after the other."""

    @classmethod
    def of(cls, rows: Rows) -> FlatRows:
        """Any rows, made ready."""
        plain = rows.plain()
        return cls(read_only(np.ascontiguousarray(plain.g)), read_only(np.ascontiguousarray(plain.kxx)))

    @cached_property
    def data(self) -> tuple[Array, Array]:
        """What the compiled passes read."""
        return self.g, np.arange(len(self.kxx))


arranged = FlatRows.of


def nothing(dtype: type) -> tuple[Array, Array]:
    """No rows, as the passes read them."""
    return read_only(np.empty((0, 0), dtype)), np.arange(0)


@inlined
def ask(rows: tuple[Array, Array], number: int, t: int) -> None:
    """Have a row brought near that is due after row t of a tile is done with."""
    g, order = rows
    i = (number + 1) * TILE + (TILE + t) // 2
    if t % 2 == 0 and i < order.shape[0]:
        for f in range(0, g.shape[1], LINE // g.itemsize):
            prefetch(g, (order[i], f))


@inlined
def distances(rows: tuple[Array, Array], number: int, centres: Array, norms: Array, rounding: float, tile: Tile) -> None:
    """d2 = k(x, x) + |v|^2 - 2 g.a of one tile, a few rows at a time, which stay near while centres pass by."""
    g, order = rows
    start = number * TILE
    for first in range(0, TILE, NEAR):
        for j in range(0, centres.shape[0], GROUP):
            for t in range(first, first + NEAR, ROWS):
                row_distances(g, order, start, centres, norms, j, tile.kxx, t, tile.d2, tile.low)
    set_to_zero(tile, norms, rounding)


@inlined
def nearest(rows: tuple[Array, Array], number: int, centres: Array, norms: Array, rounding: float, tile: Tile) -> None:
    """The same, and the label."""
    distances(rows, number, centres, norms, rounding, tile)
    label_nearest(tile)


@inlined
def moments(rows: tuple[Array, Array], number: int, tile: Tile, total: Array) -> None:
    """total_j += sum_t w_jt g_t, some columns at a time, which stay near while clusters pass by."""
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
def own_moments(rows: tuple[Array, Array], number: int, tile: Tile, total: Array) -> None:
    """The same where a row has weight for the cluster of its label only."""
    g, order = rows
    start, last = number * TILE, order.shape[0] - 1
    for t in range(TILE):
        ask(rows, number, t)
        row, sums, w = g[order[min(start + t, last)]], total[tile.label[t]], tile.weight[t]
        for f in range(g.shape[1]):
            sums[f] += w * row[f]
