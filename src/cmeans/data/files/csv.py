"""CSV: lines of text as columns of numbers, and what is wrong with each line that is no row. Files
and streams are read alike."""

from __future__ import annotations

import math
import re
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.user_warnings import DataWarning
from ..row_source import ColumnLabel, RowsError
from .archives import text_in, unzipped
from .arrow import file_bytes, kind_of, pa, reading, release, values
from .claims import check_unpacked
from .discovery import PACKED, ZIP, first_bytes
from .encodings import UTF8, WINDOWS, in_utf8
from .notation import AS_PROGRAMS_WRITE, BLANKS, Notation, TextFormat
from .schema import Field, Header, Spelling, in_python
from .tables import Block, FileTable
from .text import (
    LONGEST,
    MARK,
    Dialect,
    Lines,
    OpenQuoteError,
    brief,
    fields,
    first_text,
    is_spaced,
    number_in,
    numbered_lines,
    split,
)
from .unchanged_files import StampedFile
from .written_numbers import numbers_written

_PIECE = 1 << 21  # bytes of a file that are parsed together
_AHEAD = 2  # pieces that are parsed ahead, each in a thread of its own
# lines that names go over, at most; with more of them, a quote too many has swallowed rows
_NAMES = 20
_SWALLOWED = 1 << 20  # lines that other rows go over, at most
_JUDGED = 10  # lines that are checked before a column counts as text
_SEPARATOR = re.compile(rb'"?sep=[,;|\t]"?\s*$')  # a first line that Excel writes for itself
_KEPT = 1_000  # lines that are buffered for that, malformed ones included
_TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
_MISSING = frozenset(pa.csv.ConvertOptions().null_values)


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
    missing: frozenset[str] = _MISSING  # cells that stand for nothing
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


def number(cell: str, missing: Collection[str] = _MISSING) -> float | None:
    """The number in a field, NaN for a missing one, None for text."""
    if cell in missing:
        return math.nan
    found = number_in(cell)
    return _TRUTHS.get(cell.strip(" \t")) if found is None else found


def _no_number(cell: str) -> str:
    """The fault of a field of text."""
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        byte = ord(cell[error.start]) & 0xFF
        return f"is not text in UTF-8 (byte 0x{byte:02X})"
    return f"holds {brief(cell)!r}, no number"


