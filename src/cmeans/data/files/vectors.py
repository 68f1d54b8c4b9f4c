"""Files of vectors, as vector indexes keep them: rows with their lengths before them (fvecs, ivecs,
bvecs), and one array behind its numbers of rows and columns (fbin, u8bin and the like)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import spans
from ..row_source import RowsError
from .claims import check_columns
from .raw_arrays import PIECE_BYTES, ArrayFile, Bytes, RawFormat
from .schema import Spelling, in_python
from .unchanged_files import StampedFile

# their endings, and the types of their numbers
_WITH_LENGTHS = {"fvecs": "<f4", "ivecs": "<i4", "bvecs": "u1"}
_WITH_HEADER = {"fbin": "<f4", "f16bin": "<f2", "ibin": "<i4", "u8bin": "u1", "i8bin": "i1"}
VECTORS = (*_WITH_LENGTHS, *_WITH_HEADER)
_COUNT = np.dtype("<i4")  # of a length, and of each of the two numbers of a header


@dataclass(frozen=True)
class _WithoutLengths:
    """The bytes of rows without the lengths before them, each of which is checked."""

    file: StampedFile
    columns: int
    row_bytes: int  # of its numbers

    def read_into(self, *parts: tuple[NDArray[Any], int]) -> None:
        """Fill arrays of whole rows."""
        record = _COUNT.itemsize + self.row_bytes
        for out, offset in parts:
            rows, first = out.view(np.uint8).reshape(-1, self.row_bytes), offset // self.row_bytes
            for start, stop in spans(len(rows), max(1, PIECE_BYTES // record)):
                both = np.empty((stop - start, record), np.uint8)
                self.file.read_into((both, (first + start) * record))
                lengths = both[:, : _COUNT.itemsize].copy().view(_COUNT)[:, 0]
                if (lengths != self.columns).any():
                    row = int(np.argmax(lengths != self.columns))
                    raise RowsError(
                        f"{self.file.path}: row {first + start + row} (rows count from 0) says "
                        f"that it has {lengths[row]:,} numbers, and row 0 that it has "
                        f"{self.columns:,}; rows of one length are needed."
                    )
                rows[start:stop] = both[:, _COUNT.itemsize :]


@dataclass(frozen=True)
class _VectorArray:
    """The array of a file, whose layout is known."""

    file: StampedFile
    source: Bytes
    layout: RawFormat

    def bytes(self) -> tuple[Bytes, RawFormat]:
        """Return the bytes where they are."""
        self.file.check()
        return self.source, self.layout


def open_vectors(path: Path, kind: str, spell: Spelling = in_python) -> ArrayFile:
    """Open a file of vectors, whose length must be the one that its first bytes make it."""
    file = StampedFile.of(path)
    opens = _with_lengths if kind in _WITH_LENGTHS else _with_header
    return ArrayFile(opens(file, kind), kind, spell)


def _with_lengths(file: StampedFile, kind: str) -> _VectorArray:
    dtype, (d,) = np.dtype(_WITH_LENGTHS[kind]), _head(file, 1)
    _check_width(file, d, kind)
    wide = d * dtype.itemsize
    n, rest = divmod(file.size, _COUNT.itemsize + wide)
    if rest:
        raise RowsError(
            f"{file.path}: is no {kind}, or truncated; its {file.size:,} bytes are no whole number "
            f"of rows of {d:,} numbers, as many as row 0 says that it has."
        )
    return _VectorArray(file, _WithoutLengths(file, d, wide), RawFormat(0, (n, d), dtype))


def _with_header(file: StampedFile, kind: str) -> _VectorArray:
    dtype, (n, d) = np.dtype(_WITH_HEADER[kind]), _head(file, 2)
    if n < 0:
        raise RowsError(f"{file.path}: is no {kind}; it says that it has {n:,} rows.")
    _check_width(file, d, kind)
    layout = RawFormat(2 * _COUNT.itemsize, (n, d), dtype)
    if layout.stop != file.size:
        raise RowsError(
            f"{file.path}: is no {kind}, or truncated; it says that it has {n:,} rows of {d:,} "
            f"numbers, which take {layout.stop:,} bytes, and it has {file.size:,}."
        )
    return _VectorArray(file, file, layout)


def _head(file: StampedFile, count: int) -> list[int]:
    """Return the first numbers of a file."""
    head = np.empty(count, _COUNT)
    file.read_into((head, 0))
    return [int(number) for number in head]


def _check_width(file: StampedFile, d: int, kind: str) -> None:
    if d < 1:
        raise RowsError(f"{file.path}: is no {kind}; it says that its rows have {d:,} numbers.")
    check_columns(file.path, d)


def as_fvecs(vectors: NDArray[np.float32]) -> bytes:
    """Return vectors (n, d) as the bytes of an fvecs file."""
    count, length = vectors.shape
    both = np.empty((count, length + 1), "<f4")
    both[:, 0] = np.array(length, _COUNT).view("<f4")
    both[:, 1:] = vectors
    return both.tobytes()
