"""Positions in a stream: the end of what was read, and the start of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import InputError
from .batches import Batch, PickedBatch


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
        x, weight = np.empty((0, len(picked.columns)), picked.dtype), None if picked.weight is None else np.empty(0)
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
