"""Facts of each part of rows when it is first read, and messages about bad ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.row_source import RowsError

Mark = tuple[int, int]  # of rows: their number, and a sum over their bits and places


@dataclass(frozen=True)
class PartitionCheck:
    """Shape of a partition, its first invalid number, and what it is known by."""

    shape: tuple[int, ...]
    bad: tuple[int, int, str] | None  # row, column and kind of the first NaN or infinity
    holes: bool = False  # values are missing, and may be
    mark: Mark = (0, 0)


def look(rows: Any, holes: bool) -> PartitionCheck:
    """Check the rows of a partition for NaN, unless values may be missing, and infinity."""
    with np.errstate(all="ignore"):
        total = rows.sum()
    if np.isfinite(total) or rows.ndim != 2:
        return PartitionCheck(rows.shape, None, mark=mark_of(rows))
    bad = np.argwhere(np.isinf(rows) if holes else ~np.isfinite(rows))
    if not len(bad):
        missing = holes and bool(np.isnan(rows).any())
        return PartitionCheck(rows.shape, None, missing, mark_of(rows))
    row, column = map(int, bad[0])
    return PartitionCheck(
        rows.shape, (row, column, "NaN" if np.isnan(rows[row, column]) else "infinity")
    )


def mark_of(rows: Any) -> Mark:
    """Return the number of rows, and the sum of their bits, each times odd numbers of its row and
    its column, modulo 2^32 or 2^64: rows in another order are other rows."""
    bits = np.ascontiguousarray(rows).view(f"u{rows.dtype.itemsize}")
    odd = np.arange(1, 2 * max(bits.shape), 2, dtype=bits.dtype)
    return len(rows), int(bits @ odd[: bits.shape[1]] @ odd[: len(bits)])


def same_rows(rows: Any, mark: Mark, name: str, advice: str) -> Any:
    """Return the rows of a part where they are those of its first reading."""
    if mark_of(rows) != mark:
        raise RowsError(
            f"{name} has other rows than when it was first read, so that no result could be true; "
            f"{advice}."
        )
    return rows


def refuse_partition(
    seen: PartitionCheck, estimator_name: str, name: str, start: int, columns: tuple[Any, ...]
) -> None:
    """Refuse a partition of another width, or with numbers that are none; `start`: the number of
    its first row among all."""
    if len(seen.shape) != 2 or seen.shape[1] != len(columns):
        raise RowsError(
            f"{estimator_name}: {name} has shape {seen.shape}, where {len(columns)} columns were "
            "announced."
        )
    if seen.bad is not None:
        row, column, what = seen.bad
        partial = ', or take kernel="linear" and missing="partial"' if what == "NaN" else ""
        raise ValueError(
            f"{estimator_name}: Input X contains {what}, first in {name.partition(' of ')[0]} at "
            f"its row {row} (row {start + row} of all), column {columns[column]!r}. Remove or "
            f"impute such rows, mend the column{partial}."
        )
