"""Batches of rows of a stream, with their numbers and the faults of malformed rows; batches joined
into chunks of one size."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.arrays import squared_norms
from ...data.files.csv_lines import ReadLines
from ...data.files.schema import ColumnChoice
from ...data.files.tables import are_weights, copy_columns, fault, weight_fault
from ...runtime.numerals import in_digits
from ...solvers.fit_identity import hashes_of
from ..errors import InputError

_SHOWN = 5  # messages of one kind


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows. They are numbered from the first row of the stream on, malformed ones
    included."""

    x: NDArray[Any]  # (b, d)
    weight: NDArray[np.float64] | None  # (b,)
    rows: NDArray[np.int64]  # (b,) their numbers
    stop: int  # the number of the next row
    # numbers of malformed rows among them, each with what is wrong
    faults: tuple[tuple[int, str], ...] = ()
    # columns of text (k, b) that go with the rows to their labels
    beside: tuple[NDArray[Any], ...] = ()
    since: float = 0.0  # when the first of them came, by the monotonic clock

    @classmethod
    def of(
        cls,
        read: ReadLines,
        first: int,
        choice: ColumnChoice,
        numbers: Sequence[int],
        place: Callable[[int], str],
        beside: Sequence[NDArray[Any]] = (),
    ) -> Batch:
        """Return the sound rows of what was read.

        `first` is the number of its first row in the stream; `place` makes a message's words for
        where a row is of its number in `numbers`; `beside` are columns of text of all lines.
        """
        x, why = np.empty((len(read.kept), len(choice.columns)), choice.dtype), dict(read.faults)
        copy_columns(read.block, x)
        with np.errstate(over="ignore"):  # squares that are no numbers spoil all sums
            sound, weight = np.isfinite(squared_norms(x)), None
        if choice.weight is not None:
            weight = np.asarray(read.block[-1], np.float64)
            sound &= are_weights(weight)
        for at in np.flatnonzero(~sound):
            row_weight = None if weight is None else weight[at]
            why[int(read.kept[at])] = _complaint(x[at], row_weight, choice)
        faults = tuple((first + at, f"{place(numbers[at])}: {why[at]}") for at in sorted(why))
        stop = first + len(read.kept) + len(read.faults)
        weight = None if weight is None else weight[sound]
        texts = tuple(column[read.kept][sound] for column in beside)
        return cls(x[sound], weight, first + read.kept[sound], stop, faults, texts)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def digest(self) -> int:
        """The sum over rows, modulo 2^64, that identifies the sound ones with their weights and
        numbers."""
        return int(hashes_of(self.x, self.weight, self.rows).sum(dtype=np.uint64))

    def without(self, place: int) -> Batch:
        """Return the rows but the one at a place among them."""
        weight = None if self.weight is None else np.delete(self.weight, place)
        x, rows = np.delete(self.x, place, axis=0), np.delete(self.rows, place)
        beside = tuple(np.delete(column, place) for column in self.beside)
        return replace(self, x=x, weight=weight, rows=rows, beside=beside)

    def part(self, first: int, stop: float = math.inf) -> Batch:
        """Return the rows whose numbers are at least `first` and below `stop`."""
        some = slice(*np.searchsorted(self.rows, [first, stop]))
        weight = None if self.weight is None else self.weight[some]
        faults = tuple(fault for fault in self.faults if first <= fault[0] < stop)
        beside, last = tuple(column[some] for column in self.beside), int(min(stop, self.stop))
        return Batch(self.x[some], weight, self.rows[some], last, faults, beside, self.since)


def _complaint(x: NDArray[Any], weight: Any, choice: ColumnChoice) -> str:
    """Describe the fault of one row of numbers."""
    for value, label in zip(x, choice.columns, strict=True):
        if not np.isfinite(value):
            return f"column {label!r} {fault(value, choice.dtype)}"
    if weight is None or are_weights(weight):
        largest = int(np.abs(x).argmax())
        return (
            f"column {choice.columns[largest]!r} has {in_digits(x[largest], 5)}, whose "
            f"square is too large for {choice.dtype.name}"
        )
    return f"weight column {choice.weight_label!r} {weight_fault(weight)}"


def joined(batches: Sequence[Batch]) -> Batch:
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
        tuple(map(np.concatenate, zip(*(batch.beside for batch in batches), strict=True))),
        batches[0].since,
    )


class FirstOnes:
    """Shows the first messages of one kind, each once, and counts all."""

    def __init__(self, tell: Callable[[str], None], others: str) -> None:
        """`others`: the message that stands for those that are not shown."""
        self._tell, self._others = tell, others
        self.texts: list[str] = []  # those that were shown
        self.count = 0

    def note(self, text: str) -> None:
        """Show a message, or count it alone."""
        self.count += 1
        text = text if len(self.texts) < _SHOWN else self._others
        if text not in self.texts:
            self.texts.append(text)
            self._tell(text)


class Faults(FirstOnes):
    """The malformed rows of a run, of which only so many are skipped."""

    def __init__(self, tell: Callable[[str], None], most: int) -> None:
        super().__init__(tell, "further malformed rows are skipped and only counted.")
        self._most = most

    @property
    def are_many(self) -> bool:
        """True where no further one is skipped."""
        return self.count == self._most

    def note(self, text: str) -> None:
        """Skip a row; InputError for one too many."""
        if self.are_many:
            if self._most:
                which = f"more malformed rows than --max-errors {self._most} forgives"
            else:
                which = "a malformed row"
            raise InputError(f"{which}; {text}.")
        super().note(text)


def with_few_faults(batches: Iterable[Batch | None], found: Faults) -> Iterator[Batch | None]:
    """Yield the batches; InputError after the last sound row before one malformed row too many."""
    for batch in batches:
        for row, text in () if batch is None else batch.faults:
            if found.are_many:
                assert batch is not None
                yield batch.part(0, row)
            found.note(text)
        yield batch


def chunks(
    batches: Iterable[Batch | None], size: int, wait: float | None, least: int
) -> Iterator[Batch]:
    """Yield rows in chunks of `size`; the last one may be small, or have malformed rows only.

    A chunk is smaller where None comes, or a row has waited for `wait` seconds; the first one has
    at least `least` rows.
    """
    waiting, count, since = list[Batch](), 0, 0.0
    for batch in batches:
        if batch is not None:
            since = since if count else time.monotonic()
            waiting.append(replace(batch, since=since))
            count += len(batch)
        late = batch is None or (wait is not None and time.monotonic() - since >= wait)
        while count >= (least if late else size):
            whole = joined(waiting)
            stop = int(whole.rows[:size][-1]) + 1
            yield whole.part(0, stop)
            waiting, count, least = [whole.part(stop)], max(0, count - size), 1
            since = time.monotonic()
    if waiting:
        yield joined(waiting)
