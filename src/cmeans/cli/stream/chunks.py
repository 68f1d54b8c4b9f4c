"""Batches of any size in, chunks of one size out; malformed rows are reported, counted, and end the run where they are too many."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..errors import InputError
from .batches import Batch

_TOLD = 5


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
            for fault in () if batch is None else batch.faults:
                if self.found.count == self._most:
                    assert batch is not None
                    yield batch.before(fault.row)
                    many = f"more malformed rows than --max-errors {self._most} forgives" if self._most else "a malformed row"
                    raise TooManyFaultsError(f"{many}; {fault.where}: {fault.why}.")
                self.found.note(f"{fault.where}: {fault.why}")
            yield batch


class Chunks:
    """Buffer that joins batches into chunks."""

    def __init__(self, size: int, max_wait: float | None, least: int) -> None:
        """`least`: rows that the first chunk has at least, however long they wait."""
        self._size, self._max_wait, self._least = size, math.inf if max_wait is None else max_wait, least
        self._waiting: list[tuple[Batch, float]] = []  # with the arrival time of each
        self._n_waiting = 0
        self.n_rows = 0  # received in all

    def patience(self) -> float | None:
        """Seconds until the buffered rows become a chunk, even if no more arrive."""
        if self._n_waiting < self._least or self._max_wait == math.inf:
            return None
        since = next(came for batch, came in self._waiting if len(batch))
        return max(0.0, since + self._max_wait - time.monotonic())

    def of(self, batches: Iterable[Batch | None]) -> Iterator[Batch]:
        """Yield the chunks; the last one may be small, or have malformed rows only."""
        for batch in batches:
            if batch is not None:
                self._waiting.append((batch, time.monotonic()))
                self._n_waiting += len(batch)
                self.n_rows += len(batch)
            while self._n_waiting >= self._size:
                yield self._chunk(self._size)
            if self.patience() == 0.0:
                yield self._chunk(self._n_waiting)
        if self._waiting:
            yield self._last()

    def _chunk(self, size: int) -> Batch:
        """Return the first `size` rows; the following ones stay buffered, malformed rows too."""
        taken: list[Batch] = []
        while size:
            batch, came = self._waiting.pop(0)
            if len(batch) >= size:
                end = int(batch.rows[size - 1]) + 1
                self._waiting.insert(0, (batch.since(end), came))
                batch = batch.before(end)
            taken.append(batch)
            size -= len(batch)
        return self._joined(taken)

    def _last(self) -> Batch:
        taken = [batch for batch, _ in self._waiting]
        self._waiting.clear()
        return self._joined(taken)

    def _joined(self, batches: list[Batch]) -> Batch:
        chunk = joined(batches)
        self._n_waiting -= len(chunk)
        self._least = 1
        return chunk


def joined(batches: list[Batch]) -> Batch:
    """Join consecutive batches into one."""
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
