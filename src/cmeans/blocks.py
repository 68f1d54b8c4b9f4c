"""Where the rows are: the only file that cuts rows into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Array, Float64, IntArray, as_like, is_sparse, is_stored, take
from .scratch import IN_MEMORY, ScratchRows

LARGEST_SUM = 1024  # rows that a float32 sum may run over before it joins a float64 total
NARROW = 128  # columns that are few
LARGEST_BLOCK = 1024  # rows of a block at most
LARGEST_NARROW_BLOCK = 4096  # where columns are few: rows are done with so soon that every block's own costs would show
LEAST_BLOCKS = 16  # blocks that should be left for many threads
BLOCK_ELEMENTS = 2**22  # kernel values of one block, so that a basis of 70,000 rows still makes blocks of 32 MB
TASKS = 64  # groups of blocks that a large input is split into: enough for any number of threads
LARGEST_TASK = 65_536  # rows of a group at most: what is said of each of them is held until all before them have been heard


def _apart(x: Array, rows: IntArray) -> Array:
    """The named rows by themselves: in memory, or, many of rows that are not, on the disk."""
    if not is_stored(x) or len(rows) * x.shape[1] * x.dtype.itemsize <= IN_MEMORY:
        return take(x, rows)
    apart = ScratchRows(x.where, x.columns, x.dtype, len(rows))
    for start, stop in spans(len(rows), LARGEST_TASK):
        apart.append(x.take(rows[start:stop]))
    return apart


def spans(n: int, step: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of consecutive pieces of `step` rows, the last one short."""
    for start in range(0, n, step):
        yield start, min(start + step, n)


def piece(x: Array, start: int, stop: int) -> Array:
    """Rows start ... stop - 1, in memory."""
    if is_stored(x):
        return x.read(start, stop)
    return x[start:stop] if is_sparse(x) else x[start:stop, ...]


def stretch(x: Array, start: int, stop: int) -> Array:
    """Rows start ... stop - 1, where they are."""
    return x.part(start, stop) if is_stored(x) else piece(x, start, stop)


def pieces(x: Array, step: int) -> Iterator[Array]:
    """Consecutive pieces of `step` rows, the last one short."""
    return (piece(x, start, stop) for start, stop in spans(int(x.shape[0]), step))


@dataclass(frozen=True)
class Block:
    """A few consecutive rows, with what belongs to them."""

    x: Array  # (b, d)
    weight: Float64  # (b,) sample weights
    start: int  # number of the first row in its source
    kxx: Array | None = None  # (b,) k(x, x) where the source brings it (precomputed kernels)

    @property
    def stop(self) -> int:
        """One past the number of the last row."""
        return self.start + int(self.x.shape[0])


@dataclass(frozen=True)
class Blocks:
    """All rows, in memory (an array, CSR) or stored elsewhere, cut the same way wherever they are and whatever threads there are.

    Blocks are grouped into tasks; a task is what one thread folds before its sums are added, in the order of the tasks.
    """

    x: Array  # (n, d)
    weight: Float64  # (n,) perhaps one number seen n times, which takes no memory
    kxx: Array | None = None  # (n,)
    unit: float = 1.0  # what a weight of 1 stands for in the user's weights
    factors: Float64 | None = None  # (d,) what each feature is multiplied by before anybody sees it

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.x.shape[0])

    @property
    def are_stored(self) -> bool:
        """Whether the rows are not in memory."""
        return is_stored(self.x)

    def in_memory(self) -> Blocks:
        """The same, with the rows in memory."""
        return replace(self, x=piece(self.x, 0, self.n_rows)) if self.are_stored else self

    @property
    def alike(self) -> bool:
        """Whether all rows weigh the same because nobody said otherwise."""
        return self.weight.strides == (0,)

    def n_tasks(self, basis_size: int) -> int:
        """How many tasks a basis of that many columns makes."""
        return -(-self.n_rows // self._task_rows(basis_size))

    def task(self, number: int, basis_size: int) -> Iterator[Block]:
        """The blocks of one task."""
        first, last = self.task_range(number, basis_size)
        for start, stop in spans(last - first, self.block_rows(basis_size)):
            yield self.cut(first + start, first + stop)

    def task_range(self, number: int, basis_size: int) -> tuple[int, int]:
        """First row and one past the last row of a task."""
        rows = self._task_rows(basis_size)
        return number * rows, min((number + 1) * rows, self.n_rows)

    def cut(self, start: int, stop: int) -> Block:
        """Rows start ... stop - 1 as one block."""
        kxx = None if self.kxx is None else self.kxx[start:stop]
        return Block(self.scaled(piece(self.x, start, stop)), np.ascontiguousarray(self.weight[start:stop]), start, kxx)

    def take(self, rows: IntArray) -> Block:
        """The named rows as one block (its `start` means nothing)."""
        kxx = None if self.kxx is None else take(self.kxx, rows)
        return Block(self.scaled(take(self.x, rows)), self.weight[rows], 0, kxx)

    def part(self, rows: IntArray, weights: Float64) -> Blocks:
        """The named rows alone, with weights of their own."""
        return Blocks(_apart(self.x, rows), weights, None if self.kxx is None else take(self.kxx, rows), self.unit, self.factors)

    def scaled(self, x: Array) -> Array:
        """Rows or points (b, d) of the user's units in those of the blocks."""
        if self.factors is None:
            return x
        if not is_sparse(x):
            return x * as_like(self.factors, x)[None, :]
        columns = x.copy()
        columns.data *= self.factors.astype(x.dtype)[x.indices]
        return columns

    def unscaled(self, points: Array) -> Array:
        """Points (c, d) of the blocks' units in the user's."""
        return points if self.factors is None else replace(self, factors=1.0 / self.factors).scaled(points)

    def block_rows(self, basis_size: int) -> int:
        """Rows of one block: a function of shapes only, so that results never depend on memory or threads."""
        if basis_size <= NARROW:
            even = self.n_rows // LEAST_BLOCKS
            return min(max(even - even % LARGEST_BLOCK, LARGEST_BLOCK), max(LARGEST_NARROW_BLOCK, LARGEST_BLOCK))
        return min(max(BLOCK_ELEMENTS // basis_size, 32), LARGEST_BLOCK)

    def _task_rows(self, basis_size: int) -> int:
        step = self.block_rows(basis_size)
        blocks = -(-self.n_rows // step)
        return step * max(1, min(-(-blocks // TASKS), LARGEST_TASK // step))
