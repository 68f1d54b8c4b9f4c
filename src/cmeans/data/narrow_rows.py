"""Numbers of one or two bytes, as embeddings are stored, which float32 holds exactly: int8, uint8,
float16, and bfloat16, which NumPy holds as two bytes without a type of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .row_source import RowArray, StoredRows

_PIECE = 2**20  # numbers that are converted at a time


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """True for the bfloat16 of ml_dtypes, and for two bytes of no type, as which NumPy writes it to
    files."""
    return dtype.kind == "V" and dtype.itemsize == 2 and dtype.names is None


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """True for the types of one or two bytes whose numbers become float32 as they are read."""
    return dtype in (np.int8, np.uint8, np.float16) or is_bfloat16(dtype)


def in_single(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return bfloat16 as float32, of which it is the upper half; other numbers as they are."""
    if not is_bfloat16(values.dtype):
        return values
    upper = np.ascontiguousarray(values).view(np.uint16).astype(np.uint32)
    upper <<= 16
    return upper.view(np.float32)


class NarrowRows(StoredRows):
    """Rows (n, d) of an array of narrow numbers, in memory or a map of a file, which stay as they
    are: a block of them becomes float32 when it is read, and is gone with its task."""

    is_here = True

    def __init__(
        self,
        x: npt.NDArray[Any],
        *,
        holes: bool = False,
        decode: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] = in_single,
        n_columns: int | None = None,
    ) -> None:
        """`holes`: whether values are missing, as NaN; `decode`: returns the numbers of some rows
        of x, `n_columns` of them in each row, as many as x has by default."""
        columns = range(x.shape[1] if n_columns is None else n_columns)
        super().__init__("X", columns, np.float32, x.shape[0])
        self._x, self.holes, self._decode = x, holes, decode

    @property
    def may_be_infinite(self) -> bool:
        """True of floats, among which there may be infinity and NaN."""
        return self._x.dtype.kind not in "iu"

    def memory(self, n_threads: int) -> int:
        return 0

    def part(self, start: int, stop: int) -> NarrowRows:
        return self._like(self._x[start:stop])

    def selected(self, rows: npt.NDArray[np.intp]) -> NarrowRows:
        return self._like(self._x[rows])

    def _like(self, x: npt.NDArray[Any]) -> NarrowRows:
        return NarrowRows(x, holes=self.holes, decode=self._decode, n_columns=self.shape[1])

    def _read(self, start: int, stop: int) -> RowArray:
        rows = self._x[start:stop]
        out = np.empty((len(rows), self.shape[1]), np.float32)
        step = max(1, _PIECE // self.shape[1])
        for at in range(0, len(rows), step):
            out[at : at + step] = self._decode(rows[at : at + step])
        return out

    def _take(self, rows: npt.NDArray[np.intp], at_once: int, n_threads: int) -> RowArray:
        return self.selected(rows).read(0, len(rows))
