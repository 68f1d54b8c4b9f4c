"""Searches that compare all pairs of rows, where there is no native code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..engines import Engine
from .plain_lengths import squared_lengths
from .prim import grown_by_rows

PAIRS = 2**21  # in memory at a time


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Rows and their searches, as `RowTree` has them."""

    points: Float64  # (n, d)
    order: IntArray  # (n,)

    @classmethod
    def of(cls, points: Float64) -> AllPairs:
        return cls(points, np.arange(len(points)))

    @classmethod
    def in_order(cls, points: Float64, order: IntArray) -> AllPairs:
        return cls(points[order], order)

    def nearest(
        self, k: int, engine: Engine, rows: IntArray | None = None
    ) -> tuple[Float64, npt.NDArray[Any]]:
        n = len(self.points)
        every = np.arange(n)
        rows = every if rows is None else rows
        squares, numbers = np.empty((len(rows), k)), np.empty((len(rows), k), np.int64)
        for start, stop in spans(len(rows), max(1, PAIRS // n)):
            some = rows[start:stop]
            all_squares = squared_lengths(self.points, some[:, None], every)
            all_squares[np.arange(len(some)), some] = np.inf
            numbers[start:stop] = np.argsort(all_squares, axis=1, kind="stable")[:, :k]
            squares[start:stop] = np.take_along_axis(all_squares, numbers[start:stop], axis=1)
        return squares, numbers

    def nearest_in_cells(
        self, k: int, engine: Engine, rows: IntArray, cells: npt.NDArray[Any], first: IntArray
    ) -> tuple[Float64, npt.NDArray[Any]]:
        squares, numbers = np.full((len(rows), k), np.inf), np.zeros((len(rows), k), np.int64)
        for at, row in enumerate(rows):
            near = np.concatenate([np.arange(first[cell], first[cell + 1]) for cell in cells[at]])
            near = near[near != row]
            found = squared_lengths(self.points, row[None], near)
            nearest = np.lexsort((self.order[near], found))[:k]
            squares[at, : len(nearest)], numbers[at, : len(nearest)] = found[nearest], near[nearest]
        return squares, numbers

    def spanning_edges(
        self, core: Float64, squares: Float64, numbers: npt.NDArray[Any], engine: Engine
    ) -> tuple[IntArray, Float64]:
        def squares_from(row: int) -> Float64:
            lengths = squared_lengths(self.points, np.array([row]), np.arange(len(self.points)))
            reached: Float64 = np.maximum(lengths, np.maximum(core, core[row]))
            return reached

        return grown_by_rows(squares_from, len(self.points))
