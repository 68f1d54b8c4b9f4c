"""Text of CSV files: its encoding, its lines, and the dialect that its first line shows."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from ...runtime.numerals import several
from ..row_source import ColumnLabel, RowsError
from .claims import check_columns
from .schema import Spelling, in_python

MARK = codecs.BOM_UTF8  # some programs write it before the first character
LONGEST = 64 << 20  # bytes of a line; the rest of a longer one is not kept
_DELIMITERS = ",;\t|"
_SHOWN, _NEARLY = 3, 0.8  # lines, and their share, that show that the first is a title
# without ways back, which would take a hundred bytes a letter
_QUOTED = re.compile(r'(^|[,;\t|])"[^"]*+(?:""[^"]*+)*+"')
# as C may print it, -nan(ind) for one
_NAN = re.compile(r"(nan)\(\w*\)$", re.IGNORECASE | re.ASCII)


def first_text(where: str, line: bytes, number: int, spell: Spelling = in_python) -> str:
    """Return the first non-empty line of a file as text; its byte order mark is removed already."""
    if b"\0" in line:
        raise RowsError(
            f"{where}: is not text in UTF-8 (NUL bytes in line {number}); {spell('encoding')} says "
            "in what it is."
        )
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{line[error.start]:02X} at place {error.start + 1} of line {number}"
        raise RowsError(
            f"{where}: is not text in UTF-8 ({wrong}); {spell('encoding')} says in what it is."
        ) from None


@dataclass(frozen=True)
class Lines:
    """Some lines, each ended by a line feed, and their numbers, counted from 1. A line feed inside
    quotes is written as `\\r`."""

    text: bytes
    numbers: range | list[int]
    open: bool = False  # the last of them has no end in the file: nothing follows it, or not yet

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: slice) -> Lines:
        if rows.indices(len(self)) == (0, len(self), 1):
            return self
        numbers = self.numbers[rows]
        return Lines(
            ended(self.texts[rows]),
            numbers,
            self.open and len(numbers) > 0 and numbers[-1] == self.numbers[-1],
        )

    @cached_property
    def texts(self) -> list[bytes]:
        """The lines without their ends."""
        return self.text.split(b"\n")[:-1]

    def filled(self) -> Lines:
        """Return the lines that are not empty."""
        if not self.text.startswith(b"\n") and b"\n\n" not in self.text:
            return self
        kept = [at for at, text in enumerate(self.texts) if text]
        return Lines(
            ended(self.texts[at] for at in kept), [self.numbers[at] for at in kept], self.open
        )

    def spaced(self) -> Lines:
        """Return lines whose cells are separated by blanks, with a tab in place of those between
        two cells, and none at their ends."""
        text = re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", self.text)
        return Lines(re.sub(rb"[ \t]+", b"\t", text), self.numbers, self.open)

    def joined(self, delimiter: str) -> tuple[Lines, Lines]:
        """Join lines that are one record as quotes go over their ends; also return those from a
        quote on that none of them closes."""
        # a field, or all that follows its quote
        quoted = rb'(?<![^%b\n])"[^"]*+(?:""[^"]*+)*+(?:"|\Z)' % re.escape(delimiter.encode())
        changed = bytearray(self.text)
        for field in re.finditer(quoted, self.text):
            if b"\n" in field[0]:
                changed[field.start() : field.end()] = field[0].replace(b"\n", b"\r")
        text = bytes(changed[: changed.rfind(b"\n") + 1])
        *starts, stop = accumulate(
            (line.count(b"\r") + 1 for line in text.split(b"\n")[:-1]), initial=0
        )
        return Lines(
            text, [self.numbers[at] for at in starts], self.open and stop == len(self)
        ), self[stop:]


def ended(lines: Iterable[bytes]) -> bytes:
    """Return lines as one text."""
    return b"".join(line + b"\n" for line in lines)


def numbered_lines(
    blocks: Iterator[bytes | None], longest: int = LONGEST
) -> Iterator[Lines | None]:
    """Yield lines once they are complete; of a line of more than `longest` bytes its beginning,
    once it is too long. None is passed on."""
    # the incomplete line so far; True once the beginning of a too long line was yielded
    open_line, cut = bytearray(), False
    count, after_cr = 0, False
    for block in blocks:
        if block is None:
            yield None
            continue
        # CR LF may be split between two blocks
        text = block.removeprefix(b"\n") if after_cr else block
        after_cr = block.endswith(b"\r")
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end, last = text.find(b"\n"), text.rfind(b"\n") + 1
        if not cut:
            open_line += text[: end if last else None][: longest + 1 - len(open_line)]
        if last:
            whole = b"".join(
                (b"" if cut else bytes(open_line) + b"\n", memoryview(text)[end + 1 : last])
            )
            count += cut
            if whole:
                # much faster than bytes.count
                found = int(np.count_nonzero(np.frombuffer(whole, np.uint8) == ord("\n")))
                yield Lines(whole, range(count + 1, count + found + 1))
                count += found
            open_line, cut = bytearray(text[last : last + longest + 1]), False
        if len(open_line) > longest:
            yield Lines(bytes(open_line) + b"\n", range(count + 1, count + 2))
            open_line, cut = bytearray(), True
    if open_line:
        yield Lines(bytes(open_line) + b"\n", range(count + 1, count + 2), open=True)


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
        """True for a single column, where an empty line is a missing value; elsewhere it is
        skipped."""
        return len(self.cells) == 1

    @property
    def labels(self) -> Sequence[ColumnLabel]:
        """Labels of the columns: their names, or their positions where there are none."""
        return self.cells if self.named else range(len(self.cells))

    @classmethod
    def of(
        cls,
        where: str,
        lines: Iterable[str],
        header: bool | None = None,
        spell: Spelling = in_python,
    ) -> tuple[Dialect, int]:
        """Return the dialect of the first of some lines, and how many of them its quotes make one.

        `header`: True where it holds names; None detects it, and raises an error where it is
        ambiguous.
        """
        text = ""
        for height, line in enumerate(lines, 1):
            text += line if height == 1 else f"\n{line}"
            unquoted = _QUOTED.sub(r"\1", text)
            delimiter = max(_DELIMITERS, key=unquoted.count)  # the first of them where none occurs
            check_columns(where, unquoted.count(delimiter) + 1)
            try:
                cells = tuple(cell.strip() for cell in split(text, delimiter))
            except OpenQuoteError:
                continue
            return cls(
                delimiter, cells, _holds_names(where, cells, spell) if header is None else header
            ), height
        raise RowsError(f"{where}: the first line has a quote that is not closed.")

    def with_unnamed(self, lines: Sequence[bytes]) -> Dialect:
        """Return the same with a column without a name where each of some lines below the names
        has one field more: the last where nothing is in it, else the first, names of rows as R
        writes them."""
        try:
            found = [split(line.decode(errors="replace"), self.delimiter) for line in lines]
        except OpenQuoteError:
            return self
        if not found or {len(cells) for cells in found} != {len(self.cells) + 1}:
            return self
        is_last = not any(cells[-1].strip() for cells in found)
        return replace(self, cells=(*self.cells, "") if is_last else ("", *self.cells))


def is_spaced(lines: Sequence[bytes]) -> bool:
    """True of some lines that hold numbers with blanks between them, and no other separator."""
    if any(mark.encode() in line for line in lines for mark in _DELIMITERS if mark != "\t"):
        return False
    cells = [line.split() for line in lines]
    below = [cell.strip(b'"') for line in cells[1:] or cells for cell in line]
    numbers = sum(is_number(cell.decode(errors="replace")) for cell in below)
    wide = len(cells[-1])
    if {len(line) for line in cells[1:] or cells} != {wide} or wide == 1:
        return False
    # R writes names of rows, in quotes, for which there is no name in the first line
    without = wide - all(line[0].startswith(b'"') for line in cells[1:])
    return len(cells[0]) in (wide, without) and 2 * numbers > len(below)


def split(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line. In quotes, which enclose a whole field, delimiters are text, and
    two quotes are one."""
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


