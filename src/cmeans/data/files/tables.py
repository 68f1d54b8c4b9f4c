"""Files of named columns, read in batches: the interface of each format, and blocks of columns made rows of checked numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..row_source import ColumnLabel, RowArray, RowsError
from .schema import Field, Header
from .text import is_number

Block = Sequence[NDArray[Any]]  # some rows of a file: one 1-D array per picked column


@dataclass(frozen=True)
class ColumnSelection:
    """The selected columns of a file, by position, and the dtype of the rows."""

    picked: tuple[int, ...]
    weight: int | None
    dtype: np.dtype[Any]

    @property
    def places(self) -> list[int]:
        """Positions of all columns to read, the weight last."""
        return [*self.picked, *([] if self.weight is None else [self.weight])]


@dataclass(frozen=True)
class ReadPlan:
    """The columns that are read from a file, and the dtype of the rows."""

    where: str  # the file, for messages
    columns: tuple[ColumnLabel, ...]
    dtype: np.dtype[Any]
    weight: ColumnLabel | None = None  # if given, the last array of every block
    n_rows: int | None = None  # None: known only at the end of the file


def copy_columns(block: Block, x: RowArray) -> None:
    """Copy the columns of data of a block to the rows x (b, d); what overflows becomes infinite."""
    with np.errstate(over="ignore"):
        for place, values in zip(range(x.shape[1]), block, strict=False):
            x[:, place] = values


def fill(x: RowArray, block: Block, first_row: int, plan: ReadPlan) -> None:
    """Copy a block of columns to the rows x (b, d); `first_row`: number of the first in its file. Missing values are refused."""
    copy_columns(block, x)
    check_finite(x, first_row, plan)


def rows_of(block: Block, first_row: int, plan: ReadPlan) -> RowArray:
    """Return a block of columns as a new array of rows (b, d)."""
    x = np.empty((len(block[0]), len(plan.columns)), plan.dtype)
    fill(x, block, first_row, plan)
    return x


def gather(blocks: Iterable[Block], plan: ReadPlan) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Return the rows (n, d) and weights (n,) of blocks of columns."""
    x = np.empty((plan.n_rows or 0, len(plan.columns)), plan.dtype)
    weights = np.empty(0 if plan.weight is None else plan.n_rows or 0)
    done = 0
    for block in blocks:
        stop = done + len(block[0])
        if stop > len(x):
            # The system moves pages instead of copying them when a large array grows in place.
            x.resize((max(stop, len(x) * 3 // 2), x.shape[1]), refcheck=False)
        fill(x[done:stop], block, done, plan)
        if plan.weight is not None:
            if stop > len(weights):
                weights.resize(len(x), refcheck=False)
            weights[done:stop] = block[-1]
            _check_weights(weights[done:stop], done, plan)
        done = stop
    if done == 0:
        raise RowsError(f"{plan.where}: has no rows.")
    x.resize((done, x.shape[1]), refcheck=False)
    if plan.weight is None:
        return x, None
    weights.resize(done, refcheck=False)
    refuse_zero(weights, plan.where, plan.weight)
    return x, weights


def refuse_zero(weights: NDArray[np.float64], where: str, label: ColumnLabel | None) -> None:
    if not weights.any():
        raise RowsError(f"{where}: weight column {label!r} is zero in every row.")


def check_finite(x: NDArray[Any], first_row: int, plan: ReadPlan) -> None:
    """Refuse rows (b, d) with missing or infinite values, naming the first one."""
    finite = np.isfinite(x)
    if not finite.all():
        row, place = np.argwhere(~finite)[0]
        raise RowsError(
            f"{plan.where}: column {plan.columns[place]!r} {fault(x[row, place], x.dtype)} in row {first_row + row} (rows count from 0)."
            " Fill such cells (in pandas: frame.fillna(frame.median(numeric_only=True))) or drop their rows (frame.dropna()) first."
        )


def weights_of(values: NDArray[Any], first_row: int, plan: ReadPlan) -> NDArray[np.float64]:
    """Return a column as weights (b,)."""
    weights = np.asarray(values, np.float64)
    _check_weights(weights, first_row, plan)
    return weights


def _check_weights(weights: NDArray[np.float64], first_row: int, plan: ReadPlan) -> None:
    wrong = ~are_weights(weights)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RowsError(
            f"{plan.where}: weight column {plan.weight!r} {weight_fault(weights[row])} in row {first_row + row} (rows count from 0);"
            " weights are 0 or more."
        )


def fault(value: Any, dtype: np.dtype[Any]) -> str:
    """Describe a number that is not finite."""
    return "is empty or not a number (NaN)" if np.isnan(value) else f"is infinite or too large for {dtype.name}"


def are_weights(values: NDArray[Any]) -> NDArray[np.bool_]:
    """True for each value that is a valid weight."""
    return np.asarray((values >= 0) & (values < np.inf))


def weight_fault(value: Any) -> str:
    """Describe a number that is no valid weight."""
    return f"is {value:g}" if value < 0 else fault(value, np.dtype(np.float64))


class FileTable(ABC):
    """One open file: its columns are known, its rows not yet read."""

    kind: str  # for messages
    header: Header
    groups: tuple[int, ...] | None  # rows of each group that can be read alone; None: only from the beginning to the end
    aside = None  # weights are never a separate array

    @abstractmethod
    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        """Yield the columns at `places`, some rows at a time, of all rows or of some groups."""

    @abstractmethod
    def column(self, at: int) -> Iterator[Any]:
        """Yield one column as it is stored, text and dates too: PyArrow's arrays or lists, some rows at a time, of all rows."""

    @abstractmethod
    def transient(self, n_columns: int) -> int:
        """Bytes of memory at most while a group is decoded, beside the decoded rows."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where the whole file must be read to count them."""
        return None if self.groups is None else sum(self.groups)

    def plan(self, choice: ColumnSelection) -> ReadPlan:
        """Return the plan that reads the selected columns of this file."""
        labels = self.header.labels(choice.picked)
        weight = None if choice.weight is None else self.header.fields[choice.weight].label
        return ReadPlan(self.header.where, labels, choice.dtype, weight, self.n_rows)

    def read(self, choice: ColumnSelection) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return rows (n, d) and weights (n,) in memory."""
        return gather(self.blocks(choice.places), self.plan(choice))


class KeyedTable(FileTable):
    """A table in folders named key=value: every key is one more column, of one value, which is data only where it is requested."""

    def __init__(self, table: FileTable, keys: Mapping[str, str]) -> None:
        self.kind, self.groups = table.kind, table.groups
        own = table.header.labels(range(len(table.header.fields)))
        fresh = {key: value for key, value in keys.items() if key not in own}
        fields = (Field(key, f"key of a folder, {value!r}", is_number(value), aside=True) for key, value in fresh.items())
        self.header = replace(table.header, fields=(*table.header.fields, *fields))
        self._table, self._own = table, len(own)
        self._values = tuple(float(value) if is_number(value) else value for value in fresh.values())

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        stored = [at for at in places if at < self._own]
        for block in self._table.blocks(stored or [0], groups):
            read = iter(block)
            yield [next(read) if at < self._own else np.full(len(block[0]), self._values[at - self._own]) for at in places]

    def column(self, at: int) -> Iterator[Any]:
        for stored in self._table.column(min(at, self._own - 1)):
            yield stored if at < self._own else [self._values[at - self._own]] * len(stored)

    def transient(self, n_columns: int) -> int:
        return self._table.transient(n_columns)
