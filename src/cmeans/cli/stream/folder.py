"""Parquet files read one after the other, each once; those of a folder in the order of their names, also while more arrive."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

from ...data.files.parquet import ParquetTable
from ...data.row_source import RowsError
from ..words import as_option
from .batches import Batch, Batches, Patience, Pick
from .frames import sound_rows
from .places import Offset, Origin

_LONGEST_NAP = 86_400.0  # seconds


@dataclass(frozen=True)
class Follow:
    """Polling of a folder: the interval, and the time without a new file after which it ends, in seconds."""

    poll: float = 1.0
    idle: float | None = None


@dataclass(frozen=True)
class ParquetFiles:
    """Rows of the Parquet files that `listing` returns, but those that an earlier run has read."""

    listing: Callable[[], list[Path]]
    begun: Offset
    warn: Callable[[str], None]
    follow: Follow | None = None  # None: only the files that are there now

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        row, done, complained = self.begun.rows, set(self.begun.files), set[str]()
        unfinished = self._unfinished()
        if unfinished is not None:
            file, origin = unfinished
            row = yield from _rows(ParquetTable(file, as_option), origin, pick)
        last = time.monotonic()
        while True:
            found = False
            for file in (file for file in self.listing() if file.name not in done):
                source = self._opened(file, complained)
                if source is None:
                    continue
                row = yield from _rows(source, Origin(str(file), row, name=file.name), pick)
                done.add(file.name)
                found, last = True, time.monotonic()
            if self.follow is None:
                return
            if found:
                continue
            left = [self.follow.poll]
            if self.follow.idle is not None:
                left.append(last + self.follow.idle - time.monotonic())
                if left[-1] <= 0:
                    return
            left += [limit for limit in (patience(),) if limit is not None]
            time.sleep(max(0.0, min([*left, _LONGEST_NAP])))
            yield None

    def _unfinished(self) -> tuple[Path, Origin] | None:
        """Return the file that an earlier run was reading when it ended."""
        if not self.begun.files:
            return None
        name, first = list(self.begun.files.items())[-1]
        skip = self.begun.rows - first
        for file in self.listing():
            if file.name == name:
                return file, Origin(str(file), first, skip, name)
        self.warn(f"{name}: is gone; an earlier run has read {skip:,} rows of it, and whatever else it held is left out.")
        return None

    def _opened(self, file: Path, complained: set[str]) -> ParquetTable | None:
        """Open a file; None where the folder is followed and the file cannot be read, as it may be incomplete."""
        try:
            return ParquetTable(file, as_option)  # a program may replace it meanwhile
        except RowsError:
            if self.follow is None:
                raise
            if file.name not in complained:
                complained.add(file.name)
                self.warn(f"{file}: cannot be read as Parquet, or not yet; it is tried again.")
            return None


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, but hidden ones, which may be incomplete."""
    return sorted((path for path in folder.glob("*.parquet") if not path.name.startswith(".")), key=lambda path: path.name)


def _rows(source: ParquetTable, origin: Origin, pick: Pick) -> Generator[Batch, None, int]:
    """Yield the rows of one file, and return the number of the row after the last one."""
    picked = pick(source.header)
    origin.refuse_shrunk(origin.first + sum(source.groups))
    yield origin.opening(picked)
    row = origin.first + origin.skip
    for block in source.blocks(picked.places, skip=origin.skip):
        batch = sound_rows(block, picked, row, origin)
        row = batch.stop
        yield batch
    return row
