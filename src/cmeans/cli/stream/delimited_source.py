"""A CSV read once from its beginning: dialect and columns from the first lines, then rows as they arrive."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from ...data.files.columns import Field, Header
from ...data.files.dialect import Dialect
from ...data.files.encoding import MARK, first_text
from ...data.files.lines import LONGEST, Lines, numbered_lines
from ...data.files.stamps import naming
from ...data.row_source import ColumnLabel
from ..errors import InputError
from ..words import as_option
from .batches import Batch, Batches, Patience, Pick
from .delimited import LineError, LineReader, cells_of, digest, number
from .places import Origin
from .waiting import Ahead, StreamInput

_BLOCK = 1 << 20  # bytes read at a time, at most
_JUDGED = 10  # lines that are checked before a column counts as text
_KEPT = 1_000  # lines that are buffered for that, malformed ones included


@dataclass(frozen=True)
class CsvRows:
    """Rows of a CSV. `header`: True where the first line holds names; None detects it."""

    origin: Origin
    source: StreamInput
    warn: Callable[[str], None]
    header: bool | None = None

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        blocks = Ahead(iter(lambda: self.source.read(_BLOCK), b""))
        try:
            with naming(self.origin.where):
                yield from self._rows(numbered_lines(blocks.items(patience)), pick)
        finally:
            self.source.end()
            blocks.close()

    def _rows(self, lines: Iterator[Lines | None], pick: Pick) -> Iterator[Batch | None]:
        first = _first_filled(lines)
        if first is None:
            return
        line, where = first.texts[0], self.origin.where
        if len(line) > LONGEST:
            raise InputError(f"{where}: the first line is longer than {LONGEST >> 20} MiB; it is no CSV.")
        dialect = Dialect.of(where, first_text(where, line, first.numbers[0]), self.header, as_option)
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
            old, new = part[: max(0, fresh - row)], part[max(0, fresh - row) :]
            row += len(part)
            if old.texts and row - len(new) == fresh and self.origin.tail not in (None, digest(old.texts[-1])):
                self.warn(
                    f"{where}: line {old.numbers[-1]} had no end when it was read before, and goes on now; what was read of it then stays."
                )
            if len(new):
                yield reader.batch(new, row - len(new))
        self.origin.refuse_shrunk(row)

    def _described(self, dialect: Dialect, numeric: list[bool]) -> Header:
        labels: Iterable[ColumnLabel] = dialect.cells if dialect.named else range(len(dialect.cells))
        fields = (Field(label, "double" if counts else "text", counts) for label, counts in zip(labels, numeric, strict=True))
        return Header(self.origin.where, tuple(fields), as_option)


def _first_filled(lines: Iterator[Lines | None]) -> Lines | None:
    """Return the lines from the first non-empty one on, as far as they have arrived."""
    for part in lines:
        if part is None:
            continue
        if part.numbers[0] == 1:
            part.texts[0] = part.texts[0].removeprefix(MARK)
        for at, text in enumerate(part.texts):
            if text.strip():
                return part[at:]
    return None


def _judged(data: Iterator[Lines | None], dialect: Dialect) -> tuple[list[Lines], list[bool]]:
    """Return the first lines of data, and True for each column that holds numbers in any of them, or nothing at all."""
    seen, judged, kept = list[Lines](), 0, 0
    numbers, texts = set[int](), set[int]()
    for part in data:
        if part is None:
            continue
        seen.append(part)
        kept += len(part)
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
        if kept >= _KEPT:
            break
    return seen, [at in numbers or at not in texts for at in range(len(dialect.cells))]
