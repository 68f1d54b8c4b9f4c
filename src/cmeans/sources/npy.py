"""Where the numbers of an npy file are, and of an array in an npz."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scratch import Scratch
from ..stored import RowsError
from .raw import Bytes, Layout
from .spelling import one_line
from .stamps import StampedFile

_COPIED = 2**22  # bytes unpacked at a time


@dataclass(frozen=True)
class Npy:
    """The array of an npy file."""

    file: StampedFile

    @property
    def layout(self) -> Layout:
        with self.file.opened() as file:
            layout = Layout.of_npy(file)
        if layout.stop > self.file.size:
            raise ValueError(f"{layout.stop - self.file.size:,} bytes are missing at its end")
        return layout

    def whole(self) -> NDArray[Any]:
        # A memory map: rows are copied block by block, or not at all.
        return np.asanyarray(np.load(self.file.path, mmap_mode="r", allow_pickle=False))

    def bytes(self) -> tuple[Bytes, Layout]:
        return self.file, self.layout


@dataclass(frozen=True)
class Member:
    """One array of an npz file."""

    file: StampedFile
    name: str  # in the archive

    @property
    def layout(self) -> Layout:
        with zipfile.ZipFile(self.file.path) as archive, archive.open(self.name) as member:
            return Layout.of_npy(member)

    def whole(self) -> NDArray[Any]:
        with zipfile.ZipFile(self.file.path) as archive, archive.open(self.name) as member:
            return np.asarray(np.lib.format.read_array(member, allow_pickle=False))

    def bytes(self) -> tuple[Bytes, Layout]:
        """In place where it is not packed, else unpacked into scratch."""
        self.file.check()
        layout = self.layout
        with zipfile.ZipFile(self.file.path) as archive:
            found = archive.getinfo(self.name)
            if layout.stop > found.file_size:
                raise ValueError(f"{layout.stop - found.file_size:,} bytes of {self.name} are missing")
            if found.compress_type == zipfile.ZIP_STORED:
                return self.file, layout.moved(self._start(found.header_offset))
            scratch = Scratch(found.file_size)
            with archive.open(self.name) as member:
                while piece := member.read(_COPIED):
                    scratch.write(piece)
        return scratch, layout

    def _start(self, header: int) -> int:
        """Where its bytes begin: after a local header of 30 bytes, its name, and whatever else was noted there."""
        local = np.empty(30, np.uint8)
        self.file.read_into((local, header))
        signature, name, extra = struct.unpack("<I22xHH", local.tobytes())
        if signature != 0x04034B50:
            raise ValueError(f"{self.name} is not where the archive says")
        return header + 30 + int(name) + int(extra)


@contextmanager
def readable(where: str, kind: str) -> Iterator[None]:
    """Whatever is wrong with a file of NumPy's is one line about that file."""
    try:
        yield
    except RowsError:
        raise
    except (ValueError, EOFError, KeyError, SyntaxError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise RowsError(f"{where}: cannot be read as {kind}; it is truncated or not such a file ({one_line(error)}).") from error
