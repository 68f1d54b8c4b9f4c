"""NumPy files: one array (.npy), several (.npz), or a sparse matrix saved by SciPy (.npz)."""

from __future__ import annotations

import math
import struct
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..damage import sparse_damage
from ..row_source import RowsError
from ..scratch import Scratch
from .claims import check_columns, check_unpacked
from .raw_arrays import PIECE_BYTES, ArrayFile, Bytes, RawFormat, numbered_header, readable
from .schema import ColumnChoice, Spelling, in_python
from .unchanged_files import StampedFile

_SPARSE_PARTS = {"data", "format", "shape"}  # members that scipy.sparse.save_npz always writes
_WIDEST = 2**24  # columns of an array that takes no bytes, so that no file bounds them


def npy_layout(file: Any) -> RawFormat:
    """Return the layout in an npy header, at which `file` is positioned; ValueError where there
    is none."""
    major, _ = np.lib.format.read_magic(file)
    read = (
        np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    )
    shape, by_columns, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    if not all(type(size) is int and 0 <= size <= sys.maxsize for size in shape):
        raise ValueError(f"its shape is {shape}")
    if math.prod(shape) * dtype.itemsize == 0 and max(shape, default=0) > _WIDEST:
        raise ValueError(f"its shape is {shape}, and its numbers have no bytes")
    return RawFormat(file.tell(), shape, dtype, by_columns)


@dataclass(frozen=True)
class RawArray:
    """The array of an npy file, or one of those in an npz file."""

    file: StampedFile
    member: str | None = None  # its name in the archive

    @contextmanager
    def opened(self) -> Iterator[tuple[Any, RawFormat]]:
        """Open its bytes after the header, which tells their layout."""
        with ExitStack() as stack:
            if self.member is None:
                file: Any = stack.enter_context(self.file.opened())
                size = self.file.size
            else:
                archive = stack.enter_context(zipped(self.file.path))
                file, size = (
                    stack.enter_context(archive.open(self.member)),
                    archive.getinfo(self.member).file_size,
                )
            layout = npy_layout(file)
            if layout.stop > size:
                raise ValueError(
                    f"{layout.stop - size:,} bytes are missing at the end of {self.member or 'it'}"
                )
            check_unpacked(self.file.path, size, self.file.size)
            yield file, layout

    @property
    def layout(self) -> RawFormat:
        with self.opened() as (_, layout):
            return layout

    def bytes(self) -> tuple[Bytes, RawFormat]:
        """Return the bytes in place where they are not compressed, else decompressed into scratch.
        Of a member all bytes are read, at whose end their checksum is compared."""
        self.file.check()
        with self.opened() as (unpacked, layout):
            if self.member is None:
                return self.file, layout
            with zipped(self.file.path) as archive:
                found = archive.getinfo(self.member)
            in_place = found.compress_type == zipfile.ZIP_STORED
            scratch = None if in_place else Scratch(found.file_size - layout.offset)
            while piece := unpacked.read(PIECE_BYTES):
                if scratch is not None:
                    scratch.write(piece)
        if scratch is not None:
            return scratch, replace(layout, offset=0)
        return self.file, replace(layout, offset=layout.offset + self._start(found.header_offset))

    def _start(self, header: int) -> int:
        """Return the offset of a member's bytes: after a local header of 30 bytes, its name and
        extra fields."""
        local = np.empty(30, np.uint8)
        self.file.read_into((local, header))
        signature, name, extra = struct.unpack("<I22xHH", local.tobytes())
        if signature != 0x04034B50:
            raise ValueError(f"{self.member} is not where the archive says")
        return header + 30 + int(name) + int(extra)


