"""Memberships of rows in hard clusters, made of their labels where they are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, IntArray, as_like, dense_like


def one_hot(labels: IntArray, count: int, like: Array) -> Array:
    """Return memberships (n, count) of a partition, in the library and dtype of `like`."""
    return as_like(labels[:, None] == np.arange(count)[None, :], like)


@dataclass(frozen=True)
class MadeLabels:
    """Labels of rows, made where and when they are needed by a function of a first row number and
    one past the last."""

    function: Callable[[int, int], IntArray]
    first: int  # number of the first row
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: slice) -> IntArray:
        return self.function(self.first + rows.start, self.first + min(rows.stop, self.n_rows))

    def part(self, start: int, stop: int) -> MadeLabels:
        """Return the labels of rows start ... stop - 1, not yet made."""
        return MadeLabels(self.function, self.first + start, stop - start)


class Partition:
    """Memberships (n, count) of a partition, computed for the requested rows only."""

    def __init__(self, labels: IntArray | MadeLabels, count: int, like: Array) -> None:
        self.shape = (len(labels), count)
        # small, as it is sent to other processes
        self._labels, self._like = labels, like if like.ndim == 1 else dense_like(like)

    def __getitem__(self, key: tuple[slice, Any]) -> Array:
        return self.between(key[0].start, key[0].stop)

    def between(self, start: int, stop: int) -> Array:
        """Return the memberships of rows start ... stop - 1."""
        return one_hot(self._labels[start:stop], self.shape[1], self._like)

    def labels(self, start: int, count: int) -> IntArray:
        """Return the labels of so many rows from `start` on."""
        return self._labels[start : start + count]

    def part(self, start: int, stop: int) -> Partition:
        """Return the partition of rows start ... stop - 1."""
        if isinstance(self._labels, MadeLabels):
            labels: IntArray | MadeLabels = self._labels.part(start, stop)
        else:
            labels = self._labels[start:stop]
        return Partition(labels, self.shape[1], self._like)
