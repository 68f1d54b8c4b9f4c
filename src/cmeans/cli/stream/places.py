"""How far a stream was read, and where a run begins to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import InputError
from .batches import Batch, Picked


@dataclass(frozen=True)
class Origin:
    """Something that rows are read from, and which of them are new."""

    where: str  # for messages
    first: int  # the number that its first row has in the stream
    skip: int = 0  # rows at its beginning that an earlier run has clustered
    name: str | None = None  # by which a state remembers it; None: what was read is gone

    def place_of(self, row: int) -> str:
        """Where a person finds a row of the stream."""
        return f"{'' if self.name is None else f'{self.name}, '}row {row - self.first} (counted from 0)"

    def opening(self, picked: Picked) -> Batch:
        """Says that its rows come next; has none itself."""
        x, weight = np.empty((0, len(picked.columns)), picked.dtype), None if picked.weight is None else np.empty(0)
        begins = () if self.name is None else ((self.name, self.first),)
        return Batch(x, weight, np.empty(0, np.int64), self.first + self.skip, begins=begins)

    def refuse_shrunk(self, stop: int) -> None:
        """Complain where it ended before the rows that an earlier run has clustered; `stop`: the number after its last row."""
        if stop < self.first + self.skip:
            raise InputError(
                f"{self.where}: holds {stop - self.first:,} rows, but {self.skip:,} were read from it before; it is another file now."
                " Begin anew without --resume, or give what is new under another name."
            )


@dataclass(frozen=True)
class Place:
    """How far a stream was read: every row before this place is either clustered or malformed."""

    rows: int = 0  # before this place
    source: str | None = None  # what they came from, as the user names it
    files: Mapping[str, int] = field(default_factory=dict)  # its files, as they were begun, and the number of the first row of each

    def of(self, source: str) -> Place:
        """The same place in another source, which is read from its beginning; in the same source the place itself."""
        return self if source == self.source else Place(self.rows, source)

    def origin(self, where: str, name: str) -> Origin:
        """A file of this source, read from this place on."""
        first = self.files.get(name, self.rows)
        return Origin(where, first, self.rows - first, name)
