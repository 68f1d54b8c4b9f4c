"""PyArrow, with those of its parts that are used."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet  # noqa: F401

__all__ = ["file_systems", "pa"]


def file_systems() -> Any:
    """Return PyArrow's file systems, which take a while to load."""
    import pyarrow.fs

    return pyarrow.fs
