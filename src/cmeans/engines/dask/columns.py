"""Numbers by row that Dask holds, such as weights and labels: part by part on the workers that hold
the rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.blocks import Blocks
from ...data.column_facts import ColumnFacts, are_alike
from .dask_api import by_row, column_in_parts
from .shards import some_rows

EMPTY: npt.NDArray[Any] = np.empty(0)


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partition of rows among a client's workers; numbers beside the rows are parted alike."""

    client: Any
    starts: npt.NDArray[Any]  # the number of the first row of each partition, and of all rows
    # what is said of each row is an array on the workers too, as a collection is asked about
    answers_stay: bool = True

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

    def map(self, function: Callable[..., Any], *columns: Any) -> list[Any]:
        """Return futures of a function of the parts of some columns."""
        futures: list[Any] = self.client.map(function, *columns, pure=False)
        return futures

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

    def parts_of(self, values: Any) -> list[Any]:
        """Return one argument for each partition: a column's parts, an array's (n,), those of a
        list, or the same value for all."""
        if isinstance(values, DaskColumn):
            return values.parts
        if isinstance(values, list):
            return values
        if not isinstance(values, np.ndarray) or are_alike(values):
            return [values[0] if isinstance(values, np.ndarray) else values] * len(self.sizes)
        return [values[start:stop] for start, stop in pairwise(self.starts)]

    def bring(self, parts: list[Any], which: Any) -> npt.NDArray[Any]:
        """Return some rows of parted futures, by numbers or a slice; they are selected on the
        workers."""
        if isinstance(which, slice):
            start, stop, _ = which.indices(self.n_rows)
            pieces = self._brought(self.between(start, stop), parts)
            return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        numbers = np.searchsorted(self.starts, which, side="right") - 1
        order = np.argsort(numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], np.arange(len(parts) + 1))
        places = [(number, order[a:b]) for number, (a, b) in enumerate(pairwise(bounds)) if b > a]
        pieces = self._brought(
            [(number, np.asarray(which)[place] - self.starts[number]) for number, place in places],
            parts,
        )
        out = np.empty((len(which), *pieces[0].shape[1:]), pieces[0].dtype)
        for (_, place), piece in zip(places, pieces, strict=True):
            out[place] = piece
        return out

    def _brought(self, wanted: list[tuple[int, Any]], parts: list[Any]) -> list[Any]:
        if not wanted:
            return [np.empty(0)]
        numbers, which = zip(*wanted, strict=True)
        brought: list[Any] = self.client.gather(
            self.map(some_rows, [parts[number] for number in numbers], which)
        )
        return [np.ascontiguousarray(piece) for piece in brought]

    def column(
        self, values: Any, check: Callable[[Any, int], Any], name: str, estimator_name: str
    ) -> DaskColumn:
        """Return a Dask array or series as numbers beside the rows; `check` makes them of each
        part, from the number of its first row."""
        parts = column_in_parts(self.client, values, self.sizes)
        if isinstance(parts, tuple):
            raise ValueError(
                f"{estimator_name}: {name} has shape {parts}; one entry for each of the "
                f"{self.n_rows} rows is needed."
            )
        return DaskColumn(self, self.map(check, parts, self.first_rows))


class DaskColumn:
    """Numbers (n,) beside the rows of a Dask collection. They stand in an array's place where few
    of them, or sums, are asked for.

    Parts are futures with the graph that made them: those lost with a worker are computed again.
    """

    __array_ufunc__ = None  # products with arrays are made where the numbers are

    def __init__(self, rows: Partitions, parts: list[Any], like: npt.NDArray[Any] = EMPTY) -> None:
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

    def __mul__(self, other: Any) -> DaskColumn:
        return self.mapped(operator.mul, other)

    def __rsub__(self, other: float) -> DaskColumn:
        return self.mapped(_less_than, other)

    __rmul__ = __mul__

    def __getitem__(self, which: Any) -> npt.NDArray[Any]:
        """Return some of the numbers, brought here."""
        if isinstance(which, slice) or len(which):
            return self.rows.bring(self.parts, which)
        return np.empty(0)

    def mapped(self, function: Callable[..., Any], *others: Any) -> DaskColumn:
        """Return a function of each part, and of the parts of others: columns, arrays (n,), lists
        of one value for each part, or one value for all."""
        return DaskColumn(
            self.rows, self.rows.map(function, self.parts, *map(self.rows.parts_of, others))
        )

    def asked(self, function: Callable[..., Any], *others: Any) -> list[Any]:
        """Call a function on each part of this column, on the worker that holds it, and return the
        results here. It gets the part, the number of the part's first row, and the parts of the
        other columns at the same place."""
        return list(
            self.rows.client.gather(self.mapped(function, self.rows.first_rows, *others).parts)
        )

    def lazily(self) -> Any:
        """Return the numbers as a Dask array whose chunks stay where they are."""
        return by_row(self.parts, self.rows.sizes, self.rows.client)


@dataclass(frozen=True)
class DaskKept:
    """Numbers by row that a pass keeps beside partitions: futures that follow from those before, so
    that lost ones are made again."""

    rows: Partitions
    parts: list[Any]

    def column(self, name: str) -> DaskColumn:
        """Return an attribute of what is kept, numbers by row."""
        parts = self.rows.map(getattr, self.parts, [name] * len(self.parts))
        return DaskColumn(
            self.rows, parts, self.rows.client.submit(_empty_like, parts[0], pure=False).result()
        )

    def answer(self, name: str) -> Any:
        """Return a column as a Dask array whose chunks stay on the workers, or, where answers do
        not stay there, as an array here."""
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
