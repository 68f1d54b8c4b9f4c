"""Blocks of rows. Rows are cut into blocks in this file only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .arrays import (
    Array,
    Float64,
    IntArray,
    foreign_like,
    is_foreign,
    is_outside,
    is_sparse,
    is_stored,
    numbers_of_a_row,
    row_bytes,
    take,
)
from .column_facts import are_alike
from .csr import csr_between
from .limits import DEFAULT, Limits
from .outputs import label_type
from .precision import itemsize, numpy_dtype
from .scratch import ScratchRows, room

FEW_COLUMNS = 8  # columns up to which a row's work does not depend on them
LARGEST_SUM = 1024  # rows that a float32 sum may cover before it is added to a float64 total
KXX = "kxx"  # the column of k(x, x), which comes with rows of kernel values
Answer = TypeVar("Answer")
# the column of the rows' numbers among those that were given, where these are fewer
NUMBER = "number"


def spans(n: int, step: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of consecutive spans of `step` rows, the last one shorter."""
    for start in range(0, n, step):
        yield start, min(start + step, n)


def rows_between(x: Array, start: int, stop: int) -> Array:
    """Return rows start ... stop - 1, in memory."""
    if is_stored(x):
        return x.read(start, stop)
    return csr_between(x, start, stop) if is_sparse(x) else x[start:stop, ...]


def view_between(x: Array, start: int, stop: int) -> Array:
    """Return rows start ... stop - 1 without reading them into memory."""
    return x.part(start, stop) if is_stored(x) else rows_between(x, start, stop)


def blocks_of(x: Array, step: int) -> Iterator[Array]:
    """Consecutive blocks of `step` rows of an array, the last one shorter."""
    return (rows_between(x, start, stop) for start, stop in spans(int(x.shape[0]), step))


def mapped(x: Array, function: Callable[[Array], Array]) -> Array:
    """Return rows with a function applied to them: at once to those in memory, to others block by
    block as they are read."""
    return x.mapped(function) if is_stored(x) else function(x)


@dataclass(frozen=True)
class Block:
    """A few consecutive rows with their weights and, for precomputed kernels, their k(x, x)."""

    x: Array  # (b, d)
    weight: Float64  # (b,) sample weights
    start: int  # number of the first row in its source
    kxx: Array | None = None  # (b,) k(x, x), given with the rows of precomputed kernels

    @property
    def stop(self) -> int:
        """One past the number of the last row."""
        return self.start + int(self.x.shape[0])


