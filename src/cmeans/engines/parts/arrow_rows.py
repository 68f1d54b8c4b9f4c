"""Rows in Arrow batches, which Spark and Ray hand to whoever maps over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


def rows_of_batch(batch: Any, names: tuple[str, ...], dtype: Any) -> npt.NDArray[Any]:
    """Return columns of an Arrow batch or table as rows (b, d); missing values are NaN."""
    rows = np.empty((batch.num_rows, len(names)), dtype)
    for place, name in enumerate(names):
        column = batch.column(batch.schema.get_field_index(name))
        whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        rows[:, place] = whole.to_numpy(zero_copy_only=False)
    return rows


@dataclass(frozen=True)
class Packing:
    """A map from Arrow batches to the bytes of their rows, which are quicker to keep and to read
    than columns."""

    names: tuple[str, ...]
    dtype: Any

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from ...data.arrow_library import pa

        for batch in batches:
            rows = rows_of_batch(batch, self.names, self.dtype)
            yield pa.RecordBatch.from_arrays([pa.array([rows.tobytes()], pa.binary())], ["rows"])


def unpacked(packed: Any, width: int, dtype: Any) -> npt.NDArray[Any]:
    """Return the rows (b, d) of some pieces of bytes."""
    rows = np.frombuffer(b"".join(packed), dtype)
    return rows.reshape(-1, width)


def float_type(kinds: dict[str, str], single: set[str], numbers: set[str], owner: str) -> Any:
    """Return the float type that holds columns of some kinds, by name; errors name `owner`."""
    others = [name for name, kind in kinds.items() if kind not in numbers]
    if others or not kinds:
        named = ", ".join(f"{name!r} ({kinds[name]})" for name in others[:10])
        raise ValueError(
            f"{owner}: columns of X that are not numbers: {named or 'all'}. Drop or encode them."
        )
    return np.float32 if set(kinds.values()) <= single else np.float64
