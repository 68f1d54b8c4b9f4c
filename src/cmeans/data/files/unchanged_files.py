"""Files that must not change while they are read. Bytes are read without a memory map, which fails
where a file shrinks."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..row_source import RowsError
from ..scratch import bytes_of


@contextmanager
def naming(where: object) -> Iterator[None]:
    """Errors of the system inside the block name the file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(where)
        raise


@dataclass(frozen=True)
class StampedFile:
    """A file as it was when first opened."""

    path: Path
    size: int
    modified: int  # nanoseconds
    inode: int

    @classmethod
    def of(cls, path: Path) -> StampedFile:
        try:
            found = path.stat()
        except FileNotFoundError:
            raise RowsError(f"{path}: no such file.") from None
        if not stat.S_ISREG(found.st_mode):
            what = (
                "a pipe"
                if stat.S_ISFIFO(found.st_mode)
                else "a folder"
                if stat.S_ISDIR(found.st_mode)
                else "a device or the like"
            )
            raise RowsError(f"{path}: is {what}, no plain file; write the rows to a file first.")
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def check(self) -> None:
        """Raise RowsError if the file has changed."""
        try:
            same = StampedFile.of(self.path) == self
        except (OSError, RowsError):
            same = False
        if not same:
            raise RowsError(f"{self.path}: changed (or disappeared) while it was being read.")

    @contextmanager
    def opened(self) -> Iterator[io.RawIOBase]:
        """Open the file, if it has not changed."""
        self.check()
        with naming(self.path), self.path.open("rb", buffering=0) as file:
            yield file

    def read_into(self, *parts: tuple[NDArray[Any], int]) -> None:
        """Fill contiguous arrays with the bytes from an offset on, each its own, and have the
        system read ahead as many more."""
        with self.opened() as file:
            for out, offset in parts:
                left = bytes_of(out)
                file.seek(offset)
                while left:
                    done = file.readinto(left)
                    if not done:
                        raise RowsError(f"{self.path}: is truncated.")
                    left = left[done:]
                if isinstance(file, io.FileIO) and hasattr(os, "posix_fadvise"):
                    os.posix_fadvise(
                        file.fileno(), offset + out.nbytes, out.nbytes, os.POSIX_FADV_WILLNEED
                    )
