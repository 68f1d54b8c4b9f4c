"""Rows stored in a file as plain numbers, where the offset of any block is computed."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..row_source import RowArray, StoredRows
from .gathering import ColumnSelection, ReadPlan, check_finite, weights_of

_PIECE = 2**22  # bytes that are converted at a time
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
