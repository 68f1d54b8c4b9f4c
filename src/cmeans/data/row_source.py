"""Rows that are not in memory: the interface of their sources, which are read block by block."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..runtime.shown_addresses import for_people
from ..runtime.user_warnings import printable
from .limits import DEFAULT, Limits

RowArray = npt.NDArray[np.floating[Any]]  # (b, d) float32 or float64, C-contiguous
ColumnLabel = str | int  # a column's name, or its position where there are no names

_HALF = 750  # characters of each end of a message
REMEMBERED = 4  # samples that are cached, as the same few rows are often needed again


class RowsError(ValueError):
    """Rows that cannot be read or used. The message is one line: the file, what was found, what to
    do.

    Names and cells of files are quoted in it, whose control characters are escaped; of a longer
    line, beginning and end are kept.
    """

    def __init__(self, message: str = "") -> None:
        cut = message if len(message) <= 2 * _HALF else f"{message[:_HALF]} ... {message[-_HALF:]}"
        super().__init__(printable(for_people(cut)))


class StoredRows(ABC):
    """Rows (n, d) stored in one file or many, which are read as NumPy arrays.

    All methods are thread-safe. Values are finite, or missing where the rows have `holes`: the
    decoders check them and report where they are not.
    """

    weight: npt.NDArray[np.float64] | None = None  # (n,) where the rows have a column of weights
    files: tuple[
        str | os.PathLike[str], ...
    ] = ()  # that the rows come from, where they come from files
    # opens the same rows in another process, where possible
    again: Callable[[], StoredRows] | None = None
    ndim = 2
    is_here = False  # True of rows in memory that are stored in fewer bytes than they have as read
    elsewhere = False  # True of rows that other machines hold
    engine: Any = None  # who runs passes over these, where others do
    answers_stay = False  # True where labels of rows stay with them on other machines
    holes = False  # True where values may be missing, which are NaN
    recipe: Any = None  # the `TableRecipe` of a table that was read by one

    def __init__(
        self, where: str, columns: Iterable[ColumnLabel], dtype: npt.DTypeLike, n_rows: int
    ) -> None:
        """`where`: the file or folder, for messages; `dtype`: float32 or float64."""
        self.where, self.columns, self.dtype = where, tuple(columns), np.dtype(dtype)
        self.shape = (n_rows, len(self.columns))
        self._samples: dict[bytes, RowArray] = {}  # those taken of late, by their row numbers

    @abstractmethod
    def memory(self, n_threads: int) -> int:
        """Bytes of memory at most while `n_threads` threads read."""

    @abstractmethod
    def _read(self, start: int, stop: int) -> RowArray: ...

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> RowArray:
        """Return all rows in memory, for libraries that take no other."""
        if copy is False:
            raise ValueError(f"{self.where}: rows that are read are a copy; leave copy=False out.")
        rows = self.read(0, len(self))
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def read(self, start: int, stop: int) -> RowArray:
        """Return rows start ... stop - 1; after an OSError reading is tried a second time."""
        try:
            return self._read(start, stop)
        except OSError:
            try:
                return self._read(start, stop)
            except OSError as error:
                reason = error.strerror or str(error)
                where = error.filename or self.where
                raise RowsError(
                    f"{where}: rows {start} to {stop - 1} cannot be read, tried twice ({reason})."
                ) from error

    def take(
        self, rows: npt.NDArray[np.intp], limits: Limits = DEFAULT, n_threads: int = 1
    ) -> RowArray:
        """Return the given rows, in that order, read by so many threads; callers must not write to
        them."""
        if len(rows) > limits.cached_rows:
            return self._take(rows, limits.read_rows, n_threads)
        samples, key = self._samples, np.asarray(rows, dtype=np.int64).tobytes()
        taken = samples.get(key)
        if taken is None:
            taken = self._take(rows, limits.read_rows, n_threads)
            taken.flags.writeable = False
            for former in list(samples)[: max(0, len(samples) + 1 - REMEMBERED)]:
                samples.pop(former, None)  # another thread may have removed it
            samples[key] = taken
        return taken

    def _take(self, rows: npt.NDArray[np.intp], at_once: int, n_threads: int) -> RowArray:
        out = np.empty((len(rows), self.shape[1]), self.dtype)
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]

        def read(done: int, end: int) -> None:
            """Read rows number done ... end - 1 of the ordered ones, at most `at_once` rows of the
            files at a time."""
            while done < end:
                start = int(ordered[done])
                stop = min(int(np.searchsorted(ordered, start + at_once)), end)
                out[order[done:stop]] = self.read(start, int(ordered[stop - 1]) + 1)[
                    ordered[done:stop] - start
                ]
                done = stop

        if n_threads == 1 or not len(rows) or ordered[-1] - ordered[0] < 2 * at_once:
            read(0, len(rows))
            return out
        # Each thread reads one stretch of the files: neighbours would decode, and wait for, the
        # same groups of rows.
        bounds = [len(rows) * part // n_threads for part in range(n_threads + 1)]
        with ThreadPoolExecutor(n_threads, thread_name_prefix="cmeans-take") as pool:
            list(pool.map(read, bounds[:-1], bounds[1:]))
        return out

    def loaded(self, most_bytes: int, most_rows: int = 0) -> RowArray | StoredRows:
        """Return the rows in memory where they are that few, else as they are."""
        return (
            self.read(0, len(self)) if self.nbytes <= most_bytes or len(self) <= most_rows else self
        )

    def for_sweeps(self) -> StoredRows:
        """Return the same rows, ready to be read several times."""
        return self

    def part(self, start: int, stop: int) -> StoredRows:
        """Return rows start ... stop - 1 without reading them."""
        return _Part(self, start, stop)

    def selected(self, rows: npt.NDArray[np.intp]) -> StoredRows:
        """Return the given rows, of those that are here, as they are stored."""
        raise NotImplementedError

    def mapped(self, function: Callable[[RowArray], RowArray]) -> StoredRows:
        """Return the same rows with a function applied to each block as it is read; it keeps shape
        and dtype."""
        return _Mapped(self, function)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes that the rows would take in memory."""
        return self.shape[0] * self._row_bytes

    @property
    def _row_bytes(self) -> int:
        return self.shape[1] * self.dtype.itemsize

    def __repr__(self) -> str:
        n, d = self.shape
        return f"<{n:,} x {d:,} {self.dtype.name} rows of {self.where}>"


