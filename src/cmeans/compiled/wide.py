"""The wide shape: many columns. Rows stay as they are and vectors run along the columns.

The passes get the rows together with the order to visit them in, so that some may be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array
from ..spaces import ProductRows, Rows
from .door import inlined, prefetch
from .tiles import LINE, TILE, Tile, note_smallest, read_only, set_to_zero

# Rows come from memory far slower than they are worked on unless they are asked for in time, and evenly: whoever works on a
# tile after its distances asks for the first rows of the next, the distances for the rest of their own.
FIRST = 56


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
def ask(rows: tuple[Array, Array], start: int, stop: int) -> None:
    """Have rows start ... stop - 1 of the order brought near."""
    g, order = rows
    for i in range(start, min(stop, order.shape[0])):
        for f in range(0, g.shape[1], LINE // g.itemsize):
            prefetch(g, (order[i], f))


@inlined
def distances(rows: tuple[Array, Array], number: int, centres: Array, norms: Array, rounding: float, tile: Tile) -> None:
    """d2 = k(x, x) + |v|^2 - 2 g.a of one tile, two rows and four centres at a time."""
    g, order = rows
    zero, d2 = g.dtype.type(0), tile.d2
    start, last = number * TILE, order.shape[0] - 1
    for t in range(0, TILE, 2):
        ask(rows, start + FIRST + t * (TILE - FIRST) // TILE, start + FIRST + (t + 2) * (TILE - FIRST) // TILE)
        p, q = g[order[min(start + t, last)]], g[order[min(start + t + 1, last)]]
        for j in range(0, centres.shape[0], 4):
            a, b, c, e = centres[j], centres[j + 1], centres[j + 2], centres[j + 3]
            pa, pb, pc, pe = zero, zero, zero, zero
            qa, qb, qc, qe = zero, zero, zero, zero
            for f in range(g.shape[1]):
                pf, qf, af, bf, cf, ef = p[f], q[f], a[f], b[f], c[f], e[f]
                pa, pb, pc, pe = pa + pf * af, pb + pf * bf, pc + pf * cf, pe + pf * ef
                qa, qb, qc, qe = qa + qf * af, qb + qf * bf, qc + qf * cf, qe + qf * ef
            d2[j, t], d2[j + 1, t], d2[j + 2, t], d2[j + 3, t] = pa, pb, pc, pe
            d2[j, t + 1], d2[j + 1, t + 1], d2[j + 2, t + 1], d2[j + 3, t + 1] = qa, qb, qc, qe
    for j in range(norms.shape[0]):
        for t in range(TILE):
            d2[j, t] += tile.kxx[t] + norms[j]
    for j in range(0, norms.shape[0], 4):
        note_smallest(tile, j)
    set_to_zero(tile, norms, rounding)


@inlined
def moments(rows: tuple[Array, Array], number: int, tile: Tile, total: Array) -> None:
    """total_j += sum_t w_jt g_t, eight rows at a time."""
    g, order = rows
    start, last, w = number * TILE, order.shape[0] - 1, tile.u
    for t in range(0, TILE, 8):
        i = start + t
        ask(rows, start + TILE + t * FIRST // TILE, start + TILE + (t + 8) * FIRST // TILE)
        p, q = g[order[min(i, last)]], g[order[min(i + 1, last)]]
        r, s = g[order[min(i + 2, last)]], g[order[min(i + 3, last)]]
        x, y = g[order[min(i + 4, last)]], g[order[min(i + 5, last)]]
        z, v = g[order[min(i + 6, last)]], g[order[min(i + 7, last)]]
        for j in range(total.shape[0]):
            sums = total[j]
            wp, wq, wr, ws = w[j, t], w[j, t + 1], w[j, t + 2], w[j, t + 3]
            wx, wy, wz, wv = w[j, t + 4], w[j, t + 5], w[j, t + 6], w[j, t + 7]
            for f in range(g.shape[1]):
                sums[f] += ((wp * p[f] + wq * q[f]) + (wr * r[f] + ws * s[f])) + ((wx * x[f] + wy * y[f]) + (wz * z[f] + wv * v[f]))


@inlined
def own_moments(rows: tuple[Array, Array], number: int, tile: Tile, total: Array) -> None:
    """The same where a row has weight for the cluster of its label only."""
    g, order = rows
    start, last = number * TILE, order.shape[0] - 1
    for t in range(TILE):
        row, sums, w = g[order[min(start + t, last)]], total[tile.label[t]], tile.weight[t]
        for f in range(g.shape[1]):
            sums[f] += w * row[f]
