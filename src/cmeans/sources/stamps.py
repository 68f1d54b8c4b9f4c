"""Files that must not change while they are read, and bytes out of them without a map, which a shrinking file would tear."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..scratch import bytes_of
from ..stored import RowsError


@dataclass(frozen=True)
class StampedFile:
    """A file as it was when it was opened first."""

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
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def check(self) -> None:
        """RowsError if it is no longer the same."""
        try:
            same = StampedFile.of(self.path) == self
        except (OSError, RowsError):
            same = False
        if not same:
            raise RowsError(f"{self.path}: changed (or disappeared) while it was being read.")

    @contextmanager
    def opened(self) -> Iterator[io.FileIO]:
        """Its bytes, if it is still the same."""
        self.check()
        with self.path.open("rb", buffering=0) as file:
            yield file

    def read_into(self, *parts: tuple[NDArray[Any], int]) -> None:
        """Fill contiguous arrays with the bytes from an offset on, each its own, and let the system fetch as many more."""
        with self.opened() as file:
            for out, offset in parts:
                left = bytes_of(out)
                file.seek(offset)
                while left:
                    done = file.readinto(left)
                    if not done:
                        raise RowsError(f"{self.path}: is truncated.")
                    left = left[done:]
                if hasattr(os, "posix_fadvise"):
                    os.posix_fadvise(file.fileno(), offset + out.nbytes, out.nbytes, os.POSIX_FADV_WILLNEED)
