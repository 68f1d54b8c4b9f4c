"""Numbers by row that Dask holds, such as weights and labels: part by part on the workers that hold the rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...data.column_facts import ColumnFacts
from .dask_api import by_row

if TYPE_CHECKING:
    from .rows import DaskRows

EMPTY: npt.NDArray[Any] = np.empty(0)


class DaskColumn:
    """Numbers (n,) beside the rows of a Dask collection. They stand in an array's place where few of them, or sums, are asked for.

    Parts are futures with the graph that made them: those lost with a worker are computed again.
    """

    __array_ufunc__ = None  # products with arrays are made where the numbers are

    def __init__(self, rows: DaskRows, parts: list[Any], like: npt.NDArray[Any] = EMPTY) -> None:
        """`like`: an empty array of such numbers, which are (n, c) where that has two axes."""
        self.rows, self.parts = rows, parts
        self.shape: tuple[int, ...] = (rows.shape[0], *like.shape[1:])
        self.ndim, self.dtype, self.itemsize = like.ndim, like.dtype, like.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def first_rows(self) -> list[int]:
        """The number of the first row of each part."""
        return list(self.rows.starts[:-1].tolist())

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

    def __mul__(self, other: Any) -> DaskColumn:
        return self.mapped(operator.mul, other)

    def __rsub__(self, other: float) -> DaskColumn:
        return self.mapped(_less_than, other)

    __rmul__ = __mul__

    def __getitem__(self, which: Any) -> npt.NDArray[Any]:
        """Return some of the numbers, brought here."""
        return self.rows.brought_of(self.parts, which) if isinstance(which, slice) or len(which) else np.empty(0)

    def mapped(self, function: Callable[..., Any], *others: Any) -> DaskColumn:
        """Return a function of each part, and of the parts of others: columns, arrays (n,), lists of one value for each part, or one value
        for all."""
        columns = [self.rows.parts_of(other) for other in others]
        return DaskColumn(self.rows, self.rows.client.map(function, self.parts, *columns, pure=False))

    def asked(self, function: Callable[..., Any], *others: Any) -> list[Any]:
        """Return what a function says of each part, from the part, the number of its first row, and the parts of others."""
        return list(self.rows.client.gather(self.mapped(function, self.first_rows, *others).parts))

    def lazily(self) -> Any:
        """Return the numbers as a Dask array whose chunks stay where they are."""
        return by_row(self.parts, np.diff(self.rows.starts).tolist(), self.rows.client)


@dataclass(frozen=True)
class DaskKept:
    """Numbers by row that a pass keeps beside partitions: futures that follow from those before, so that lost ones are made again."""

    rows: DaskRows
    parts: list[Any]

    def column(self, name: str) -> DaskColumn:
        """Return an attribute of what is kept, numbers by row."""
        parts = self.rows.client.map(getattr, self.parts, [name] * len(self.parts), pure=False)
        return DaskColumn(self.rows, parts, self.rows.client.submit(_empty_like, parts[0], pure=False).result())

    def answer(self, name: str) -> Any:
        """Return the same as a Dask array, or here where answers are not left on the workers."""
        column = self.column(name)
        return column.lazily() if self.rows.answers_stay else column[:]


def _empty_like(part: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.empty_like(part[:0])


def _facts(part: npt.NDArray[Any], start: int) -> ColumnFacts:
    return ColumnFacts.of(part)


def _less_than(part: npt.NDArray[Any], other: float) -> npt.NDArray[Any]:
    return other - part