@contextmanager
def zipped(file: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive."""
    with file.open("rb") as opened, zipfile.ZipFile(opened) as archive:
        yield archive


class SparseFile:
    """A sparse matrix of rows, which stays sparse, and in memory."""

    kind, aside = "npz", None

    def __init__(self, where: str, x: Any, spell: Spelling) -> None:
        damage = sparse_damage(x)
        if damage is not None:
            raise RowsError(f"{where}: is a damaged sparse {x.format.upper()} matrix: {damage}.")
        self._x: Any = scipy.sparse.csr_array(x)
        self.n_rows = int(self._x.shape[0])
        self.header = numbered_header(where, self._x.dtype, self._x.shape[1], spell)

    def read(self, choice: ColumnChoice) -> Any:
        """Return the rows as CSR."""
        where = choice.where
        if choice.weight is not None:
            weight = self.header.spell("weight")
            raise RowsError(
                f"{where}: {weight}: a sparse matrix has no column of weights; weigh sparse rows "
                "by sample_weight from Python."
            )
        if not self._x.shape[0]:
            raise RowsError(f"{where}: has no rows.")
        picked = list(choice.picked)
        x = (self._x if picked == list(range(self._x.shape[1])) else self._x[:, picked]).astype(
            choice.dtype
        )
        finite = np.isfinite(x.data)
        if not finite.all():
            row = int(np.searchsorted(x.indptr, int(np.argmin(finite)), side="right")) - 1
            raise RowsError(f"{where}: a value in row {row} (rows count from 0) is not finite.")
        return x


def open_npy(file: Path, spell: Spelling = in_python) -> ArrayFile:
    return ArrayFile(RawArray(StampedFile.of(file)), "npy", spell)


def open_npz(
    file: Path, name: str | None, weight: str | int | None, spell: Spelling = in_python
) -> ArrayFile | SparseFile:
    """Return the rows of an npz file; `weight` names one of its arrays, else a column."""
    stamped = StampedFile.of(file)
    with (
        readable(str(file), "npz"),
        file.open("rb") as opened,
        np.load(opened, allow_pickle=False) as archive,
    ):
        names = list(archive.files)
        if set(names) >= _SPARSE_PARTS and name is None:
            return SparseFile(str(file), _loaded(stamped), spell)
        chosen, members = _which(file, names, name, spell), archive.zip.namelist()
        aside = None
        if isinstance(weight, str) and weight in names:
            aside = (weight, _numbers(RawArray(stamped, _member(weight, members)), weight))
    return ArrayFile(RawArray(stamped, _member(chosen, members)), "npz", spell, aside)


def _member(name: str, members: Sequence[str]) -> str:
    """Return the name of an array's member in the archive."""
    return name if name in members else f"{name}.npy"


def _numbers(array: RawArray, name: str) -> NDArray[Any]:
    """Return the weights in an array beside the rows."""
    with array.opened() as (file, layout):
        if layout.dtype.kind not in "biuf":
            raise RowsError(
                f"{array.file.path}: the weights {name!r} are {layout.dtype}, no numbers."
            )
        values = np.frombuffer(file.read(), layout.dtype, math.prod(layout.shape))
    return values.reshape(layout.shape, order="F" if layout.by_columns else "C")


def _loaded(file: StampedFile) -> Any:
    """Return a sparse matrix, checked for entries beyond its indptr, which SciPy would drop
    silently."""
    with zipped(file.path) as archive:
        check_unpacked(file.path, sum(member.file_size for member in archive.infolist()), file.size)
    with file.path.open("rb") as opened:
        x: Any = scipy.sparse.load_npz(opened)
    check_columns(file.path, x.shape[1])
    # the pointers to its rows as CSR
    check_unpacked(file.path, np.dtype(np.int64).itemsize * x.shape[0], file.size)
    stored = RawArray(file, "data.npy").layout.shape
    if x.format in ("csr", "csc", "bsr") and stored[:1] != x.data.shape[:1]:
        raise RowsError(
            f"{file.path}: is a damaged sparse {x.format.upper()} matrix: its indptr reaches "
            f"{len(x.data)} of {stored[0]} entries."
        )
    return x


def _which(file: Path, names: list[str], name: str | None, spell: Spelling) -> str:
    if not names:
        raise RowsError(f"{file}: holds no arrays.")
    if name is not None and name not in names:
        raise RowsError(
            f"{file}: {spell('array', name)}: there is no such array; it holds {', '.join(names)}."
        )
    if name is None and "X" not in names and len(names) > 1:
        example = spell("array", names[0])
        raise RowsError(
            f"{file}: holds {len(names)} arrays ({', '.join(names)}); say which holds the rows, "
            f"e.g. {example}."
        )
    return name or ("X" if "X" in names else names[0])