@dataclass(frozen=True)
class CsvText:
    """A CSV whose first lines are known."""

    header: Header
    reader: LineReader
    # the lines of data, of a stream without empty ones; None is passed on from the blocks of bytes
    data: Iterator[Lines | None]
    seen: Sequence[Lines]  # the first of them
    encoding: str = UTF8

    @classmethod
    def of(
        cls,
        where: str,
        blocks: Iterator[bytes | None],
        header: bool | None,
        spell: Spelling = in_python,
        several: bool = False,
        written: TextFormat = AS_PROGRAMS_WRITE,
    ) -> CsvText | None:
        """Look at the first lines of what comes in blocks of bytes; None where no line holds
        anything.

        `header`: whether the first line holds names; None looks for itself, and asks where it
        cannot tell. `several`: whether line breaks in quotes belong to a row. In a stream they do
        not: a quote too many costs one line, and no row waits for later ones.
        """
        encoding, blocks = in_utf8(where, blocks, written.encoding, spell, several)
        lines = numbered_lines(blocks, LONGEST)
        first = _first_filled(lines)
        if first is None:
            return None
        if len(first.texts[0]) > LONGEST:
            raise RowsError(
                f"{where}: the first line is longer than {LONGEST >> 20} MiB; it is no CSV."
            )
        if is_spaced([text for text in first.texts[:_JUDGED] if text.strip()]):
            first, lines = first.spaced(), (part and part.spaced() for part in lines)
        begin = zip(first.texts[: _NAMES if several else 1], first.numbers, strict=False)
        texts = (first_text(where, line, number, spell) for line, number in begin)
        dialect, height = Dialect.of(where, texts, header, spell)
        rest = chain([first[height:] if dialect.named else first], lines)
        data = (
            rest
            if several or dialect.blank_is_missing
            else (part and part.filled() for part in rest)
        )
        notations = {
            at: written.notations[label]
            for at, label in enumerate(dialect.labels)
            if label in written.notations
        }
        reader = LineReader(dialect, notations=notations, missing=_MISSING.union(written.missing))
        seen, numeric, truths = _judged(data, reader, several)
        others = [at for at, counts in enumerate(numeric) if not counts]
        kinds = dict[int, pa.DataType]()
        if several and others:
            kinds = reader.guessed(seen[0][:_KEPT].joined(dialect.delimiter)[0].filled(), others)
        described = enumerate(zip(dialect.labels, numeric, strict=True))
        columns = (
            Field(label, "double" if counts else kind_of(kinds.get(at, pa.string())), counts)
            for at, (label, counts) in described
        )
        return cls(
            Header(where, tuple(columns), spell),
            replace(reader, truths=truths, kinds=kinds),
            chain(seen, data),
            seen,
            encoding,
        )

    def with_notations(self, notations: Mapping[ColumnLabel, Notation]) -> CsvText:
        """Return the same with columns of numbers that are written so."""
        places = {self.header.position(label): each for label, each in notations.items()}
        columns = (
            replace(column, kind="double", numeric=True) if at in places else column
            for at, column in enumerate(self.header.fields)
        )
        return replace(
            self,
            header=replace(self.header, fields=tuple(columns)),
            reader=replace(self.reader, notations={**self.reader.notations, **places}),
        )

    def guessed(self, places: Sequence[int]) -> dict[int, pa.DataType]:
        """Return the types that the first values of columns have."""
        first = self.seen[0][:_KEPT].joined(self.reader.dialect.delimiter)[0].filled()
        return self.reader.guessed(first, places)

    def sample(self, rows: int) -> list[list[Any]]:
        """Return the first cells of each column as they are written."""
        found = list[list[str]]()
        for lines in self.data:
            for line in self._records(lines, rows) if lines else ():
                if len(found) == rows:
                    break
                with suppress(LineError):  # which is told when it is read
                    found.append(self.reader.cells_of(line))
            if len(found) == rows:
                break
        return [list(column) for column in zip(*found, strict=True)] or [
            [] for _ in self.header.fields
        ]

    def _records(self, lines: Lines, most: int) -> list[bytes]:
        """Return the first records of some lines that are not empty."""
        return lines[:most].joined(self.reader.dialect.delimiter)[0].filled().texts

    def columns_of_text(self, places: Sequence[int]) -> Iterator[Block]:
        """Yield columns as text."""
        text = self.with_text(places)
        as_read = replace(text, reader=replace(text.reader, made=lambda column: column))
        return as_read.blocks(places)

    def with_text(self, places: Iterable[int]) -> CsvText:
        """Return the same with the columns at `places` as text."""
        return replace(
            self,
            reader=replace(
                self.reader, kinds={**self.reader.kinds, **dict.fromkeys(places, pa.string())}
            ),
        )

    def blocks(self, places: Sequence[int]) -> Iterator[Block]:
        """Yield the columns at `places` of a CSV whose rows may have several lines; RowsError at
        the first line that is no row."""
        waiting = Lines(b"", [])
        for lines, block in self._parsed_ahead(places):
            if block is not None and not waiting:
                yield block
                continue
            lines = Lines(waiting.text + lines.text, [*waiting.numbers, *lines.numbers], lines.open)
            lines, waiting = lines.joined(self.reader.dialect.delimiter)
            yield self._sound(
                lines if self.reader.dialect.blank_is_missing else lines.filled(), places
            )
            if len(waiting.text) > LONGEST or len(waiting) > _SWALLOWED:
                break
        yield self._sound(waiting[:1], places)  # an open quote
        yield self._sound(waiting[1:], places)

    def _sound(self, lines: Lines, places: Sequence[int]) -> Block:
        read = self.reader.read(lines, places)
        for at, why in read.faults.items():
            raise RowsError(f"{self.header.where}: line {lines.numbers[at]}: {why}.")
        return read.block

    def _parsed_ahead(self, places: Sequence[int]) -> Iterator[tuple[Lines, Block | None]]:
        """Yield lines and what they hold as far as each of them is a row; they are parsed in
        threads while the caller is busy."""
        with ThreadPoolExecutor(_AHEAD) as pool:
            begun = deque[tuple[Lines, Future[Block | None]]]()
            for lines in self.data:
                assert lines is not None, "files do not wait"
                begun.append((lines, pool.submit(self.reader.at_once, lines, places)))
                if len(begun) > _AHEAD:
                    first, block = begun.popleft()
                    yield first, block.result()
            for lines, block in begun:
                yield lines, block.result()


def _first_filled(lines: Iterator[Lines | None]) -> Lines | None:
    """Return the lines from the first non-empty one on, as far as they have arrived."""
    for part in lines:
        if part is None:
            continue
        if part.numbers[0] == 1 and part.text.startswith(MARK):
            part = Lines(part.text.removeprefix(MARK), part.numbers, part.open)
        for at, text in enumerate(part.texts):
            if text.strip() and not (part.numbers[at] == 1 and _SEPARATOR.match(text)):
                return part[at:]
    return None


