"""The nearest neighbours of all rows among themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..engines import Engine
from .plain_lengths import squared_lengths
from .prim import grown_by_rows
from .row_tree import RowTree

PAIRS = 2**21  # in memory at a time, without native code


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Rows whose searches compare all pairs, without native code; as `RowTree`."""

    points: Float64  # (n, d)

    @property
    def order(self) -> IntArray:
        return np.arange(len(self.points))

    def nearest(
        self, k: int, engine: Engine, rows: IntArray | None = None
    ) -> tuple[Float64, npt.NDArray[Any]]:
        n = len(self.points)
        rows = self.order if rows is None else rows
        squares, numbers = np.empty((len(rows), k)), np.empty((len(rows), k), np.int64)
        for start, stop in spans(len(rows), max(1, PAIRS // n)):
            some = rows[start:stop]
            all_squares = squared_lengths(self.points, some[:, None], self.order[None, :])
            all_squares[np.arange(len(some)), some] = np.inf
            numbers[start:stop] = np.argsort(all_squares, axis=1, kind="stable")[:, :k]
            squares[start:stop] = np.take_along_axis(all_squares, numbers[start:stop], axis=1)
        return squares, numbers

    def spanning_edges(
        self, core: Float64, listed: tuple[Float64, npt.NDArray[Any]], engine: Engine
    ) -> tuple[IntArray, Float64]:
        def squares_from(row: int) -> Float64:
            squares = squared_lengths(self.points, np.array([row]), self.order)
            reached: Float64 = np.maximum(squares, np.maximum(core, core[row]))
            return reached

        return grown_by_rows(squares_from, len(self.points))


def searchable(points: Float64) -> RowTree | AllPairs:
    """Return rows (n, d) as searches for near ones take them."""
    return RowTree.of(points) if native.is_available() else AllPairs(points)
