"""Access to PyArrow: its schemas as headers, its columns as NumPy arrays, its errors as messages of one line, its writers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
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
from .schema import Field, Header, Spelling, in_python
from .unchanged_files import StampedFile

__all__ = ["RowTable", "batch_rows", "file_bytes", "header_of", "is_numeric", "kind_of", "pa", "readable", "reading", "release", "values"]

ROWS, CELLS = 65_536, 4_000_000  # rows, and numbers, that are decoded or written at a time, at most


def batch_rows(n_columns: int, least: int, cells: int = CELLS) -> int:
    return min(ROWS, max(least, cells // max(n_columns, 1)))


def file_bytes(path: Path) -> pa.OSFile:
    """The bytes of a file. pyarrow takes names for UTF-8, which not every name is."""
    return pa.OSFile(os.fsencode(path))


def release() -> None:
    """Free the memory that pyarrow would keep for its next file, some 100 MB."""
    pa.default_memory_pool().release_unused()


def header_of(where: str, schema: pa.Schema, names: Sequence[str] | None = None, spell: Spelling = in_python) -> Header:
    """Return the columns of a schema; `names`: their names, where not those of the schema."""
    singles, index = (pa.float16(), pa.float32()), _index_names(schema)
    named = zip(names or schema.names, schema.types, strict=True)
    fields = (Field(name, kind_of(kind), is_numeric(kind), kind in singles, name in index) for name, kind in named)
    return Header(where, tuple(fields), spell)


def is_numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind)
    )


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
        text = one_line(error)
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


def _index_names(schema: pa.Schema) -> frozenset[str]:
    """Return the columns that pandas wrote for the index of its frame: row numbers and the like, not data."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return frozenset(name for name in index if isinstance(name, str))


class RowTable:
    """A file of results by row. Columns are (name, array or list of values); the file is complete when it is closed."""

    def __init__(self, file: Path, blank: Sequence[tuple[str, Any]]) -> None:
        """`blank`: the columns without rows, whose names and types are those of the table."""
        self._schema = pa.schema([(name, _array(column).type) for name, column in blank])
        if file.suffix == ".csv":
            self._writer: Any = pa.csv.CSVWriter(file, self._schema)
        else:
            self._writer = pa.parquet.ParquetWriter(file, self._schema, use_dictionary=["label"])

    def append(self, columns: Sequence[tuple[str, Any]]) -> None:
        """Append rows as a group of their own."""
        self._writer.write_batch(pa.record_batch([_array(column) for _, column in columns], schema=self._schema))

    def close(self) -> None:
        """Write the end of the file and close it."""
        self._writer.close()


def _array(column: Any) -> pa.Array:
    if isinstance(column, np.ndarray):
        return pa.array(column)
    offsets = np.concatenate([[0], column.stops]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(column.values))
