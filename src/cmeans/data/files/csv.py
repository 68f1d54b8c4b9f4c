"""CSV files, which can only be read from the beginning to the end, and the line in which something is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..row_source import RowsError
from .arrow import file_bytes, header_of, is_numeric, kind_of, pa, reading, release, values
from .discovery import PACKED
from .schema import Field, Header, Spelling, in_python
from .tables import Block, FileTable
from .text import CONVERT, LONGEST, MARK, Dialect, OpenQuoteError, brief, fields, first_text, is_utf8, numbered_lines, split
from .unchanged_files import StampedFile

_BLOCK = 1 << 20  # bytes read at a time, and parsed at a time at least
_LINES = 4  # times the longest of the first lines are parsed at a time: those that follow may be longer
_NAMES = 20  # lines that names go over, at most; with more of them, a quote too many has swallowed rows
_JOINED = 1_000  # lines with quotes that are taken for one, at most
_NO_NUMBER = re.compile(r"In CSV column #(\d+): CSV conversion error to \w+: invalid value '(.*)'", re.DOTALL)


@dataclass(frozen=True)
class Start:
    """The first line of a CSV that holds anything."""

    line: bytes  # line breaks in quotes are part of it
    number: int  # which counts from 1
    alone: bool  # nothing follows it, not even its end
    longest: int  # bytes, of it and the next line


@dataclass(frozen=True)
class CsvText:
    """A CSV file as text, unpacked where its name says that it is packed."""

    file: Path
    dialect: Dialect
    start: Start

    @classmethod
    def of(cls, file: Path, header: bool | None, spell: Spelling) -> CsvText:
        """Return the text of a file, as far as its first lines describe it."""
        lines = _lines(file)
        first = next(((number, line) for number, line in lines if line.strip()), None)
        if first is None:
            raise RowsError(f"{file}: is empty.")
        number, line = first
        text = first_text(str(file), line, number)
        for left in range(_JOINED, -1, -1):
            if len(text) > LONGEST:
                raise RowsError(f"{file}: the first line is longer than {LONGEST >> 20} MiB; it is no CSV.")
            try:
                dialect = Dialect.of(str(file), text, header, spell)
                break
            except OpenQuoteError:
                more = _to_the_next_quote(lines)
                if not more or not left or text.count("\n") + more.count(b"\n") >= _NAMES:
                    raise
                text += f"\n{first_text(str(file), more, number)}"
        follows = next(lines, None)
        longest = max(len(text.encode()), 0 if follows is None else len(follows[1]))
        return cls(file, dialect, Start(text.encode(), number, follows is None, longest))

    def foreign(self) -> int | None:
        """The number of the first line that is not UTF-8."""
        return next((number for number, line in _lines(self.file) if not is_utf8(line)), None)

    def refuse(self, stumbled: str) -> None:
        """RowsError with the number of the line over which pyarrow stumbled, as far as its words tell and the line is found."""
        if "straddling" in stumbled:
            raise RowsError(f"{self.file}: has a quote that is not closed, or lines too long to be read.")
        if "columns, got" in stumbled:
            self._refuse_ragged()
        if (found := _NO_NUMBER.search(stumbled)) is not None:
            self._refuse_text(int(found[1]), found[2])

    def _refuse_ragged(self) -> None:
        belong = len(self.dialect.cells)
        for number, cells in self._rows():
            if cells is None:
                raise RowsError(f"{self.file}: line {number} has a quote that is not closed.")
            if len(cells) != belong:
                raise RowsError(f"{self.file}: line {number} has {fields(len(cells))} where {belong} belong.")

    def _refuse_text(self, column: int, text: str) -> None:
        label = self.dialect.cells[column] if self.dialect.named else column
        for number, cells in self._rows():
            if cells is not None and [cell.strip() for cell in cells[column : column + 1]] == [text.strip()]:
                wrong = f"holds {brief(text)!r}, no number," if "\ufffd" not in text else "is not text in UTF-8"
                advice = f"; convert it first, e.g. {CONVERT}." if "\ufffd" in text else "."
                raise RowsError(f"{self.file}: column {label!r} {wrong} in line {number}{advice}")

    def _rows(self) -> Iterator[tuple[int, list[str] | None]]:
        """Fields, and the line in which they begin; None for fields whose last quote is never closed."""
        lines = _lines(self.file)
        for number, line in lines:
            if number < self.start.number or not (line or self.dialect.blank_is_missing):
                continue
            text = line
            for left in range(_JOINED, -1, -1):
                try:
                    yield number, split(text.decode(errors="replace"), self.dialect.delimiter)
                    break
                except OpenQuoteError:
                    more = _to_the_next_quote(lines)
                    if not more or not left:
                        yield number, None
                        return
                    text += b"\n" + more


def opened(file: Path) -> pa.NativeFile:
    """The text of a CSV file, unpacked where its name says that it is packed."""
    packer = next((packer.name for packer in PACKED.values() if packer.ending == file.suffix), None)
    return pa.input_stream(file_bytes(file), compression=packer)


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Each line and its number."""
    with opened(file) as stream:
        for part in numbered_lines(iter(lambda: stream.read(_BLOCK), b""), LONGEST):
            assert part is not None
            for number, line in zip(part.numbers, part.texts, strict=True):
                yield number, line.removeprefix(MARK) if number == 1 else line


