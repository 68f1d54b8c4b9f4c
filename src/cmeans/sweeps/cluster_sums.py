"""Sums over the rows of clusters, which follow rows that change their clusters, or are taken of
labels that are given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from .. import native
from ..data.additive import Additive
from ..data.arrays import Array, Float64, IntArray
from ..data.blocks import Blocks
from ..data.partitions import Partition
from ..native.calls import ADDRESS, WHOLE, Structure, address, pointer_to
from ..spaces import Space
from .native_rows import NativeRows, RowsArgument
from .represented_rows import RepresentedRows
from .state import State
from .statistics import Statistics


class _MovesArgument(Structure):
    """struct moves"""

    _fields_ = [("rows", ADDRESS), ("from_", ADDRESS), ("to", ADDRESS), ("count", WHOLE)]


class _ClusterSumsArgument(Structure):
    """struct cluster_sums"""

    _fields_ = [("count", ADDRESS), ("mass", ADDRESS), ("kxx", ADDRESS), ("moment", ADDRESS)]


@dataclass(frozen=True)
class BlockMoves:
    """Rows of a block that have changed clusters."""

    rows: Array  # (q,) their numbers in the block
    before: Array  # (q,) their clusters, -1 for none
    after: Array  # (q,)

    @classmethod
    def room(cls, n_rows: int) -> BlockMoves:
        """Return room for the moves of all rows."""
        return cls(
            np.empty(n_rows, np.int64), np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
        )

    @classmethod
    def into(cls, labels: Array) -> BlockMoves:
        """Return the moves of all rows from none into their clusters."""
        return cls(np.arange(len(labels)), np.full(len(labels), -1, np.int32), labels)

    def first(self, count: int) -> BlockMoves:
        """Return a copy of the first moves."""
        return BlockMoves(
            self.rows[:count].copy(), self.before[:count].copy(), self.after[:count].copy()
        )

    @classmethod
    def between(cls, before: Array, after: Array) -> BlockMoves:
        """Return the moves of the rows whose labels (b,) differ."""
        rows = np.flatnonzero(before != after)
        return cls(rows, before[rows], after[rows].astype(np.int32))

    def argument(self, count: int = 0) -> _MovesArgument:
        """Return the moves as C reads them."""
        return _MovesArgument(*map(address, (self.rows, self.before, self.after)), count)


@dataclass(frozen=True)
class ClusterSums(Additive):
    """Sums over the rows of each cluster."""

    count: Array  # (c,) of rows with positive weight
    mass: Array  # (c,) of weights
    kxx: Array  # (c,) of weight k(x, x)
    moment: Array  # (c, r) of weight g(x)

    @classmethod
    def none(cls, clusters: int, columns: int) -> ClusterSums:
        """Return sums of zero."""
        return cls(
            np.zeros(clusters, np.int64),
            np.zeros(clusters),
            np.zeros(clusters),
            np.zeros((clusters, columns)),
        )

    def __getitem__(self, clusters: IntArray) -> ClusterSums:
        return ClusterSums(
            self.count[clusters], self.mass[clusters], self.kxx[clusters], self.moment[clusters]
        )

    def add(self, here: NativeRows, moves: BlockMoves) -> None:
        """Take rows of a block from clusters to others."""
        move = native.function("move_rows", here.dtype, ADDED)
        to = _ClusterSumsArgument(*map(address, (self.count, self.mass, self.kxx, self.moment)))
        move(here.argument, moves.argument(len(moves.rows)), to, len(self.mass))

    def statistics(self, space: Space, state: State, weight: float) -> Statistics:
        """Return the statistics of the rows, whose weights sum to `weight`."""
        cross: Float64 = np.einsum("ij,ij->i", self.moment, space.coefficients(state.centres))
        # sum_i w_i |x_i - v|^2 = sum_i w_i k(x_i, x_i) - 2 moment.a + mass |v|^2
        spread = np.maximum(self.kxx - 2.0 * cross + self.mass * state.centres.squared_norms(), 0.0)
        return Statistics(weight, self.mass, self.moment, spread)


class TakesSums(Protocol):
    """Takes the sums of rows that several tasks have seen, once they are asked for."""

    def statistics(self, moved: MovedRows) -> Statistics:
        """Return the statistics of all rows that it has seen."""


@dataclass(frozen=True)
class MovedRows:
    """The statistics of some tasks' rows, whose sums are taken when they are asked for, or added to
    those of other rows.

    A task keeps no sums of its own, which at many clusters would be more numbers than its rows:
    what it adds is to the sums of all tasks that one sweep has seen. `Statistics` take such sums as
    they take each other, and they travel as `Statistics`.
    """

    sweep: TakesSums
    rows: RepresentedRows
    state: State | None
    weight: float

    def __add__(self, other: MovedRows | Statistics) -> MovedRows | Statistics:
        if (
            isinstance(other, MovedRows)
            and other.sweep is self.sweep
            and other.rows is self.rows
            and other.state is self.state
        ):
            return replace(self, weight=self.weight + other.weight)
        return self.settled + other.settled

    def __reduce__(self) -> Any:
        return _itself, (self.settled,)

    @cached_property
    def settled(self) -> Statistics:
        """The statistics."""
        return self.sweep.statistics(self)


def _itself(sums: Statistics) -> Statistics:
    return sums


def rows_may_go(space: Space, blocks: Blocks) -> bool:
    """True where represented rows may be gone after their task and take long to represent again, so
    that each task keeps its own sums."""
    return space.keeps_rows_cheaply and blocks.skipping_pays


class SumsByLabel:
    """The sums of rows in clusters that are given, about the origin of the space; those of most
    tasks are taken together."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._tasks: list[int] = []

    def __call__(self, rows: RepresentedRows, task: int) -> MovedRows | Statistics:
        if rows_may_go(rows.space, rows.blocks):
            return self._over(rows, [task], rows.task_weight(task))
        self._tasks.append(task)
        return MovedRows(self, rows, None, rows.task_weight(task))

    def statistics(self, moved: MovedRows) -> Statistics:
        """Return the statistics of all rows that have been asked for."""
        return self._over(moved.rows, sorted(self._tasks), moved.weight)

    def _over(self, rows: RepresentedRows, tasks: list[int], weight: float) -> Statistics:
        sums = ClusterSums.none(self._partition.shape[1], rows.space.moment_width)
        for task in tasks:
            for here in rows.native_task(task):
                labels = self._partition.labels(here.start, len(here))
                sums.add(here, BlockMoves.into(labels.astype(np.int32)))
        return Statistics(weight, sums.mass, sums.moment, sums.kxx)


MOVES = pointer_to(_MovesArgument)
ADDED = pointer_to(RowsArgument), MOVES, pointer_to(_ClusterSumsArgument), WHOLE
