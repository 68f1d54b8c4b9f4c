"""Files read and written through PyArrow: Parquet and Arrow, of whose groups of rows only the wanted columns are read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
from numpy.typing import NDArray

from ...runtime.user_warnings import one_line
from ..row_source import RowsError
from .claims import check_columns
from .discovery import IPC_FILE
from .schema import Field, Header, Spelling, in_python
from .tables import Block, FileTable
from .unchanged_files import StampedFile

__all__ = [
    "IpcTable",
    "ParquetTable",
    "RowTable",
    "blocks_of",
    "file_bytes",
    "header_of",
    "kind_of",
    "pa",
    "readable",
    "reading",
    "release",
    "values",
]

ROWS, CELLS = 65_536, 4_000_000  # rows, and numbers, that are decoded or written at a time, at most


def batch_rows(n_columns: int, least: int, cells: int = CELLS) -> int:
    return min(ROWS, max(least, cells // max(n_columns, 1)))


def file_bytes(path: Path) -> pa.OSFile:
    """The bytes of a file. pyarrow takes names for UTF-8, which not every name is."""
    return pa.OSFile(os.fsencode(path))


def release() -> None:
    """Free the memory that pyarrow would keep for its next file, some 100 MB."""
    pa.default_memory_pool().release_unused()


def header_of(where: str, schema: pa.Schema, spell: Spelling = in_python) -> Header:
    """Return the columns of a schema."""
    check_columns(where, len(schema.names))
    index = (schema.pandas_metadata or {}).get("index_columns", [])  # what pandas wrote for the index of its frame is no data
    singles = (pa.float16(), pa.float32())
    named = zip(schema.names, schema.types, strict=True)
    fields = (Field(name, kind_of(kind), _is_numeric(kind), kind in singles, name in index) for name, kind in named)
    return Header(where, tuple(fields), spell)


def _is_numeric(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def kind_of(kind: pa.DataType) -> str:
    return "text" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else str(kind)


def values(column: pa.Array) -> NDArray[Any]:
    """Return one column of a batch as a NumPy array; empty cells become NaN, which is refused later with its position."""
    if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


@contextmanager
def readable(where: object, kind: str) -> Iterator[None]:
    """Turn pyarrow's errors inside the block into one line about the file, and name the file in errors of the system."""
    try:
        yield
    except (RowsError, pa.ArrowCancelled):
        raise
    except MemoryError as error:  # damaged bytes may ask for petabytes
        asked = one_line(error) or "out of memory"
        raise RowsError(f"{where}: asks for more memory than there is ({asked}); it is damaged, or too large to be read.") from error
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            error.filename = str(where)
            raise
        text = one_line(error, most=300)
        hint = "has values of mixed types" if "conversion error" in text else f"cannot be read as {kind}; it is damaged or not such a file"
        raise RowsError(f"{where}: {hint} ({text}).") from error


@contextmanager
def reading(file: StampedFile, kind: str) -> Iterator[None]:
    """Do as `readable` for a file that must not change; where it changed, the error is about that."""
    file.check()
    try:
        with readable(file.path, kind):
            yield
    except RowsError:
        file.check()
        raise


def blocks_of(batch: Any, places: Sequence[int]) -> Iterator[Block]:
    """The columns at `places` of a record batch, some rows at a time."""
    rows = batch_rows(len(places), 1_024)
    for start in range(0, batch.num_rows, rows):
        piece = batch.slice(start, rows)
        yield [values(piece.column(at)) for at in places]


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
        with self._opened(read) as opened:
            for batch in self._batches(opened, groups):
                yield from blocks_of(batch, [read.index(at) for at in places])
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

    def blocks(self, places: Sequence[int], groups: Sequence[int] | None = None) -> Iterator[Block]:
        names = [str(label) for label in self.header.labels(places)]
        rows = batch_rows(len(names), 1_024, _CELLS)
        with self._opened() as opened:
            for batch in opened.iter_batches(rows, row_groups=groups, columns=names, use_threads=groups is None):
                yield [values(batch.column(name)) for name in names]
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


class RowTable:
    """A file of results by row, as Parquet or CSV; small parts are joined into groups of a reasonable size. Complete when it is closed."""

    def __init__(self, file: Path, blank: Mapping[str, Any]) -> None:
        """`blank`: the columns without rows, whose names and types are those of the table."""
        self._schema = pa.table(dict(blank)).schema
        if file.suffix == ".csv":
            self._writer: Any = pa.csv.CSVWriter(file, self._schema)
        else:
            self._writer = pa.parquet.ParquetWriter(file, self._schema, use_dictionary=["label"])
        self._waiting: list[pa.Table] = []

    def append(self, columns: Mapping[str, Any]) -> None:
        """Append rows: an array for each column."""
        self._waiting.append(pa.table(dict(columns), schema=self._schema))
        if sum(map(len, self._waiting)) >= min(ROWS, CELLS // len(columns)):
            self.finish()

    def finish(self) -> None:
        """Write the rows that wait for others, as a group of their own."""
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting).combine_chunks())
        self._waiting = []

    def close(self) -> None:
        """Write the end of the file and close it."""
        self._writer.close()


def lists(values: NDArray[Any], counts: NDArray[Any]) -> pa.Array:
    """Return an array of lists, from all their values one after the other and the length of each list."""
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))
