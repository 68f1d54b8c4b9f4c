"""NumPy files: one array (.npy), several (.npz), or a sparse matrix saved by SciPy (.npz)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..arrays import sparse_damage
from ..row_source import RowsError, StoredRows
from .columns import Field, Header
from .gathering import Block, ColumnSelection, ReadPlan, check_finite, gather, weights_of
from .npy import Member, Npy, readable
from .raw import RawRows, weights_in
from .spelling import Spelling, in_python
from .stamps import StampedFile

_ROWS = 8_192  # rows copied at a time
_SPARSE_PARTS = {"data", "format", "shape"}  # members that scipy.sparse.save_npz always writes


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