def _judged(
    data: Iterator[Lines | None], reader: LineReader, several: bool
) -> tuple[list[Lines], list[bool], frozenset[int]]:
    """Return the first lines of data; True for each column that holds numbers in any of them, or
    nothing at all; those of truths."""
    seen, judged, wide = list[Lines](), 0, len(reader.dialect.cells)
    numbers, texts, truths = set[int](), set[int](), set[int]()
    for part in data:
        if part is None:
            continue
        seen.append(part)
        for line in (part[:_KEPT].joined(reader.dialect.delimiter)[0] if several else part).texts:
            if judged == _JUDGED or len(numbers) == wide:
                break
            try:
                cells = reader.cells_of(line)
            except LineError:
                continue
            judged += 1
            for at, cell in enumerate(cells):
                value = reader.number(at, cell)
                if value is None:
                    texts.add(at)
                elif not math.isnan(value):
                    numbers.add(at)
                    if cell.strip() in _TRUTHS:
                        truths.add(at)
        if judged == _JUDGED or len(numbers) == wide or sum(map(len, seen)) >= _KEPT:
            break
    return seen, [at in numbers or at not in texts for at in range(wide)], frozenset(truths)


def _typed(texts: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Return text as another type; None where that would change any of it, such as 007, 1.10 or
    numbers that are too long."""
    if pa.types.is_string(kind):
        return texts
    filled = pa.compute.if_else(pa.compute.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    try:
        found = filled.cast(kind)
    except pa.ArrowInvalid:
        return None
    return found if found.cast(pa.string()).equals(filled) else None


@contextmanager
def unpacked(file: StampedFile) -> Iterator[Iterator[bytes]]:
    """Provide the bytes of a file, some at a time, unpacked where its name ends as that of a
    compressed one."""
    if first_bytes(file.path).startswith(ZIP):
        with unzipped(file.path, text_in(file.path) or "") as blocks:
            yield _believed(file, blocks)
        return
    packer = next(
        (packer.name for packer in PACKED.values() if packer.ending == file.path.suffix), None
    )
    with pa.input_stream(file_bytes(file.path), compression=packer) as stream:
        blocks = iter(lambda: stream.read(_PIECE), b"")
        yield blocks if packer is None else _believed(file, blocks)


def _believed(file: StampedFile, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what a file unpacks to, as far as it can be meant."""
    size = 0
    for block in blocks:
        size += len(block)
        check_unpacked(file.path, size, file.size)
        yield block


class CsvTable(FileTable):
    """One CSV file, with names in its first line or without any. Also separated by semicolons, tabs
    or bars; also compressed."""

    kind = "CSV"
    groups = None

    def __init__(
        self,
        file: Path,
        header: bool | None = None,
        spell: Spelling = in_python,
        written: TextFormat = AS_PROGRAMS_WRITE,
    ) -> None:
        """`header`: whether the first line holds names; None looks for itself, and asks where it
        cannot tell. `written`: how the cells are written."""
        self._file, self._as_text = StampedFile.of(file), frozenset[int]()
        self._header, self._spell, self._written = header, spell, written
        with self._text() as text:
            self.header = text.header
            self.separator = text.reader.dialect.delimiter
            if text.encoding == WINDOWS and written.encoding is None:
                warnings.warn(
                    f"{file}: is not UTF-8 and is read as Windows-1252; {spell('encoding')} says "
                    "in what it is.",
                    DataWarning,
                    stacklevel=2,
                )

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        with self._text() as text:
            as_text = self._as_text.intersection(places) - text.reader.truths
            yield from text.with_text(as_text).blocks(places)
        self._file.check()  # of a file that grew, the last line may have come in half
        release()

    def columns(self, places: Sequence[int]) -> Iterator[list[pa.Array]]:
        with self._text() as text:
            kinds = text.guessed(places)
        if any(kind != pa.string() for kind in kinds.values()):
            for parts in self._columns_of_text(places):  # does any cell change by its type?
                for (at, kind), part in zip(kinds.items(), parts, strict=True):
                    kinds[at] = pa.string() if _typed(part, kind) is None else kind
        for parts in self._columns_of_text(places):
            yield [_typed(part, kinds[at]) for at, part in zip(places, parts, strict=True)]

    def _columns_of_text(self, places: Sequence[int]) -> Iterator[Block]:
        with self._text() as text:
            yield from text.columns_of_text(places)
        self._file.check()

    def with_text(self, places: Collection[int]) -> FileTable:
        same = copy(self)
        same._as_text = frozenset(places)
        return same

    def sample(self, rows: int) -> list[list[Any]]:
        with self._text() as text:
            return text.sample(rows)

    def transient(self, n_columns: int) -> int:
        return 0  # it is read before the first row is asked for

    @contextmanager
    def _text(self) -> Iterator[CsvText]:
        with reading(self._file, self.kind), unpacked(self._file) as blocks:
            text = CsvText.of(
                str(self._file.path), blocks, self._header, self._spell, True, self._written
            )
            if text is None:
                raise RowsError(f"{self._file.path}: is empty.")
            yield text
