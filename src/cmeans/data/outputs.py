"""Results by row: the arrays that the last pass fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..runtime.stored_classes import stored
from .arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    device,
    fill_rows,
    is_foreign,
    namespace,
    to_numpy,
)

# Results as type checkers see them; arrays of other libraries act alike.
FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
Labels: TypeAlias = npt.NDArray[np.integer[Any]]


@stored
@dataclass(frozen=True)
class TopMemberships:
    """The largest memberships of rows, in falling order; a row has none in other clusters.

    Attributes
    ----------
    clusters : (n, k) numbers of the clusters.
    values : (n, k) memberships in them, in the rows' library and dtype.
    """

    clusters: npt.NDArray[np.int32]
    values: Array

    def sparse(self, n_clusters: int) -> Any:
        """Return the same as a CSR array (n, c), which shares the memory of the values."""
        n, k = self.clusters.shape
        parts = to_numpy(self.values).reshape(-1), self.clusters.reshape(-1), k * np.arange(n + 1)
        return sparse.csr_array(parts, shape=(n, n_clusters))

    def dense(self, n_clusters: int) -> Array:
        """Return the same as an array (n, c)."""
        u = np.zeros((len(self.clusters), n_clusters), to_numpy(self.values).dtype)
        np.put_along_axis(u, self.clusters.astype(np.intp), to_numpy(self.values), axis=1)
        return as_like(u, self.values) if is_foreign(self.values) else u


@dataclass(frozen=True)
class RowOutputs:
    """Arrays that the last pass fills by row, for all rows (each task its own part) or for the rows
    of one task alone."""

    labels: IntArray  # (n,)
    # (n, c) in the rows' library and dtype; (n, k), falling, where a row has k at most; (n, 0)
    # where labels tell them
    memberships: Array
    nearest: Float64  # (n,) squared distance to the centre of the row's own label
    start: int = 0  # number of the first row
    # (n, k) which memberships these are; None: those in all clusters
    clusters: npt.NDArray[np.int32] | None = None

    @classmethod
    def empty(
        cls, n_rows: int, n_clusters: int, like: Array, start: int = 0, most: int | None = None
    ) -> RowOutputs:
        """Return empty arrays for rows of the library and dtype of `like`, with memberships in
        `most` clusters at most."""
        xp, width = namespace(like), n_clusters if most is None else min(most, n_clusters)
        memberships = xp.empty((n_rows, width), dtype=like.dtype, device=device(like))
        clusters = None if most is None else np.empty((n_rows, width), np.int32)
        return cls(np.empty(n_rows, dtype=np.intp), memberships, np.empty(n_rows), start, clusters)

    @property
    def top(self) -> TopMemberships | None:
        """The memberships with their clusters, where they are those of some alone."""
        return None if self.clusters is None else TopMemberships(self.clusters, self.memberships)

    def dense_memberships(self, n_clusters: int) -> Array:
        """Return the memberships (n, c) in all clusters."""
        return self.memberships if self.top is None else self.top.dense(n_clusters)

    def between(self, start: int, stop: int) -> RowOutputs:
        """Return the arrays of rows start ... stop - 1, which are written to in place."""
        here = self.place(start, stop - start)
        clusters = None if self.clusters is None else self.clusters[here]
        return RowOutputs(
            self.labels[here], self.memberships[here, ...], self.nearest[here], start, clusters
        )

    def leave_out(self, rows: IntArray) -> None:
        """Write that rows of these numbers belong to no cluster, and that no distance of theirs is
        known."""
        here = rows - self.start
        self.labels[here], self.nearest[here] = -1, np.nan
        fill_rows(self.memberships, here, 0.0)

    def place(self, start: int, n_rows: int) -> slice:
        """Return the slice of the arrays for `n_rows` rows from number `start` on."""
        return slice(start - self.start, start - self.start + n_rows)


def label_type(n_clusters: int) -> Any:
    """Return the smallest signed integers that number so many clusters, and -1."""
    return next(
        dtype
        for dtype in (np.int8, np.int16, np.int32, np.int64)
        if n_clusters - 1 <= np.iinfo(dtype).max
    )
