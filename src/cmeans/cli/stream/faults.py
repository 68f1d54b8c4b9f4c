"""Rows that cannot be used: the first of them are reported, all of them counted, and too many end the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..errors import InputError
from .batches import Batch

_TOLD = 5


class TooManyFaultsError(InputError):
    """More malformed rows than the user forgives."""


class Few:
    """Tells the first of many things of one kind and counts the others."""

    def __init__(self, tell: Callable[[str], None], others: str) -> None:
        """`others`: what is said once of those that are not told."""
        self._tell, self._others = tell, others
        self.texts: list[str] = []  # those that were told
        self.count = 0

    def note(self, text: str) -> None:
        """Count it; the same words are not told twice."""
        self.count += 1
        if text in self.texts:
            return
        if len(self.texts) < _TOLD:
            self.texts.append(text)
            self._tell(text)
        elif self._others:
            self._tell(self._others)
            self._others = ""


class Forgiveness:
    """How many malformed rows a run bears."""

    def __init__(self, most: int, warn: Callable[[str], None]) -> None:
        self._most = most
        self.found = Few(warn, "further malformed rows are skipped and only counted.")

    def watch(self, batches: Iterable[Batch | None]) -> Iterator[Batch | None]:
        """The batches as they are. After the last sound row before one malformed row too many: TooManyFaultsError."""
        for batch in batches:
            for fault in () if batch is None else batch.faults:
                if self.found.count == self._most:
                    assert batch is not None
                    yield batch.before(fault.row)
                    many = f"more malformed rows than --max-errors {self._most} forgives" if self._most else "a malformed row"
                    raise TooManyFaultsError(f"{many}; {fault.where}: {fault.why}.")
                self.found.note(f"{fault.where}: {fault.why}")
            yield batch
