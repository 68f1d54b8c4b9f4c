"""CSV read once from its beginning: dialect and columns from the first lines, then rows out of lines as they arrive."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ...data.files.arrow import pa
from ...data.files.schema import Field, Header
from ...data.files.tables import Block
from ...data.files.text import CONVERT, LONGEST, MARK, Dialect, Lines, OpenQuoteError, brief, fields, first_text, numbered_lines, split
from ...data.files.unchanged_files import naming
from ...data.row_source import ColumnLabel
from ..errors import InputError
from ..option_values import as_option
from .batches import Batch, Batches, Fault, Origin, Patience, Pick, PickedBatch, complaint, numbers_of
from .waiting import Ahead, StreamInput

_BLOCK = 1 << 20  # bytes read at a time, at most
_JUDGED = 10  # lines that are checked before a column counts as text
_KEPT = 1_000  # lines that are buffered for that, malformed ones included
_TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
_MISSING = frozenset(pa.csv.ConvertOptions().null_values)


class LineError(ValueError):
    """A line that is no row; the message says why."""


def cells_of(line: bytes, dialect: Dialect, longest: int = LONGEST) -> list[str]:
    """The fields of one line. Bytes that are not UTF-8 are kept as surrogates; they do no harm in columns that are not data."""
    if len(line) > longest:
        raise LineError(f"is longer than {longest >> 20} MiB")
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
    """Return a digest by which a line is recognised."""
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
    few: int = 32  # lines that are read sooner one by one than as a block
    longest: int = LONGEST  # bytes of a line

    def batch(self, lines: Lines, first: int) -> Batch:
        """The rows in some lines, of which the first has the number `first`."""
        block = self._at_once(lines.texts) if len(lines) > self.few else None
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
        if len(text) > self.longest:
            return None
        names = [str(at) for at in range(len(self.dialect.cells))]
        types = {names[at]: pa.float64() for at in self.picked.choice.places}
        try:
            table = pa.csv.read_csv(
                pa.BufferReader(text),
                read_options=pa.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
                parse_options=pa.csv.ParseOptions(delimiter=self.dialect.delimiter, ignore_empty_lines=False),
                convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
            )
            cells_of(lines[-1], self.dialect, self.longest)  # an open quote in it goes unnoticed
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
        return list(np.array(rows, np.float64).reshape(len(rows), len(self.picked.choice.places)).T), why

    def _numbers(self, line: bytes) -> list[float]:
        cells = cells_of(line, self.dialect, self.longest)
        found = [number(cells[at]) for at in self.picked.choice.places]
        if None in found:
            place = found.index(None)
            label = self.picked.labels[place] if place < len(self.picked.labels) else self.picked.weight_label
            raise LineError(f"column {label!r} {_no_number(cells[self.picked.choice.places[place]])}")
        return [value for value in found if value is not None]


def _no_number(cell: str) -> str:
    """The fault of a field of text."""
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        byte = ord(cell[error.start]) & 0xFF
        return f"is not text in UTF-8 (byte 0x{byte:02X}; convert it first, e.g. {CONVERT})"
    return f"holds {brief(cell)!r}, no number"


@dataclass(frozen=True)
class CsvRows:
    """Rows of a CSV. `header`: True where the first line holds names; None detects it."""

    origin: Origin
    source: StreamInput
    warn: Callable[[str], None]
    header: bool | None = None

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        blocks = Ahead(iter(lambda: self.source.read(_BLOCK), b""))
        try:
            with naming(self.origin.where):
                yield from self._rows(numbered_lines(blocks.items(patience), LONGEST), pick)
        finally:
            self.source.end()
            blocks.close()

    def _rows(self, lines: Iterator[Lines | None], pick: Pick) -> Iterator[Batch | None]:
        first = _first_filled(lines)
        if first is None:
            return
        line, where = first.texts[0], self.origin.where
        if len(line) > LONGEST:
            raise InputError(f"{where}: the first line is longer than {LONGEST >> 20} MiB; it is no CSV.")
        dialect = Dialect.of(where, first_text(where, line, first.numbers[0]), self.header, as_option)
        rest = chain([first[1:] if dialect.named else first], lines)
        data = (part if part is None or dialect.blank_is_missing else part.filled() for part in rest)
        seen, numeric = _judged(data, dialect)
        picked = pick(self._described(dialect, numeric))
        reader, row, fresh = LineReader(dialect, picked), self.origin.first, self.origin.first + self.origin.skip
        yield self.origin.opening(picked)
        for part in chain(seen, data):
            if part is None:
                yield None
                continue
            old, new = part[: max(0, fresh - row)], part[max(0, fresh - row) :]
            row += len(part)
            if old.texts and row - len(new) == fresh and self.origin.tail not in (None, digest(old.texts[-1])):
                self.warn(
                    f"{where}: line {old.numbers[-1]} had no end when it was read before, and goes on now; what was read of it then stays."
                )
            if len(new):
                yield reader.batch(new, row - len(new))
        self.origin.refuse_shrunk(row)

    def _described(self, dialect: Dialect, numeric: list[bool]) -> Header:
        labels: Iterable[ColumnLabel] = dialect.cells if dialect.named else range(len(dialect.cells))
        fields = (Field(label, "double" if counts else "text", counts) for label, counts in zip(labels, numeric, strict=True))
        return Header(self.origin.where, tuple(fields), as_option)


def _first_filled(lines: Iterator[Lines | None]) -> Lines | None:
    """Return the lines from the first non-empty one on, as far as they have arrived."""
    for part in lines:
        if part is None:
            continue
        if part.numbers[0] == 1:
            part.texts[0] = part.texts[0].removeprefix(MARK)
        for at, text in enumerate(part.texts):
            if text.strip():
                return part[at:]
    return None


def _judged(data: Iterator[Lines | None], dialect: Dialect) -> tuple[list[Lines], list[bool]]:
    """Return the first lines of data, and True for each column that holds numbers in any of them, or nothing at all."""
    seen, judged, kept = list[Lines](), 0, 0
    numbers, texts = set[int](), set[int]()
    for part in data:
        if part is None:
            continue
        seen.append(part)
        kept += len(part)
        for line in part.texts:
            try:
                cells = cells_of(line, dialect)
            except LineError:
                continue
            judged += 1
            for at, cell in enumerate(cells):
                value = number(cell)
                if value is None:
                    texts.add(at)
                elif not math.isnan(value):
                    numbers.add(at)
            if len(numbers) == len(cells) or judged == _JUDGED:
                return seen, [at in numbers or at not in texts for at in range(len(cells))]
        if kept >= _KEPT:
            break
    return seen, [at in numbers or at not in texts for at in range(len(dialect.cells))]