def _to_the_next_quote(lines: Iterator[tuple[int, bytes]]) -> bytes:
    """The lines up to one that may close what is open; nothing where none does within reason."""
    found, size = list[bytes](), 0
    for _, line in lines:
        found.append(line)
        size += len(line)
        if b'"' in line:
            return b"\n".join(found)
        if size > LONGEST:
            break
    return b""


class CsvTable(FileTable):
    """One CSV file, with names in its first line or without any. Also separated by semicolons, tabs or bars; also compressed."""

    kind = "CSV"
    groups = None

    def __init__(self, file: Path, header: bool | None = None, spell: Spelling = in_python) -> None:
        """`header`: whether the first line holds names; None looks for itself, and asks where it cannot tell."""
        self._file = StampedFile.of(file)
        with reading(self._file, self.kind):
            self._text = CsvText.of(file, header, spell)
        self._dialect = self._text.dialect
        with self._reading(), self._open({}) as reader:
            schema = reader.schema
        self._raw_names = schema.names
        if self._dialect.named:
            self.header = header_of(str(file), schema, [name.strip() for name in schema.names], spell)
        else:
            fields = (Field(at, kind_of(kind), is_numeric(kind)) for at, kind in enumerate(schema.types))
            self.header = Header(str(file), tuple(fields), spell)
        if pa.binary() in schema.types:  # what pyarrow makes of text that is not UTF-8
            kind = f"text that is not UTF-8, first in line {self._text.foreign()}; {CONVERT}"
            known = (replace(field, kind=kind) if field.kind == str(pa.binary()) else field for field in self.header.fields)
            self.header = replace(self.header, fields=tuple(known))
        self._types = dict(zip(schema.names, schema.types, strict=True))

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        names = [self._raw_names[at] for at in places]
        # What looks whole in the first block may turn out fractional later, so that every number is read as one kind.
        # Text stays text, for categories.
        own = {name: self._types[name] for name in names}
        types = {name: pa.float64() if is_numeric(kind) and not pa.types.is_boolean(kind) else kind for name, kind in own.items()}
        with self._reading(), self._open(types) as reader:
            for batch in reader:
                yield [values(batch.column(name)) for name in names]
        self._file.check()  # of a file that grew, the last line may have come in half
        release()

    def column(self, at: int) -> Iterator[pa.Array]:
        name = self._raw_names[at]
        with self._reading(), self._open({name: self._types[name]}) as reader:
            for batch in reader:
                yield batch.column(0)

    def transient(self, n_columns: int) -> int:
        return 0  # it is read before the first row is asked for

    def _open(self, types: dict[str, pa.DataType]) -> pa.csv.CSVStreamingReader:
        start = self._text.start
        # pyarrow takes a single line without an end for nothing at all.
        source = pa.BufferReader(start.line + b"\n") if start.alone else opened(self._file.path)
        return pa.csv.open_csv(
            source,
            read_options=pa.csv.ReadOptions(
                autogenerate_column_names=not self._dialect.named,
                skip_rows=0 if start.alone else start.number - 1,
                block_size=max(_BLOCK, _LINES * start.longest),
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=self._dialect.delimiter, ignore_empty_lines=not self._dialect.blank_is_missing, newlines_in_values=True
            ),
            convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Errors of pyarrow, told with the number of the line."""
        try:
            with reading(self._file, self.kind):
                yield
        except RowsError as error:
            if isinstance(error.__cause__, pa.ArrowException):
                with reading(self._file, self.kind):
                    self._text.refuse(str(error.__cause__))
            raise
