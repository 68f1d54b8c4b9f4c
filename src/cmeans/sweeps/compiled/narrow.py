"""The narrow shape, for few columns: rows are stored transposed tile by tile, and vectors run along the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.arrays import Array
from ...spaces import ProductRows, Rows, View
from .door import inlined
from .products import COLUMNS, add_tile_pairs, add_tile_products, column_distances, column_nearest
from .tiles import GROUP, TILE, Tile, label_nearest, read_only, set_to_zero, some_may_be_zero

FEW = 16  # clusters up to which adding a row to all of them, with weight zero for most, is faster than to one


@dataclass(frozen=True)
class TiledRows(Rows):
    """Rows transposed tile by tile, padded with zeros to whole tiles and an even number of columns."""

    tiles: Array  # (tiles, columns, TILE)
    kxx: Array  # (b,)
    width: int  # columns without padding

    @classmethod
    def from_rows(cls, rows: Rows) -> TiledRows:
        """Return rows of any form as tiles."""
        g = rows.plain().g
        b, d = g.shape
        whole = b // TILE
        tiles = np.zeros((-(-b // TILE), d + d % 2, TILE), dtype=g.dtype)
        tiles[:whole, :d] = g[: whole * TILE].reshape(whole, TILE, d).transpose(0, 2, 1)
        if b % TILE:
            tiles[whole, :d, : b % TILE] = g[whole * TILE :].T
        return cls(read_only(tiles), read_only(np.ascontiguousarray(rows.kxx)), d)

    @property
    def data(self) -> Array:
        """The rows in the form that the compiled passes read."""
        return self.tiles

    def plain(self) -> ProductRows:
        rows = self.tiles[:, : self.width].transpose(0, 2, 1).reshape(-1, self.width)
        return ProductRows(rows[: len(self.kxx)], self.kxx)

    def inner(self, view: View) -> Array:
        a = np.zeros((len(view.coefficients), self.tiles.shape[1]), dtype=self.tiles.dtype)
        a[:, : self.width] = view.coefficients
        return np.matmul(self.tiles.transpose(0, 2, 1), a.T).reshape(-1, len(a))[: len(self.kxx)]

    def add_moment(self, w: Array, total: Array) -> None:
        padded = w
        if len(w) % TILE:
            padded = np.zeros((len(self.tiles) * TILE, w.shape[1]), dtype=w.dtype)
            padded[: len(w)] = w
        parts = np.matmul(self.tiles, padded.reshape(len(self.tiles), TILE, -1))  # (tiles, columns, c)
        total += parts.sum(axis=0)[: self.width].T


arranged = TiledRows.from_rows


def empty_rows(dtype: type) -> Array:
    """Return no rows, in the form that the passes read."""
    return read_only(np.empty((0, 0, TILE), dtype))


@inlined
def distances(rows: Array, number: int, centres: Array, norms: Array, rounding: float, tile: Tile) -> None:
    """Set d2 = k(x, x) + |v|^2 - 2 x.a of one tile."""
    x, next_tile = rows[number], rows[min(number + 1, rows.shape[0] - 1)]
    for j in range(0, centres.shape[0], GROUP):
        column_distances(x, next_tile, centres, norms, j, tile.kxx, tile.d2, tile.low)
    set_to_zero(tile, norms, rounding)


@inlined
def nearest(rows: Array, number: int, centres: Array, norms: Array, rounding: float, tile: Tile) -> None:
    """Set the label and the smallest distance only; the other distances are not stored."""
    column_nearest(rows[number], rows[min(number + 1, rows.shape[0] - 1)], centres, norms, tile.kxx, tile.low, tile.label)
    if some_may_be_zero(tile, norms, rounding):
        for t in range(TILE):
            tile.low[t] = np.inf
        distances(rows, number, centres, norms, rounding, tile)
        label_nearest(tile)


@inlined
def moments(rows: Array, number: int, tile: Tile, total: Array) -> None:
    """total_j += sum_t w_jt x_t."""
    x = rows[number]
    whole = x.shape[0] - x.shape[0] % COLUMNS
    for j in range(0, total.shape[0], GROUP):
        for f in range(0, whole, COLUMNS):
            add_tile_products(tile.w, j, x, f, total)
        for f in range(whole, x.shape[0], 2):
            add_tile_pairs(tile.w, j, x, f, total)


@inlined
def label_moments(rows: Array, number: int, tile: Tile, total: Array) -> None:
    """The same where a row has weight for the cluster of its label only; by products where clusters are few."""
    x = rows[number]
    if total.shape[0] <= FEW:
        for j in range(tile.u.shape[0]):
            for t in range(TILE):
                tile.u[j, t] = tile.weight[t] if tile.label[t] == j else 0.0
        moments(rows, number, tile, total)
        return
    for t in range(TILE):
        j, w = tile.label[t], tile.weight[t]
        for f in range(x.shape[0]):
            total[j, f] += w * x[f, t]
