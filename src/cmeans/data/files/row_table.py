"""Files of results by row, written through PyArrow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrow_library import pa
from .arrow_columns import CELLS, ROWS

OWN = b"cmeans"  # the key in the metadata of files of results by row


class RowTable:
    """A file of results by row, as Parquet or CSV; small parts are joined into groups of a
    reasonable size. Complete when it is closed."""

    def __init__(self, file: Path, blank: Mapping[str, Any]) -> None:
        """`blank`: the columns without rows, whose names and types are those of the table."""
        self._schema = pa.table(dict(blank)).schema.with_metadata({OWN: b"results by row"})
        self._file = file.open("wb")  # PyArrow itself opens no names but those in UTF-8
        if file.suffix == ".csv":
            self._writer: Any = pa.csv.CSVWriter(self._file, self._schema)
        else:
            self._writer = pa.parquet.ParquetWriter(
                self._file, self._schema, use_dictionary=["label"]
            )
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
        with self._file:
            self._writer.close()


def lists(values: NDArray[Any], counts: NDArray[Any]) -> pa.Array:
    """Return an array of lists, from all their values one after the other and the length of each
    list."""
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))
