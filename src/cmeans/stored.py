"""Rows that are not in memory: what the library asks of whoever brings them, block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]  # (b, d) float32 or float64, C-contiguous
Label = str | int  # a column's name, or its position where there are no names

TAKEN = 65_536  # rows that are read together where only some of them are wanted


class RowsError(ValueError):
    """Rows that cannot be read, or not used. The message is one line: which file, what came, what to do."""


class StoredRows(ABC):
    """Rows (n, d) that lie elsewhere, in a file or in many, and come as NumPy arrays.

    Any thread may ask, several at once. What comes is finite: whoever decodes it looks, and says where it is not.
    """

    where: str  # the file or folder, for messages
    shape: tuple[int, int]
    dtype: np.dtype[Any]  # float32 or float64
    columns: tuple[Label, ...]
    weight: npt.NDArray[np.float64] | None = None  # (n,) where a column of weights came with the rows
    ndim = 2

    @abstractmethod
    def memory(self, n_threads: int) -> int:
        """Bytes held at most while that many threads ask."""

    @abstractmethod
    def _read(self, start: int, stop: int) -> Rows: ...

    def read(self, start: int, stop: int) -> Rows:
        """Rows start ... stop - 1; what fails for a reason of the system is tried a second time."""
        try:
            return self._read(start, stop)
        except OSError:
            try:
                return self._read(start, stop)
            except OSError as error:
                what = error.strerror or str(error)
                where = error.filename or self.where
                raise RowsError(f"{where}: rows {start} to {stop - 1} cannot be read, tried twice ({what}).") from error

    def take(self, rows: npt.NDArray[np.intp]) -> Rows:
        """The named rows, in the given order."""
        out = np.empty((len(rows), self.shape[1]), self.dtype)
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        done = 0
        while done < len(ordered):
            start = int(ordered[done])
            upto = int(np.searchsorted(ordered, start + TAKEN))
            out[order[done:upto]] = self.read(start, int(ordered[upto - 1]) + 1)[ordered[done:upto] - start]
            done = upto
        return out

    def mapped(self, function: Callable[[Rows], Rows]) -> StoredRows:
        """The same rows with a function of a block applied to them as they come; it keeps shape and type."""
        return _Mapped(self, function)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of the rows, were they in memory."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def __repr__(self) -> str:
        n, d = self.shape
        return f"<{n:,} x {d:,} {self.dtype.name} rows of {self.where}>"


class _Mapped(StoredRows):
    def __init__(self, rows: StoredRows, function: Callable[[Rows], Rows]) -> None:
        self.where, self.shape, self.dtype, self.columns, self.weight = rows.where, rows.shape, rows.dtype, rows.columns, rows.weight
        self._rows, self._function = rows, function

    def memory(self, n_threads: int) -> int:
        return self._rows.memory(n_threads)

    def _read(self, start: int, stop: int) -> Rows:
        return self._function(self._rows.read(start, stop))

    def take(self, rows: npt.NDArray[np.intp]) -> Rows:
        return self._function(self._rows.take(rows))