@dataclass(frozen=True)
class Blocks:
    """All rows, in memory (an array, CSR) or stored elsewhere, cut into the same blocks for any
    storage and number of threads.

    Blocks form tasks: one thread sums the blocks of a task, and the sums of tasks are added in
    their order.
    """

    x: Array  # (n, d)
    weight: Float64  # (n,) or one number broadcast to n, which takes no memory
    unit: float = 1.0  # the user's weight that a weight of 1 here corresponds to
    limits: Limits = DEFAULT  # that all work over these rows keeps to
    n_threads: int = 1  # that read samples of rows that are not in memory
    # (n,) further facts by row, which travel with the rows
    columns: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.x.shape[0])

    @property
    def are_few(self) -> bool:
        """True of rows as few as are read into memory: what asks this does the same with rows of
        files and of arrays."""
        limits, nbytes = self.limits, self.n_rows * int(self.x.shape[1]) * itemsize(self.x)
        return nbytes <= limits.loaded_bytes or self.n_rows <= limits.canonical_rows

    def in_full(self, make: Callable[[], Answer]) -> Answer | None:
        """Return what a function makes of numbers (n, c) beside the rows, such as memberships; None
        where labels alone are kept of each row."""
        return None if is_outside(self.x) else make()

    @property
    def most_gathered(self) -> float:
        """The number of rows of which a pass may gather numbers."""
        return self.limits.rows_at_once if is_outside(self.x) else np.inf

    @property
    def stay_outside(self) -> bool:
        """True of rows that are not in memory."""
        return is_outside(self.x)

    @property
    def are_widened(self) -> bool:
        """True where rows in memory are stored in fewer bytes than they have in a block, so that
        blocks of them are made anew rather than kept."""
        return is_stored(self.x) and bool(self.x.is_here)

    @property
    def are_views(self) -> bool:
        """True where blocks are views of a NumPy array or CSR."""
        return isinstance(self.x, np.ndarray) or is_sparse(self.x)

    @property
    def numbers_of_a_row(self) -> int:
        """Numbers of a row as it is given: of CSR those that are stored, on average."""
        return numbers_of_a_row(self.x)

    @property
    def whereabouts(self) -> str:
        """Remark for messages on rows that are not in memory."""
        return f"; they stay in {self.x.where}" if is_outside(self.x) else ""

    @property
    def kxx(self) -> Array | None:
        """(n,) k(x, x), where the rows are kernel values."""
        return self.columns.get(KXX)

    def with_columns(self, **columns: Any) -> Blocks:
        """Return the same rows with further facts (n,) by row."""
        return replace(self, columns={**self.columns, **columns})

    @property
    def elsewhere(self) -> bool:
        """True where other machines hold the rows, and no more than a few of them, or of what is
        made of each, should come here."""
        return is_stored(self.x) and bool(self.x.elsewhere)

    @property
    def answers_stay(self) -> bool:
        """True where labels of the rows of a fit stay with them on other machines."""
        return is_stored(self.x) and bool(self.x.answers_stay)

    def tuned_on(self, most: int) -> int | None:
        """Return the number of rows on which parameters are tuned by sweeps: None for all of them,
        `most` of rows on other machines, where each sweep waits for an answer."""
        return most if self.elsewhere else None

    def may_keep(self, planned: bool) -> bool:
        """Return True where passes may keep numbers beside the rows: as planned, and always of rows
        in memory, which are larger."""
        return planned or not is_outside(self.x)

    @property
    def skipping_pays(self) -> bool:
        """True where a pass that leaves single rows out saves time: not where each reads all rows
        again."""
        return not is_outside(self.x)

    @property
    def may_gather(self) -> bool:
        """True where a pass may gather many of the rows, as NumPy arrays or CSR."""
        return not is_foreign(self.x) and not self.elsewhere

    def in_their_place(self) -> Blocks:
        """Return the same blocks with limits for the place where the rows are: a large sample of
        rows on other machines would be swept here, for longer than they sweep all rows."""
        limits = self.limits
        return (
            replace(self, limits=replace(limits, last_sample_rows=limits.partition_rows // 2))
            if self.elsewhere
            else self
        )

    @property
    def spec(self) -> BlocksSpec:
        """All but the rows."""
        return BlocksSpec(self.unit, self.limits, tuple(self.columns))

    def in_memory(self, ask: Callable[[str, int | None], None] | None = None) -> Blocks:
        """Return the same blocks with the rows in memory. Where they are read for it, `ask` is
        called first, and may refuse: with their place for messages, and their bytes, None where no
        more than a few of them should come here."""
        if not is_stored(self.x):
            return self
        if ask is not None and is_outside(self.x):
            ask(self.x.where, None if self.elsewhere else self.x.nbytes)
        return replace(self, x=rows_between(self.x, 0, self.n_rows))

    def by_row(self, dtype: npt.DTypeLike, *shape: int) -> npt.NDArray[Any]:
        """Return an uninitialised array (n, *shape); a large one in scratch where the rows are not
        in memory."""
        whole = self.n_rows, *shape
        if is_outside(self.x):
            return room(whole, dtype, self.limits.array_bytes)
        return np.empty(whole, dtype)

    def bytes_by_row(self, bytes_of_a_row: int) -> int:
        """Bytes of memory that large arrays from `by_row` take."""
        return 0 if is_outside(self.x) else self.n_rows * bytes_of_a_row

    def part_is_here(self, n_rows: int) -> bool:
        """True where so many of the rows, taken out, are in memory."""
        return not is_outside(self.x) or n_rows * row_bytes(self.x) <= self.limits.array_bytes

    def shape_in_memory(self, n_rows: int) -> Blocks:
        """Return so many rows as they are when taken out: those that are not in memory without
        their numbers, for what asks their shape."""
        part = self.between(0, n_rows)
        if not is_stored(self.x):
            return part
        return replace(part, x=np.empty((n_rows, self.x.shape[1]), numpy_dtype(self.x)))

    def empty_labels(self, n_clusters: int) -> npt.NDArray[Any]:
        """Return an uninitialised array (n,) for labels; of the smallest integers where the rows
        are not in memory."""
        return self.by_row(label_type(n_clusters) if is_outside(self.x) else np.intp)

    def returned(self, labels: IntArray) -> Array:
        """Return labels (n,) as fits and models return them: int64 in the rows' library, unchanged
        where the rows are not in memory."""
        if is_outside(self.x):
            return labels
        return foreign_like(labels.astype(np.int64, copy=False), self.x)

    @property
    def alike(self) -> bool:
        """True where no weights were given, so that all rows have the same."""
        return are_alike(self.weight)

    def n_tasks(self, basis_size: int, summed: int = 0) -> int:
        """Number of tasks, the units of work of a pass, in a space of `basis_size` columns, or of
        so many stored numbers of a row of which `summed` columns of sums are made."""
        return -(-self.n_rows // self._task_rows(basis_size, summed))

    def task(self, number: int, basis_size: int, summed: int = 0) -> Iterator[Block]:
        """The blocks of one task."""
        first, last = self.task_range(number, basis_size, summed)
        for start, stop in spans(last - first, self.block_rows(basis_size)):
            yield self.cut(first + start, first + stop)

    def task_range(self, number: int, basis_size: int, summed: int = 0) -> tuple[int, int]:
        """First row and one past the last row of a task."""
        rows = self._task_rows(basis_size, summed)
        return number * rows, min((number + 1) * rows, self.n_rows)

    def cut(self, start: int, stop: int) -> Block:
        """Return rows start ... stop - 1 as one block."""
        kxx = self.kxx
        kxx = None if kxx is None else kxx[start:stop]
        return Block(rows_between(self.x, start, stop), self.weight[start:stop], start, kxx)

    def take(self, rows: IntArray) -> Block:
        """Return the given rows as one block (its `start` has no meaning)."""
        kxx = self.kxx
        return Block(
            self._taken(rows), self.weight[rows], 0, None if kxx is None else take(kxx, rows)
        )

    def between(self, start: int, stop: int) -> Blocks:
        """Return rows start ... stop - 1 alone, without reading them."""
        columns = {name: column[start:stop] for name, column in self.columns.items()}
        return replace(
            self,
            x=view_between(self.x, start, stop),
            weight=self.weight[start:stop],
            columns=columns,
        )

    def part(self, rows: IntArray, weights: Float64) -> Blocks:
        """Return the given rows alone, with the given weights."""
        columns = {
            name: take(column, rows) if is_foreign(column) else column[rows]
            for name, column in self.columns.items()
        }
        return replace(self, x=self._selected(rows), weight=weights, columns=columns)

    def given_numbers(self, rows: IntArray) -> IntArray:
        """Return the numbers that rows have among those that were given."""
        numbers = self.columns.get(NUMBER)
        return rows if numbers is None else numbers[rows]

    def block_rows(self, basis_size: int) -> int:
        """Number of rows of a block: a function of shapes only, so that results do not depend on
        memory or threads."""
        most = self.limits.block_rows
        if basis_size <= self.limits.narrow_columns:
            even = self.n_rows // self.limits.least_blocks
            return min(max(even - even % most, most), max(self.limits.narrow_block_rows, most))
        return min(max(self.limits.block_values // basis_size, 32), most)

    def _task_rows(self, basis_size: int, summed: int) -> int:
        """Number of rows of a task: tasks are even, and an even number of them, so that two threads
        end together."""
        limits, n = self.limits, self.n_rows
        least = max(limits.task_values, limits.summed_values * summed)
        pairs = n * max(basis_size, FEW_COLUMNS) // (2 * least)
        even = -(-n // max(1, min(2 * pairs, limits.tasks)))
        return min(
            max(even, min(self.block_rows(basis_size), limits.least_task_rows)), limits.task_rows
        )

    def _taken(self, rows: IntArray) -> Array:
        if is_stored(self.x):
            return self.x.take(rows, self.limits, self.n_threads)
        return take(self.x, rows)

    def _selected(self, rows: IntArray) -> Array:
        """Return the given rows: in memory, or on the disk where they are many and not in
        memory."""
        x, limits = self.x, self.limits
        if self.are_widened:
            return x.selected(rows).loaded(limits.loaded_bytes, limits.canonical_rows)
        if self.part_is_here(len(rows)):
            return self._taken(rows)
        selected = ScratchRows(x.where, x.columns, x.dtype, len(rows))
        for start, stop in spans(len(rows), self.limits.task_rows):
            selected.append(self._taken(rows[start:stop]))
        return selected


@dataclass(frozen=True)
class BlocksSpec:
    """All of blocks but their rows: enough to make the same of some rows, wherever these are."""

    unit: float
    limits: Limits
    columns: tuple[str, ...]  # names of what else is known of each row

    def cut_as(self, block_rows: int, count: int) -> BlocksSpec:
        """Return the same for one of so many parts, each a task where they are as many as the tasks
        of a whole, in blocks of so many rows: those of the whole, so that the same tasks have the
        same bits."""
        tasks = -(-self.limits.tasks // count)
        limits = replace(
            self.limits, tasks=tasks, block_rows=block_rows, narrow_block_rows=block_rows
        )
        return replace(self, limits=limits)

    def over(self, x: Array, weight: Float64 | None, *columns: Any) -> Blocks:
        """Return blocks of some rows; without weights they weigh 1."""
        weight = np.broadcast_to(1.0, (int(x.shape[0]),)) if weight is None else weight
        facts = dict(zip(self.columns, columns, strict=True))
        return Blocks(x, weight, unit=self.unit, limits=self.limits, columns=facts)


@dataclass(frozen=True)
class GivenSpec:
    """All of given rows but the rows themselves."""

    width: int
    blocks: BlocksSpec

    def over(self, blocks: Blocks, keep_bytes: int) -> GivenRows:
        """Return some of the rows."""
        return GivenRows(blocks, self.width)

    def bytes_to_keep(self, x: Array) -> int:
        """Rows are read as they are, and none are kept in another form."""
        return 0


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows as they are given, in no space, divided into tasks like rows of a basis of `width`."""

    blocks: Blocks
    width: int

    @property
    def n_tasks(self) -> int:
        return self.blocks.n_tasks(self.width)

    @property
    def spec(self) -> GivenSpec:
        """All but the rows."""
        return GivenSpec(self.width, self.blocks.spec)

    def task(self, number: int) -> Iterator[Block]:
        """The blocks of one task."""
        return self.blocks.task(number, self.width)

    def task_range(self, number: int) -> tuple[int, int]:
        """First row and one past the last row of a task."""
        return self.blocks.task_range(number, self.width)
