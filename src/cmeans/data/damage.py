"""Faults of the arrays and matrices that users give."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Array


def sparse_damage(x: Array) -> str | None:
    """Describe the indices of a SciPy sparse matrix that point beyond its own arrays; None where
    all are valid, or it has none.

    SciPy does not check them and would read outside the arrays. Columns in any order and several
    times in a row are valid.
    """
    if x.ndim != 2 or x.format not in ("csr", "csc", "bsr", "coo"):
        return None
    if x.format == "coo":
        return _stray(x.row, "rows", x.shape[0], len(x.data)) or _stray(
            x.col, "columns", x.shape[1], len(x.data)
        )
    height, width = x.data.shape[1:] if x.format == "bsr" else (1, 1)
    lines, places = x.shape[0] // height, x.shape[1] // width
    if x.format == "csc":
        lines, places = places, lines
    indptr = x.indptr
    if indptr.shape != (lines + 1,) or indptr.dtype.kind not in "iu":
        return (
            f"its indptr has shape {indptr.shape} of {indptr.dtype}, where {lines + 1} whole "
            "numbers belong"
        )
    if indptr[0] != 0:
        return f"its indptr begins at {indptr[0]}, and must at 0"
    if bool((indptr[1:] < indptr[:-1]).any()):
        return f"its indptr falls after number {int(np.argmax(indptr[1:] < indptr[:-1]))}"
    if indptr[-1] != len(x.indices):
        return f"its indptr ends at {indptr[-1]}, and it has {len(x.indices)} entries"
    return _stray(x.indices, "indices", places, len(x.data))


def _stray(numbers: npt.NDArray[Any], name: str, limit: int, count: int) -> str | None:
    """Describe indices that are not one per entry or lie outside 0 ... limit - 1; None where all
    are valid."""
    if numbers.shape != (count,) or numbers.dtype.kind not in "iu":
        return (
            f"its {name} have shape {numbers.shape} of {numbers.dtype}, where {count} whole "
            "numbers belong"
        )
    if count and (numbers.min() < 0 or numbers.max() >= limit):
        return (
            f"its {name} run from {numbers.min()} to {numbers.max()}, and may run from 0 to "
            f"{limit - 1}"
        )
    return None


def masked_entries(values: Any) -> int:
    """Count the masked entries of a NumPy masked array or a list of them: `np.asarray` would return
    the values under the mask."""
    if isinstance(values, np.ma.MaskedArray):
        return int(np.sum(values.mask))
    if isinstance(values, (list, tuple)):
        return sum(int(np.sum(item.mask)) for item in values if isinstance(item, np.ma.MaskedArray))
    return 0
