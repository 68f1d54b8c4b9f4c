"""Malformed rows: the first are reported, all are counted, and too many end the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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
