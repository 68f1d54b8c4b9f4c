"""Numbers by row that others hold, such as weights and labels: part by part, beside the rows."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.blocks import Blocks
from ...data.column_facts import ColumnFacts, are_alike

EMPTY: npt.NDArray[Any] = np.empty(0)


class Partitions(ABC):
    """The partition of rows among those who hold them; numbers beside the rows are parted alike.

    What stands for numbers by row there, their `parts`, is the engine's own affair: futures, or the
    way to make them.
    """

    starts: npt.NDArray[Any]  # the number of the first row of each partition, and of all rows
    # what is said of each row stays there too, as rows that users hold there are asked about
    answers_stay: bool = True

    @abstractmethod
    def map(self, function: Callable[..., Any], *columns: Any) -> Any:
        """Return the parts of a function of the parts of some columns (`parts_of`)."""

    @abstractmethod
    def gather(self, parts: Any) -> list[Any]:
        """Return parts, brought here."""

    @abstractmethod
    def selected(self, parts: Any, wanted: list[tuple[int, Any]]) -> list[Any]:
        """Return rows of some parts, brought here: of each the number of its partition, and their
        numbers in it or a slice."""

    @abstractmethod
    def first(self, parts: Any, function: Callable[[Any], Any]) -> Any:
        """Return a function of the first part, brought here."""

    @abstractmethod
    def column(
        self, values: Any, check: Callable[[Any, int], Any], name: str, estimator_name: str
    ) -> Column:
        """Return a collection (n,) that is parted among the same as numbers beside the rows;
        `check` makes them of each part, from the number of its first row."""

    @abstractmethod
    def answer(self, column: Column) -> Any:
        """Return a column as users are given it."""

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def sizes(self) -> list[int]:
        """The number of rows of each."""
        return [int(size) for size in np.diff(self.starts)]

    @property
    def first_rows(self) -> list[int]:
        """The number of the first row of each."""
        return [int(start) for start in self.starts[:-1]]

    def between(self, start: int, stop: int) -> list[tuple[int, slice]]:
        """Return the partitions that hold rows start ... stop - 1, and which of their rows these
        are."""
        first, last = (
            int(n) for n in np.searchsorted(self.starts, [start, stop - 1], side="right") - 1
        )
        begins = [(number, int(self.starts[number])) for number in range(first, last + 1)]
        return [
            (k, slice(max(start - at, 0), min(stop, int(self.starts[k + 1])) - at))
            for k, at in begins
        ]

    def parts_of(self, values: Any) -> Any:
        """Return one argument for each partition: a column's parts, an array's (n,), those of a
        list, or the same value for all."""
        if isinstance(values, Column):
            return values.parts
        if isinstance(values, list):
            return values
        if not isinstance(values, np.ndarray) or are_alike(values):
            return [values[0] if isinstance(values, np.ndarray) else values] * len(self.sizes)
        return [values[start:stop] for start, stop in pairwise(self.starts)]

    def bring(self, parts: Any, which: Any) -> npt.NDArray[Any]:
        """Return some rows of parted futures, by numbers or a slice; they are selected on the
        workers."""
        if isinstance(which, slice):
            start, stop, _ = which.indices(self.n_rows)
            pieces = self._brought(self.between(start, stop), parts)
            return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        numbers = np.searchsorted(self.starts, which, side="right") - 1
        order = np.argsort(numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], np.arange(len(self.starts)))
        places = [(number, order[a:b]) for number, (a, b) in enumerate(pairwise(bounds)) if b > a]
        pieces = self._brought(
            [(number, np.asarray(which)[place] - self.starts[number]) for number, place in places],
            parts,
        )
        out = np.empty((len(which), *pieces[0].shape[1:]), pieces[0].dtype)
        for (_, place), piece in zip(places, pieces, strict=True):
            out[place] = piece
        return out

    def _brought(self, wanted: list[tuple[int, Any]], parts: Any) -> list[Any]:
        if not wanted:
            return [np.empty(0)]
        return [np.ascontiguousarray(piece) for piece in self.selected(parts, wanted)]


class Column:
    """Numbers (n,) beside rows that others hold. They stand in an array's place where few of them,
    or sums, are asked for."""

    __array_ufunc__ = None  # products with arrays are made where the numbers are

    def __init__(self, rows: Partitions, parts: Any, like: npt.NDArray[Any] = EMPTY) -> None:
        """`like`: an empty array of such numbers, which are (n, c) where that has two axes."""
        self.rows, self.parts = rows, parts
        self.shape: tuple[int, ...] = (rows.n_rows, *like.shape[1:])
        self.ndim, self.dtype, self.itemsize = like.ndim, like.dtype, like.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def facts(self) -> ColumnFacts:
        """The sum of the numbers, the least and the largest."""
        facts: ColumnFacts = reduce(operator.add, self.asked(_facts))
        return facts

    def sum(self) -> float:
        return self.facts.total

    def min(self) -> float:
        return self.facts.least

    def max(self) -> float:
        return self.facts.largest

    def mean(self) -> float:
        return self.facts.total / len(self)

    def any(self) -> bool:
        return self.facts.least != 0 or self.facts.largest != 0

    def __mul__(self, other: Any) -> Column:
        return self.mapped(operator.mul, other)

    def __rsub__(self, other: float) -> Column:
        return self.mapped(_less_than, other)

    __rmul__ = __mul__

    def __getitem__(self, which: Any) -> npt.NDArray[Any]:
        """Return some of the numbers, brought here."""
        if isinstance(which, slice) or len(which):
            return self.rows.bring(self.parts, which)
        return np.empty(0)

    def mapped(self, function: Callable[..., Any], *others: Any) -> Column:
        """Return a function of each part, and of the parts of others: columns, arrays (n,), lists
        of one value for each part, or one value for all."""
        return Column(
            self.rows, self.rows.map(function, self.parts, *map(self.rows.parts_of, others))
        )

    def asked(self, function: Callable[..., Any], *others: Any) -> list[Any]:
        """Call a function on each part of this column, on the worker that holds it, and return the
        results here. It gets the part, the number of the part's first row, and the parts of the
        other columns at the same place."""
        return list(self.rows.gather(self.mapped(function, self.rows.first_rows, *others).parts))

    def lazily(self) -> Any:
        """Return the numbers as users are given them, where they are."""
        return self.rows.answer(self)

    def compute(self) -> npt.NDArray[Any]:
        """Return all of the numbers, brought here."""
        return self[:]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self[:], dtype)


@dataclass(frozen=True)
class PartedKept:
    """Numbers by row that a pass keeps beside partitions."""

    rows: Partitions
    parts: Any

    def column(self, name: str) -> Column:
        """Return an attribute of what is kept, numbers by row."""
        parts = self.rows.map(
            getattr, self.parts, self.rows.parts_of([name] * len(self.rows.sizes))
        )
        return Column(self.rows, parts, self.rows.first(parts, _empty_like))

    def answer(self, name: str) -> Any:
        """Return a column as users are given it, or, where answers do not stay there, as an array
        here."""
        column = self.column(name)
        return column.lazily() if self.rows.answers_stay else column[:]


def columns_of(blocks: Blocks) -> list[Any]:
    """Return the numbers by row of blocks: weights, None where all rows have the same, and whatever
    else is known of rows."""
    return [None if blocks.alike else blocks.weight, *blocks.columns.values()]


def _empty_like(part: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.empty_like(part[:0])


def _facts(part: npt.NDArray[Any], start: int) -> ColumnFacts:
    return ColumnFacts.of(part)


def _less_than(part: npt.NDArray[Any], other: float) -> npt.NDArray[Any]:
    return other - part
