"""The narrow shape: few columns. Rows are kept transposed tile by tile and vectors run along the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..spaces import ProductRows, Rows, View
from .door import inlined, prefetch
from .tiles import LINE, TILE, Tile, note_smallest, read_only, set_to_zero


@dataclass(frozen=True)
class TiledRows(Rows):
    """Rows transposed tile by tile, filled up with zeros to whole tiles and an even number of columns."""

    tiles: Array  # (tiles, columns, TILE)
    kxx: Array  # (b,)
    width: int  # columns that count

    @classmethod
    def of(cls, rows: Rows) -> TiledRows:
        """Any rows, made ready."""
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
        """What the compiled passes read."""
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


arranged = TiledRows.of


def nothing(dtype: type) -> Array:
    """No rows, as the passes read them."""
    return read_only(np.empty((0, 0, TILE), dtype))


@inlined
def distances(rows: Array, number: int, centres: Array, norms: Array, rounding: float, tile: Tile) -> None:
    """d2 = k(x, x) + |v|^2 - 2 x.a of one tile, four centres and four columns at a time."""
    x, d2, kxx = rows[number], tile.d2, tile.kxx
    columns = x.shape[0]
    for j in range(0, centres.shape[0], 4):
        n0, n1, n2, n3 = norms[j], norms[j + 1], norms[j + 2], norms[j + 3]
        f = columns % 4
        if f == 2:
            a0, a1, b0, b1 = centres[j, 0], centres[j, 1], centres[j + 1, 0], centres[j + 1, 1]
            c0, c1, e0, e1 = centres[j + 2, 0], centres[j + 2, 1], centres[j + 3, 0], centres[j + 3, 1]
            for t in range(TILE):
                k, x0, x1 = kxx[t], x[0, t], x[1, t]
                d2[j, t] = (k + n0) + (a0 * x0 + a1 * x1)
                d2[j + 1, t] = (k + n1) + (b0 * x0 + b1 * x1)
                d2[j + 2, t] = (k + n2) + (c0 * x0 + c1 * x1)
                d2[j + 3, t] = (k + n3) + (e0 * x0 + e1 * x1)
        else:
            for t in range(TILE):
                k = kxx[t]
                d2[j, t], d2[j + 1, t], d2[j + 2, t], d2[j + 3, t] = k + n0, k + n1, k + n2, k + n3
        for g in range(f, columns, 4):
            if j == 0 and number + 1 < rows.shape[0]:  # the next tile is asked for while this one is worked on
                for h in range(g, g + 4):
                    for t in range(0, TILE, LINE // rows.itemsize):
                        prefetch(rows, (number + 1, h, t))
            a0, a1, a2, a3 = centres[j, g], centres[j, g + 1], centres[j, g + 2], centres[j, g + 3]
            b0, b1, b2, b3 = centres[j + 1, g], centres[j + 1, g + 1], centres[j + 1, g + 2], centres[j + 1, g + 3]
            c0, c1, c2, c3 = centres[j + 2, g], centres[j + 2, g + 1], centres[j + 2, g + 2], centres[j + 2, g + 3]
            e0, e1, e2, e3 = centres[j + 3, g], centres[j + 3, g + 1], centres[j + 3, g + 2], centres[j + 3, g + 3]
            for t in range(TILE):
                x0, x1, x2, x3 = x[g, t], x[g + 1, t], x[g + 2, t], x[g + 3, t]
                d2[j, t] += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
                d2[j + 1, t] += (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)
                d2[j + 2, t] += (c0 * x0 + c1 * x1) + (c2 * x2 + c3 * x3)
                d2[j + 3, t] += (e0 * x0 + e1 * x1) + (e2 * x2 + e3 * x3)
        note_smallest(tile, j)
    set_to_zero(tile, norms, rounding)


@inlined
def moments(rows: Array, number: int, tile: Tile, total: Array) -> None:
    """total_j += sum_t w_jt x_t, two columns of two clusters at a time."""
    x, w = rows[number], tile.u
    zero = x.dtype.type(0)
    c = total.shape[0]
    for j in range(0, c, 2):
        i = min(j + 1, c - 1)
        for f in range(0, x.shape[0], 2):
            s00, s01, s10, s11 = zero, zero, zero, zero
            for t in range(TILE):
                v0, v1, x0, x1 = w[j, t], w[i, t], x[f, t], x[f + 1, t]
                s00 += v0 * x0
                s01 += v0 * x1
                s10 += v1 * x0
                s11 += v1 * x1
            total[j, f] += s00
            total[j, f + 1] += s01
            if i > j:
                total[i, f] += s10
                total[i, f + 1] += s11


@inlined
def own_moments(rows: Array, number: int, tile: Tile, total: Array) -> None:
    """The same where a row has weight for the cluster of its label only."""
    x = rows[number]
    for t in range(TILE):
        j, w = tile.label[t], tile.weight[t]
        for f in range(x.shape[0]):
            total[j, f] += w * x[f, t]
