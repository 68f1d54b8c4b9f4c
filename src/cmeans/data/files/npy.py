"""Layout of the numbers of an npy file and of an array in an npz."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..row_source import RowsError
from ..scratch import Scratch
from .raw import Bytes, RawFormat
from .spelling import one_line
from .stamps import StampedFile

_COPIED = 2**22  # bytes decompressed at a time


@dataclass(frozen=True)
class Npy:
    """The array of an npy file."""

    file: StampedFile

    @property
    def layout(self) -> RawFormat:
        with self.file.opened() as file:
            layout = RawFormat.of_npy(file)
        if layout.stop > self.file.size:
            raise ValueError(f"{layout.stop - self.file.size:,} bytes are missing at its end")
        return layout

    def whole(self) -> NDArray[Any]:
        # A memory map: rows are copied block by block, or not at all.
        return np.asanyarray(np.load(self.file.path, mmap_mode="r", allow_pickle=False))

    def bytes(self) -> tuple[Bytes, RawFormat]:
        return self.file, self.layout


@dataclass(frozen=True)
class Member:
    """One array of an npz file."""

    file: StampedFile
    name: str  # in the archive

    @property
    def layout(self) -> RawFormat:
        with zipfile.ZipFile(self.file.path) as archive, archive.open(self.name) as member:
            layout, size = RawFormat.of_npy(member), archive.getinfo(self.name).file_size
        if layout.stop > size:
            raise ValueError(f"{layout.stop - size:,} bytes of {self.name} are missing")
        return layout

    def whole(self) -> NDArray[Any]:
        _ = self.layout  # raises an error where the header describes more bytes than there are
        with zipfile.ZipFile(self.file.path) as archive, archive.open(self.name) as member:
            return np.asarray(np.lib.format.read_array(member, allow_pickle=False))

    def bytes(self) -> tuple[Bytes, RawFormat]:
        """Return the bytes in place where they are not compressed, else decompressed into scratch."""
        self.file.check()
        layout = self.layout
        with zipfile.ZipFile(self.file.path) as archive:
            found = archive.getinfo(self.name)
            if found.compress_type == zipfile.ZIP_STORED:
                return self.file, layout.moved(self._start(found.header_offset))
            scratch = Scratch(found.file_size)
            with archive.open(self.name) as member:
                while piece := member.read(_COPIED):
                    scratch.write(piece)
        return scratch, layout

    def _start(self, header: int) -> int:
        """Return the offset of its bytes: after a local header of 30 bytes, its name and extra fields."""
        local = np.empty(30, np.uint8)
        self.file.read_into((local, header))
        signature, name, extra = struct.unpack("<I22xHH", local.tobytes())
        if signature != 0x04034B50:
            raise ValueError(f"{self.name} is not where the archive says")
        return header + 30 + int(name) + int(extra)


@contextmanager
def readable(where: str, kind: str) -> Iterator[None]:
    """Turn errors of reading a NumPy file into one line about that file."""
    try:
        yield
    except RowsError:
        raise
    except (ValueError, EOFError, KeyError, SyntaxError, TokenError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise RowsError(f"{where}: cannot be read as {kind}; it is truncated or not such a file ({one_line(error)}).") from error
