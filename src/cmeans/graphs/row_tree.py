"""Rows in a tree of boxes, and native searches among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Float64, IntArray, resolution
from ..data.blocks import spans
from ..engines import Engine
from ..native.calls import ADDRESS, REAL, WHOLE, Structure, address, aligned, pointer_to
from .boruvka import GrowingForest

LEAF = 32  # rows, as in the C file
LEAVES = 16  # of a task
ROUNDINGS = 8  # of a squared distance for each column, at most


class _TreeArgument(Structure):
    """struct tree_room"""

    _fields_ = [
        ("points", ADDRESS),
        ("order", ADDRESS),
        ("boxes", ADDRESS),
        ("count", WHOLE),
        ("columns", WHOLE),
    ]


class _NearRowsArgument(Structure):
    """struct near_rows"""

    _fields_ = [
        ("points", ADDRESS),
        ("leaves", ADDRESS),
        ("boxes", ADDRESS),
        ("names", ADDRESS),
        ("count", WHOLE),
        ("columns", WHOLE),
        ("n_leaves", WHOLE),
        ("begin", WHOLE),
        ("end", WHOLE),
        ("slack", REAL),
        ("relative", REAL),
        ("squares", ADDRESS),
        ("numbers", ADDRESS),
        ("wanted", WHOLE),
        ("part", ADDRESS),
        ("node_part", ADDRESS),
        ("core", ADDRESS),
        ("reach", ADDRESS),
        ("low", ADDRESS),
        ("best", ADDRESS),
        ("partner", ADDRESS),
    ]


TREE, NEAR_ROWS = pointer_to(_TreeArgument), pointer_to(_NearRowsArgument)


@dataclass(frozen=True, eq=False)
class RowTree:
    """Rows in the order of leaves, and copies of them in which searches pass over most pairs.

    Numbers of rows are those of this order; `order` gives their numbers among the given ones.
    """

    points: Float64  # (n, d)
    order: IntArray  # (n,)
    leaves: npt.NDArray[Any]  # (leaves, d, LEAF) float32 or float64, infinite where rows lack
    boxes: npt.NDArray[Any]  # (nodes, 2, d) of these
    slack: float  # by which a distance between them may be wrong

    @classmethod
    def of(cls, points: Float64) -> RowTree:
        n, d = points.shape
        points = np.ascontiguousarray(points)
        n_leaves = -(-n // LEAF)
        order, boxes = np.arange(n), np.empty((2 * n_leaves - 1, 2, d))
        argument = _TreeArgument(address(points), address(order), address(boxes), n, d)
        native.function("build_tree", np.float64, (TREE,))(argument)
        points = points[order]
        # where columns that spread far come first, most rows are soon known to be far
        columns = np.argsort(-(boxes[0, 1] - boxes[0, 0]), kind="stable")
        padded = np.full((n_leaves * LEAF, d), np.inf)
        padded[:n] = points[:, columns]
        leaves = aligned(padded.reshape(n_leaves, LEAF, d).transpose(0, 2, 1))
        return cls(points, order, leaves, np.ascontiguousarray(boxes[:, :, columns]), 0.0)

    def nearest(
        self, k: int, engine: Engine, rows: IntArray | None = None
    ) -> tuple[Float64, npt.NDArray[Any]]:
        """Return squared distances (n, k) from rows to the nearest others and the numbers of these,
        the nearest first and of equal ones the one that was given first; of some rows alone where
        they are named."""
        n = len(self.points)
        squares, numbers = np.full((n, k), np.inf), np.zeros((n, k), np.int32)
        if rows is not None:
            squares[:, -1:] = -1.0  # of rows that do not search
            squares[rows, -1:] = np.inf
        if k:
            self._search("nearest_rows", engine, squares=squares, numbers=numbers, wanted=k)
        return (squares, numbers) if rows is None else (squares[rows], numbers[rows])

    def spanning_edges(
        self, core: Float64, listed: tuple[Float64, npt.NDArray[Any]], engine: Engine
    ) -> tuple[IntArray, Float64]:
        """Return the edges (n - 1, 2) of the minimum spanning tree and their squared lengths, given
        squared core distances (n,) and each row's nearest."""
        return GrowingForest(self, core, *listed).grown(engine)

    def nearest_parts(self, engine: Engine, *, part: Any, **arrays: Any) -> None:
        node_part = self._parts_of_nodes(part)
        self._search("nearest_parts", engine, part=part, node_part=node_part, **arrays)

    def _search(self, name: str, engine: Engine, wanted: int = 0, **arrays: Any) -> None:
        """Run a native search of the rows of all leaves, which writes to arrays."""
        function = native.function(name, self.leaves.dtype, (NEAR_ROWS,))
        shared = {
            "points": address(self.points),
            "leaves": address(self.leaves),
            "boxes": address(self.boxes),
            "names": address(self.order),
            "count": len(self.points),
            "columns": self.points.shape[1],
            "n_leaves": len(self.leaves),
            "slack": self.slack,
            "relative": ROUNDINGS * (self.points.shape[1] + 2) * resolution(self.leaves.dtype),
            "wanted": wanted,
            **{field: address(array) for field, array in arrays.items()},
        }
        tasks = list(spans(len(self.leaves), LEAVES))

        def work(task: int) -> None:
            begin, end = tasks[task]
            function(_NearRowsArgument(begin=begin, end=end, **shared))

        for _ in engine.run(work, len(tasks)):
            pass

    def _parts_of_nodes(self, part: Any) -> npt.NDArray[np.int32]:
        """Return the part of all rows of each node; -1 where they are of several."""
        changes = np.append(0, np.cumsum(part[1:] != part[:-1]))
        start, stop = self._node_rows
        found: npt.NDArray[np.int32] = np.where(
            changes[start] == changes[stop - 1], part[start], -1
        ).astype(np.int32)
        return found

    @cached_property
    def _node_rows(self) -> tuple[IntArray, IntArray]:
        """First rows of all nodes, and those after their last ones."""
        spans_of_nodes = np.empty((2, 2 * len(self.leaves) - 1), np.int64)
        number, start, stop = (np.array([first]) for first in (0, 0, len(self.leaves)))
        while len(number):
            spans_of_nodes[:, number] = start, stop
            inner = stop - start > 1
            number, start, stop = number[inner], start[inner], stop[inner]
            middle = (start + stop + 1) // 2
            number = np.append(number + 1, number + 2 * (middle - start))
            start, stop = np.append(start, middle), np.append(middle, stop)
        rows = np.minimum(LEAF * spans_of_nodes, len(self.points))
        return rows[0], rows[1]
