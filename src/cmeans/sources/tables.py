"""A file of named columns that come in batches: what each format must say of itself, and what all of them can then do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Field, Header
from .dialect import is_number
from .gathering import Block, Choice, Plan, gather


class Table(ABC):
    """One file, opened: its columns are known, its rows not yet read."""

    kind: str  # for messages
    header: Header
    groups: tuple[int, ...] | None  # rows of each group that can be read alone; None: only from the beginning to the end
    aside = None  # weights never lie beside the columns

    @abstractmethod
    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        """The columns at `places`, some rows at a time, of all rows or of some groups."""

    @abstractmethod
    def transient(self, n_columns: int) -> int:
        """Bytes held at most while a group is decoded, beside the rows that come out."""

    @property
    def n_rows(self) -> int | None:
        """None where only the end of the file tells."""
        return None if self.groups is None else sum(self.groups)

    def plan(self, choice: Choice) -> Plan:
        """The choice in the words of messages about this file."""
        labels = self.header.labels(choice.picked)
        weight = None if choice.weight is None else self.header.fields[choice.weight].label
        return Plan(self.header.where, labels, choice.dtype, weight, self.n_rows)

    def read(self, choice: Choice) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Rows (n, d) and weights (n,) in memory."""
        return gather(self.blocks(choice.places), self.plan(choice))


class KeyedTable(Table):
    """A table in folders named key=value: every key is one more column, of one value, which is data only where it is asked for."""

    def __init__(self, table: Table, keys: Mapping[str, str]) -> None:
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
