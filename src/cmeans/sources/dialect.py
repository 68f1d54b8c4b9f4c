"""How the lines of a CSV are to be read, told from the first of them: what separates the fields, and whether they are names."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from ..stored import RowsError
from .spelling import Spelling, in_python

_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Dialect:
    """What the first line of a CSV says of the others."""

    delimiter: str
    cells: tuple[str, ...]  # of the first line, without the blanks around them
    named: bool  # whether they are names

    @property
    def blank_is_missing(self) -> bool:
        """In a single column an empty line is a missing value, elsewhere it is nothing."""
        return len(self.cells) == 1

    @classmethod
    def of(cls, where: str, line: str, header: bool | None = None, spell: Spelling = in_python) -> Dialect:
        """`header`: whether the line holds names; None looks for itself, and asks where it cannot tell."""
        delimiter = max(_DELIMITERS, key=line.count)  # the first of them where none occurs
        cells = tuple(cell.strip() for cell in next(csv.reader([line], delimiter=delimiter)))
        return cls(delimiter, cells, _holds_names(where, cells, spell) if header is None else header)


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _holds_names(where: str, cells: tuple[str, ...], spell: Spelling) -> bool:
    """Names, numbers, or a doubt that only the user can settle."""
    numbers = [is_number(cell) for cell in cells]
    if not any(numbers):
        return True
    counted = len(cells) > 2 and cells == tuple(str(at) for at in range(len(cells)))  # 0,1,2: what pandas names columns by itself
    if all(numbers) and not counted:
        return False
    start = ",".join(cells[:6])
    start += ",..." if len(cells) > 6 else ""
    raise RowsError(f"{where}: the first line ({start}) may be names or data; add {spell('header', True)} or {spell('header', False)}.")
