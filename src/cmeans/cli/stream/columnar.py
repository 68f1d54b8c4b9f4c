"""Arrow record batches as they arrive, and Parquet files one after the other, also while more arrive."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...data.files.arrow import batch_rows, header_of, pa, readable, values
from ...data.files.columnar import ParquetTable
from ...data.files.discovery import IPC_FILE
from ...data.files.tables import Block
from ...data.row_source import RowsError
from ..option_values import as_option
from .batches import Batch, Batches, Fault, Offset, Origin, Patience, Pick, PickedBatch, complaint, numbers_of
from .waiting import Ahead, StreamInput

_BUFFER = 1 << 16


@dataclass(frozen=True)
class ArrowRows:
    """Rows of record batches: those of an IPC stream as they arrive, or those of an IPC file."""

    origin: Origin
    source: StreamInput

    def batches(self, pick: Pick, patience: Patience) -> Batches:
        arriving = Ahead(self._read())
        try:
            yield from self._rows(arriving.items(patience), pick)
        finally:
            self.source.end()
            arriving.close()

    def _rows(self, arriving: Iterator[Any], pick: Pick) -> Iterator[Batch | None]:
        picked = pick(header_of(self.origin.where, next(arriving), spell=as_option))
        row, fresh = self.origin.first, self.origin.first + self.origin.skip
        yield self.origin.opening(picked)
        for batch in arriving:
            if batch is None:
                yield None
                continue
            new = batch.slice(max(0, fresh - row))
            row += batch.num_rows
            step = batch_rows(len(picked.choice.places), least=1_024)
            for start in range(0, new.num_rows, step):
                piece = new.slice(start, step)
                yield sound_rows([values(piece.column(at)) for at in picked.choice.places], picked, row - new.num_rows + start, self.origin)
        self.origin.refuse_shrunk(row)

    def _read(self) -> Iterator[Any]:
        """Yield the schema, then each record batch."""
        with readable(self.origin.where, "Arrow"):
            if not self.source.begins_with(IPC_FILE):
                with pa.ipc.open_stream(io.BufferedReader(self.source, _BUFFER)) as reader:
                    yield reader.schema
                    yield from reader
                return
            with os.fdopen(os.dup(self.source.descriptor), "rb") as file, pa.ipc.open_file(file) as opened:
                yield opened.schema
                yield from (opened.get_batch(at) for at in range(opened.num_record_batches))


def sound_rows(block: Block, picked: PickedBatch, first: int, origin: Origin) -> Batch:
    """Return the sound rows of a block of columns, whose first row has the number `first`."""
    x, weight, sound = numbers_of(block, picked)
    faults = tuple(
        Fault(int(first + at), origin.place_of(int(first + at)), complaint(x[at], None if weight is None else weight[at], picked))
        for at in np.flatnonzero(~sound)
    )
    rows = first + np.flatnonzero(sound)
    return Batch(x[sound], None if weight is None else weight[sound], rows, first + len(sound), faults)


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
    for block in source.blocks(picked.choice.places, skip=origin.skip):
        batch = sound_rows(block, picked, row, origin)
        row = batch.stop
        yield batch
    return row
