"""Batches of rows read from a stream, and the faults of malformed rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.files.columns import Header
from ...data.files.gathering import Block, are_weights, fault, weight_fault
from ...data.row_source import ColumnLabel


@dataclass(frozen=True)
class PickedBatch:
    """The selected columns of each row: those of data, their dtype, and the column of weights."""

    columns: tuple[int, ...]
    labels: tuple[ColumnLabel, ...]
    dtype: np.dtype[Any]
    weight: int | None = None
    weight_label: ColumnLabel | None = None

    @property
    def places(self) -> list[int]:
        """Positions of all columns to read, the weight last."""
        return [*self.columns, *([] if self.weight is None else [self.weight])]


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
    x = np.empty((len(block[0]), len(picked.columns)), picked.dtype)
    with np.errstate(over="ignore"):  # overflow is found below, as infinity
        for place, values in zip(range(x.shape[1]), block, strict=False):
            x[:, place] = values
    sound = np.asarray(np.isfinite(x).all(axis=1))
    if picked.weight is None:
        return x, None, sound
    weight = np.asarray(block[-1], np.float64)
    return x, weight, sound & are_weights(weight)


def complaint(x: Sequence[Any], weight: Any, picked: PickedBatch) -> str:
    """Describe the fault of one row of numbers."""
    for value, label in zip(x, picked.labels, strict=True):
        if not np.isfinite(value):
            return f"column {label!r} {fault(value, picked.dtype)}"
    return f"weight column {picked.weight_label!r} {weight_fault(weight)}"
