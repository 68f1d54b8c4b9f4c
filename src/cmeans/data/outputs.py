"""Results by row: the arrays that the last pass fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, Float64, IntArray, device, namespace


@dataclass(frozen=True)
class RowOutputs:
    """Arrays that the last pass fills by row, for all rows (each task its own part) or for the rows of one task alone."""

    labels: IntArray  # (n,)
    memberships: Array  # (n, c) in the rows' library and dtype; (n, 0) where labels tell them
    nearest: Float64  # (n,) squared distance to the centre of the row's own label
    start: int = 0  # number of the first row

    @classmethod
    def empty(cls, n_rows: int, n_clusters: int, like: Array, start: int = 0) -> RowOutputs:
        """Return empty arrays for rows of the library and dtype of `like`."""
        xp = namespace(like)
        memberships = xp.empty((n_rows, n_clusters), dtype=like.dtype, device=device(like))
        return cls(np.empty(n_rows, dtype=np.intp), memberships, np.empty(n_rows), start)

    def between(self, start: int, stop: int) -> RowOutputs:
        """Return the arrays of rows start ... stop - 1, which are written to in place."""
        here = self.place(start, stop - start)
        return RowOutputs(self.labels[here], self.memberships[here, ...], self.nearest[here], start)

    def place(self, start: int, n_rows: int) -> slice:
        """Return the slice of the arrays for `n_rows` rows from number `start` on."""
        return slice(start - self.start, start - self.start + n_rows)


def label_type(n_clusters: int) -> Any:
    """Return the smallest signed integers that number so many clusters, and -1."""
    return next(dtype for dtype in (np.int8, np.int16, np.int32, np.int64) if n_clusters - 1 <= np.iinfo(dtype).max)
