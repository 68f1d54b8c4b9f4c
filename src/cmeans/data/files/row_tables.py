"""Rows of results appended to a Parquet or CSV file, group after group, through pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .arrow import pa


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
