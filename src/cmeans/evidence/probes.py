"""The number of cells of a vector index that a query must look through for its nearest rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..spaces.centres import Centres
from ..sweeps.represented_rows import RepresentedRows

NEAREST = 10  # rows that a query asks for
QUERIES = 500
PRODUCTS = 2**21  # of queries and rows that are held at once


def held_out(n_rows: int, n_cells: int) -> IntArray:
    """Return the numbers of rows to ask that are left out of the training: evenly spaced, at most
    a tenth of all, and none that a cell would miss."""
    count = min(QUERIES, n_rows // 10, n_rows - n_cells)
    return np.unique(np.linspace(0, n_rows - 1, max(count, 0)).astype(np.int64))


@dataclass(frozen=True)
class Queries:
    """Rows that are asked for, and the nearest others of all."""

    numbers: IntArray  # (q,)
    nearest: IntArray  # (q, NEAREST)

    @classmethod
    def of(cls, rows: RepresentedRows, numbers: IntArray) -> Queries:
        """Find the nearest others by all distances."""
        x = rows.space.embed(rows.blocks.take(numbers))
        return cls(numbers, _nearest_others(rows, numbers, x))


@dataclass(frozen=True)
class ProbeCurve:
    """Rows that queries find, and scan, as they look through more of their nearest cells."""

    recall: Float64  # (c,) share of the nearest rows that are in the nearest 1 ... c cells
    scanned: Float64  # (c,) mean number of rows in these
    n_queries: int

    @classmethod
    def of(
        cls, rows: RepresentedRows, centres: Centres, labels: IntArray, asked: Queries
    ) -> ProbeCurve:
        """Return the curve of some queries. Rows of label -1 are in no cell, and not asked for."""
        alive = labels[asked.numbers] >= 0
        queries, cells = asked.numbers[alive], labels[asked.nearest[alive]]
        x = rows.space.embed(rows.blocks.take(queries))
        c = len(centres)
        sizes = np.bincount(labels[labels >= 0], minlength=c)
        found, scanned = np.zeros(c), np.zeros(c)
        for a, b in spans(len(queries), max(1, PRODUCTS // c)):
            d2 = centres.squared_norms() - 2.0 * x[a:b].coordinates @ centres.duals.T
            order = np.argsort(d2, axis=1, kind="stable")
            rank = np.empty_like(order)
            np.put_along_axis(rank, order, np.arange(c)[None, :], axis=1)
            ranks = np.take_along_axis(rank, np.maximum(cells[a:b], 0), axis=1)
            found += np.bincount(ranks[cells[a:b] >= 0], minlength=c)
            scanned += np.cumsum(sizes[order], axis=1).sum(axis=0)
        return cls(np.cumsum(found) / cells.size, scanned / len(queries), len(queries))

    def probes(self, recall: float) -> int:
        """Return the fewest cells in which so large a share of the nearest rows is found."""
        missing = 0.5 / self.n_queries / NEAREST  # which is rounding
        return min(int(np.searchsorted(self.recall, recall - missing)) + 1, len(self.recall))


def _nearest_others(rows: RepresentedRows, queries: IntArray, x: Centres) -> IntArray:
    """Return the numbers (queries, k) of the nearest rows of each but itself, by all distances."""
    k = min(NEAREST, rows.n_rows - 1)
    near, numbers = np.full((len(x), k), math.inf), np.zeros((len(x), k), np.int64)
    for a, b in spans(rows.n_rows, max(k, PRODUCTS // len(x))):
        block = rows.space.embed(rows.blocks.cut(a, b))
        d2 = block.squared_norms() - 2.0 * x.coordinates @ block.duals.T
        own = np.flatnonzero((queries >= a) & (queries < b))
        d2[own, queries[own] - a] = math.inf
        both = np.hstack([near, d2])
        names = np.hstack([numbers, np.broadcast_to(np.arange(a, b), d2.shape)])
        first = np.argpartition(both, k - 1, axis=1)[:, :k]
        near, numbers = (np.take_along_axis(one, first, axis=1) for one in (both, names))
    return numbers
