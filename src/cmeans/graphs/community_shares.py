"""To which communities nodes and new rows belong, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..data.csr import diagonal_csr
from ..runtime.stored_classes import stored
from .affinities import gains
from .community_points import NodePlaces

ROWS = 2**14  # whose shares are dense at once


@stored
@dataclass(frozen=True)
class NodeCommunities:
    """The communities of nodes, and what a row gains by joining one."""

    labels: IntArray  # (n,) -1 for nodes without edges
    strengths: Float64  # (n,) of those by which communities were found, else 0
    resolution: float
    n_clusters: int
    # what the nodes themselves gain (n, c), CSR; of each row none is larger than that of its label
    values: Float64
    columns: IntArray
    starts: IntArray

    @classmethod
    def of(
        cls,
        affinities: Any,  # (n, n) CSR
        labels: IntArray,  # (n,)
        resolution: float,
        others: IntArray,  # (o,) nodes of no weight
        arcs: Any,  # (o, n) CSR, of these to nodes of some
    ) -> NodeCommunities:
        """Return communities in which nodes of no weight are where their edges lead."""
        strengths = np.asarray(affinities.sum(axis=1), np.float64)
        none = np.empty(0, np.int64)
        n_clusters = int(labels.max()) + 1
        made = cls(labels, strengths, resolution, n_clusters, np.empty(0), none, none)
        gains_of_nodes = made._of_nodes(affinities)
        of_others, more = made.of_arcs(arcs)
        filled = labels.copy()
        filled[others] = of_others
        ones = np.ones(len(others)), (others, np.arange(len(others)))
        places = sparse.csr_array(ones, shape=(len(labels), len(others)))
        found = sparse.csr_array(gains_of_nodes + places @ more)
        parts = found.data, found.indices.astype(np.int64), found.indptr.astype(np.int64)
        return cls(filled, strengths, resolution, n_clusters, *parts)

    def check(self) -> None:
        """Raise a ValueError where parts that were read do not belong together."""
        indices, shape = (self.columns, self.starts), (len(self.labels), self.n_clusters)
        sparse.csr_array((self.values, *indices), shape=shape).check_format(full_check=True)
        if (
            any(part.dtype.kind != "i" for part in (*indices, self.labels))
            or not (self.labels >= -1).all()
            # each has a node; a product of sparse matrices counts up to what is claimed
            or self.n_clusters != self.labels.max(initial=-1) + 1
        ):
            raise ValueError("the communities of nodes do not belong together")

    def answers(self, places: NodePlaces) -> tuple[IntArray, Any]:
        """Return the labels (b,) of rows, and their gains (b, c), CSR: those of the nodes that they
        are, or as their edges to nodes lead."""
        labels, found = self.of_nodes(places.known)
        is_new = places.known < 0
        if not is_new.any():
            return labels, found
        of_new, more = self.of_arcs(places.arcs)
        return np.where(is_new, of_new, labels), sparse.csr_array(found + more)

    def labels_of(self, nodes: IntArray) -> IntArray:
        """Return the labels (b,) of nodes; -1 of -1."""
        return np.where(nodes < 0, -1, self.labels[nodes])

    def of_nodes(self, nodes: IntArray) -> tuple[IntArray, Any]:
        """Return the labels (b,) of nodes, and their gains (b, c), CSR; of -1 none."""
        parts = self.values, self.columns, self.starts
        found = sparse.csr_array(parts, shape=(len(self.labels), self.n_clusters))
        there = (nodes >= 0).astype(float)
        return self.labels_of(nodes), sparse.csr_array(
            diagonal_csr(there) @ found[np.maximum(nodes, 0)]
        )

    @cached_property
    def profiles(self) -> Float64:
        """The mean shares (c, c) of the nodes of each community."""
        nodes, sums = np.flatnonzero(self.labels >= 0), np.zeros((self.n_clusters,) * 2)
        for start, stop in spans(len(nodes), ROWS):
            labels, found = self.of_nodes(nodes[start:stop])
            np.add.at(sums, labels, shares(found, labels))
        return sums / np.bincount(self.labels[nodes])[:, None]

    def _of_nodes(self, affinities: Any) -> Any:
        """Return the gains (n, c), CSR, of the nodes, of which none is larger than that of the own
        community."""
        arcs = sparse.csr_array(affinities - diagonal_csr(affinities.diagonal()))
        arcs.eliminate_zeros()
        found = self._gains(arcs, np.arange(len(self.labels)))
        rows, largest = np.repeat(np.arange(len(self.labels)), np.diff(found.indptr)), _best(found)
        other = (largest != self.labels)[rows]  # where it ties, or is not the best there is
        found.data = np.where(other, 0.0, found.data)
        own = np.flatnonzero((largest != self.labels) & (self.labels >= 0))
        alone = sparse.csr_array((np.ones(len(own)), (own, self.labels[own])), shape=found.shape)
        return sparse.csr_array(found + alone)

    def of_arcs(self, arcs: Any) -> tuple[IntArray, Any]:
        """Return the labels (b,) of new rows by their edges to nodes, -1 for those without, and
        their gains (b, c), CSR."""
        found = self._gains(arcs, None)
        return _best(found), found

    def _gains(self, arcs: Any, own: IntArray | None) -> Any:
        joined = np.flatnonzero(self.labels >= 0)
        if len(joined) == len(self.labels):
            return gains(arcs, self.labels, self.strengths, self.resolution, own)
        # nodes without edges are in the last community, which has none
        labels = np.where(self.labels < 0, self.n_clusters, self.labels)
        found = gains(arcs, labels, self.strengths, self.resolution, own)
        return sparse.csr_array(found[:, : self.n_clusters])


def shares(found: Any, labels: npt.NDArray[Any]) -> Float64:
    """Return the shares (b, c) of positive gains; those of rows that gain by none are all in the
    community of their label."""
    dense = np.maximum(found.toarray(), 0.0)
    none = np.flatnonzero((dense.max(axis=1, initial=0.0) <= 0) & (labels >= 0))
    dense[none, labels[none]] = 1.0
    total = dense.sum(axis=1, keepdims=True)
    divided: Float64 = np.divide(dense, total, out=dense, where=total > 0)
    return divided


def own_shares(found: Any, labels: npt.NDArray[Any]) -> Float64:
    """Return the share (b,) of each row in the community of its label, 0 where there is none."""
    rows = np.repeat(np.arange(len(labels)), np.diff(found.indptr))
    positive = np.maximum(found.data, 0.0)
    total = np.bincount(rows, positive, len(labels))
    largest = np.zeros(len(labels))
    np.maximum.at(largest, rows, positive)
    alone = np.where(labels >= 0, 1.0, 0.0)
    own: Float64 = np.divide(largest, total, out=alone, where=total > 0)
    return own


def own_gains(found: Any, labels: npt.NDArray[Any]) -> Float64:
    """Return the gain (b,) of each row in the community of its label, 0 where there is none."""
    rows = np.repeat(np.arange(len(labels)), np.diff(found.indptr))
    there: Float64 = np.where(found.indices == labels[rows], found.data, 0.0)
    own: Float64 = np.bincount(rows, there, len(labels)).astype(np.float64)
    return own


def _best(found: Any) -> IntArray:
    """Return the community (b,) of the largest gain of each row, of equal ones the first; -1 where
    there is none."""
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    order = np.lexsort((found.indices, -found.data, rows))
    first = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
    best = np.full(found.shape[0], -1)
    best[rows[first]] = found.indices[first]
    return best
