"""Keys by which rows are found again that are equal to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import IntArray, is_sparse

Keys = npt.NDArray[np.uint64]
FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)  # of splitmix64
SHIFTS = np.array([30, 27, 31], np.uint64)
STEP = np.uint64(0x9E3779B97F4A7C15)


def row_keys(rows: Any) -> Keys:
    """Return a number of 64 bits for each row: equal for equal rows, else almost surely another.
    Numbers that CSR rows do not hold count as little as zeros of dense ones; stored zeros count."""
    if is_sparse(rows):
        columns = hashed(rows.indices.astype(np.uint64) * STEP)
        values = hashed(_bits(rows.data) ^ columns)
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
        keys: Keys = ends[rows.indptr[1:]] - ends[rows.indptr[:-1]]
        return keys
    keys = np.zeros(len(rows), np.uint64)
    names = hashed(np.arange(rows.shape[1], dtype=np.uint64) * STEP)
    for column, name in zip(rows.T, names, strict=True):
        keys += np.where(column == 0, np.uint64(0), hashed(_bits(column) ^ name))
    return keys


class KeyPlaces:
    """Places of keys among some keys."""

    def __init__(self, keys: Keys) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def __call__(self, wanted: Keys) -> IntArray:
        """Return the first place (b,) of each wanted key; -1 where it is not among them."""
        if not len(self._sorted):
            return np.full(len(wanted), -1)
        found = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        places: IntArray = np.where(self._sorted[found] == wanted, self._order[found], -1)
        return places


def _bits(values: npt.NDArray[Any]) -> Keys:
    bits: Keys = np.ascontiguousarray(values + 0.0, np.float64).view(np.uint64)
    return bits


def hashed(bits: Keys) -> Keys:
    """Return numbers of 64 bits that look like chance, other ones for other ones."""
    for shift, factor in zip(SHIFTS, FACTORS, strict=False):
        bits = (bits ^ (bits >> shift)) * factor
    mixed: Keys = bits ^ (bits >> SHIFTS[-1])
    return mixed
