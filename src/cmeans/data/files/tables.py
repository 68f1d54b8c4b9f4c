"""Files of named columns, read in batches: the interface of each format, and blocks of columns made rows of checked numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..row_source import RowArray, RowsError
from .schema import ColumnChoice, Field, Header
from .text import is_number

Block = Sequence[NDArray[Any]]  # some rows of a file: one 1-D array per picked column


def copy_columns(block: Block, x: RowArray) -> None:
    """Copy the columns of data of a block to the rows x (b, d); what overflows becomes infinite."""
    with np.errstate(over="ignore"):
        for place, values in zip(range(x.shape[1]), block, strict=False):
            x[:, place] = values


def rows_of(block: Block, first_row: int, choice: ColumnChoice) -> RowArray:
    """Return a block of columns as rows (b, d); `first_row`: number of the first in its file. Missing values are refused."""
    x = np.empty((len(block[0]), len(choice.columns)), choice.dtype)
    copy_columns(block, x)
    check_finite(x, first_row, choice)
    return x


def check_finite(x: NDArray[Any], first_row: int, choice: ColumnChoice) -> None:
    """Refuse rows (b, d) with missing or infinite values, naming the first one."""
    finite = np.isfinite(x)
    if not finite.all():
        row, place = np.argwhere(~finite)[0]
        wrong = f"column {choice.columns[place]!r} {fault(x[row, place], x.dtype)}"
        raise RowsError(f"{choice.where}: {wrong} in row {first_row + row} (rows count from 0). Fill or drop such rows first.")


def weights_of(values: NDArray[Any], first_row: int, choice: ColumnChoice) -> NDArray[np.float64]:
    """Return a column as weights (b,)."""
    weights = np.asarray(values, np.float64)
    wrong = ~are_weights(weights)
    if wrong.any():
        row = int(np.argmax(wrong))
        which = f"weight column {choice.weight_label!r} {weight_fault(weights[row])} in row {first_row + row}"
        raise RowsError(f"{choice.where}: {which} (rows count from 0); weights are 0 or more.")
    return weights


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
    def transient(self, n_columns: int) -> int:
        """Bytes of memory at most while a group is decoded, beside the decoded rows."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where the whole file must be read to count them."""
        return None if self.groups is None else sum(self.groups)


class KeyedTable(FileTable):
    """A table in folders named key=value: every key is one more column, of one value, which is data only where it is requested."""

    def __init__(self, table: FileTable, keys: Mapping[str, str]) -> None:
        self.kind, self.groups = table.kind, table.groups
        own = table.header.labels(range(len(table.header.fields)))
        fresh = {key: value for key, value in keys.items() if key not in own}
        fields = (Field(key, f"key of a folder, {value!r}", is_number(value), aside=True) for key, value in fresh.items())
        self.header = replace(table.header, fields=(*table.header.fields, *fields))
        self._table, self._own, self._values = table, len(own), tuple(fresh.values())

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        stored = [at for at in places if at < self._own]
        for block in self._table.blocks(stored or [0], groups):
            read = iter(block)
            yield [next(read) if at < self._own else np.full(len(block[0]), float(self._values[at - self._own])) for at in places]

    def transient(self, n_columns: int) -> int:
        return self._table.transient(n_columns)
