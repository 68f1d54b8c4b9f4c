"""Temporary storage on the disk: files without a name, which disappear with the objects that hold
them."""

from __future__ import annotations

import errno
import math
import os
import tempfile
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .row_source import ColumnLabel, RowArray, RowsError, StoredRows

_PIECE = 2**24  # bytes that are written at a time


class Scratch:
    """A temporary file in `tempfile.gettempdir()` that only grows. Any thread may read, one may
    write."""

    def __init__(self, size: int = 0) -> None:
        """`size`: bytes that will be needed, as far as known; RowsError where the disk has no room
        for them."""
        self.folder = tempfile.gettempdir()
        self.size = 0
        self._seeking = threading.Lock()
        if size > _free(self.folder):
            raise _no_room(size, self.folder)
        try:
            self.descriptor, name = tempfile.mkstemp(prefix="cmeans-", dir=self.folder)
        except OSError as error:
            raise _no_room(size, self.folder, error) from error
        try:
            os.unlink(name)
            weakref.finalize(self, os.close, self.descriptor)
        except OSError:  # Windows keeps the names of open files
            weakref.finalize(self, _close_and_remove, self.descriptor, name)

    def write(self, data: npt.NDArray[Any] | bytes) -> None:
        """Append bytes; a full disk is a RowsError."""
        left = bytes_of(np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data)
        while left:
            try:
                done = os.write(self.descriptor, left[:_PIECE])
            except OSError as error:
                raise _no_room(self.size + len(left), self.folder, error) from error
            left = left[done:]
            self.size += done

    def write_at(self, offset: int, data: bytes | memoryview) -> None:
        """Write bytes at a place, beyond the end too; a full disk is a RowsError."""
        left = memoryview(data)
        while left:
            try:
                if hasattr(os, "pwrite"):
                    done = os.pwrite(self.descriptor, left[:_PIECE], offset)
                else:
                    with self._seeking:
                        os.lseek(self.descriptor, offset, os.SEEK_SET)
                        done = os.write(self.descriptor, left[:_PIECE])
            except OSError as error:
                raise _no_room(offset + len(left), self.folder, error) from error
            left, offset = left[done:], offset + done

    def read_into(self, *parts: tuple[npt.NDArray[Any], int]) -> None:
        """Fill contiguous arrays, each with the bytes from its offset on."""
        for out, offset in parts:
            left = bytes_of(out)
            while left:
                done = self._read_some(left, offset)
                if not done:
                    raise OSError(errno.EIO, "scratch file ends early", self.folder)
                left, offset = left[done:], offset + done

    def _read_some(self, out: memoryview, offset: int) -> int:
        if hasattr(os, "preadv"):
            try:
                return os.preadv(self.descriptor, [out], offset)
            except OSError as error:
                raise OSError(error.errno, error.strerror, self.folder) from error
        with self._seeking:
            os.lseek(self.descriptor, offset, os.SEEK_SET)
            found = os.read(self.descriptor, len(out))
        out[: len(found)] = found
        return len(found)

    def reserve(self, size: int) -> None:
        """Allocate all of the file now, so that later writes do not find the disk full."""
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self.descriptor, 0, size)
                self.size = size
            else:
                zeros = bytes(_PIECE)
                while self.size < size:
                    self.write(zeros[: size - self.size])
        except OSError as error:
            raise _no_room(size, self.folder, error) from error


def bytes_of(x: npt.NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array as a memory view."""
    return x.reshape(-1).view(np.uint8).data


class ScratchRows(StoredRows):
    """Rows in a scratch file, appended one block after the other and then read; few of them in
    memory instead."""

    def __init__(
        self,
        where: str,
        columns: Sequence[ColumnLabel],
        dtype: npt.DTypeLike,
        n_rows: int | None = None,
        in_memory: int = 0,
    ) -> None:
        """`n_rows`: number of rows to come, as far as known; `in_memory`: bytes up to which they
        stay in memory."""
        super().__init__(where, columns, dtype, 0)
        self._in_memory = in_memory
        # the rows where they are in memory
        self._held = np.empty(((n_rows or 0) if in_memory else 0, len(columns)), dtype)
        self._scratch = None if in_memory else Scratch((n_rows or 0) * self._row_bytes)

    def append(self, x: RowArray) -> None:
        """Append rows (b, d)."""
        start, stop = len(self), len(self) + len(x)
        if self._scratch is None and stop * self._row_bytes > self._in_memory:
            self._scratch = Scratch()
            self._scratch.write(self._held[:start])
            self._held = self._held[:0].copy()
        if self._scratch is not None:
            self._scratch.write(np.ascontiguousarray(x, self.dtype))
        else:
            if stop > len(self._held):
                # The system moves pages instead of copying them when a large array grows in place.
                self._held.resize(
                    (max(stop, len(self._held) * 3 // 2), self.shape[1]), refcheck=False
                )
            self._held[start:stop] = x
        self.shape = (stop, self.shape[1])

    def loaded(self, most_bytes: int, most_rows: int = 0) -> RowArray | StoredRows:
        if self._scratch is not None:
            return super().loaded(most_bytes, most_rows)
        self._held.resize(self.shape, refcheck=False)
        return self._held

    def memory(self, n_threads: int) -> int:
        return 0

    def _read(self, start: int, stop: int) -> RowArray:
        if self._scratch is None:
            return self._held[start : min(stop, len(self))].copy()
        out = np.empty((max(0, min(stop, len(self)) - start), self.shape[1]), self.dtype)
        self._scratch.read_into((out, start * self._row_bytes))
        return out


def room(shape: tuple[int, ...], dtype: npt.DTypeLike, in_memory: int) -> npt.NDArray[Any]:
    """Return an uninitialised array: in memory below that many bytes, else in a scratch file that
    is allocated completely.

    RowsError where the disk is too full; later writes cannot fail for that reason.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < in_memory:
        return np.empty(shape, dtype)
    scratch = Scratch(size)
    scratch.reserve(size)
    with os.fdopen(os.dup(scratch.descriptor), "r+b") as file:
        mapped = np.memmap(file, dtype, "r+", shape=shape)
    weakref.finalize(mapped, id, scratch)  # keeps the file as long as its map
    return mapped.view(np.ndarray)


def has_room(size: int) -> bool:
    """True where scratch of so many bytes can be had."""
    return size <= _free(tempfile.gettempdir())


def _free(folder: str) -> float:
    # an unusable folder gives an error when it is used
    if not hasattr(os, "statvfs") or not os.path.isdir(folder):
        return math.inf
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize


def _no_room(size: int, folder: str, error: OSError | None = None) -> RowsError:
    reason = f"; {error.strerror or error}" if error else ""
    return RowsError(
        f"no room for {size:,} bytes of scratch in {folder} (set TMPDIR to a folder with more of "
        f"it{reason})."
    )


def _close_and_remove(descriptor: int, name: str) -> None:
    os.close(descriptor)
    os.unlink(name)
