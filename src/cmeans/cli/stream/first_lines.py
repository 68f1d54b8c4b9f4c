"""The first lines of a stream as a table, which show how all are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...data.files.csv import CsvText
from ...data.files.tables import Block, FileTable
from ...data.files.text import Lines


class FirstLines(FileTable):
    """The first lines of text as a table."""

    kind = "CSV"
    groups = None

    def __init__(self, text: CsvText, lines: Sequence[Lines | None], shown: int) -> None:
        """`shown`: lines by which columns are judged, at most."""
        self.header, self.separator = text.header, text.reader.dialect.delimiter
        self._text, self._lines, self._shown = text, lines, shown

    def sample(self, rows: int) -> list[list[Any]]:
        return self._cells(min(rows, self._shown))

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        for [*columns] in self.columns(places):
            yield [np.array(column, object) for column in columns]

    def columns(self, places: Sequence[int]) -> Iterator[list[Any]]:
        cells = self._cells(sum(len(lines or ()) for lines in self._lines))
        yield [cells[at] for at in places]

    def transient(self, n_columns: int) -> int:
        return 0

    def _cells(self, rows: int) -> list[list[str]]:
        return replace(self._text, data=iter(self._lines)).sample(rows)


def lines_ahead(data: Iterable[Lines | None], rows: int) -> list[Lines | None]:
    """Return the first lines that come, up to a pause or so many rows."""
    found, count = list[Lines | None](), 0
    for lines in data:
        found.append(lines)
        count += len(lines or ())
        if lines is None or count >= rows:
            break
    return found
