"""Rows that are not in memory: what the library asks of whoever brings them, block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]  # (b, d) float32 or float64, C-contiguous
Label = str | int  # a column's name, or its position where there are no names

TAKEN = 65_536  # rows that are read together where only some of them are wanted
REMEMBERED = 4  # samples that are kept, since the same few rows are asked for again and again
SMALL = 2_048  # rows of such a sample at most


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
    again: Callable[[], StoredRows] | None = None  # opens the same rows in another process, where that is possible
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
        """The named rows, in the given order; who gets them must not write to them."""
        if len(rows) > SMALL:
            return self._take(rows)
        samples: dict[bytes, Rows] = self.__dict__.setdefault("_samples", {})
        key = np.asarray(rows, dtype=np.int64).tobytes()
        taken = samples.get(key)
        if taken is None:
            taken = self._take(rows)
            taken.flags.writeable = False
            for former in list(samples)[: max(0, len(samples) + 1 - REMEMBERED)]:
                samples.pop(former, None)  # another thread may have been here first
            samples[key] = taken
        return taken

    def _take(self, rows: npt.NDArray[np.intp]) -> Rows:
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

    def engine(self, here: Any) -> Any:
        """Who runs passes over these rows where they are, as a context; `here`: this process's threads, whose context is open."""
        return nullcontext(here)

    def part(self, start: int, stop: int) -> StoredRows:
        """Rows start ... stop - 1, still where they are."""
        return _Part(self, start, stop)

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


class _View(StoredRows):
    """Another way to look at stored rows."""

    def __init__(self, rows: StoredRows) -> None:
        self.where, self.shape, self.dtype, self.columns, self.weight = rows.where, rows.shape, rows.dtype, rows.columns, rows.weight
        self._rows = rows

    def memory(self, n_threads: int) -> int:
        return self._rows.memory(n_threads)


class _Part(_View):
    def __init__(self, rows: StoredRows, start: int, stop: int) -> None:
        super().__init__(rows)
        self.again = None if rows.again is None else partial(_part_again, rows.again, start, stop)
        self.shape, self._start = (stop - start, rows.shape[1]), start
        self.weight = None if rows.weight is None else rows.weight[start:stop]

    def _read(self, start: int, stop: int) -> Rows:
        return self._rows.read(self._start + start, self._start + max(start, min(stop, len(self))))

    def _take(self, rows: npt.NDArray[np.intp]) -> Rows:
        return self._rows._take(rows + self._start)


class _Mapped(_View):
    def __init__(self, rows: StoredRows, function: Callable[[Rows], Rows]) -> None:
        super().__init__(rows)
        self.again = None if rows.again is None else partial(_mapped_again, rows.again, function)
        self._function = function

    def _read(self, start: int, stop: int) -> Rows:
        return self._function(self._rows.read(start, stop))

    def _take(self, rows: npt.NDArray[np.intp]) -> Rows:
        return self._function(self._rows._take(rows))


def _part_again(again: Callable[[], StoredRows], start: int, stop: int) -> StoredRows:
    return again().part(start, stop)


def _mapped_again(again: Callable[[], StoredRows], function: Callable[[Rows], Rows]) -> StoredRows:
    return again().mapped(function)
