"""Small tables as Parquet, through pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.files.arrow import pa
from ..storage.atomic import writing_to


def write_columns(file: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write a small table as Parquet; WriteError where that fails."""
    with writing_to(file):
        pa.parquet.write_table(pa.table(dict(columns)), file)


def read_labels(file: Path) -> NDArray[np.int32]:
    """Return the labels that a command wrote as Parquet."""
    return np.asarray(pa.parquet.read_table(file, columns=["label"])["label"].to_numpy())
