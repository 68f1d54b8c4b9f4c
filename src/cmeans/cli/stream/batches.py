"""Batches of rows of a stream, with their positions and the faults of malformed rows; batches joined into chunks of one size."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.files.csv import ReadLines
from ...data.files.schema import ColumnChoice, Header
from ...data.files.tables import are_weights, copy_columns, fault, weight_fault
from ..errors import InputError

Pick = Callable[[Header], ColumnChoice]
Patience = Callable[[], float | None]  # seconds to wait for a row before None is yielded, so that the caller can check the time
_TOLD = 5  # messages of one kind


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

    @classmethod
    def of(cls, read: ReadLines, first: int, choice: ColumnChoice, place_of: Callable[[int], str], tail: str | None = None) -> Batch:
        """Return the sound rows of what was read; `first`: number of its first row; `place_of`: where a row stands, for messages."""
        x, why = np.empty((len(read.kept), len(choice.columns)), choice.dtype), dict(read.faults)
        copy_columns(read.block, x)
        sound, weight = np.isfinite(x).all(axis=1), None
        if choice.weight is not None:
            weight = np.asarray(read.block[-1], np.float64)
            sound &= are_weights(weight)
        for at in np.flatnonzero(~sound):
            why[int(read.kept[at])] = _complaint(x[at], None if weight is None else weight[at], choice)
        faults = tuple(Fault(first + at, place_of(first + at), why[at]) for at in sorted(why))
        stop = first + len(read.kept) + len(read.faults)
        return cls(x[sound], None if weight is None else weight[sound], first + read.kept[sound], stop, faults, tail=tail)

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


def _complaint(x: NDArray[Any], weight: Any, choice: ColumnChoice) -> str:
    """Describe the fault of one row of numbers."""
    for value, label in zip(x, choice.columns, strict=True):
        if not np.isfinite(value):
            return f"column {label!r} {fault(value, choice.dtype)}"
    return f"weight column {choice.weight_label!r} {weight_fault(weight)}"


def joined(batches: list[Batch]) -> Batch:
    """Join consecutive batches into one."""
    if len(batches) == 1:
        return batches[0]
    weights = [batch.weight for batch in batches if batch.weight is not None]
    return Batch(
        np.concatenate([batch.x for batch in batches]),
        np.concatenate(weights) if weights else None,
        np.concatenate([batch.rows for batch in batches]),
        batches[-1].stop,
        tuple(fault for batch in batches for fault in batch.faults),
        tuple(begun for batch in batches for begun in batch.begins),
        batches[-1].tail,
    )


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

    def opening(self, choice: ColumnChoice) -> Batch:
        """Return a batch without rows that marks the beginning of this source."""
        nothing = ReadLines([np.empty(0)] * len(choice.places), np.empty(0, np.intp), {})
        begins = () if self.name is None else ((self.name, self.first),)
        return replace(Batch.of(nothing, self.first + self.skip, choice, self.place_of), begins=begins)

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

    def after(self, chunk: Batch) -> Offset:
        """Return the position after a chunk."""
        return replace(self, rows=chunk.stop, files={**self.files, **dict(chunk.begins)}, tail=chunk.tail)

    def origin(self, where: str, name: str) -> Origin:
        """Return the origin of a file of this source, read from this position on."""
        first = self.files.get(name, self.rows)
        return Origin(where, first, self.rows - first, name, self.tail)


class TooManyFaultsError(InputError):
    """More malformed rows than the user allows."""


class RateLimiter:
    """Reports the first messages of one kind and counts the others."""

    def __init__(self, tell: Callable[[str], None], others: str) -> None:
        """`others`: the message, printed once, for those that are not reported."""
        self._tell, self._others = tell, others
        self.texts: list[str] = []  # those that were reported
        self.count = 0

    def note(self, text: str) -> None:
        """Count a message; the same text is not reported twice."""
        self.count += 1
        if text in self.texts:
            return
        if len(self.texts) < _TOLD:
            self.texts.append(text)
            self._tell(text)
        elif self._others:
            self._tell(self._others)
            self._others = ""


class ErrorBudget:
    """Limit of malformed rows in a run."""

    def __init__(self, most: int, warn: Callable[[str], None]) -> None:
        self._most = most
        self.found = RateLimiter(warn, "further malformed rows are skipped and only counted.")

    def watch(self, batches: Iterable[Batch | None]) -> Iterator[Batch | None]:
        """Yield the batches unchanged; TooManyFaultsError after the last sound row before one malformed row too many."""
        for batch in batches:
            for malformed in () if batch is None else batch.faults:
                if self.found.count == self._most:
                    assert batch is not None
                    yield batch.before(malformed.row)
                    many = f"more malformed rows than --max-errors {self._most} forgives" if self._most else "a malformed row"
                    raise TooManyFaultsError(f"{many}; {malformed.where}: {malformed.why}.")
                self.found.note(f"{malformed.where}: {malformed.why}")
            yield batch


class Chunks:
    """Buffer that joins batches into chunks."""

    def __init__(self, size: int, max_wait: float | None, least: int) -> None:
        """`least`: rows that the first chunk has at least, however long they wait."""
        self._size, self._max_wait, self._least = size, math.inf if max_wait is None else max_wait, least
        self._waiting: list[Batch] = []
        self._n_waiting, self._since = 0, 0.0  # rows, and when the first of them arrived
        self.n_rows = 0  # received in all

    def patience(self) -> float | None:
        """Seconds until the buffered rows become a chunk, even if no more arrive."""
        if self._n_waiting < self._least or self._max_wait == math.inf:
            return None
        return max(0.0, self._since + self._max_wait - time.monotonic())

    def of(self, batches: Iterable[Batch | None]) -> Iterator[Batch]:
        """Yield the chunks; the last one may be small, or have malformed rows only."""
        arrived = 0.0
        for batch in batches:
            if batch is not None:
                arrived = time.monotonic()
                self._since = self._since if self._n_waiting else arrived
                self._waiting.append(batch)
                self._n_waiting += len(batch)
                self.n_rows += len(batch)
            while self._n_waiting >= self._size:
                yield self._taken(self._size)
                self._since = arrived  # what is left came with the last batch
            if self.patience() == 0.0:
                yield self._taken(self._n_waiting)
        if self._waiting:
            yield self._taken(None)

    def _taken(self, size: int | None) -> Batch:
        """Return the first `size` rows, or all with the malformed ones after them; what follows stays buffered."""
        chunk, self._waiting = joined(self._waiting), []
        if size is not None:
            end = int(chunk.rows[size - 1]) + 1
            chunk, rest = chunk.before(end), chunk.since(end)
            self._waiting = [rest]
        self._n_waiting -= len(chunk)
        self._least = 1
        return chunk
