"""Files of named columns, read in batches: the interface of each format, checked numbers, and many
files as one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import spans
from ..row_source import RowArray, RowsError, StoredRows
from ..scratch import ScratchRows
from . import group_cache
from .group_cache import Group, RowGroups, joined
from .schema import ColumnChoice, Field, Header, shortened
from .text import is_number

# columns of a group that are decoded together, or one of lists: a column reader holds pages in
# memory
AT_ONCE = 8
# of a group, at most; where there are many columns, more of them are decoded together
_OPENINGS = 64
_MEND = (
    "Fill such cells (in pandas: frame.fillna(frame.median(numeric_only=True))) or drop their "
    "rows (frame.dropna()) first"
)
Block = Sequence[NDArray[Any]]  # some rows of a file: one 1-D array per picked column


def or_partial(spelt: str) -> str:
    """Return the advice to fit rows as they are; `spelt`: the parameter that asks for it, or the
    command's option."""
    return f", or fit with {spelt} (of kernels, the linear one)"


def copy_columns(block: Block, x: RowArray) -> None:
    """Copy the columns of data of a block to the rows x (b, d); what overflows becomes infinite,
    and NaN of either kind a quiet one."""
    with np.errstate(over="ignore", invalid="ignore"):
        for place, values in zip(range(x.shape[1]), block, strict=False):
            x[:, place] = values


def rows_of(block: Block, first_row: int, choice: ColumnChoice) -> RowArray:
    """Return a block of columns as rows (b, d); `first_row`: number of the first in its file."""
    x = np.empty((len(block[0]), len(choice.columns)), choice.dtype)
    copy_columns(block, x)
    check_finite(x, first_row, choice)
    return x


def check_finite(x: NDArray[Any], first_row: int, choice: ColumnChoice) -> None:
    """Refuse rows (b, d) with infinite values, or missing ones unless there may be some, naming the
    first one."""
    finite = ~np.isinf(x) if choice.holes else np.isfinite(x)
    if not finite.all():
        row, place = np.argwhere(~finite)[0]
        wrong = f"column {choice.columns[place]!r} {fault(x[row, place], x.dtype)}"
        otherwise = (
            or_partial(choice.spell("missing", "partial")) if np.isnan(x[row, place]) else ""
        )
        raise RowsError(
            f"{choice.where}: {wrong} in row {first_row + row} (rows count from 0). "
            f"{_MEND}{otherwise}."
        )


def weights_of(values: NDArray[Any], first_row: int, choice: ColumnChoice) -> NDArray[np.float64]:
    """Return a column as weights (b,)."""
    try:
        weights = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise RowsError(
            f"{choice.where}: weight column {choice.weight_label!r} holds no numbers."
        ) from None
    wrong = ~are_weights(weights)
    if wrong.any():
        row = int(np.argmax(wrong))
        which = (
            f"weight column {choice.weight_label!r} {weight_fault(weights[row])} in row "
            f"{first_row + row}"
        )
        raise RowsError(f"{choice.where}: {which} (rows count from 0); weights are 0 or more.")
    return weights


def fault(value: Any, dtype: np.dtype[Any]) -> str:
    """Describe a number that is not finite."""
    if np.isnan(value):
        return "is empty or not a number (NaN)"
    return f"is infinite or too large for {dtype.name}"


def are_weights(values: NDArray[Any]) -> NDArray[np.bool_]:
    """True for each value that is a valid weight."""
    return np.asarray((values >= 0) & (values < np.inf))


def weight_fault(value: Any) -> str:
    """Describe a number that is no valid weight."""
    return f"is {value:g}" if value < 0 else fault(value, np.dtype(np.float64))


def python_values(column: Any) -> list[Any]:
    """Return a stored column, of PyArrow or a list, as Python's values; as text where Python has
    none such: dates after its last year, times of nanoseconds, zones that nobody knows."""
    if isinstance(column, list):
        return column
    try:
        return list(column.to_pylist())
    except (OverflowError, KeyError, ValueError):
        kind = column.type
    is_zoned = str(kind).startswith("timestamp")
    try:
        plain = column.cast(f"timestamp[{kind.unit}]") if is_zoned else column
        return list(plain.cast("string").to_pylist())
    except NotImplementedError:  # columns within a column
        return [str(kind) if valid else None for valid in column.is_valid().to_pylist()]


class NotOfPythonError(RowsError):
    """A stored column that has no form in Python."""


