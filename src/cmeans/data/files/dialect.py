"""The dialect of a CSV, detected in its first line: the delimiter of the fields, and whether they are names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..row_source import RowsError
from .spelling import Spelling, in_python

_DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'(^|[,;\t|])"(?:[^"]|"")*"')


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
