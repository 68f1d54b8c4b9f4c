"""Floats of two bytes, as embeddings are stored: float16, and bfloat16, which NumPy holds as two
bytes without a type of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .row_source import RowArray, RowsError, StoredRows

_PIECE = 2**20  # numbers that are converted at a time


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """True for the bfloat16 of ml_dtypes, and for two bytes of no type, as which NumPy writes it to
    files."""
    return dtype.kind == "V" and dtype.itemsize == 2 and dtype.names is None


def is_half(dtype: np.dtype[Any]) -> bool:
    """True for floats of two bytes."""
    return dtype == np.float16 or is_bfloat16(dtype)


def in_single(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return bfloat16 as float32, of which it is the upper half; other numbers as they are."""
    if not is_bfloat16(values.dtype):
        return values
    upper = np.ascontiguousarray(values).view(np.uint16).astype(np.uint32)
    upper <<= 16
    return upper.view(np.float32)


class HalfRows(StoredRows):
    """Rows (n, d) of an array of half precision, in memory or a map of a file, converted to float32
    as they are read."""

    def __init__(self, x: npt.NDArray[Any]) -> None:
        name = "float16" if x.dtype == np.float16 else "bfloat16"
        super().__init__(f"X ({name})", range(x.shape[1]), np.float32, x.shape[0])
        self._x = x

    def memory(self, n_threads: int) -> int:
        return 0

    def _read(self, start: int, stop: int) -> RowArray:
        rows = self._x[start:stop]
        out, step = np.empty(rows.shape, np.float32), max(1, _PIECE // rows.shape[1])
        for at in range(0, len(rows), step):
            out[at : at + step] = in_single(rows[at : at + step])
        finite = np.isfinite(out)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            what = "NaN" if np.isnan(out[row, column]) else "infinity"
            raise RowsError(
                f"{self.where}: contains {what}, first at row {start + row}, column {column}; "
                "leave out or mend such rows."
            )
        return out

    def _take(self, rows: npt.NDArray[np.intp], at_once: int, n_threads: int) -> RowArray:
        return HalfRows(self._x[rows]).read(0, len(rows))
