"""Text of CSV files: its encoding, its lines, and the dialect that its first line shows."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..row_source import RowsError
from .schema import Spelling, in_python

MARK = codecs.BOM_UTF8  # some programs write it before the first character
LONGEST = 64 << 20  # bytes of a line; the rest of a longer one is not kept
_DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'(^|[,;\t|])"(?:[^"]|"")*"')
CONVERT = "iconv -f latin1 -t utf-8 FILE > NEW"
_OTHERS = {  # the longer marks first: that of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def first_text(where: str, line: bytes, number: int) -> str:
    """Return the first non-empty line of a file as text; its byte order mark is removed already."""
    for mark, name in _OTHERS.items():
        if line.startswith(mark):
            raise RowsError(f"{where}: is text in {name.upper()}, not UTF-8; convert it first, e.g. iconv -f {name} -t utf-8 FILE > NEW.")
    if b"\0" in line:
        raise RowsError(
            f"{where}: is not text in UTF-8 (NUL bytes in line {number}); if it is UTF-16, convert it first, e.g."
            " iconv -f utf-16le -t utf-8 FILE > NEW."
        )
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{line[error.start]:02X} at place {error.start + 1} of line {number}"
        raise RowsError(f"{where}: is not text in UTF-8 ({wrong}); convert it first, e.g. {CONVERT}.") from None


def is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True)
class Lines:
    """Some lines without their ends, and their numbers, counted from 1."""

    texts: list[bytes]
    numbers: range | list[int]
    open: bool = False  # the last of them has no end: nothing follows it, or not yet

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, rows: slice) -> Lines:
        return Lines(self.texts[rows], self.numbers[rows], self.open and rows.stop is None)

    def filled(self) -> Lines:
        """Return the lines that are not empty."""
        if b"" not in self.texts:
            return self
        kept = [at for at, text in enumerate(self.texts) if text]
        return Lines([self.texts[at] for at in kept], [self.numbers[at] for at in kept], self.open)


def numbered_lines(blocks: Iterator[bytes | None], longest: int = LONGEST) -> Iterator[Lines | None]:
    """Yield lines once they are complete; of a line of more than `longest` bytes its beginning, once it is too long. None is passed on."""
    open_line, cut = bytearray(), False  # the incomplete line so far; True once the beginning of a too long line was yielded
    count, after_cr = 0, False
    for block in blocks:
        if block is None:
            yield None
            continue
        text = block.removeprefix(b"\n") if after_cr else block  # CR LF may be split between two blocks
        after_cr = block.endswith(b"\r")
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, *others = text.split(b"\n")
        if not cut:
            open_line += first[: longest + 1 - len(open_line)]
        if others:
            whole = [*([] if cut else [bytes(open_line)]), *others[:-1]]
            count += cut
            if whole:
                yield Lines(whole, range(count + 1, count + len(whole) + 1))
            count += len(whole)
            open_line, cut = bytearray(others[-1][: longest + 1]), False
        if len(open_line) > longest:
            yield Lines([bytes(open_line)], range(count + 1, count + 2))
            open_line, cut = bytearray(), True
    if open_line:
        yield Lines([bytes(open_line)], range(count + 1, count + 2), open=True)


class OpenQuoteError(RowsError):
    """A field that begins with a quote but does not end with one."""


@dataclass(frozen=True)
class Dialect:
    """The dialect of a CSV, detected in its first line."""

    delimiter: str
    cells: tuple[str, ...]  # of the first line, stripped
    named: bool  # True where they are names

    @property
    def blank_is_missing(self) -> bool:
        """True for a single column, where an empty line is a missing value; elsewhere it is skipped."""
        return len(self.cells) == 1

    @classmethod
    def of(cls, where: str, line: str, header: bool | None = None, spell: Spelling = in_python) -> Dialect:
        """`header`: True where the line holds names; None detects it, and raises an error where it is ambiguous."""
        delimiter = max(_DELIMITERS, key=_QUOTED.sub(r"\1", line).count)  # the first of them where none occurs
        try:
            cells = tuple(cell.strip() for cell in split(line, delimiter))
        except OpenQuoteError:
            raise OpenQuoteError(f"{where}: the first line has a quote that is not closed.") from None
        return cls(delimiter, cells, _holds_names(where, cells, spell) if header is None else header)


def split(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line. In quotes, which enclose a whole field, delimiters are text, and two quotes are one."""
    if '"' not in line:
        return line.split(delimiter)
    cells, at = list[str](), 0
    while True:
        text, at = _quoted(line, at + 1) if line.startswith('"', at) else ("", at)
        end = line.find(delimiter, at)
        cells.append(text + (line[at:] if end < 0 else line[at:end]))
        if end < 0:
            return cells
        at = end + 1


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def fields(count: int) -> str:
    """Return a number of fields, for a message."""
    return f"{count:,} field{'' if count == 1 else 's'}"


def brief(cell: str) -> str:
    """Return a field, shortened for a message."""
    return cell if len(cell) <= 40 else f"{cell[:37]}..."


def _quoted(line: str, at: int) -> tuple[str, int]:
    """Return the quoted text from a position on, and the position after it."""
    parts = list[str]()
    while (end := line.find('"', at)) >= 0:
        parts.append(line[at:end])
        at = end + 2
        if not line.startswith('"', end + 1):
            return '"'.join(parts), end + 1
    raise OpenQuoteError


def _holds_names(where: str, cells: tuple[str, ...], spell: Spelling) -> bool:
    """True where the fields are names, False where they are numbers; an error where only the user can decide."""
    numbers = [is_number(cell) for cell in cells]
    if not any(numbers):
        return True
    counted = len(cells) > 2 and cells == tuple(str(at) for at in range(len(cells)))  # 0,1,2: the default column names of pandas
    if all(numbers) and not counted:
        return False
    start = ",".join(cells[:6])
    start += ",..." if len(cells) > 6 else ""
    raise RowsError(f"{where}: the first line ({start}) may be names or data; add {spell('header', True)} or {spell('header', False)}.")
