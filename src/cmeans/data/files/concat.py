"""Many files as one: the same columns found in each, their rows one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from ..row_source import RowArray, RowsError, StoredRows
from ..scratch import ScratchRows
from . import group_cache
from .group_cache import Group, RowGroups
from .schema import Field, Header, shortened
from .tables import ColumnSelection, FileTable, ReadPlan, fill, rows_of, weights_of

AT_ONCE = 8  # columns of a group that are decoded together


def common_header(headers: Sequence[Header]) -> Header:
    """Return the first header; a column is of single precision where it is in all files."""
    first, *others = headers
    double = {field.label for header in others if header.fields != first.fields for field in header.fields if not field.single}
    return replace(first, fields=tuple(replace(field, single=field.single and field.label not in double) for field in first.fields))


def found_again(choice: ColumnSelection, first: Header, header: Header) -> ColumnSelection:
    """Return the same columns by their positions in another file."""
    if header.fields == first.fields:
        return choice
    places = {field.label: at for at, field in enumerate(header.fields)}
    for at in choice.places:
        _refuse_other(first.fields[at], first, header, places)
    moved = [places[first.fields[at].label] for at in choice.places]
    d = len(choice.picked)
    return replace(choice, picked=tuple(moved[:d]), weight=None if choice.weight is None else moved[d])


def _refuse_other(field: Field, first: Header, header: Header, places: dict[str | int, int]) -> None:
    if field.label not in places:
        has = shortened(list(places))
        raise RowsError(f"{header.where}: lacks column {field.label!r}, which {first.where} has; it has {has}.")
    here = header.fields[places[field.label]]
    if not here.numeric:
        raise RowsError(f"{header.where}: column {field.label!r} is {here.kind} here and {field.kind} in {first.where}.")


class JoinedTables:
    """Rows of tables, read from their files; those of tables without random access are copied to scratch once."""

    def __init__(self, where: str, tables: Sequence[FileTable], choices: Sequence[ColumnSelection]) -> None:
        """`choices`: the columns of each table."""
        self._where, self._choices = where, choices
        self._tables = [(table, choice, table.plan(choice)) for table, choice in zip(tables, choices, strict=True)]
        self._weights = list[np.ndarray]()

    def stored(self) -> StoredRows:
        columns, dtype = self._tables[0][2].columns, self._tables[0][2].dtype
        spooled = [table for table, _, plan in self._tables if not _sought(table, plan)]
        known = [table.n_rows for table in spooled]
        n_spooled = None if None in known else sum(rows or 0 for rows in known)
        scratch = ScratchRows(self._where, columns, dtype, n_spooled) if spooled else None
        groups = [group for table, choice, plan in self._tables for group in self._groups(table, choice, plan, scratch)]
        transient = max(table.transient(min(AT_ONCE, len(columns))) for table, _, _ in self._tables)
        rows: StoredRows = RowGroups(self._where, columns, dtype, groups, transient, group_cache.LEAST)
        if scratch is not None and len(spooled) == len(self._tables):
            rows = scratch
        if self._choices[0].weight is not None:
            rows.weight = np.concatenate([np.empty(0), *self._weights])
        return rows

    def _groups(self, table: FileTable, choice: ColumnSelection, plan: ReadPlan, scratch: ScratchRows | None) -> Iterator[Group]:
        if scratch is not None and not _sought(table, plan):
            start = len(scratch)
            self._spool(table, choice, plan, scratch)
            yield from _stretches(scratch, start)
            return
        if choice.weight is not None:
            row = 0
            for [values] in table.blocks([choice.weight]):
                self._weights.append(weights_of(values, row, plan))
                row += len(values)
        assert table.groups is not None
        for number, (rows, stop) in enumerate(zip(table.groups, accumulate(table.groups), strict=True)):
            if rows:
                yield Group(rows, _Decoder(table, choice, plan, number, stop - rows))

    def _spool(self, table: FileTable, choice: ColumnSelection, plan: ReadPlan, scratch: ScratchRows) -> None:
        row = 0
        for block in table.blocks(choice.places):
            scratch.append(rows_of(block, row, plan))
            if choice.weight is not None:
                self._weights.append(weights_of(block[-1], row, plan))
            row += len(block[0])


class _Decoder:
    """Decoder of one group of one table, few columns at a time: a column reader holds pages in memory."""

    def __init__(self, table: FileTable, choice: ColumnSelection, plan: ReadPlan, group: int, first_row: int) -> None:
        self._table, self._picked, self._plan = table, choice.picked, plan
        self._group, self._first_row = group, first_row

    def __call__(self, x: RowArray) -> None:
        for first in range(0, len(self._picked), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            self._decode(self._picked[some], x[:, some], replace(self._plan, columns=self._plan.columns[some]))

    def _decode(self, picked: tuple[int, ...], x: RowArray, plan: ReadPlan) -> None:
        done = 0
        for block in self._table.blocks(picked, [self._group]):
            stop = done + len(block[0])
            if stop > len(x):
                break
            fill(x[done:stop], block, self._first_row + done, plan)
            done = stop
        if done != len(x):
            raise RowsError(f"{plan.where}: rows {self._first_row} and on are not as many as it says; it is damaged.")


def _sought(table: FileTable, plan: ReadPlan) -> bool:
    """True where blocks of rows can be decoded one by one without too much memory."""
    return table.groups is not None and max(table.groups, default=0) * len(plan.columns) * plan.dtype.itemsize <= group_cache.LARGEST


def _stretches(scratch: ScratchRows, start: int) -> Iterator[Group]:
    step = max(1, group_cache.LEAST // (scratch.shape[1] * scratch.dtype.itemsize))
    for first in range(start, len(scratch), step):
        stop = min(first + step, len(scratch))

        def copied(x: RowArray, first: int = first, stop: int = stop) -> None:
            x[...] = scratch.read(first, stop)

        yield Group(stop - first, copied)


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
