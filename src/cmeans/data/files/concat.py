"""Many files as one: the same columns found in each, their rows one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..blocks import spans
from ..row_source import RowArray, RowsError, StoredRows
from ..scratch import ScratchRows
from . import group_cache
from .group_cache import Group, RowGroups
from .schema import ColumnChoice, Header, shortened
from .tables import FileTable, check_finite, copy_columns, rows_of, weights_of

AT_ONCE = 8  # columns of a group that are decoded together: a column reader holds pages in memory


def common_header(headers: Sequence[Header]) -> Header:
    """Return the first header; a column is of single precision where it is in all files."""
    first, *others = headers
    double = {field.label for header in others if header.fields != first.fields for field in header.fields if not field.single}
    return replace(first, fields=tuple(replace(field, single=field.single and field.label not in double) for field in first.fields))


def found_again(choice: ColumnChoice, first: Header, header: Header) -> ColumnChoice:
    """Return the same columns by their positions in another file."""
    if header.fields == first.fields:
        return choice.moved(header.where, choice.places)
    places = {field.label: at for at, field in enumerate(header.fields)}
    for field in (first.fields[at] for at in choice.places):
        if field.label not in places:
            has = shortened(list(places))
            raise RowsError(f"{header.where}: lacks column {field.label!r}, which {first.where} has; it has {has}.")
        here = header.fields[places[field.label]]
        if not here.numeric:
            raise RowsError(f"{header.where}: column {field.label!r} is {here.kind} here and {field.kind} in {first.where}.")
    return choice.moved(header.where, [places[first.fields[at].label] for at in choice.places])


def joined_tables(where: str, tables: Sequence[FileTable], choices: Sequence[ColumnChoice], in_memory: int) -> StoredRows:
    """Return rows that are read from their tables; those of tables without random access are copied to scratch once.

    `choices`: the columns of each table. `in_memory`: bytes up to which all rows are copied, and into memory.
    """
    columns, dtype, weighted = choices[0].columns, choices[0].dtype, choices[0].weight is not None
    width, known = len(columns) * dtype.itemsize, [table.n_rows for table in tables]
    load = width * sum(rows or 0 for rows in known) <= in_memory if in_memory else False
    copied = [load or not _sought(table, width) for table in tables]
    counts = [rows for rows, copy in zip(known, copied, strict=True) if copy]
    n_copied = None if None in counts else sum(rows or 0 for rows in counts)
    scratch = ScratchRows(where, columns, dtype, n_copied, in_memory) if counts else None
    groups, weights = list[Group](), [np.empty(0)]
    for table, choice, copy in zip(tables, choices, copied, strict=True):
        if scratch is not None and copy:
            start = len(scratch)
            weights += _copied(table, choice, scratch)
            groups += _stretches(scratch, start)
        else:
            weights += _weights(table, choice)
            groups += _groups(table, choice)
    if scratch is not None and all(copied):
        rows: StoredRows = scratch
    else:
        transient = max(table.transient(min(AT_ONCE, len(columns))) for table in tables)
        rows = RowGroups(where, columns, dtype, groups, transient, group_cache.LEAST)
    rows.weight = np.concatenate(weights) if weighted else None
    return rows


def _sought(table: FileTable, width: int) -> bool:
    """True where blocks of rows can be decoded one by one without too much memory; `width`: bytes of a row."""
    return table.groups is not None and max(table.groups, default=0) * width <= group_cache.LARGEST


def _copied(table: FileTable, choice: ColumnChoice, scratch: ScratchRows) -> Iterator[NDArray[np.float64]]:
    """Append the rows of a table to scratch, and yield their weights."""
    row = 0
    for block in table.blocks(choice.places):
        scratch.append(rows_of(block, row, choice))
        if choice.weight is not None:
            yield weights_of(block[-1], row, choice)
        row += len(block[0])


def _stretches(scratch: ScratchRows, start: int) -> Iterator[Group]:
    """Rows in scratch from a number on, as groups."""
    for first, stop in spans(len(scratch) - start, max(1, group_cache.LEAST // (scratch.shape[1] * scratch.dtype.itemsize))):
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
    first_row = 0
    for number, rows in enumerate(table.groups):
        if rows:
            yield Group(rows, partial(_decode, table, choice, number, first_row))
        first_row += rows


def _decode(table: FileTable, choice: ColumnChoice, group: int, first_row: int, x: RowArray) -> None:
    """Decode one group of a table to the rows x (b, d), few columns at a time."""
    for first, stop in spans(len(choice.picked), AT_ONCE):
        some = replace(choice, picked=choice.picked[first:stop], columns=choice.columns[first:stop])
        done = 0
        for block in table.blocks(some.picked, [group]):
            part = x[done : done + len(block[0]), first:stop]
            done += len(block[0])
            if done > len(x):
                break
            copy_columns(block, part)
            check_finite(part, first_row + done - len(part), some)
        if done != len(x):
            raise RowsError(f"{choice.where}: rows {first_row} and on are not as many as it says; it is damaged.")


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
