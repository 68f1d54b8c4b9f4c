"""Parquet and Arrow files: groups of rows in columns, of which only the wanted ones are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .arrow import batch_rows, file_bytes, header_of, pa, reading, release, values
from .discovery import IPC_FILE
from .schema import Spelling, in_python
from .tables import Block, FileTable
from .unchanged_files import StampedFile


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

    def column(self, at: int) -> Iterator[pa.Array]:
        with self._opened([at]) as opened:
            for batch in self._batches(opened, None):
                yield batch.column(0)

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


_BUFFER = 1 << 17  # bytes of a column that are read at a time; without a buffer, all of a column's chunk of a group is read at once
_PAGE = 1 << 20  # bytes of a decompressed page, as files are commonly written
_CELLS = 1 << 20  # numbers that are decoded at a time


class ParquetTable(FileTable):
    """One Parquet file. Its footer is read once; it is not mapped, as a map of a file that shrinks kills the process."""

    kind = "Parquet"
    groups: tuple[int, ...]

    def __init__(self, file: Path, spell: Spelling = in_python) -> None:
        self._file = StampedFile.of(file)
        self._metadata: Any = None
        with self._opened() as opened:
            self._metadata = opened.metadata
            self.header = header_of(str(file), opened.schema_arrow, spell=spell)
        groups = (self._metadata.row_group(at) for at in range(self._metadata.num_row_groups))
        self.groups = tuple(group.num_rows for group in groups)

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None, skip: int = 0) -> Iterator[Block]:
        """`skip`: rows at the beginning that are left out."""
        names = [str(label) for label in self.header.labels(places)]
        some = list(range(len(self.groups)) if groups is None else groups)
        while some and self.groups[some[0]] <= skip:
            skip -= self.groups[some.pop(0)]
        with self._opened() as opened:
            rows = batch_rows(len(names), 1_024, _CELLS)
            for batch in opened.iter_batches(rows, row_groups=some, columns=names, use_threads=groups is None):
                if skip < batch.num_rows:
                    yield [values(batch.column(name))[skip:] for name in names]
                skip = max(0, skip - batch.num_rows)
        if groups is None:
            release()

    def column(self, at: int) -> Iterator[pa.Array]:
        with self._opened() as opened:
            for batch in opened.iter_batches(batch_rows(1, 1_024), columns=[str(self.header.fields[at].label)]):
                yield batch.column(0)

    def transient(self, n_columns: int) -> int:
        return 16 * batch_rows(n_columns, 1_024, _CELLS) * n_columns + n_columns * (_BUFFER + 2 * _PAGE)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with (
            reading(self._file, self.kind),
            file_bytes(self._file.path) as file,
            pa.parquet.ParquetFile(file, metadata=self._metadata, buffer_size=_BUFFER, pre_buffer=False) as opened,
        ):
            yield opened
