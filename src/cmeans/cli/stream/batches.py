"""Batches of rows read from a stream: their columns, their positions, and the faults of malformed rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.files.schema import Header
from ...data.files.tables import Block, ColumnSelection, are_weights, copy_columns, fault, weight_fault
from ...data.row_source import ColumnLabel
from ..errors import InputError
from ..models import Preprocessing
from ..rows import ReadOptions, chosen_columns


@dataclass(frozen=True)
class PickedBatch:
    """The selected columns of each row, and their names."""

    choice: ColumnSelection
    labels: tuple[ColumnLabel, ...]
    weight_label: ColumnLabel | None = None


Pick = Callable[[Header], PickedBatch]
Patience = Callable[[], float | None]  # seconds to wait for a row before None is yielded, so that the caller can check the time


@dataclass(frozen=True)
class Fault:
    """A row that cannot be used."""

    row: int  # its number in the stream
    where: str  # its position in the source, for messages
    why: str


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows. They are numbered from the first row of the stream on, malformed ones included."""

    x: NDArray[Any]  # (b, d)
    weight: NDArray[np.float64] | None  # (b,)
    rows: NDArray[np.int64]  # (b,) their numbers
    stop: int  # the number of the next row
    faults: tuple[Fault, ...] = ()
    begins: tuple[tuple[str, int], ...] = ()  # files that begin here, and the number of the first row of each
    tail: str | None = None  # a digest of the last row where its line has no end, so that it may be incomplete

    def __len__(self) -> int:
        return len(self.rows)

    def before(self, row: int) -> Batch:
        """Return the part before a row of this number."""
        kept = int(np.searchsorted(self.rows, row))
        return replace(
            self,
            x=self.x[:kept],
            weight=None if self.weight is None else self.weight[:kept],
            rows=self.rows[:kept],
            stop=min(row, self.stop),
            faults=tuple(fault for fault in self.faults if fault.row < row),
            begins=tuple(begun for begun in self.begins if begun[1] <= row),
            tail=self.tail if row >= self.stop else None,
        )

    def since(self, row: int) -> Batch:
        """Return the rest, which `before` leaves out."""
        left = int(np.searchsorted(self.rows, row))
        return replace(
            self,
            x=self.x[left:],
            weight=None if self.weight is None else self.weight[left:],
            rows=self.rows[left:],
            faults=tuple(fault for fault in self.faults if fault.row >= row),
            begins=tuple(begun for begun in self.begins if begun[1] > row),
        )


Batches = Generator[Batch | None, None, None]  # None: no rows arrived within the patience


def numbers_of(block: Block, picked: PickedBatch) -> tuple[NDArray[Any], NDArray[np.float64] | None, NDArray[np.bool_]]:
    """Return columns as rows (b, d), their weights (b,), and True for each row that can be used (b,)."""
    x = np.empty((len(block[0]), len(picked.labels)), picked.choice.dtype)
    copy_columns(block, x)
    sound = np.asarray(np.isfinite(x).all(axis=1))
    if picked.choice.weight is None:
        return x, None, sound
    weight = np.asarray(block[-1], np.float64)
    return x, weight, sound & are_weights(weight)


def complaint(x: Sequence[Any], weight: Any, picked: PickedBatch) -> str:
    """Describe the fault of one row of numbers."""
    for value, label in zip(x, picked.labels, strict=True):
        if not np.isfinite(value):
            return f"column {label!r} {fault(value, picked.choice.dtype)}"
    return f"weight column {picked.weight_label!r} {weight_fault(weight)}"


class ColumnPicker:
    """Selects the columns of the user or the model in the first header, and the same columns in all later ones."""

    def __init__(self, reading: ReadOptions, recipe: Preprocessing | None = None) -> None:
        """`recipe`: the preprocessing of a model that the stream continues."""
        self._reading = reading if recipe is None else replace(reading, dtype=recipe.dtype)
        self._known: tuple[ColumnLabel, ...] | None = None if recipe is None else recipe.columns
        self.picked = PickedBatch(ColumnSelection((), None, np.dtype(np.float64)), ())  # the last selection

    def __call__(self, header: Header) -> PickedBatch:
        choice = chosen_columns(header, self._reading, self._reading.weight, self._known)
        labels = header.labels(choice.picked)
        # Later files must have the names of the first one.
        weight_label = None if choice.weight is None else header.fields[choice.weight].label
        self._reading = replace(
            self._reading, columns=(), weight=None if weight_label is None else str(weight_label), dtype=choice.dtype.name
        )
        self._known = labels
        self.picked = PickedBatch(choice, labels, weight_label)
        return self.picked


@dataclass(frozen=True)
class Origin:
    """A source of rows, and the first of them that is new."""

    where: str  # for messages
    first: int  # the number of its first row in the stream
    skip: int = 0  # rows at its beginning that an earlier run has clustered
    name: str | None = None  # its name in a state; None: rows once read cannot be read again
    tail: str | None = None  # the digest of the last row that was skipped, where its line had no end

    def place_of(self, row: int) -> str:
        """Return the position of a row of the stream, for messages."""
        return f"{'' if self.name is None else f'{self.name}, '}row {row - self.first} (counted from 0)"

    def opening(self, picked: PickedBatch) -> Batch:
        """Return a batch without rows that marks the beginning of this source."""
        x, weight = np.empty((0, len(picked.labels)), picked.choice.dtype), None if picked.choice.weight is None else np.empty(0)
        begins = () if self.name is None else ((self.name, self.first),)
        return Batch(x, weight, np.empty(0, np.int64), self.first + self.skip, begins=begins)

    def refuse_shrunk(self, stop: int) -> None:
        """Raise an error where the source ends before the rows that an earlier run has clustered; `stop`: the number after its last row."""
        if stop < self.first + self.skip:
            raise InputError(
                f"{self.where}: holds {stop - self.first:,} rows, but {self.skip:,} were read from it before; it is another file now."
                " Begin anew without --resume, or give what is new under another name."
            )


@dataclass(frozen=True)
class Offset:
    """Position in a stream: every row before it is either clustered or malformed."""

    rows: int = 0  # before this place
    source: str | None = None  # their source, as the user names it
    files: Mapping[str, int] = field(default_factory=dict)  # its files in reading order, with the number of the first row of each
    tail: str | None = None  # a digest of the last row where its line had no end

    def of(self, source: str) -> Offset:
        """Return the same position in another source, which is read from its beginning; in the same source the position itself."""
        return self if source == self.source else Offset(self.rows, source)

    def origin(self, where: str, name: str) -> Origin:
        """Return the origin of a file of this source, read from this position on."""
        first = self.files.get(name, self.rows)
        return Origin(where, first, self.rows - first, name, self.tail)
