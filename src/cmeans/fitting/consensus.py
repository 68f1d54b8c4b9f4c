"""The co-association of rows: how many of several partitions keep two of them together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..runtime.stored_classes import stored

Mask = npt.NDArray[np.bool_]
ROWS_AT_ONCE = 16_384
ROUNDING = 1e-9  # of a share


@stored
@dataclass(frozen=True)
class CoAssociation:
    """Clusters in the space of the kernel  k(x, y) = the share of the members that keep x and y
    together.

    A coordinate of that space is a cluster of a member, where a row has one over the root of the
    number of members, or nothing: so a centre is known by the share of its weight in each cluster
    of each member, and nobody needs the kernel's values.
    """

    first: IntArray  # (r + 1,) the number of each member's first cluster, and of all
    shares: Float64  # (c, q) of a cluster's weight, in each cluster of the members

    def __post_init__(self) -> None:
        if self.shares.ndim != 2 or len(self.first) < 2 or self.first[-1] != self.shares.shape[1]:
            raise ValueError(
                f"CoAssociation: shares {self.shares.shape} are not of {self.first} clusters"
            )
        if not ((self.shares >= 0) & (self.shares <= 1 + ROUNDING)).all():
            raise ValueError("CoAssociation: shares of a weight lie between 0 and 1")

    @property
    def n_members(self) -> int:
        """r."""
        return len(self.first) - 1

    @property
    def n_clusters(self) -> int:
        """c."""
        return len(self.shares)

    def similarities(self, labels: IntArray) -> Float64:
        """(n, c) mean co-association of rows with those of each cluster, from the members' labels
        (n, r) of them; -1 is no cluster."""
        found = np.zeros((len(labels), self.n_clusters))
        for start, stop in spans(len(labels), ROWS_AT_ONCE):
            for columns, known in self._columns(labels[start:stop]):
                found[start:stop][known] += self.shares.T[columns]
        found /= self.n_members
        return found

    def squared_distances(self, labels: IntArray) -> Float64:
        """(n, c) squared distances of rows to the centres, from the members' labels of them."""
        norms = np.square(self.shares).sum(axis=1) / self.n_members
        own = np.count_nonzero(self._known(labels), axis=1) / self.n_members
        found: Float64 = own[:, None] - 2.0 * self.similarities(labels) + norms[None, :]
        return np.maximum(found, 0.0)

    def labels(self, labels: IntArray) -> IntArray:
        """(n,) the nearest centre of rows; -1 where no member knows a cluster of a row."""
        found: IntArray = self.squared_distances(labels).argmin(axis=1)
        found[~self._known(labels).any(axis=1)] = -1
        return found

    def _known(self, labels: IntArray) -> Mask:
        known: Mask = (labels >= 0) & (labels < np.diff(self.first))
        return known

    def _columns(self, labels: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield, for each member, the coordinates in which rows are not 0, and the rows that have
        one."""
        known = self._known(labels)
        for member, first in enumerate(self.first[:-1]):
            rows = np.flatnonzero(known[:, member])
            yield first + labels[rows, member], rows


@dataclass(frozen=True)
class LabelPatterns:
    """Rows that all members label alike, as one row of their weight."""

    labels: IntArray  # (p, r), in rising order
    weight: Float64  # (p,)

    @classmethod
    def among(cls, labels: IntArray, weight: Float64) -> LabelPatterns:
        """Return the patterns of rows that weigh anything, and of which a member knows a
        cluster."""
        patterns, number = np.unique(labels, axis=0, return_inverse=True)
        mass: Float64 = np.bincount(number.ravel(), weight, len(patterns)).astype(np.float64)
        counts = (mass > 0) & (patterns >= 0).any(axis=1)
        return cls(patterns[counts], mass[counts])

    @property
    def first(self) -> IntArray:
        """(r + 1,) numbers of the first clusters of the members, where all stand in a row."""
        counts = np.maximum(self.labels.max(axis=0), 0) + 1
        return np.append(0, np.cumsum(counts)).astype(np.int64)

    def rows(self) -> sparse.csr_array:
        """Return the patterns as rows (p, q): a one for the cluster of each member."""
        first = self.first
        place, member = np.nonzero(self.labels >= 0)
        columns = first[member] + self.labels[place, member]
        shape = len(self.labels), int(first[-1])
        return sparse.csr_array((np.ones(len(place)), (place, columns)), shape=shape)

    def each_alone(self) -> CoAssociation:
        """Return the patterns as clusters of their own."""
        return CoAssociation(self.first, self.rows().toarray())