def number_in(cell: str) -> float | None:
    """Return the number that a field holds, None for other text."""
    text = _NAN.sub(r"\1", cell.strip(" \t"))
    # Python's float reads more than numbers as files have them
    if "_" in text or not (text.isascii() and text.isprintable()):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_number(cell: str) -> bool:
    return number_in(cell) is not None


def fields(count: int) -> str:
    """Return a number of fields, for a message."""
    return several(count, "field")


def refuse_title(where: str, first: bytes, others: Sequence[bytes]) -> None:
    """Refuse a file whose first line is one cell where nearly all others are as many, and more, and
    the first of these has no numbers: it holds the names of columns."""
    filled = [line for line in others if line.strip()]
    for mark in _DELIMITERS.encode():
        counts = Counter(line.count(mark) for line in filled)
        usual, times = counts.most_common(1)[0] if counts else (0, 0)
        if not usual or times < max(_SHOWN, _NEARLY * len(filled)):
            continue
        names = next(line for line in filled if line.count(mark) == usual)
        if not any(is_number(cell.decode(errors="replace")) for cell in names.split(bytes([mark]))):
            raise RowsError(
                f"{where}: its first line, {brief(first.decode(errors='replace'))!r}, is a title, "
                f"as lines below it have {usual + 1:,} cells; delete what stands above the names "
                "of the columns."
            )


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
    """True where the fields are names, False where they are numbers; an error where only the user
    can decide."""
    numbers = [is_number(cell) for cell in cells]
    if not any(numbers):
        return True
    # 0,1,2 are the default names of columns in pandas, 2001,2002,2003 those of a table by years
    first = int(cells[0]) if re.fullmatch(r"0|(?:1[89]|20)\d\d", cells[0]) else None
    counted = (
        first is not None
        and len(cells) > 2
        and cells == tuple(str(first + at) for at in range(len(cells)))
    )
    if all(numbers) and not counted:
        return False
    start = ",".join(cells[:6])
    start += ",..." if len(cells) > 6 else ""
    raise RowsError(
        f"{where}: the first line ({start}) may be names or data; add {spell('header', True)} or "
        f"{spell('header', False)}."
    )
