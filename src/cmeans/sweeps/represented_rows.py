"""Rows as a space sees them, task by task: kept between sweeps while memory allows, made again
where it does not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from ..data.arrays import Array, Float64, IntArray, is_sparse, row_bytes
from ..data.blocks import Block, Blocks, BlocksSpec
from ..data.precision import itemsize
from ..spaces import Rows, Space
from .native_rows import SUMMED_ROWS, NativeRows

Beside = TypeVar("Beside")
NO_ROWS = np.empty(0, np.intp)
# bytes of memory that is taken at once: NumPy asks for large pages from half as much on, and rows
# are found sooner in them
PIECE = 2**23


@dataclass(frozen=True)
class RepresentedBlock:
    """One block, represented."""

    rows: Rows
    weight: Float64  # (b,)
    start: int

    @cached_property
    def native(self) -> NativeRows:
        """The same for native code."""
        return NativeRows(self.rows.values(), self.weight, self.start)


class RowsInSpace(Protocol):
    """Rows as a space sees them, wherever they come from."""

    @property
    def space(self) -> Space: ...

    def task(self, task: int) -> Iterator[RepresentedBlock]: ...


@dataclass(frozen=True)
class RepresentationSpec:
    """All of a table but its rows: enough to make one like it wherever some of them are."""

    space: Space
    blocks: BlocksSpec

    def over(self, blocks: Blocks, keep_bytes: int) -> RepresentedRows:
        """The table of some of the rows."""
        return RepresentedRows(self.space, blocks, keep_bytes)

    def bytes_to_keep(self, x: Array) -> int:
        """Bytes of rows as represented, where it pays to keep them."""
        return (
            int(x.shape[0]) * bytes_of_a_row(self.space, x) if self.space.keeps_rows_cheaply else 0
        )


class RepresentedRows:
    """The blocks of a fit in its space. Which of them are kept changes time and memory, never a
    result."""

    def __init__(
        self,
        space: Space,
        blocks: Blocks,
        keep_bytes: int,
        *,
        training: bool = True,
        keep_bounds: bool = False,
        keep_coordinates: bool = False,
    ) -> None:
        """`keep_bounds`, `keep_coordinates`: whether hard sweeps may remember bounds of rows that
        are not in memory, and their coordinates along a few directions; of those in memory they
        may."""
        self.space = space
        self.blocks = blocks
        self.are_csr = is_sparse(blocks.x) and space.keeps_csr
        self.width, self._summed = numbers_read(space, blocks)
        self.n_rows, self.n_tasks = blocks.n_rows, blocks.n_tasks(self.width, self._summed)
        self.keep_bounds = blocks.may_keep(keep_bounds)
        self.keep_coordinates = blocks.may_keep(keep_coordinates)
        self.training = training
        self._left = self.room_to_keep = keep_bytes if keeping_pays(space, blocks) else 0
        # which take no memory, and are always kept
        by_views = space.represents_by_views and self.are_csr == is_sparse(blocks.x)
        self._views = blocks.are_views and by_views
        self._kept: dict[int, list[RepresentedBlock]] = {}
        self._spare: Array | None = None  # memory for rows that will be kept
        self._native_views: dict[int, NativeRows] = {}
        self._weights: dict[int, float] = {}
        # of each task, by the first row of a block
        self._empty: dict[int, dict[int, IntArray]] = {}
        self._beside: dict[Any, Any] = {}  # what passes keep, by what makes it
        self._lock = threading.RLock()

    @property
    def kept_share(self) -> float:
        """The share of the rows that there is room to keep represented between sweeps."""
        return min(
            1.0, self.room_to_keep / (self.n_rows * bytes_of_a_row(self.space, self.blocks.x))
        )

    @property
    def stay_in_memory(self) -> bool:
        """True where all rows, once they are represented, stay so between sweeps, in this
        process."""
        return self._views or (self.kept_share == 1.0 and self.blocks.may_gather)

    @property
    def spec(self) -> RepresentationSpec:
        """All of the table but its rows."""
        return RepresentationSpec(self.space, self.blocks.spec)

    def beside(self, make: Callable[[RepresentedRows], Beside]) -> Beside:
        """Return what a pass keeps beside the rows, made of them when it is first asked for: an
        object of the pass alone, which dies with the rows."""
        with self._lock:
            if make not in self._beside:
                self._beside[make] = make(self)
            found: Beside = self._beside[make]
            return found

    def task_range(self, task: int) -> tuple[int, int]:
        """First row and one past the last row of a task."""
        return self.blocks.task_range(task, self.width, self._summed)

    def task(self, task: int) -> Iterator[RepresentedBlock]:
        """The represented blocks of one task, in order; where they are not kept, each holds only
        until the next is asked for."""
        if task in self._kept:
            yield from self._kept[task]
            return
        represent = self.space.training_rows if self.training else self.space.rows
        x = self.blocks.x
        first, last = self.task_range(task)
        keep = self._views or self._reserve((last - first) * bytes_of_a_row(self.space, x))
        # One piece of memory for all: asking the system for block after block can take longer than
        # filling them.
        if keep:
            room = self._room_to_stay(last - first)
        else:
            room = self.space.room(min(self.blocks.block_rows(self.width), last - first), x)
        kept: list[RepresentedBlock] = []
        for block in self.blocks.task(task, self.width, self._summed):
            start = block.start - first if keep else 0
            piece = self._piece(
                task,
                represent(block, None if room is None else room[start : start + len(block.weight)]),
                block,
            )
            if keep:
                kept.append(piece)
            yield piece
        if keep:
            self._kept[task] = kept

    def _piece(self, task: int, rows: Rows, block: Block) -> RepresentedBlock:
        """Return a represented block, in which rows that say nothing weigh nothing, and remember
        which these are."""
        weight = block.weight
        if self.space.may_hold_empty_rows and len(empty := self.space.empty_rows(rows)):
            self._empty.setdefault(task, {})[block.start] = block.start + empty
            weight = weight.copy()
            weight[empty] = 0.0
        return RepresentedBlock(rows, weight, block.start)

    def empty_rows(self, task: int) -> IntArray:
        """Return the numbers of the rows of a task that say nothing of where they belong, once they
        have been represented."""
        found = self._empty.get(task)
        return NO_ROWS if found is None else np.concatenate(list(found.values()))

    def native_task(self, task: int) -> Iterator[NativeRows]:
        """The rows of one task for native code, block by block; views at once, where that gives the
        same sums."""
        if not self._views or self.blocks.block_rows(self.width) % SUMMED_ROWS:
            yield from (block.native for block in self.task(task))
            return
        if task not in self._native_views:
            block = self.blocks.cut(*self.task_range(task))
            self._native_views[task] = self._piece(task, self.space.rows(block), block).native
        yield self._native_views[task]

    def part(self, rows: IntArray, weights: Float64) -> RepresentedRows:
        """Some of the rows, with weights of their own, as a table in the same space and within the
        same memory; for spaces that know no more of training rows than of others."""
        space, blocks = self.space.of_part(rows), self.blocks.part(rows, weights)
        return RepresentedRows(
            space,
            blocks,
            self._left,
            keep_bounds=self.keep_bounds,
            keep_coordinates=self.keep_coordinates,
        )

    def over(self, blocks: Blocks) -> RepresentedRows:
        """Return as many rows of other weights in the same space and within the same memory."""
        keep = {"keep_bounds": self.keep_bounds, "keep_coordinates": self.keep_coordinates}
        return RepresentedRows(
            self.space, blocks, self.room_to_keep, training=self.training, **keep
        )

    def in_scale(self) -> RepresentedRows:
        """Return the rows in the space in which distances of those with missing values compare with
        those of others."""
        space = self.space.in_scale()
        if space is self.space:
            return self
        return RepresentedRows(space, self.blocks, self.room_to_keep, training=self.training)

    def task_weight(self, task: int) -> float:
        """The sum of the sample weights of one task's rows."""
        if task not in self._weights:
            first, last = self.task_range(task)
            self._weights[task] = float(self.blocks.weight[first:last].sum())
        return self._weights[task]

    def rows_done(self, task: int) -> int:
        """Number of rows in the tasks up to this one."""
        return self.task_range(task)[1]

    def _room_to_stay(self, n_rows: int) -> Array | None:
        """Return memory for represented rows that will be kept."""
        with self._lock:
            if self._spare is None or len(self._spare) < n_rows:
                several = PIECE // bytes_of_a_row(self.space, self.blocks.x)
                whole = several - several % n_rows  # what is left of a task's room would be wasted
                self._spare = self.space.room(max(n_rows, min(whole, self.n_rows)), self.blocks.x)
            room = self._spare
            self._spare = None if room is None else room[n_rows:]
            return None if room is None else room[:n_rows]

    def _reserve(self, nbytes: int) -> bool:
        with self._lock:
            fits = nbytes <= self._left
            if fits:
                self._left -= nbytes
            return fits


def keeping_pays(space: Space, blocks: Blocks) -> bool:
    """True where it pays to keep represented rows between sweeps: they take long to make, or to
    read. Coordinates of rows that are stored in fewer bytes would be a copy of all rows."""
    if blocks.are_widened and space.in_coordinates:
        return False
    return space.keeps_rows_cheaply or not blocks.skipping_pays


def numbers_read(space: Space, blocks: Blocks) -> tuple[int, int]:
    """Return the numbers of a represented row, and those of a task's sums where they are many
    more."""
    if is_sparse(blocks.x) and space.keeps_csr:
        return blocks.numbers_of_a_row, space.moment_width
    return space.size, 0


def bytes_of_a_row(space: Space, x: Array) -> int:
    """Bytes of a represented row of the type of `x`."""
    if is_sparse(x) and space.keeps_csr:
        return row_bytes(x) + 2 * itemsize(x)
    return (space.size + 2) * itemsize(x)
