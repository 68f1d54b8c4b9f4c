"""A graph whose nodes form communities: weighted edges, both ways, and edges from nodes to
themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Float64, IntArray
from .row_keys import Keys, hashed

Int32 = npt.NDArray[np.int32]
Numbers = npt.NDArray[Any]  # whole ones
DIGITS = 2.0**20  # to which weights are rounded, so that changes of 1e-12 change nothing


@dataclass(frozen=True)
class CommunityGraph:
    """A symmetric graph, row after row."""

    start: IntArray  # (n + 1,) first arc of each node
    end: Int32  # (arcs,)
    weight: Float64  # (arcs,)
    held: npt.NDArray[np.int8]  # (n,) 1 for nodes of which no two are in one community

    @classmethod
    def of(cls, affinities: Any, held: npt.NDArray[Any] | None = None) -> CommunityGraph:
        """Return the graph of a symmetric CSR matrix."""
        n = affinities.shape[0]
        return cls(
            affinities.indptr.astype(np.int64),
            affinities.indices.astype(np.int32),
            np.ascontiguousarray(affinities.data, np.float64),
            np.zeros(n, np.int8) if held is None else held.astype(np.int8),
        )

    @property
    def n_nodes(self) -> int:
        return len(self.start) - 1

    @cached_property
    def begin(self) -> Numbers:
        """The node (arcs,) that each arc begins at."""
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.start))

    @cached_property
    def strength(self) -> Float64:
        """The sum (n,) of the weights of each node's arcs."""
        return np.bincount(self.begin, self.weight, self.n_nodes).astype(np.float64)

    @cached_property
    def total(self) -> float:
        return float(self.strength.sum())

    @property
    def matrix(self) -> Any:
        parts, n = (self.weight, self.end, self.start), self.n_nodes
        return sparse.csr_array(parts, shape=(n, n))

    def modularity(self, labels: IntArray, resolution: float) -> float:
        """Return sum_c [A(c, c) - resolution d(c)^2 / 2m] / 2m, A(c, c) being the weight within a
        community, d(c) its strength and 2m that of all."""
        within = float(self.weight[labels[self.begin] == labels[self.end]].sum())
        strengths = np.bincount(labels, self.strength) / self.total
        return within / self.total - resolution * float((strengths**2).sum())

    def connected_parts(self, labels: Numbers) -> IntArray:
        """Return the connected parts (n,) of communities."""
        keep = labels[self.begin] == labels[self.end]
        stops = np.cumsum(np.bincount(self.begin[keep], minlength=self.n_nodes))
        # in 32 bits, as SciPy 1.11 says of others that there are no parts, without an error
        arcs = np.ones(int(stops[-1])), self.end[keep], np.append(0, stops).astype(np.int32)
        within = sparse.csr_array(arcs, shape=(self.n_nodes, self.n_nodes))
        # of a symmetric graph the strong parts are the parts, and need no transposed copy
        return compact(sparse.csgraph.connected_components(within, connection="strong")[1])


def compact(labels: Numbers) -> IntArray:
    """Return labels named 0, 1, ... in the order in which they come."""
    _, first, member = np.unique(labels, return_index=True, return_inverse=True)
    name = np.empty(len(first), np.int64)
    name[np.argsort(first)] = np.arange(len(first))
    named: IntArray = name[member]
    return named


def rounded(affinities: Any) -> Any:
    """Return the matrix with its weights to twenty binary digits."""
    fraction, exponent = np.frexp(affinities.data)
    data = np.ldexp(np.rint(fraction * DIGITS) / DIGITS, exponent)
    parts = (data, affinities.indices, affinities.indptr)
    return sparse.csr_array(parts, shape=affinities.shape)


def canonical_order(graph: CommunityGraph) -> IntArray:
    """Return the nodes (n,) by falling strength, equally strong ones by keys made of the weights of
    their edges and of their neighbours' edges: whatever their order was, it is the same after."""
    keys: Keys = np.zeros(graph.n_nodes, np.uint64)
    for _ in range(2):
        arcs = hashed(graph.weight.view(np.uint64) ^ keys[graph.end])
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(arcs, dtype=np.uint64)])
        keys = ends[graph.start[1:]] - ends[graph.start[:-1]]
    return np.lexsort((keys, -graph.strength))
