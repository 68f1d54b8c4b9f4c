"""Arrow files: record batches, each found through the footer, or one after the other in a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .arrow import batch_rows, file_bytes, header_of, pa, reading, release, values
from .gathering import Block
from .spelling import Spelling, in_python
from .stamps import StampedFile
from .tables import FileTable

IPC_FILE, IPC_STREAM = b"ARROW1", b"\xff\xff\xff\xff"  # their first bytes


class IpcTable(FileTable):
    """One IPC file (Feather of the second version is the same) or one IPC stream kept in a file."""

    kind = "Arrow"

    def __init__(self, file: Path, spell: Spelling = in_python) -> None:
        self._file = StampedFile.of(file)
        with file.open("rb") as begun:
            self._footed = begun.read(len(IPC_FILE)) == IPC_FILE
        self.groups: tuple[int, ...] | None = None
        with self._opened([]) as opened:
            self.header = header_of(str(file), opened.schema, spell=spell)
        if self._footed and self.header.fields:
            with self._opened([0]) as opened:  # the footer has no row counts, so one column of each batch is read
                self.groups = tuple(opened.get_batch(at).num_rows for at in range(opened.num_record_batches))
        self._largest = max(self.groups or (0,))

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        read = sorted(set(places))
        rows = batch_rows(len(read), 1_024)
        with self._opened(read) as opened:
            for batch in self._batches(opened, groups):
                for start in range(0, batch.num_rows, rows):
                    piece = batch.slice(start, rows)
                    yield [values(piece.column(read.index(at))) for at in places]
        if groups is None:
            release()

    def transient(self, n_columns: int) -> int:
        return 16 * self._largest * n_columns

    def _batches(self, opened: Any, groups: Sequence[int] | None) -> Iterator[Any]:
        if not self._footed:
            return iter(opened)
        return (opened.get_batch(at) for at in (range(opened.num_record_batches) if groups is None else groups))

    @contextmanager
    def _opened(self, places: list[int]) -> Iterator[Any]:
        options = pa.ipc.IpcReadOptions(included_fields=places, use_threads=False)
        open_it = pa.ipc.open_file if self._footed else pa.ipc.open_stream
        with reading(self._file, self.kind), file_bytes(self._file.path) as file, open_it(file, options=options) as opened:
            yield opened
