"""Rows out of the lines of a CSV: a block of lines at once where all of them are well, line by line where one is not."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...data.files.arrow import pa
from ...data.files.dialect import Dialect, OpenQuoteError, brief, fields, split
from ...data.files.encoding import CONVERT
from ...data.files.gathering import Block
from ...data.files.lines import LONGEST, Lines
from .batches import Batch, Fault, PickedBatch, complaint, numbers_of

_FEW = 32  # lines that are read sooner one by one than as a block
_TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
_MISSING = frozenset(pa.csv.ConvertOptions().null_values)


class LineError(ValueError):
    """Why a line is no row."""


def cells_of(line: bytes, dialect: Dialect) -> list[str]:
    """The fields of one line. Bytes that are not UTF-8 are kept as surrogates; they do no harm in columns that are not data."""
    if len(line) > LONGEST:
        raise LineError(f"is longer than {LONGEST >> 20} MiB")
    count = line.count(dialect.delimiter.encode()) + 1
    if b'"' in line or count == len(dialect.cells):  # else there is no need to spread millions of fields
        try:
            cells = split(line.decode(errors="surrogateescape"), dialect.delimiter)
        except OpenQuoteError:
            raise LineError("has a quote that is not closed") from None
        if len(cells) == len(dialect.cells):
            return cells
        count = len(cells)
    raise LineError(f"has {fields(count)} where {len(dialect.cells)} belong")


def digest(line: bytes) -> str:
    """By which a line is known again."""
    return hashlib.sha256(line).hexdigest()


def number(cell: str) -> float | None:
    """The number in a field, NaN for a missing one, None for text."""
    if cell in _MISSING:
        return math.nan
    text = cell.strip(" \t")
    if "_" in text or not (text.isascii() and text.isprintable()):  # Python's float reads more than numbers as files have them
        return None
    try:
        return float(cell)
    except ValueError:
        return _TRUTHS.get(cell.strip())


@dataclass(frozen=True)
class LineReader:
    """Lines in, rows out. Both ways of reading find the same rows and the same numbers in them."""

    dialect: Dialect
    picked: PickedBatch

    def batch(self, lines: Lines, first: int) -> Batch:
        """The rows in some lines, of which the first has the number `first`."""
        block = self._at_once(lines.texts) if len(lines) > _FEW else None
        kept, why = np.arange(len(lines)), dict[int, str]()
        if block is None:
            block, why = self._one_by_one(lines.texts)
            kept = np.delete(kept, list(why))
        x, weight, sound = numbers_of(block, self.picked)
        for at in np.flatnonzero(~sound):
            why[int(kept[at])] = complaint(x[at], None if weight is None else weight[at], self.picked)
        return Batch(
            x[sound],
            None if weight is None else weight[sound],
            first + kept[sound],
            first + len(lines),
            tuple(Fault(first + at, f"line {lines.numbers[at]}", why[at]) for at in sorted(why)),
            tail=digest(lines.texts[-1]) if lines.open else None,
        )

    def _at_once(self, lines: Sequence[bytes]) -> Block | None:
        text = b"\n".join(lines) + b"\n"
        if len(text) > LONGEST:
            return None
        names = [str(at) for at in range(len(self.dialect.cells))]
        types = {names[at]: pa.float64() for at in self.picked.places}
        try:
            table = pa.csv.read_csv(
                pa.BufferReader(text),
                read_options=pa.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
                parse_options=pa.csv.ParseOptions(delimiter=self.dialect.delimiter, ignore_empty_lines=False),
                convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
            )
            cells_of(lines[-1], self.dialect)  # an open quote in it goes unnoticed
        except (pa.ArrowInvalid, LineError):
            return None
        if table.num_rows != len(lines):  # an open quote has swallowed some
            return None
        return [column.to_numpy() for column in table.columns]

    def _one_by_one(self, lines: Sequence[bytes]) -> tuple[Block, dict[int, str]]:
        rows, why = list[list[float]](), dict[int, str]()
        for at, line in enumerate(lines):
            try:
                rows.append(self._numbers(line))
            except LineError as error:
                why[at] = str(error)
        return list(np.array(rows, np.float64).reshape(len(rows), len(self.picked.places)).T), why

    def _numbers(self, line: bytes) -> list[float]:
        cells = cells_of(line, self.dialect)
        found = [number(cells[at]) for at in self.picked.places]
        if None in found:
            place = found.index(None)
            label = self.picked.labels[place] if place < len(self.picked.labels) else self.picked.weight_label
            raise LineError(f"column {label!r} {_no_number(cells[self.picked.places[place]])}")
        return [value for value in found if value is not None]


def _no_number(cell: str) -> str:
    """The fault of a field of text."""
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        byte = ord(cell[error.start]) & 0xFF
        return f"is not text in UTF-8 (byte 0x{byte:02X}; convert it first, e.g. {CONVERT})"
    return f"holds {brief(cell)!r}, no number"
