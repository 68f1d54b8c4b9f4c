"""Rows out of the lines of a CSV: a block of lines at once where all of them are well, line by line where one is not."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...sources.arrow import pa
from ...sources.dialect import Dialect
from ...sources.gathering import Block
from .batches import Batch, Fault, Picked, complaint, numbers_of
from .lines import LONGEST, Lines

_FEW = 32  # lines that are read sooner one by one than as a block
_TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
_MISSING = frozenset(pa.csv.ConvertOptions().null_values)


class LineError(ValueError):
    """Why a line is no row."""


def cells_of(line: bytes, dialect: Dialect) -> list[str]:
    """The fields of one line."""
    if len(line) > LONGEST:
        raise LineError(f"is longer than {LONGEST >> 20} MiB")
    try:
        text = line.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        raise LineError("is not text in UTF-8") from None
    cells = text.split(dialect.delimiter) if '"' not in text else _quoted_cells(text, dialect.delimiter)
    if len(cells) != len(dialect.cells):
        raise LineError(f"has {len(cells)} field{'' if len(cells) == 1 else 's'} where {len(dialect.cells)} belong")
    return cells


def number(cell: str) -> float | None:
    """The number in a field, NaN for a missing one, None for text."""
    if cell in _MISSING:
        return math.nan
    if not cell.isascii() or "_" in cell:  # Python's float reads more than numbers as files have them
        return None
    try:
        return float(cell)
    except ValueError:
        return _TRUTHS.get(cell.strip())


@dataclass(frozen=True)
class LineReader:
    """Lines in, rows out. Both ways of reading find the same rows and the same numbers in them."""

    dialect: Dialect
    picked: Picked

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
        )

    def _at_once(self, lines: Sequence[bytes]) -> Block | None:
        text = b"\n".join(lines) + b"\n"
        if len(text) > LONGEST or text.count(b"\r") != text.count(b"\r\n") or not _is_utf8(text):
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
            raise LineError(f"column {label!r} holds {_shortened(cells[self.picked.places[place]])!r}, no number")
        return [value for value in found if value is not None]


def _quoted_cells(text: str, delimiter: str) -> list[str]:
    csv.field_size_limit(LONGEST)
    try:
        cells = next(csv.reader([text + "\n"], delimiter=delimiter))
    except csv.Error as error:
        raise LineError(f"cannot be cut into fields ({error})") from None
    if any("\n" in cell for cell in cells):
        raise LineError("has a quote that is not closed")
    return cells


def _is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shortened(cell: str) -> str:
    return cell if len(cell) <= 40 else f"{cell[:37]}..."
