"""Rows from NumPy's own files: one array (.npy), several (.npz), or a sparse matrix saved by SciPy (.npz)."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import DTypeLike, NDArray

from .columns import Field, Header
from .errors import InputError, one_line
from .gathering import Block, Plan, check_finite, gather

_ROWS = 8_192  # rows copied at a time
_SPARSE_PARTS = {"data", "format", "shape"}  # what scipy.sparse.save_npz always writes


class ArraySource:
    """A dense array of rows; its columns have positions, no names."""

    def __init__(self, where: str, x: NDArray[Any], aside: tuple[str, NDArray[Any]] | None = None) -> None:
        """`aside`: name and values of an array of weights that lies beside x."""
        if x.ndim != 2:
            raise InputError(f"{where}: holds an array of shape {x.shape}; rows and columns are needed.")
        if aside is not None and aside[1].shape != (len(x),):
            raise InputError(f"{where}: the weights {aside[0]!r} have shape {aside[1].shape}, but there are {len(x)} rows.")
        self._x, self._aside = x, aside
        single = x.dtype in (np.dtype(np.float16), np.dtype(np.float32))
        self.header = Header(where, tuple(Field(at, x.dtype.name, x.dtype.kind in "biuf", single) for at in range(x.shape[1])))

    def read(self, picked: Sequence[int], weight: int | None, dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        x, name = self._x, self._aside[0] if self._aside else weight
        plan = Plan(self.header.where, self.header.labels(picked), dtype, name, len(x))
        if name is None and x.dtype == dtype and x.flags.c_contiguous and list(picked) == list(range(x.shape[1])) and len(x):
            for start in range(0, len(x), _ROWS):
                check_finite(x[start : start + _ROWS], start, plan)
            return x, None  # as it is: a memory map stays one
        return gather(self._blocks(picked, weight), plan)

    def _blocks(self, picked: Sequence[int], weight: int | None) -> Iterator[Block]:
        for start in range(0, len(self._x), _ROWS):
            rows = slice(start, start + _ROWS)
            block = [self._x[rows, at] for at in picked]
            if self._aside is not None:
                block.append(self._aside[1][rows])
            elif weight is not None:
                block.append(self._x[rows, weight])
            yield block


class SparseSource:
    """A sparse matrix of rows, which stays sparse."""

    def __init__(self, where: str, x: Any) -> None:
        self._x: Any = scipy.sparse.csr_array(x)
        dtype = self._x.dtype
        single = dtype == np.float32
        self.header = Header(where, tuple(Field(at, dtype.name, dtype.kind in "biuf", single) for at in range(self._x.shape[1])))

    def read(self, picked: Sequence[int], weight: int | None, dtype: DTypeLike) -> tuple[Any, NDArray[np.float64] | None]:
        where = self.header.where
        if weight is not None:
            raise InputError(f"{where}: --weight: a sparse matrix has no column of weights; weigh sparse rows from Python.")
        if not self._x.shape[0]:
            raise InputError(f"{where}: has no rows.")
        x = (self._x if list(picked) == list(range(self._x.shape[1])) else self._x[:, list(picked)]).astype(dtype)
        finite = np.isfinite(x.data)
        if not finite.all():
            row = int(np.searchsorted(x.indptr, int(np.argmin(finite)), side="right")) - 1
            raise InputError(f"{where}: a value in row {row} (rows count from 0) is not finite.")
        return x, None


def open_npy(file: Path) -> ArraySource:
    with _readable(file, "npy"):
        # A memory map: rows are copied block by block, or not at all.
        return ArraySource(str(file), np.load(file, mmap_mode="r", allow_pickle=False))


def open_npz(file: Path, name: str | None, weight: str | None) -> tuple[ArraySource | SparseSource, bool]:
    """The rows of an npz file, and whether `weight` named an array of the file (else it is a column)."""
    with _readable(file, "npz"), file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
        names = list(archive.files)
        if set(names) >= _SPARSE_PARTS and name is None:
            return SparseSource(str(file), scipy.sparse.load_npz(file)), False
        aside = (weight, archive[weight]) if weight is not None and weight in names else None
        return ArraySource(str(file), archive[_which(file, names, name)], aside), aside is not None


def _which(file: Path, names: list[str], name: str | None) -> str:
    if not names:
        raise InputError(f"{file}: holds no arrays.")
    if name is not None and name not in names:
        raise InputError(f"{file}: --array {name}: there is no such array; it holds {', '.join(names)}.")
    if name is None and "X" not in names and len(names) > 1:
        raise InputError(f"{file}: holds {len(names)} arrays ({', '.join(names)}); say which holds the rows, e.g. --array {names[0]}.")
    return name or ("X" if "X" in names else names[0])


@contextmanager
def _readable(file: Path, kind: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except (ValueError, EOFError, KeyError, SyntaxError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{file}: cannot be read as {kind}; it is truncated or not such a file ({one_line(error)}).") from error
