"""Rows as they come out of a stream, some at a time, and what was wrong with those that cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sources.columns import Header
from ...sources.gathering import Block, are_weights, fault, weight_fault
from ...stored import Label


@dataclass(frozen=True)
class Picked:
    """What is taken of each row: the columns that are data, into which type of number, and the column that is its weight."""

    columns: tuple[int, ...]
    labels: tuple[Label, ...]
    dtype: np.dtype[Any]
    weight: int | None = None
    weight_label: Label | None = None

    @property
    def places(self) -> list[int]:
        """All that must be read, the weight last."""
        return [*self.columns, *([] if self.weight is None else [self.weight])]


Pick = Callable[[Header], Picked]
Patience = Callable[[], float | None]  # how many seconds may pass without a row before somebody wants to look at the clock


@dataclass(frozen=True)
class Fault:
    """A row that cannot be used."""

    row: int  # its number in the stream
    where: str  # where a person finds it
    why: str


@dataclass(frozen=True)
class Batch:
    """Some rows in a piece. They have numbers from the first row of the stream on, and malformed ones have theirs too."""

    x: NDArray[Any]  # (b, d)
    weight: NDArray[np.float64] | None  # (b,)
    rows: NDArray[np.int64]  # (b,) their numbers
    stop: int  # the number of the row that comes next
    faults: tuple[Fault, ...] = ()
    begins: tuple[tuple[str, int], ...] = ()  # files that begin here, and the number of the first row of each

    def __len__(self) -> int:
        return len(self.rows)

    def before(self, row: int) -> Batch:
        """What comes before a row of this number."""
        kept = int(np.searchsorted(self.rows, row))
        return replace(
            self,
            x=self.x[:kept],
            weight=None if self.weight is None else self.weight[:kept],
            rows=self.rows[:kept],
            stop=min(row, self.stop),
            faults=tuple(fault for fault in self.faults if fault.row < row),
            begins=tuple(begun for begun in self.begins if begun[1] <= row),
        )

    def since(self, row: int) -> Batch:
        """The rest: what `before` leaves out."""
        left = int(np.searchsorted(self.rows, row))
        return replace(
            self,
            x=self.x[left:],
            weight=None if self.weight is None else self.weight[left:],
            rows=self.rows[left:],
            faults=tuple(fault for fault in self.faults if fault.row >= row),
            begins=tuple(begun for begun in self.begins if begun[1] > row),
        )


Batches = Generator[Batch | None, None, None]  # None: patience ran out before more rows came


def numbers_of(block: Block, picked: Picked) -> tuple[NDArray[Any], NDArray[np.float64] | None, NDArray[np.bool_]]:
    """Columns as rows (b, d), their weights (b,), and which of them can be used (b,)."""
    x = np.empty((len(block[0]), len(picked.columns)), picked.dtype)
    with np.errstate(over="ignore"):  # found below, as infinity
        for place, values in zip(range(x.shape[1]), block, strict=False):
            x[:, place] = values
    sound = np.asarray(np.isfinite(x).all(axis=1))
    if picked.weight is None:
        return x, None, sound
    weight = np.asarray(block[-1], np.float64)
    return x, weight, sound & are_weights(weight)


def complaint(x: Sequence[Any], weight: Any, picked: Picked) -> str:
    """What is wrong with one row of numbers."""
    for value, label in zip(x, picked.labels, strict=True):
        if not np.isfinite(value):
            return f"column {label!r} {fault(value, picked.dtype)}"
    return f"weight column {picked.weight_label!r} {weight_fault(weight)}"
