"""The text of a CSV file by lines: where it begins, and in which line something is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..row_source import RowsError
from .arrow import file_bytes, pa
from .dialect import Dialect, OpenQuoteError, brief, fields, split
from .encoding import CONVERT, MARK, first_text, is_utf8
from .files import PACKED
from .lines import LONGEST, numbered_lines
from .spelling import Spelling

_BLOCK = 1 << 20  # bytes read at a time
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
        """As far as its first lines tell."""
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
        for part in numbered_lines(iter(lambda: stream.read(_BLOCK), b"")):
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
