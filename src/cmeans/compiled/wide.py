"""The wide shape: many columns. Rows stay as they are and vectors run along the columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..spaces import ProductRows, Rows
from .door import inlined, prefetch
from .tiles import LINE, TILE, Tile


DIMENSIONS = 2  # of the array that the passes read


@dataclass(frozen=True)
class FlatRows(ProductRows):
    """Rows one after the other."""

    @classmethod
    def of(cls, rows: Rows) -> FlatRows:
        """Any rows, made ready."""
        plain = rows.plain()
        return cls(np.ascontiguousarray(plain.g), np.ascontiguousarray(plain.kxx))

    @property
    def data(self) -> Array:
        """What the compiled passes read."""
        return self.g


arranged = FlatRows.of


@inlined
def distances(rows: Array, number: int, centres: Array, norms: Array, tile: Tile) -> None:
    """d2 = k(x, x) + |v|^2 - 2 g.a of one tile, four rows and four centres at a time.

    Rows come from memory far slower than they are worked on, unless they are asked for in time.
    """
    zero, d2 = rows.dtype.type(0), tile.d2
    columns, last = rows.shape[1], rows.shape[0] - 1
    for t in range(0, TILE, 4):
        i = number * TILE + t
        if i <= last:
            for ahead in range(min(i + 4, last), min(i + 7, last) + 1):
                for f in range(0, columns, LINE // rows.itemsize):
                    prefetch(rows, (ahead, f))
        p, q, r, s = rows[min(i, last)], rows[min(i + 1, last)], rows[min(i + 2, last)], rows[min(i + 3, last)]
        for j in range(0, centres.shape[0], 4):
            a, b, c, e = centres[j], centres[j + 1], centres[j + 2], centres[j + 3]
            pa, pb, pc, pe = zero, zero, zero, zero
            qa, qb, qc, qe = zero, zero, zero, zero
            ra, rb, rc, re = zero, zero, zero, zero
            sa, sb, sc, se = zero, zero, zero, zero
            for f in range(columns):
                pf, qf, rf, sf, af, bf, cf, ef = p[f], q[f], r[f], s[f], a[f], b[f], c[f], e[f]
                pa, pb, pc, pe = pa + pf * af, pb + pf * bf, pc + pf * cf, pe + pf * ef
                qa, qb, qc, qe = qa + qf * af, qb + qf * bf, qc + qf * cf, qe + qf * ef
                ra, rb, rc, re = ra + rf * af, rb + rf * bf, rc + rf * cf, re + rf * ef
                sa, sb, sc, se = sa + sf * af, sb + sf * bf, sc + sf * cf, se + sf * ef
            d2[j, t], d2[j + 1, t], d2[j + 2, t], d2[j + 3, t] = pa, pb, pc, pe
            d2[j, t + 1], d2[j + 1, t + 1], d2[j + 2, t + 1], d2[j + 3, t + 1] = qa, qb, qc, qe
            d2[j, t + 2], d2[j + 1, t + 2], d2[j + 2, t + 2], d2[j + 3, t + 2] = ra, rb, rc, re
            d2[j, t + 3], d2[j + 1, t + 3], d2[j + 2, t + 3], d2[j + 3, t + 3] = sa, sb, sc, se
    for j in range(norms.shape[0]):
        for t in range(TILE):
            d2[j, t] += tile.kxx[t] + norms[j]


@inlined
def moments(rows: Array, number: int, tile: Tile, total: Array) -> None:
    """total_j += sum_t w_jt g_t, eight rows at a time."""
    last, w = rows.shape[0] - 1, tile.u
    for t in range(0, TILE, 8):
        i = number * TILE + t
        p, q, r, s = rows[min(i, last)], rows[min(i + 1, last)], rows[min(i + 2, last)], rows[min(i + 3, last)]
        x, y, z, v = rows[min(i + 4, last)], rows[min(i + 5, last)], rows[min(i + 6, last)], rows[min(i + 7, last)]
        for j in range(total.shape[0]):
            sums = total[j]
            wp, wq, wr, ws = w[j, t], w[j, t + 1], w[j, t + 2], w[j, t + 3]
            wx, wy, wz, wv = w[j, t + 4], w[j, t + 5], w[j, t + 6], w[j, t + 7]
            for f in range(total.shape[1]):
                sums[f] += ((wp * p[f] + wq * q[f]) + (wr * r[f] + ws * s[f])) + ((wx * x[f] + wy * y[f]) + (wz * z[f] + wv * v[f]))


@inlined
def own_moments(rows: Array, number: int, tile: Tile, total: Array) -> None:
    """The same where a row has weight for the cluster of its label only."""
    start = number * TILE
    for t in range(min(TILE, rows.shape[0] - start)):
        row, sums, w = rows[start + t], total[tile.label[t]], tile.weight[t]
        for f in range(total.shape[1]):
            sums[f] += w * row[f]
