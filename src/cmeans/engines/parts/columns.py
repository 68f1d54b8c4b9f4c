"""Numbers by row that others hold, such as weights and labels: part by part, beside the rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.blocks import Blocks
from ...data.column_facts import ColumnFacts
from .orders import Made

EMPTY: npt.NDArray[Any] = np.empty(0)


class Column:
    """Numbers (n,) beside rows that others hold. They stand in an array's place where few of them,
    or sums, are asked for."""

    __array_ufunc__ = None  # products with arrays are made where the numbers are

    def __init__(self, rows: Any, parts: Any, like: npt.NDArray[Any] = EMPTY) -> None:
        """`rows`: the partitions that they are parted among (`HeldPartitions`); `like`: an empty
        array of such numbers, which are (n, c) where that has two axes."""
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
            some: npt.NDArray[Any] = self.rows.bring(self.parts, which)
            return some
        return np.empty(0)

    def mapped(self, function: Callable[..., Any], *others: Any) -> Column:
        """Return a function of each part, and of the parts of others: columns, arrays (n,), lists
        of one value for each part, or one value for all."""
        parts = (self.parts, *map(self.rows.parts_of, others))
        return Column(self.rows, Made(function, parts))

    def asked(self, function: Callable[..., Any], *others: Any) -> list[Any]:
        """Call a function on each part of this column, on the worker that holds it, and return the
        results here. It gets the part, the number of the part's first row, and the parts of the
        other columns at the same place."""
        made = self.mapped(function, self.rows.first_rows, *others)
        return list(self.rows.in_order(made.parts))

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

    rows: Any
    parts: Any

    def column(self, name: str) -> Column:
        """Return an attribute of what is kept, numbers by row."""
        parts = Made(getattr, (self.parts, name))
        like = next(self.rows.in_order(Made(_empty_like, (parts,)), [0]))
        return Column(self.rows, parts, like)

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
