"""NumPy's own files: one array (.npy), several (.npz), or a sparse matrix saved by SciPy (.npz)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..stored import RowsError, StoredRows
from .columns import Field, Header
from .gathering import Block, Choice, Plan, check_finite, gather, weights_of
from .npy import Member, Npy, readable
from .raw import RawRows, weights_in
from .spelling import Spelling, in_python
from .stamps import StampedFile

_ROWS = 8_192  # rows copied at a time
_SPARSE_PARTS = {"data", "format", "shape"}  # what scipy.sparse.save_npz always writes


class ArrayFile:
    """A dense array of rows; its columns have positions, no names."""

    def __init__(self, array: Npy | Member, kind: str, spell: Spelling, aside: tuple[str, NDArray[Any]] | None = None) -> None:
        """`aside`: name and values of an array of weights that lies beside the rows."""
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

    def plan(self, choice: Choice) -> Plan:
        labels = self.header.labels(choice.picked)
        return Plan(self.header.where, labels, choice.dtype, self.aside or choice.weight, self.n_rows)

    def stored(self, choice: Choice) -> StoredRows:
        """The rows where they are."""
        plan = self.plan(choice)
        with readable(plan.where, self.kind):
            source, layout = self._array.bytes()
        rows = RawRows(source, layout, choice, plan)
        if self._aside is not None:
            rows.weight = weights_of(self._aside[1], 0, plan)
        elif choice.weight is not None:
            rows.weight = weights_in(source, layout, choice.weight, plan)
        return rows

    def read(self, choice: Choice) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Rows (n, d) and weights (n,) in memory, or in a map where the file has them as they are wanted."""
        plan = self.plan(choice)
        with readable(plan.where, self.kind):
            x = self._array.whole()
        every = choice.picked == tuple(range(x.shape[1]))
        if plan.weight is None and x.dtype == choice.dtype and x.flags.c_contiguous and every and len(x):
            for start in range(0, len(x), _ROWS):
                check_finite(x[start : start + _ROWS], start, plan)
            return x, None
        return gather(self._blocks(x, choice), plan)

    def _blocks(self, x: NDArray[Any], choice: Choice) -> Iterator[Block]:
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
        self._x: Any = scipy.sparse.csr_array(x)
        self.n_rows = int(self._x.shape[0])
        self.header = _header(where, self._x.dtype, self._x.shape[1], spell)

    def read(self, choice: Choice) -> tuple[Any, NDArray[np.float64] | None]:
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
    """The rows of an npz file; `weight` may name an array of it, else it is a column."""
    stamped = StampedFile.of(file)
    with readable(str(file), "npz"), file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
        names = list(archive.files)
        if set(names) >= _SPARSE_PARTS and name is None:
            return SparseFile(str(file), scipy.sparse.load_npz(file), spell)
        aside = (weight, archive[weight]) if isinstance(weight, str) and weight in names else None
        chosen = _which(file, names, name, spell)
        member = chosen if chosen in archive.zip.namelist() else f"{chosen}.npy"
    return ArrayFile(Member(stamped, member), "npz", spell, aside)


def _header(where: str, dtype: np.dtype[Any], d: int, spell: Spelling) -> Header:
    single = dtype.kind == "f" and dtype.itemsize <= 4  # in either order of bytes
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
