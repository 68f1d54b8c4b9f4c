"""Labels and memberships as Parquet or CSV, through pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.arrow import batch_rows, pa


def write_table(file: Path, labels: NDArray[Any], memberships: NDArray[Any] | None) -> None:
    """Labels (n,) and memberships (n, c) as Parquet, or as CSV by the ending, some rows at a time: no second table in memory."""
    names = ["label", *(f"u{j}" for j in range(memberships.shape[1]))] if memberships is not None else ["label"]
    kinds = [pa.int32(), *([pa.from_numpy_dtype(memberships.dtype)] * memberships.shape[1])] if memberships is not None else [pa.int32()]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    with _writer(file, schema) as writer:
        step = batch_rows(len(names), least=8_192)  # each makes a row group, which should not be small
        for start in range(0, len(labels), step):
            rows = slice(start, start + step)
            columns = [labels[rows].astype(np.int32)]
            if memberships is not None:
                columns += list(np.ascontiguousarray(memberships[rows].T))
            writer.write_batch(pa.record_batch([pa.array(column) for column in columns], schema=schema))


def write_columns(file: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """A small table as Parquet."""
    pa.parquet.write_table(pa.table(dict(columns)), file)


def read_labels(file: Path) -> NDArray[np.int32]:
    """The labels that `write_table` wrote as Parquet."""
    return np.asarray(pa.parquet.read_table(file, columns=["label"])["label"].to_numpy())


def _writer(file: Path, schema: pa.Schema) -> Any:
    if file.suffix == ".csv":
        return pa.csv.CSVWriter(file, schema)
    return pa.parquet.ParquetWriter(file, schema, use_dictionary=["label"])
