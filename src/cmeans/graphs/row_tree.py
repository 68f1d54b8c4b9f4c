"""Rows in a tree of boxes, and native searches among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..data.precision import resolution
from ..engines import Engine
from ..native.calls import ADDRESS, REAL, WHOLE, Structure, address, aligned, members, pointer_to
from .boruvka import GrowingForest

LEAF = 32  # rows, as in the C file
LEAVES = 16  # of a task
PRECISE = 1e-4  # of the extent of leaves, up to which coordinates may be wrong
MANY = 8  # columns of rows that may be turned
EACH = 4  # rows for each column of these, at least
GAIN = 1.25  # of the spread along the first quarter of axes for which they are
SAMPLE = 2**13  # rows whose principal axes are taken
SMALL = 1e-16  # extents, whose squares may vanish in float32, are above it over PRECISE
ROUNDINGS = 8  # of a squared distance for each column, at most


class _TreeArgument(Structure):
    """struct tree_room"""

    _fields_ = [*members("points order boxes", ADDRESS), *members("count columns", WHOLE)]


class _NearRowsArgument(Structure):
    """struct near_rows"""

    _fields_ = [
        *members("points leaves boxes names", ADDRESS),
        *members("count columns n_leaves begin end", WHOLE),
        *members("slack relative", REAL),
        *members("squares numbers", ADDRESS),
        *members("wanted", WHOLE),
        *members("rows cells first", ADDRESS),
        *members("n_cells", WHOLE),
        *members("part node_part core reach low best partner", ADDRESS),
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
        """Return rows (n, d) in a tree of boxes.

        What searches compute first is in float32 where that tells most rows apart.
        """
        x, slack = _turned(points)
        order, boxes = _boxes_of(x)
        extents = np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1)
        if max(slack, SMALL) <= PRECISE * np.quantile(extents, 0.25):
            return cls._laid_out(points, x, order, boxes.astype(np.float32), slack)
        order, boxes = _boxes_of(points)
        return cls._laid_out(points, points, order, boxes, 0.0)

    @classmethod
    def in_order(cls, points: Float64, order: IntArray) -> RowTree:
        """Return rows (n, d) put in this order, for searches in cells."""
        x, slack = _turned(points)
        boxes = np.stack([x.min(axis=0), x.max(axis=0)])[None]
        return cls._laid_out(points, x, order, boxes.astype(np.float32), slack)

    @classmethod
    def _laid_out(
        cls,
        points: Float64,  # (n, d)
        x: Float64,  # (n, d) their coordinates for searches
        order: IntArray,
        boxes: npt.NDArray[Any],  # (nodes, 2, d) of these
        slack: float,
    ) -> RowTree:
        n, d = x.shape
        # where columns that spread far come first, most rows are soon known to be far
        columns = np.argsort(boxes[0, 0] - boxes[0, 1], kind="stable")
        padded = np.full((-(-n // LEAF) * LEAF, d), np.inf, boxes.dtype)
        padded[:n] = x[order[:, None], columns]
        leaves = aligned(padded.reshape(-1, LEAF, d).transpose(0, 2, 1))
        boxes = np.ascontiguousarray(boxes[:, :, columns])
        return cls(points[order], order, leaves, boxes, slack)

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
            self._search("nearest_rows", engine, wanted=k, squares=squares, numbers=numbers)
        return (squares, numbers) if rows is None else (squares[rows], numbers[rows])

    def nearest_in_cells(
        self,
        k: int,
        engine: Engine,
        rows: IntArray,
        cells: npt.NDArray[Any],  # int32
        first: IntArray,
    ) -> tuple[Float64, npt.NDArray[Any]]:
        """Return the same of some rows (m,), each of which looks through some cells (m, near) only;
        cell c holds rows first[c] ... first[c + 1] - 1. Squared distances are infinite where cells
        hold fewer."""
        squares, numbers = np.full((len(rows), k), np.inf), np.zeros((len(rows), k), np.int32)
        arrays = {"rows": rows, "cells": cells, "first": first}
        arrays |= {"squares": squares, "numbers": numbers}
        counts = {"wanted": k, "n_cells": cells.shape[1]}
        self._search("nearest_in_cells", engine, n_searching=len(rows), **counts, **arrays)
        return squares, numbers

    def spanning_edges(
        self, core: Float64, squares: Float64, numbers: npt.NDArray[Any], engine: Engine
    ) -> tuple[IntArray, Float64]:
        """Return the edges (n - 1, 2) of the minimum spanning tree and their squared lengths, given
        squared core distances (n,), and squared distances (n, k) to each row's nearest."""
        return GrowingForest(self, core, squares, numbers).grown(engine)

    def nearest_parts(self, engine: Engine, *, part: Any, **arrays: Any) -> None:
        node_part = self._parts_of_nodes(part)
        self._search("nearest_parts", engine, part=part, node_part=node_part, **arrays)

    def _search(
        self, name: str, engine: Engine, n_searching: int | None = None, **arguments: Any
    ) -> None:
        """Run a native search of all leaves, or of so many rows, which writes to arrays."""
        function = native.function(name, self.leaves.dtype, (NEAR_ROWS,))
        columns = self.points.shape[1]
        arrays = {"points": self.points, "leaves": self.leaves, "boxes": self.boxes}
        numbers = {
            "count": len(self.points),
            "columns": columns,
            "n_leaves": len(self.leaves),
            "slack": self.slack,
            "relative": ROUNDINGS * (columns + 2) * resolution(self.leaves.dtype),
        }
        shared = {
            field: address(value) if isinstance(value, np.ndarray) else value
            for field, value in (numbers | arrays | {"names": self.order} | arguments).items()
        }
        tasks = list(
            spans(len(self.leaves), LEAVES)
            if n_searching is None
            else spans(n_searching, LEAVES * LEAF)
        )

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


def _turned(points: Float64) -> tuple[Float64, float]:
    """Return coordinates (n, d) of rows about their middle, and by how much distances between them
    may be wrong in float32.

    They are those along the principal axes of a sample, where a few of these tell more rows apart
    than as many columns do; with fewer rows for each column, finding axes takes longer than it
    saves.
    """
    n, d = points.shape
    x = points - (points.min(axis=0) + points.max(axis=0)) / 2.0
    if MANY <= d <= n // EACH:
        some = x[:: -(-n // SAMPLE)] - x.mean(axis=0)
        products = some.T @ some
        spreads, axes = np.linalg.eigh(products)
        if spreads[-d // 4 :].sum() > GAIN * np.sort(np.diag(products))[-d // 4 :].sum():
            x = x @ axes
    rounded = np.linalg.norm(np.abs(x).max(axis=0)) * resolution(np.float32)
    turned = np.linalg.norm(np.abs(points).max(axis=0)) * resolution(np.float64) * 4 * d**1.5
    return x, 2.0 * float(rounded + turned)


def _boxes_of(x: Float64) -> tuple[IntArray, Float64]:
    """Return the order of rows in the leaves of a tree, and the boxes (nodes, 2, d) of its
    nodes."""
    x = np.ascontiguousarray(x)
    n, d = x.shape
    order, boxes = np.arange(n), np.empty((2 * -(-n // LEAF) - 1, 2, d))
    argument = _TreeArgument(address(x), address(order), address(boxes), n, d)
    native.function("build_tree", np.float64, (TREE,))(argument)
    return order, boxes
