"""NumPy files: one array (.npy), several (.npz), or a sparse matrix saved by SciPy (.npz)."""

from __future__ import annotations

import math
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tokenize import TokenError
from typing import Any, Protocol

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ...runtime.user_warnings import one_line
from ..arrays import sparse_damage
from ..row_source import RowArray, RowsError, StoredRows
from ..scratch import Scratch
from .schema import Field, Header, Spelling, in_python
from .tables import Block, ColumnSelection, ReadPlan, check_finite, gather, weights_of
from .unchanged_files import StampedFile

_PIECE = 2**22  # bytes that are converted or decompressed at a time
_ROWS = 8_192  # rows copied at a time
_SPARSE_PARTS = {"data", "format", "shape"}  # members that scipy.sparse.save_npz always writes
_WIDEST = 2**24  # columns of an array that takes no bytes, so that no file bounds them


class Bytes(Protocol):
    """A source of bytes at offsets."""

    def read_into(self, *parts: tuple[NDArray[Any], int]) -> None:
        """Fill contiguous arrays with the bytes from an offset on, each its own."""
        ...


@dataclass(frozen=True)
class RawFormat:
    """Layout of the numbers of an array."""

    offset: int  # bytes before the first one
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool = False

    @classmethod
    def of_npy(cls, file: Any) -> RawFormat:
        """Return the layout in an npy header, at which `file` is positioned; ValueError where there is none."""
        major, _ = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        if dtype.hasobject:
            raise ValueError("it holds Python objects")
        if not all(type(size) is int and 0 <= size <= sys.maxsize for size in shape):
            raise ValueError(f"its shape is {shape}")
        if math.prod(shape) * dtype.itemsize == 0 and max(shape, default=0) > _WIDEST:
            raise ValueError(f"its shape is {shape}, and its numbers have no bytes")
        return cls(file.tell(), shape, dtype, by_columns)

    @property
    def stop(self) -> int:
        """One past the last byte."""
        return self.offset + math.prod(self.shape) * self.dtype.itemsize

    def moved(self, by: int) -> RawFormat:
        return replace(self, offset=self.offset + by)

    def read(self, source: Bytes, picked: tuple[int, ...], rows: slice, out: NDArray[Any]) -> None:
        """Read some columns of some rows into `out` (b, picked)."""
        n, d = self.shape
        wide = self.dtype.itemsize
        if self.by_columns:
            columns = np.empty((len(picked), len(out)), self.dtype)
            places = [self.offset + (at * n + rows.start) * wide for at in picked]
            source.read_into(*zip(columns, places, strict=True))
            _convert(columns.T, out)
            return
        place = self.offset + rows.start * d * wide
        if out.dtype == self.dtype and picked == tuple(range(d)):
            source.read_into((out, place))
            return
        step = max(1, _PIECE // (d * wide))
        for start in range(0, len(out), step):
            piece = out[start : start + step]
            raw = np.empty((len(piece), d), self.dtype)
            source.read_into((raw, place + start * d * wide))
            _convert(raw[:, list(picked)], piece)


class RawRows(StoredRows):
    """Some columns of an array in a file, converted as they are read."""

    def __init__(self, source: Bytes, layout: RawFormat, choice: ColumnSelection, plan: ReadPlan) -> None:
        super().__init__(plan.where, plan.columns, choice.dtype, layout.shape[0])
        self._source, self._layout, self._picked, self._plan = source, layout, choice.picked, plan

    def memory(self, n_threads: int) -> int:
        return 2 * _PIECE * n_threads

    def _read(self, start: int, stop: int) -> RowArray:
        stop = min(stop, len(self))
        out = np.empty((max(0, stop - start), self.shape[1]), self.dtype)
        self._layout.read(self._source, self._picked, slice(start, stop), out)
        check_finite(out, start, self._plan)
        return out


def weights_in(source: Bytes, layout: RawFormat, column: int, plan: ReadPlan) -> NDArray[np.float64]:
    """Return one column of an array as weights (n,)."""
    n, d = layout.shape
    weights = np.empty((n, 1))
    step = max(1, _PIECE // (d * layout.dtype.itemsize))
    for start in range(0, n, step):
        part = weights[start : start + step]
        layout.read(source, (column,), slice(start, start + len(part)), part)
    return weights_of(weights[:, 0], 0, plan)


def _convert(numbers: NDArray[Any], out: NDArray[Any]) -> None:
    with np.errstate(over="ignore"):  # overflow gives infinity, which callers check
        out[...] = numbers


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
                while piece := member.read(_PIECE):
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
    # NotImplementedError: what zipfile raises for compression methods and versions that it cannot read
    except (ValueError, EOFError, KeyError, SyntaxError, TokenError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise RowsError(f"{where}: cannot be read as {kind}; it is truncated or not such a file ({one_line(error)}).") from error


class ArrayFile:
    """A dense array of rows; its columns have positions, no names."""

    def __init__(self, array: Npy | Member, kind: str, spell: Spelling, aside: tuple[str, NDArray[Any]] | None = None) -> None:
        """`aside`: name and values of a separate array of weights."""
        self.kind, self._array, self._aside = kind, array, aside
        where = str(array.file.path)
        with readable(where, kind):
            layout = array.layout
        if len(layout.shape) != 2:
            raise RowsError(f"{where}: holds an array of shape {layout.shape}; rows and columns are needed.")
        self.n_rows, d = layout.shape
        if aside is not None and aside[1].shape != (self.n_rows,):
            raise RowsError(f"{where}: the weights {aside[0]!r} have shape {aside[1].shape}, but there are {self.n_rows} rows.")
        self.header = _header(where, layout.dtype, d, spell)

    @property
    def aside(self) -> str | None:
        return None if self._aside is None else self._aside[0]

    def plan(self, choice: ColumnSelection) -> ReadPlan:
        labels = self.header.labels(choice.picked)
        return ReadPlan(self.header.where, labels, choice.dtype, self.aside or choice.weight, self.n_rows)

    def stored(self, choice: ColumnSelection) -> StoredRows:
        """Return the rows without reading them into memory."""
        plan = self.plan(choice)
        with readable(plan.where, self.kind):
            source, layout = self._array.bytes()
        rows = RawRows(source, layout, choice, plan)
        if self._aside is not None:
            rows.weight = weights_of(self._aside[1], 0, plan)
        elif choice.weight is not None:
            rows.weight = weights_in(source, layout, choice.weight, plan)
        return rows

    def read(self, choice: ColumnSelection) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return rows (n, d) and weights (n,) in memory, or in a memory map where the file stores them in the requested form."""
        plan = self.plan(choice)
        with readable(plan.where, self.kind):
            x = self._array.whole()
        every = choice.picked == tuple(range(x.shape[1]))
        if plan.weight is None and x.dtype == choice.dtype and x.flags.c_contiguous and every and len(x):
            for start in range(0, len(x), _ROWS):
                check_finite(x[start : start + _ROWS], start, plan)
            return x, None
        return gather(self._blocks(x, choice), plan)

    def _blocks(self, x: NDArray[Any], choice: ColumnSelection) -> Iterator[Block]:
        for start in range(0, len(x), _ROWS):
            rows = slice(start, start + _ROWS)
            block = [x[rows, at] for at in choice.places]
            if self._aside is not None:
                block.append(self._aside[1][rows])
            yield block


class SparseFile:
    """A sparse matrix of rows, which stays sparse, and in memory."""

    kind, aside = "npz", None

    def __init__(self, where: str, x: Any, spell: Spelling) -> None:
        damage = sparse_damage(x)
        if damage is not None:
            raise RowsError(f"{where}: is a damaged sparse {x.format.upper()} matrix: {damage}.")
        self._x: Any = scipy.sparse.csr_array(x)
        self.n_rows = int(self._x.shape[0])
        self.header = _header(where, self._x.dtype, self._x.shape[1], spell)

    def read(self, choice: ColumnSelection) -> tuple[Any, NDArray[np.float64] | None]:
        where = self.header.where
        if choice.weight is not None:
            weight = self.header.spell("weight")
            raise RowsError(f"{where}: {weight}: a sparse matrix has no column of weights; weigh sparse rows by sample_weight from Python.")
        if not self._x.shape[0]:
            raise RowsError(f"{where}: has no rows.")
        picked = list(choice.picked)
        x = (self._x if picked == list(range(self._x.shape[1])) else self._x[:, picked]).astype(choice.dtype)
        finite = np.isfinite(x.data)
        if not finite.all():
            row = int(np.searchsorted(x.indptr, int(np.argmin(finite)), side="right")) - 1
            raise RowsError(f"{where}: a value in row {row} (rows count from 0) is not finite.")
        return x, None


def open_npy(file: Path, spell: Spelling = in_python) -> ArrayFile:
    return ArrayFile(Npy(StampedFile.of(file)), "npy", spell)


def open_npz(file: Path, name: str | None, weight: str | int | None, spell: Spelling = in_python) -> ArrayFile | SparseFile:
    """Return the rows of an npz file; `weight` names one of its arrays, else a column."""
    stamped = StampedFile.of(file)
    with readable(str(file), "npz"), file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
        names = list(archive.files)
        if set(names) >= _SPARSE_PARTS and name is None:
            return SparseFile(str(file), _loaded(stamped), spell)
        chosen, members = _which(file, names, name, spell), archive.zip.namelist()
        aside = None
        if isinstance(weight, str) and weight in names:
            aside = (weight, _numbers(Member(stamped, _member(weight, members)), weight))
    return ArrayFile(Member(stamped, _member(chosen, members)), "npz", spell, aside)


def _member(name: str, members: Sequence[str]) -> str:
    """Return the name of an array's member in the archive."""
    return name if name in members else f"{name}.npy"


def _numbers(array: Member, name: str) -> NDArray[Any]:
    values = array.whole()
    if values.dtype.kind not in "biuf":
        raise RowsError(f"{array.file.path}: the weights {name!r} are {values.dtype}, no numbers.")
    return values


def _loaded(file: StampedFile) -> Any:
    """Return a sparse matrix, checked for entries beyond its indptr, which SciPy would drop silently."""
    x: Any = scipy.sparse.load_npz(file.path)
    stored = Member(file, "data.npy").layout.shape
    if x.format in ("csr", "csc", "bsr") and stored[:1] != x.data.shape[:1]:
        raise RowsError(
            f"{file.path}: is a damaged sparse {x.format.upper()} matrix: its indptr reaches {len(x.data)} of {stored[0]} entries."
        )
    return x


def _header(where: str, dtype: np.dtype[Any], d: int, spell: Spelling) -> Header:
    single = dtype.kind == "f" and dtype.itemsize <= 4  # in either byte order
    return Header(where, tuple(Field(at, dtype.name, dtype.kind in "biuf", single) for at in range(d)), spell)


def _which(file: Path, names: list[str], name: str | None, spell: Spelling) -> str:
    if not names:
        raise RowsError(f"{file}: holds no arrays.")
    if name is not None and name not in names:
        raise RowsError(f"{file}: {spell('array', name)}: there is no such array; it holds {', '.join(names)}.")
    if name is None and "X" not in names and len(names) > 1:
        example = spell("array", names[0])
        raise RowsError(f"{file}: holds {len(names)} arrays ({', '.join(names)}); say which holds the rows, e.g. {example}.")
    return name or ("X" if "X" in names else names[0])
