"""Small tables as Parquet, through pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.arrow import pa


def write_columns(file: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """A small table as Parquet."""
    pa.parquet.write_table(pa.table(dict(columns)), file)


def read_labels(file: Path) -> NDArray[np.int32]:
    """The labels that a command wrote as Parquet."""
    return np.asarray(pa.parquet.read_table(file, columns=["label"])["label"].to_numpy())
