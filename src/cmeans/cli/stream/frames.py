"""Rows from Arrow record batches, which are stored by columns."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.files.arrow import batch_rows, header_of, pa, readable, values
from ...data.files.gathering import Block
from ...data.files.ipc import IPC_FILE
from ..words import as_option
from .batches import Batch, Batches, Fault, Patience, Pick, PickedBatch, complaint, numbers_of
from .places import Origin
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
            step = batch_rows(len(picked.places), least=1_024)
            for start in range(0, new.num_rows, step):
                piece = new.slice(start, step)
                yield sound_rows([values(piece.column(at)) for at in picked.places], picked, row - new.num_rows + start, self.origin)
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
