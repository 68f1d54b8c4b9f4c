"""CSV: text whose first lines show what its columns are. Files and streams are read alike."""

from __future__ import annotations

import math
import re
import warnings
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ...runtime.user_warnings import DataWarning
from ..arrow_library import pa
from ..row_source import ColumnLabel, RowsError
from .archives import text_in, unzipped
from .arrow import file_bytes, reading, release
from .arrow_columns import kind_of
from .claims import check_unpacked
from .csv_lines import MISSING, TRUTHS, LineError, LineReader
from .discovery import PACKED, ZIP, first_bytes
from .encodings import UTF8, WINDOWS, in_utf8
from .notation import AS_PROGRAMS_WRITE, Notation, TextFormat
from .schema import Field, Header, Spelling, in_python
from .tables import Block, FileTable
from .text import (
    LONGEST,
    MARK,
    Dialect,
    Lines,
    first_text,
    is_spaced,
    numbered_lines,
    refuse_title,
)
from .unchanged_files import StampedFile

_PIECE = 1 << 21  # bytes of a file that are parsed together
_AHEAD = 2  # pieces that are parsed ahead, each in a thread of its own
# lines that names go over, at most; with more of them, a quote too many has swallowed rows
_NAMES = 20
_SWALLOWED = 1 << 20  # lines that other rows go over, at most
_JUDGED = 10  # lines that are checked before a column counts as text
_SEPARATOR = re.compile(rb'"?sep=[,;|\t]"?\s*$')  # a first line that Excel writes for itself
_KEPT = 1_000  # lines that are buffered for that, malformed ones included


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
        if several and len(dialect.labels) == 1:
            refuse_title(where, first.texts[0], first.texts[1:_JUDGED])
        if dialect.named and several:
            dialect = dialect.with_unnamed(first.texts[height : height + _JUDGED])
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
        reader = LineReader(dialect, notations=notations, missing=MISSING.union(written.missing))
        seen, numeric, truths = _judged(data, reader, several)
        others = [at for at, counts in enumerate(numeric) if not counts]
        kinds = dict[int, pa.DataType]()
        if several and others:
            kinds = reader.guessed(seen[0][:_KEPT].joined(dialect.delimiter)[0].filled(), others)
        described = enumerate(zip(dialect.labels, numeric, strict=True))
        columns = (
            Field(label, "double", True)
            if counts
            else Field(
                label,
                kind_of(kinds.get(at, pa.string())),
                False,
                written=notations[at].described if at in notations else "",
            )
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
                    if cell.strip() in TRUTHS:
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
