"""A CSV read once from its beginning: what its first lines say of the others, and then its rows as they come."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from ...sources.columns import Field, Header
from ...sources.dialect import Dialect
from ...stored import Label
from ..errors import InputError
from ..words import as_option
from .batches import Batch, Batches, Patience, Pick
from .delimited import LineError, LineReader, cells_of, number
from .lines import Lines, numbered_lines
from .places import Origin
from .waiting import Ahead, Input

_BLOCK = 1 << 20  # bytes read at a time, at most
_JUDGED = 10  # lines that are looked at before a column is said to hold text
_MARK = b"\xef\xbb\xbf"  # what some programs put before the first letter of a text in UTF-8


@dataclass(frozen=True)
class CsvRows:
    """Rows of numbers. `header`: whether the first line holds names; None looks for itself."""

    origin: Origin
    source: Input
    header: bool | None = None

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        blocks = Ahead(iter(lambda: self.source.read(_BLOCK), b""))
        try:
            yield from self._rows(numbered_lines(blocks.items(patience)), pick)
        finally:
            self.source.end()
            blocks.close()

    def _rows(self, lines: Iterator[Lines | None], pick: Pick) -> Iterator[Batch | None]:
        first = _first_filled(lines)
        if first is None:
            return
        dialect = Dialect.of(self.origin.where, self._text(first.texts[0]), self.header, as_option)
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
            new = part[max(0, fresh - row) :]
            row += len(part)
            if len(new):
                yield reader.batch(new, row - len(new))
        self.origin.refuse_shrunk(row)

    def _text(self, line: bytes) -> str:
        try:
            return line.removesuffix(b"\r").decode()
        except UnicodeDecodeError:
            raise InputError(f"{self.origin.where}: the first line is not text in UTF-8.") from None

    def _described(self, dialect: Dialect, numeric: list[bool]) -> Header:
        labels: Iterable[Label] = dialect.cells if dialect.named else range(len(dialect.cells))
        fields = (Field(label, "double" if counts else "text", counts) for label, counts in zip(labels, numeric, strict=True))
        return Header(self.origin.where, tuple(fields), as_option)


def _first_filled(lines: Iterator[Lines | None]) -> Lines | None:
    """What there is from the first line on that holds anything."""
    for part in lines:
        if part is None:
            continue
        if part.numbers[0] == 1:
            part.texts[0] = part.texts[0].removeprefix(_MARK)
        for at, text in enumerate(part.texts):
            if text.strip():
                return part[at:]
    return None


def _judged(data: Iterator[Lines | None], dialect: Dialect) -> tuple[list[Lines], list[bool]]:
    """The first lines of data, and which columns hold numbers in any of them, or nothing at all."""
    seen, judged = list[Lines](), 0
    numbers, texts = set[int](), set[int]()
    for part in data:
        if part is None:
            continue
        seen.append(part)
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
    return seen, [at in numbers or at not in texts for at in range(len(dialect.cells))]
