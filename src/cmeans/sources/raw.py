"""Rows that lie in a file as plain numbers: any block of them is where arithmetic says."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..stored import Rows, StoredRows
from .gathering import Choice, Plan, check_finite, weights_of

_PIECE = 2**22  # bytes that are converted at a time


class Bytes(Protocol):
    """Something with bytes at offsets."""

    def read_into(self, *parts: tuple[NDArray[Any], int]) -> None:
        """Fill contiguous arrays with the bytes from an offset on, each its own."""
        ...


@dataclass(frozen=True)
class Layout:
    """Where the numbers of an array are."""

    offset: int  # bytes before the first one
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool = False

    @classmethod
    def of_npy(cls, file: Any) -> Layout:
        """What the header of an npy says; ValueError where it is none. `file` is open at it."""
        major, _ = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        if dtype.hasobject:
            raise ValueError("it holds Python objects")
        return cls(file.tell(), shape, dtype, by_columns)

    @property
    def stop(self) -> int:
        """One past the last byte."""
        return self.offset + math.prod(self.shape) * self.dtype.itemsize

    def moved(self, by: int) -> Layout:
        return replace(self, offset=self.offset + by)

    def read(self, source: Bytes, picked: tuple[int, ...], rows: slice, out: NDArray[Any]) -> None:
        """Some columns of some rows into `out` (b, picked)."""
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

    def __init__(self, source: Bytes, layout: Layout, choice: Choice, plan: Plan) -> None:
        self.where, self.columns, self.dtype = plan.where, plan.columns, choice.dtype
        self.shape = (layout.shape[0], len(plan.columns))
        self._source, self._layout, self._picked, self._plan = source, layout, choice.picked, plan

    def memory(self, n_threads: int) -> int:
        return 2 * _PIECE * n_threads

    def _read(self, start: int, stop: int) -> Rows:
        stop = min(stop, len(self))
        out = np.empty((max(0, stop - start), self.shape[1]), self.dtype)
        self._layout.read(self._source, self._picked, slice(start, stop), out)
        check_finite(out, start, self._plan)
        return out


def weights_in(source: Bytes, layout: Layout, column: int, plan: Plan) -> NDArray[np.float64]:
    """One column of an array as weights (n,)."""
    n, d = layout.shape
    weights = np.empty((n, 1))
    step = max(1, _PIECE // (d * layout.dtype.itemsize))
    for start in range(0, n, step):
        part = weights[start : start + step]
        layout.read(source, (column,), slice(start, start + len(part)), part)
    return weights_of(weights[:, 0], 0, plan)


def _convert(numbers: NDArray[Any], out: NDArray[Any]) -> None:
    with np.errstate(over="ignore"):  # found as infinity by whoever looks
        out[...] = numbers