class FileTable(ABC):
    """One open file: its columns are known, its rows not yet read."""

    kind: str  # for messages
    header: Header
    # rows of each group that can be read alone; None: only from the beginning to the end
    groups: tuple[int, ...] | None
    aside = None  # weights are never a separate array

    @abstractmethod
    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        """Yield the columns at `places`, some rows at a time, of all rows or of some groups."""

    @abstractmethod
    def columns(self, places: Sequence[int]) -> Iterator[list[Any]]:
        """Yield the columns at `places` as they are stored, text and dates too: PyArrow's arrays or
        lists, those of a column all of one type, some rows at a time."""

    @abstractmethod
    def transient(self, n_columns: int) -> int:
        """Bytes of memory at most while a group is decoded, beside the decoded rows."""

    separator = ""  # between the cells of a line of text

    def with_text(self, places: Collection[int]) -> FileTable:
        """Return the table with these columns as they are written, such as 007, where they are
        text; a column of truths remains one."""
        return self

    def sample(self, rows: int) -> list[list[Any]]:
        """Return the first values of each column, of files of text as they are written."""
        numbers = [at for at, field in enumerate(self.header.fields) if field.numeric]
        first: Block = next(iter(self.blocks(numbers)), []) if numbers else []
        found: list[list[Any]] = [[] for _ in self.header.fields]
        for at, column in zip(numbers, first, strict=False):
            found[at] = column[:rows].tolist()
        for at, field in enumerate(self.header.fields):
            if not field.numeric:
                try:
                    part: Any = next(self.columns([at]), [[]])[0][:rows]
                except NotOfPythonError:
                    part = []
                found[at] = python_values(part)
        return found

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where the whole file must be read to count them."""
        return None if self.groups is None else sum(self.groups)


class KeyedTable(FileTable):
    """A table in folders named key=value: every key is one more column, of one value, which is data
    only where it is requested."""

    def __init__(self, table: FileTable, keys: Mapping[str, str]) -> None:
        self.kind, self.groups, self.separator = table.kind, table.groups, table.separator
        own = table.header.labels(range(len(table.header.fields)))
        fresh = {key: value for key, value in keys.items() if key not in own}
        fields = (
            Field(key, f"key of a folder, {value!r}", is_number(value), aside=True)
            for key, value in fresh.items()
        )
        self.header = replace(table.header, fields=(*table.header.fields, *fields))
        self._table, self._own = table, len(own)
        self._texts = tuple(fresh.values())
        self._values = tuple(float(value) if is_number(value) else value for value in self._texts)

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        stored = [at for at in places if at < self._own]
        for block in self._table.blocks(stored or [0], groups):
            read = iter(block)
            yield [
                next(read)
                if at < self._own
                else np.full(len(block[0]), self._values[at - self._own])
                for at in places
            ]

    def columns(self, places: Sequence[int]) -> Iterator[list[Any]]:
        own = [at for at in places if at < self._own] or [0]
        for stored in self._table.columns(own):
            read = iter(stored)
            yield [
                next(read) if at < self._own else [self._values[at - self._own]] * len(stored[0])
                for at in places
            ]

    def with_text(self, places: Collection[int]) -> FileTable:
        same = copy(self)
        same._table = self._table.with_text(places)
        pairs = zip(self._texts, self._values, strict=True)
        same._values = tuple(
            text if at in places else value for at, (text, value) in enumerate(pairs, self._own)
        )
        return same

    def transient(self, n_columns: int) -> int:
        return self._table.transient(n_columns)


def common_header(headers: Sequence[Header]) -> Header:
    """Return the first header; a column is of single precision where it is in all files."""
    first, *others = headers
    double = {
        field.label
        for header in others
        if header.fields != first.fields
        for field in header.fields
        if not field.single
    }
    if not double:
        return first
    return replace(
        first,
        fields=tuple(
            replace(field, single=field.single and field.label not in double)
            for field in first.fields
        ),
    )


def decoded_together(header: Header, picked: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of picked columns that are decoded together: few columns, or the numbers of
    one of lists."""
    starts, list_before, most = list[int](), None, max(AT_ONCE, -(-len(picked) // _OPENINGS))
    for at, field in enumerate(header.fields[place] for place in picked):
        full = field.within is None and at - starts[-1] >= most if starts else True
        if full or field.within != list_before:
            starts.append(at)
        list_before = field.within
    return list(pairwise([*starts, len(picked)]))


def found_again(choice: ColumnChoice, first: Header, header: Header) -> ColumnChoice:
    """Return the same columns by their positions in another file."""
    if header.fields == first.fields:
        return choice.moved(header.where, choice.places)
    places = {field.label: at for at, field in enumerate(header.fields)}
    for field in (first.fields[at] for at in choice.places):
        if field.label not in places:
            has = shortened(list(places))
            raise RowsError(
                f"{header.where}: lacks column {field.label!r}, which {first.where} has; it has "
                f"{has}."
            )
        here = header.fields[places[field.label]]
        if not here.numeric or (here.kind != field.kind and field.within is not None):
            raise RowsError(
                f"{header.where}: column {field.label!r} is {here.kind} here and {field.kind} in "
                f"{first.where}."
            )
    return choice.moved(header.where, [places[first.fields[at].label] for at in choice.places])


def joined_tables(
    where: str,
    tables: Sequence[FileTable],
    choices: Sequence[ColumnChoice],
    in_memory: int,
    most_copied: int = 0,
) -> StoredRows:
    """Return rows that are read from their tables; those of tables without random access are copied
    to scratch once.

    `choices`: the columns of each table. `in_memory`: bytes up to which all rows are copied, and
    into memory. `most_copied`: bytes up to which a fit's first sweep copies others to scratch.
    """
    columns, dtype, weighted = choices[0].columns, choices[0].dtype, choices[0].weight is not None
    width, known = len(columns) * dtype.itemsize, [table.n_rows for table in tables]
    load = width * sum(rows or 0 for rows in known) <= in_memory if in_memory else False
    copied = [load or not _sought(table, width) for table in tables]
    counts = [rows for rows, each in zip(known, copied, strict=True) if each]
    n_copied = None if None in counts else sum(rows or 0 for rows in counts)
    scratch = ScratchRows(where, columns, dtype, n_copied, in_memory) if counts else None
    groups, weights = list[Group](), [np.empty(0)]
    for table, choice, copying in zip(tables, choices, copied, strict=True):
        if scratch is not None and copying:
            start = len(scratch)
            weights += _copied(table, choice, scratch)
            groups += _stretches(scratch, start)
        else:
            weights += _weights(table, choice)
            groups += _groups(table, choice)
    if scratch is not None and all(copied):
        rows: StoredRows = scratch
    else:
        parts = (
            decoded_together(table.header, choice.picked)
            for table, choice in zip(tables, choices, strict=True)
        )
        widest = (max(stop - start for start, stop in together) for together in parts)
        transient = max(table.transient(width) for table, width in zip(tables, widest, strict=True))
        rows = RowGroups(where, columns, dtype, groups, transient, group_cache.LEAST, most_copied)
    rows.weight = np.concatenate(weights) if weighted else None
    return rows


def _sought(table: FileTable, width: int) -> bool:
    """True where blocks of rows can be decoded one by one without too much memory; `width`: bytes
    of a row."""
    return table.groups is not None and max(table.groups, default=0) * width <= group_cache.LARGEST


def _copied(
    table: FileTable, choice: ColumnChoice, scratch: ScratchRows
) -> Iterator[NDArray[np.float64]]:
    """Append the rows of a table to scratch, and yield their weights."""
    row = 0
    for block in table.blocks(choice.places):
        scratch.append(rows_of(block, row, choice))
        if choice.weight is not None:
            yield weights_of(block[-1], row, choice)
        row += len(block[0])


def _stretches(scratch: ScratchRows, start: int) -> Iterator[Group]:
    """Rows in scratch from a number on, as groups."""
    for first, stop in spans(
        len(scratch) - start,
        max(1, group_cache.LEAST // (scratch.shape[1] * scratch.dtype.itemsize)),
    ):
        yield Group(stop - first, partial(_copy_from, scratch, start + first))


def _copy_from(scratch: ScratchRows, start: int, x: RowArray) -> None:
    x[...] = scratch.read(start, start + len(x))


def _weights(table: FileTable, choice: ColumnChoice) -> Iterator[NDArray[np.float64]]:
    row = 0
    for [values] in table.blocks([choice.weight]) if choice.weight is not None else ():
        yield weights_of(values, row, choice)
        row += len(values)


def _groups(table: FileTable, choice: ColumnChoice) -> Iterator[Group]:
    """The groups of a table, which are decoded when they are needed."""
    assert table.groups is not None
    first_row, width = 0, len(choice.columns) * choice.dtype.itemsize
    for first, stop in joined(table.groups, max(1, group_cache.LEAST // width)):
        rows = sum(table.groups[first:stop])
        if rows:
            yield Group(rows, partial(_decode, table, choice, range(first, stop), first_row))
        first_row += rows


def _decode(
    table: FileTable, choice: ColumnChoice, groups: Sequence[int], first_row: int, x: RowArray
) -> None:
    """Decode groups of a table to the rows x (b, d), few columns at a time."""
    for first, stop in decoded_together(table.header, choice.picked):
        some = replace(choice, picked=choice.picked[first:stop], columns=choice.columns[first:stop])
        done = 0
        for block in table.blocks(some.picked, groups):
            part = x[done : done + len(block[0]), first:stop]
            done += len(block[0])
            if done > len(x):
                break
            copy_columns(block, part)
            check_finite(part, first_row + done - len(part), some)
        if done != len(x):
            raise RowsError(
                f"{choice.where}: rows {first_row} and on are not as many as it says; it is "
                "damaged."
            )


class JoinedRows(StoredRows):
    """Rows of several files, one after the other."""

    def __init__(self, where: str, parts: Sequence[StoredRows]) -> None:
        super().__init__(where, parts[0].columns, parts[0].dtype, sum(len(part) for part in parts))
        self._parts, self._stops = parts, list(accumulate(len(part) for part in parts))
        weights = [part.weight for part in parts if part.weight is not None]
        self.weight = np.concatenate(weights) if weights else None

    def memory(self, n_threads: int) -> int:
        return max(part.memory(n_threads) for part in self._parts)

    def _read(self, start: int, stop: int) -> RowArray:
        out = np.empty((max(0, min(stop, len(self)) - start), self.shape[1]), self.dtype)
        for part, end in zip(self._parts, self._stops, strict=True):
            begin = end - len(part)
            first, last = max(start, begin), min(stop, end)
            if first < last:
                out[first - start : last - start] = part.read(first - begin, last - begin)
        return out
