"""PyArrow's door, and what its schemas and columns are to the rest of the library: headers, NumPy's arrays, one line of complaint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
from numpy.typing import NDArray

from ..stored import RowsError
from .columns import Field, Header
from .spelling import Spelling, in_python, one_line
from .stamps import StampedFile

__all__ = ["batch_rows", "header_of", "is_numeric", "kind_of", "pa", "readable", "reading", "release", "values"]

ROWS, CELLS = 65_536, 4_000_000  # rows, and numbers, that are decoded or written at a time, at most


def batch_rows(n_columns: int, least: int, cells: int = CELLS) -> int:
    return min(ROWS, max(least, cells // max(n_columns, 1)))


def release() -> None:
    """Give back what pyarrow would keep for its next file, some 100 MB."""
    pa.default_memory_pool().release_unused()


def header_of(where: str, schema: pa.Schema, names: Sequence[str] | None = None, spell: Spelling = in_python) -> Header:
    """The columns of a schema; `names`: what they are called, where that is not what the schema says."""
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
    """One column of a batch for NumPy; empty cells become NaN, which is refused later with its place."""
    if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


@contextmanager
def readable(where: object, kind: str) -> Iterator[None]:
    """Whatever pyarrow finds wrong with a file inside the block is one line about that file; what the system does names the file."""
    try:
        yield
    except (RowsError, MemoryError, pa.ArrowCancelled):
        raise
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            error.filename = str(where)
            raise
        text = one_line(error)
        hint = "has values of mixed types" if "conversion error" in text else f"cannot be read as {kind}; it is damaged or not such a file"
        raise RowsError(f"{where}: {hint} ({text}).") from error


@contextmanager
def reading(file: StampedFile, kind: str) -> Iterator[None]:
    """The same for a file that must not change; where it did, that is what was wrong with it."""
    file.check()
    try:
        with readable(file.path, kind):
            yield
    except RowsError:
        file.check()
        raise


def _index_names(schema: pa.Schema) -> frozenset[str]:
    """Columns that pandas wrote for the index of its frame: row numbers and the like, not data."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return frozenset(name for name in index if isinstance(name, str))
