"""PyArrow's door, and what its schemas and columns are to the rest of the command: headers, NumPy's arrays, one line of complaint."""

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

from .columns import Field, Header
from .errors import InputError, one_line

__all__ = ["header_of", "is_numeric", "kind_of", "pa", "readable", "values"]


def header_of(where: str, schema: pa.Schema, names: Sequence[str] | None = None) -> Header:
    """The columns of a schema; `names`: what they are called, where that is not what the schema says."""
    singles, index = (pa.float16(), pa.float32()), _index_names(schema)
    named = zip(names or schema.names, schema.types, strict=True)
    return Header(where, tuple(Field(name, kind_of(kind), is_numeric(kind), kind in singles, name in index) for name, kind in named))


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
    """Whatever pyarrow finds wrong with a file inside the block is one line about that file."""
    try:
        yield
    except (InputError, MemoryError, pa.ArrowCancelled):
        raise
    except (pa.ArrowException, OSError) as error:
        text = one_line(error)
        hint = "has values of mixed types" if "conversion error" in text else f"cannot be read as {kind}; it is damaged or not such a file"
        raise InputError(f"{where}: {hint} ({text}).") from error


def _index_names(schema: pa.Schema) -> frozenset[str]:
    """Columns that pandas wrote for the index of its frame: row numbers and the like, not data."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return frozenset(name for name in index if isinstance(name, str))
