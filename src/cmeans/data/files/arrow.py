"""Files read through PyArrow: Parquet and Arrow, of whose groups of rows only the
wanted columns are read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...runtime.user_warnings import one_line
from ..addresses import Address
from ..arrow_library import pa
from ..row_source import RowsError
from .arrow_columns import (
    batch_rows,
    block_of,
    blocks_of,
    header_of,
    lengths_of,
    of_unsaid_length,
    stored_columns,
    stored_names,
)
from .discovery import IPC_FILE
from .schema import Spelling, in_python
from .tables import Block, FileTable
from .unchanged_files import StampedFile


def file_bytes(path: Path) -> pa.NativeFile:
    """The bytes of a file. pyarrow takes names for UTF-8, which not every name is."""
    if isinstance(path, Address):
        return pa.PythonFile(path.open(buffering=0), "r")
    return pa.OSFile(os.fsencode(path))


def release() -> None:
    """Free the memory that pyarrow would keep for its next file, some 100 MB."""
    pa.default_memory_pool().release_unused()


@contextmanager
def readable(where: object, kind: str) -> Iterator[None]:
    """Turn pyarrow's errors inside the block into one line about the file, and name the file in
    errors of the system."""
    try:
        yield
    except (RowsError, pa.ArrowCancelled):
        raise
    except MemoryError as error:  # damaged bytes may ask for petabytes
        asked = one_line(error) or "out of memory"
        raise RowsError(
            f"{where}: asks for more memory than there is ({asked}); it is damaged, or too large "
            "to be read."
        ) from error
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            error.filename = str(where)
            raise
        text = one_line("; ".join(map(str, error.args)) or error, most=300)
        raise RowsError(f"{where}: {_hint(text, kind)} ({text}).") from error


def _hint(text: str, kind: str) -> str:
    """Return what an error of pyarrow means for the reader of a file."""
    if "conversion error" in text:
        return "has values of mixed types"
    if "Conversion failed" in text:
        return "has a column whose values are no numbers, texts or dates of one type"
    if "decrypt" in text:
        return "is encrypted, and no keys are taken; write a copy that is not"
    return f"cannot be read as {kind}; it is damaged or not such a file"


@contextmanager
def reading(file: StampedFile, kind: str) -> Iterator[None]:
    """Do as `readable` for a file that must not change; where it changed, the error is about
    that."""
    file.check()
    try:
        with readable(file.path, kind):
            yield
    except RowsError:
        file.check()
        raise


def sound(batch: Any) -> Any:
    """Return a record batch from anybody, once its buffers are known to hold what it says. PyArrow
    would read beyond their ends."""
    batch.validate(full=True)
    return batch


class IpcTable(FileTable):
    """One IPC file (Feather of the second version is the same) or one IPC stream kept in a file."""

    kind = "Arrow"

    def __init__(self, file: Path, spell: Spelling = in_python) -> None:
        self._file = StampedFile.of(file)
        with file.open("rb") as begun:
            self._footed = begun.read(len(IPC_FILE)) == IPC_FILE
        self.groups: tuple[int, ...] | None = None
        with self._opened([]) as opened:
            schema = opened.schema
            self._names, unsaid = schema.names, of_unsaid_length(schema)
        self.header = header_of(str(file), schema, spell)  # refuses two columns of one name
        if unsaid:
            with self._opened(sorted(unsaid)) as opened:
                first = next(self._batches(opened, None), None)
            self.header = header_of(
                str(file), schema, spell, None if first is None else lengths_of(first)
            )
        if self._footed and self.header.fields:
            # the footer has no row counts, so one column of each batch is read
            with self._opened(self._names[:1]) as opened:
                self.groups = tuple(batch.num_rows for batch in self._batches(opened, None))
        self._largest = max(self.groups or (0,))

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        row = sum((self.groups or ())[: groups[0]]) if groups else 0
        with self._opened(stored_names(self.header, places)) as opened:
            for batch in self._batches(opened, groups):
                yield from blocks_of(batch, self.header, places, row)
                row += batch.num_rows
        if groups is None:
            release()

    def columns(self, places: Sequence[int]) -> Iterator[list[pa.Array]]:
        with self._opened(stored_names(self.header, places)) as opened:
            for batch in self._batches(opened, None):
                yield stored_columns(batch, self.header, places)

    def transient(self, n_columns: int) -> int:
        return 16 * self._largest * n_columns

    def _batches(self, opened: Any, groups: Sequence[int] | None) -> Iterator[Any]:
        if not self._footed:
            return map(sound, opened)
        return (
            sound(opened.get_batch(at))
            for at in (range(opened.num_record_batches) if groups is None else groups)
        )

    @contextmanager
    def _opened(self, names: Sequence[str]) -> Iterator[Any]:
        places = [self._names.index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=places, use_threads=False)
        open_it = pa.ipc.open_file if self._footed else pa.ipc.open_stream
        with (
            reading(self._file, self.kind),
            file_bytes(self._file.path) as file,
            open_it(file, options=options) as opened,
        ):
            yield opened


# bytes of a column that are read at a time; without a buffer, all of a column's chunk of a group is
# read at once
_BUFFER = 1 << 17
# bytes of a file that is read without: a buffer grows to what pages claim to be, up to 2 GB
_SMALL = 1 << 20
_PAGE = 1 << 20  # bytes of a decompressed page, as files are commonly written
_CELLS = 1 << 20  # numbers that are decoded at a time


class ParquetTable(FileTable):
    """One Parquet file. Its footer is read once; it is not mapped, as a map of a file that shrinks
    kills the process."""

    kind = "Parquet"
    groups: tuple[int, ...]

    def __init__(self, file: Path, spell: Spelling = in_python) -> None:
        self._file = StampedFile.of(file)
        self._buffer = _BUFFER if self._file.size > _SMALL else 0
        self._metadata: Any = None
        with self._opened() as opened:
            self._metadata = opened.metadata
            schema = opened.schema_arrow
            # refuses two columns of one name
            self.header, unsaid = header_of(str(file), schema, spell), of_unsaid_length(schema)
            first = (
                next(opened.iter_batches(1_024, columns=sorted(unsaid)), None) if unsaid else None
            )
            if first is not None:
                self.header = header_of(str(file), schema, spell, lengths_of(first))
        groups = (self._metadata.row_group(at) for at in range(self._metadata.num_row_groups))
        self.groups = tuple(group.num_rows for group in groups)

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        row = sum(self.groups[: groups[0]]) if groups else 0
        rows = batch_rows(len(places), 1_024, _CELLS)
        names = stored_names(self.header, places)
        with self._opened() as opened:
            # threads of PyArrow that hold a file of Python's end Python 3.13 by a signal
            threads = groups is None and isinstance(self._file.path, Path)
            for batch in opened.iter_batches(
                rows, row_groups=groups, columns=names, use_threads=threads
            ):
                yield block_of(batch, self.header, places, row)
                row += batch.num_rows
        if groups is None:
            release()

    def columns(self, places: Sequence[int]) -> Iterator[list[pa.Array]]:
        rows, names = batch_rows(len(places), 1_024), stored_names(self.header, places)
        with self._opened() as opened:
            for batch in opened.iter_batches(rows, columns=names, use_threads=False):
                yield stored_columns(sound(batch), self.header, places)

    def transient(self, n_columns: int) -> int:
        pages = min(2 * _PAGE, 16 * max(self.groups, default=0))  # of a column, packed and not
        return n_columns * (16 * batch_rows(n_columns, 1_024, _CELLS) + _BUFFER + pages)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with (
            reading(self._file, self.kind),
            file_bytes(self._file.path) as file,
            pa.parquet.ParquetFile(
                file,
                metadata=self._metadata,
                buffer_size=self._buffer,
                pre_buffer=False,
                page_checksum_verification=True,  # of pages that carry one
            ) as opened,
        ):
            yield opened