def as_source(x: Any) -> StoredRows | None:
    """Return the rows that x stands for where they are not in memory, else None."""
    return x if isinstance(x, StoredRows) else None


class _View(StoredRows):
    """Rows derived from other stored rows."""

    def __init__(self, rows: StoredRows, n_rows: int) -> None:
        super().__init__(rows.where, rows.columns, rows.dtype, n_rows)
        self.weight = rows.weight
        self.files = rows.files
        self.elsewhere = rows.elsewhere
        self.holes = rows.holes
        self.recipe, self.engine, self.is_here = rows.recipe, rows.engine, rows.is_here
        self._rows = rows

    def for_sweeps(self) -> StoredRows:
        self._rows.for_sweeps()
        return self

    def memory(self, n_threads: int) -> int:
        return self._rows.memory(n_threads)


class _Part(_View):
    def __init__(self, rows: StoredRows, start: int, stop: int) -> None:
        super().__init__(rows, stop - start)
        self.again = None if rows.again is None else partial(_open_part, rows.again, start, stop)
        self._start = start
        self.weight = None if rows.weight is None else rows.weight[start:stop]

    def _read(self, start: int, stop: int) -> RowArray:
        return self._rows.read(self._start + start, self._start + max(start, min(stop, len(self))))

    def selected(self, rows: npt.NDArray[np.intp]) -> StoredRows:
        return self._rows.selected(rows + self._start)

    def _take(self, rows: npt.NDArray[np.intp], at_once: int, n_threads: int) -> RowArray:
        return self._rows._take(rows + self._start, at_once, n_threads)


class _Mapped(_View):
    def __init__(self, rows: StoredRows, function: Callable[[RowArray], RowArray]) -> None:
        super().__init__(rows, len(rows))
        self.again = None if rows.again is None else partial(_open_mapped, rows.again, function)
        self._function = function

    def _read(self, start: int, stop: int) -> RowArray:
        return self._function(self._rows.read(start, stop))

    def selected(self, rows: npt.NDArray[np.intp]) -> StoredRows:
        return self._rows.selected(rows).mapped(self._function)

    def _take(self, rows: npt.NDArray[np.intp], at_once: int, n_threads: int) -> RowArray:
        return self._function(self._rows._take(rows, at_once, n_threads))


def _open_part(again: Callable[[], StoredRows], start: int, stop: int) -> StoredRows:
    return again().part(start, stop)


def _open_mapped(
    again: Callable[[], StoredRows], function: Callable[[RowArray], RowArray]
) -> StoredRows:
    return again().mapped(function)
