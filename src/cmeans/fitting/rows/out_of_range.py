"""The row to which it is due that numbers are out of range."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ...data.arrays import is_sparse, squared_norms, to_numpy
from ...data.blocks import Block, Blocks, GivenRows
from ...engines import Engine, NumberedPass, Pass
from ...runtime.numerals import in_digits
from ...runtime.user_warnings import NOT_FINITE, OutOfRangeError, UnfitRowError


@dataclass(frozen=True)
class Entry:
    """The largest number of a row."""

    row: int
    column: int
    value: float


@dataclass(frozen=True)
class Entries:
    """The first rows whose sums of squares are too large for their type and too small for it, and
    the row of the largest number."""

    beyond: Entry | None
    vanishing: Entry | None
    largest: Entry

    @property
    def first(self) -> Entry | None:
        """The row to blame: numbers that are too large spoil sums, others only themselves."""
        return self.beyond or self.vanishing

    def __add__(self, other: Entries) -> Entries:
        # the first of equal ones
        largest = max(self.largest, other.largest, key=lambda entry: abs(entry.value))
        return Entries(self.beyond or other.beyond, self.vanishing or other.vanishing, largest)


@dataclass(frozen=True)
class EntriesPass(NumberedPass[Entries]):
    """The same of rows as they are given."""

    def work(self, rows: GivenRows, task: int, prepared: None) -> Entries:
        return reduce(add, (self._of(block) for block in rows.task(task)))

    def _of(self, block: Block) -> Entries:
        if is_sparse(block.x):
            x = block.x
        else:
            x = np.nan_to_num(to_numpy(block.x), posinf=np.inf, neginf=-np.inf)
        sizes = abs(x).max(axis=1).toarray().ravel() if is_sparse(x) else np.abs(x).max(axis=1)
        with np.errstate(over="ignore", under="ignore"):
            squares = squared_norms(x)
        beyond, vanishing = (
            self._entry(x, block.start, int(wrong.argmax())) if wrong.any() else None
            for wrong in (squares == np.inf, (squares == 0) & (sizes > 0))
        )
        return Entries(beyond, vanishing, self._entry(x, block.start, int(sizes.argmax())))

    def _entry(self, x: Any, start: int, row: int) -> Entry:
        values = x[[row]].toarray()[0] if is_sparse(x) else x[row]
        column = int(np.abs(values).argmax())
        return Entry(self.first + start + row, column, float(values[column]))


@dataclass(frozen=True)
class SquaresPass(Pass[float]):
    """The sum of all squares; where that is finite, so are those of each row."""

    def work(self, rows: GivenRows, task: int, prepared: None) -> float:
        total = 0.0
        for block in rows.task(task):
            x = block.x.data if is_sparse(block.x) else to_numpy(block.x)
            with np.errstate(over="ignore"):
                total += float(np.vdot(x, x))
        return total


def refuse_overflow(blocks: Blocks, engine: Engine) -> None:
    """Refuse rows whose squares are too large for their type, whatever the kernel is."""
    rows = GivenRows(blocks, int(blocks.x.shape[1]))
    if (
        not np.isfinite(engine.fold(rows, SquaresPass()))
        and engine.fold(rows, EntriesPass()).beyond
    ):
        raise OutOfRangeError(NOT_FINITE)


@contextmanager
def naming_the_row(blocks: Blocks, engine: Engine, names: list[str] | None) -> Iterator[None]:
    """Add to the message of an OutOfRangeError raised inside the block to which row it is due."""
    try:
        yield
    except OutOfRangeError as error:
        found = engine.fold(GivenRows(blocks, blocks.numbers_of_a_row), EntriesPass())
        entry = found.first or found.largest
        column = f"column {entry.column if names is None else repr(names[entry.column])}"
        what = "is the first such one, with" if found.first else "holds the largest number of X,"
        named = UnfitRowError(
            f"{error} Row {entry.row} {what} {in_digits(entry.value, 5)} in {column} (rows count "
            "from 0)."
        )
        named.row, named.column = entry.row, entry.column
        raise named from error
