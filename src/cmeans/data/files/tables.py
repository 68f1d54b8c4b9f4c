"""Files of named columns that are read in batches: the interface of each format, and what all formats share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Field, Header
from .dialect import is_number
from .gathering import Block, ColumnSelection, ReadPlan, gather


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
        self._table, self._own, self._values = table, len(own), tuple(fresh.values())

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        stored = [at for at in places if at < self._own]
        for block in self._table.blocks(stored or [0], groups):
            read = iter(block)
            yield [next(read) if at < self._own else np.full(len(block[0]), float(self._values[at - self._own])) for at in places]

    def transient(self, n_columns: int) -> int:
        return self._table.transient(n_columns)
