"""Lines of CSV as columns of numbers, and what is wrong with each line that is no row."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrow_library import pa
from ..row_source import RowsError
from .arrow_columns import values
from .notation import BLANKS, Notation
from .tables import Block
from .text import LONGEST, Dialect, Lines, OpenQuoteError, brief, fields, number_in, split
from .written_numbers import numbers_written

TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
MISSING = frozenset(pa.csv.ConvertOptions().null_values)


class LineError(ValueError):
    """A line that is no row; the message says why."""


@dataclass(frozen=True)
class ReadLines:
    """The rows in some lines, and the faults of the others."""

    block: Block  # the columns of those that are rows
    kept: NDArray[np.intp]  # which of the lines they are
    faults: dict[int, str]  # what is wrong with each other line, in their order


@dataclass(frozen=True)
class LineReader:
    """Lines in, columns out. Both ways of reading find the same rows and the same numbers in
    them."""

    dialect: Dialect
    truths: frozenset[int] = frozenset()  # columns that hold true and false
    # types of columns that are not read as numbers
    kinds: Mapping[int, pa.DataType] = field(default_factory=dict)
    made: Callable[[pa.Array], Any] = values  # of each column
    notations: Mapping[int, Notation] = field(default_factory=dict)  # of columns, where unusual
    missing: frozenset[str] = MISSING  # cells that stand for nothing
    few: int = 32  # lines that are read sooner one by one than at once
    longest: int = LONGEST  # bytes of a line

    def read(self, lines: Lines, places: Sequence[int]) -> ReadLines:
        """Return the columns at `places`."""
        block = self.at_once(lines, places)
        if block is not None:
            return ReadLines(block, np.arange(len(lines)), {})
        rows, faults = list[list[Any]](), dict[int, str]()
        for at, line in enumerate(lines.texts):
            try:
                rows.append(self._cells(line, places))
            except LineError as error:
                faults[at] = str(error)
        columns = [
            self._column(place, [row[at] for row in rows]) for at, place in enumerate(places)
        ]
        return ReadLines(columns, np.delete(np.arange(len(lines)), list(faults)), faults)

    def texts(self, lines: Lines, places: Sequence[int]) -> list[NDArray[Any]]:
        """Return the columns at `places` as text, of all lines; blank where a line is no row."""
        found = [np.full(len(lines), "", object) for _ in places]
        for at, line in enumerate(lines.texts if places else ()):
            with suppress(LineError):
                cells = self.cells_of(line)
                for column, place in zip(found, places, strict=True):
                    column[at] = cells[place]
        return found

    def at_once(self, lines: Lines, places: Sequence[int]) -> Block | None:
        """Return the columns at `places` where each line is a row, and there are more than a few;
        else None."""
        if len(lines) <= self.few or len(lines.text) > self.longest:
            return None
        types = {
            **{at: pa.bool_() if at in self.truths else pa.float64() for at in places},
            **dict.fromkeys(self.notations, pa.string()),
            **self.kinds,
        }
        try:
            # an open quote in the last line goes unnoticed by pyarrow
            self.cells_of(lines.text[lines.text.rfind(b"\n", 0, -1) + 1 : -1])
            table = self._table(lines, places, {str(at): types[at] for at in places})
            if table.num_rows != len(lines):  # an open quote has swallowed some
                return None
            return [
                self.made(self._written(at, column.combine_chunks()))
                for at, column in zip(places, table.columns, strict=True)
            ]
        except (pa.ArrowInvalid, LineError):
            return None

    def _written(self, at: int, column: pa.Array) -> pa.Array:
        """Return the numbers of a column that is not written as programs write numbers; others as
        they are."""
        notation = self.notations.get(at)
        if notation is None or at in self.kinds:
            return column
        return numbers_written(column, notation, self.missing)

    def guessed(self, lines: Lines, places: Sequence[int]) -> dict[int, pa.DataType]:
        """Return the types that columns seem to have, by some lines; text where they are not
        clear."""
        try:
            types = self._table(lines, places, {}).schema.types
        except pa.ArrowInvalid:
            types = [pa.null()] * len(places)
        unclear = (pa.types.is_null, pa.types.is_binary)
        return {
            at: pa.string() if any(test(kind) for test in unclear) else kind
            for at, kind in zip(places, types, strict=True)
        }

    def _table(
        self, lines: Lines, places: Sequence[int], types: dict[str, pa.DataType]
    ) -> pa.Table:
        names = [str(at) for at in range(len(self.dialect.cells))]
        return pa.csv.read_csv(
            pa.BufferReader(lines.text),
            read_options=pa.csv.ReadOptions(
                use_threads=False, block_size=len(lines.text) + 1, column_names=names
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=self.dialect.delimiter, ignore_empty_lines=False
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=types,
                include_columns=[names[at] for at in places],
                null_values=sorted(self.missing),
            ),
        )

    def cells_of(self, line: bytes) -> list[str]:
        """The fields of one line. Bytes that are not UTF-8 are kept as surrogates; they do no harm
        in columns that are not data."""
        if len(line) > self.longest:
            raise LineError(f"is longer than {self.longest >> 20} MiB")
        belong, count = len(self.dialect.cells), line.count(self.dialect.delimiter.encode()) + 1
        if b'"' in line or count == belong:  # else there is no need to spread millions of fields
            try:
                cells = split(line.decode(errors="surrogateescape"), self.dialect.delimiter)
            except OpenQuoteError:
                raise LineError("has a quote that is not closed") from None
            if len(cells) == belong:
                return cells
            count = len(cells)
        raise LineError(f"has {fields(count)} where {belong} belong")

    def _cells(self, line: bytes, places: Sequence[int]) -> list[float | str]:
        """The fields of one line at `places`, as numbers where the columns are."""
        cells, found = self.cells_of(line), list[float | str]()
        for at in places:
            value = cells[at] if at in self.kinds else self.number(at, cells[at])
            if value is None:
                raise LineError(f"column {self.dialect.labels[at]!r} {_no_number(cells[at])}")
            found.append(value)
        return found

    def number(self, at: int, cell: str) -> float | None:
        notation = self.notations.get(at)
        if notation is None:
            return number(cell, self.missing)
        return math.nan if cell.strip(BLANKS) in self.missing else notation.number(cell)

    def _column(self, at: int, cells: list[Any]) -> Any:
        if at not in self.kinds:
            return np.array(cells, np.float64)
        kind = self.kinds[at]
        known = [
            None if cell in self.missing and not pa.types.is_string(kind) else cell
            for cell in cells
        ]
        try:
            return self.made(pa.array(known, pa.string()).cast(kind))
        except (pa.ArrowInvalid, UnicodeEncodeError) as error:
            raise RowsError(
                f"column {self.dialect.labels[at]!r} begins as {kind} and goes on otherwise "
                f"({error})."
            ) from None


def number(cell: str, missing: Collection[str] = MISSING) -> float | None:
    """The number in a field, NaN for a missing one, None for text."""
    if cell in missing:
        return math.nan
    found = number_in(cell)
    return TRUTHS.get(cell.strip(" \t")) if found is None else found


def _no_number(cell: str) -> str:
    """The fault of a field of text."""
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        byte = ord(cell[error.start]) & 0xFF
        return f"is not text in UTF-8 (byte 0x{byte:02X})"
    return f"holds {brief(cell)!r}, no number"
