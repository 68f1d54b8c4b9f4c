"""Weights of the edges of rows to their nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..data.csr import diagonal_csr
from ..runtime.stored_classes import stored
from .affinities import affinities, counted, scales

EdgeName = Literal["scaling", "equal", "shared"]
COMPARED = 2**12  # rows whose lists are compared at once


class NeighbourLists(NamedTuple):
    """The nearest neighbours of rows among the rows of a graph."""

    distances: Float64  # (b, k) ascending
    numbers: npt.NDArray[Any]  # (b, k)
    weights: Float64  # (b, k) of the neighbours
    copies: Float64  # (b,) of each row beside itself, which are its nearest neighbours
    most: int  # neighbours that count, by weight

    @property
    def counted(self) -> Float64:
        """Return the share (b, k) of each neighbour's weight that is among the nearest."""
        return counted(self.weights, self.copies, self.most)


@stored
@dataclass(frozen=True)
class ScaledEdges:
    """exp(-d^2 / s_i s_j), s the scales of rows (Zelnik-Manor, Perona 2004)."""

    widths: Float64  # (n,) scales of the rows of the graph

    name: ClassVar = "scaling"

    @classmethod
    def of(cls, lists: NeighbourLists) -> ScaledEdges:
        return cls(_scales(lists))

    def have_rows(self, n: int) -> bool:
        """True where what is kept is of so many rows."""
        return self.widths.shape == (n,)

    def values(self, lists: NeighbourLists, own: IntArray) -> Float64:
        """Return the weight (b, k) of each edge; `own`: the rows of the graph that these are, -1
        for new ones."""
        widths = np.broadcast_to(_scales(lists)[:, None], lists.distances.shape)
        return affinities(lists.distances, widths, self.widths[lists.numbers])


def _scales(lists: NeighbourLists) -> Float64:
    return scales(lists.distances, lists.weights, lists.copies)


@stored
@dataclass(frozen=True)
class EqualEdges:
    """1 for each edge."""

    name: ClassVar = "equal"

    @classmethod
    def of(cls, _lists: NeighbourLists) -> EqualEdges:
        return cls()

    def have_rows(self, n: int) -> bool:
        return True

    def values(self, lists: NeighbourLists, own: IntArray) -> Float64:
        return np.ones(lists.distances.shape)


@stored
@dataclass(frozen=True)
class SharedEdges:
    """The share of two rows' neighbours that both have, each its own neighbour too: what is in both
    lists over what is in either (Jarvis, Patrick 1973)."""

    numbers: npt.NDArray[np.int32]  # (n, k + 1) of the neighbours of each row of the graph
    amounts: Float64  # (n, k + 1) by weight

    name: ClassVar = "shared"

    @classmethod
    def of(cls, lists: NeighbourLists) -> SharedEdges:
        return cls(*_closed(lists, np.arange(len(lists.numbers))))

    def have_rows(self, n: int) -> bool:
        return self.numbers.shape == self.amounts.shape == (n, *self.numbers.shape[1:2])

    def values(self, lists: NeighbourLists, own: IntArray) -> Float64:
        found = np.empty(lists.distances.shape)
        numbers, amounts = _closed(lists, own)
        total, totals = amounts.sum(axis=1), self.amounts.sum(axis=1)
        for start, stop in spans(len(found), COMPARED):
            one, many = numbers[start:stop, :, None], amounts[start:stop, :, None]
            for place, near in enumerate(lists.numbers[start:stop].T):
                both = np.minimum(many, self.amounts[near][:, None, :])
                shared = np.where(one == self.numbers[near][:, None, :], both, 0.0).sum(axis=(1, 2))
                found[start:stop, place] = shared / (total[start:stop] + totals[near] - shared)
        return found


def _closed(lists: NeighbourLists, own: IntArray) -> tuple[npt.NDArray[np.int32], Float64]:
    """Return the neighbours (b, k + 1) of rows and how much of each counts, the rows first."""
    itself = np.minimum(1.0 + lists.copies, 1.0 + lists.most)
    numbers = np.column_stack([own, lists.numbers]).astype(np.int32)
    return numbers, np.column_stack([itself, lists.counted])


Edges = ScaledEdges | EqualEdges | SharedEdges
EDGES: dict[str, type[Edges]] = {kind.name: kind for kind in (ScaledEdges, EqualEdges, SharedEdges)}
EDGE_NAMES = get_args(EdgeName)


def neighbour_graph(
    distances: Float64,  # (n, k) ascending
    numbers: npt.NDArray[Any],  # (n, k)
    weights: Float64,  # (n,) of the rows, of which no two are equal
    most: int,  # neighbours by weight
    kind: type[Edges],
) -> tuple[Any, Edges]:
    """Return the symmetric affinities (n, n), CSR, and what edges of new rows are made of.

    A row of weight w stands for w equal ones, each with an edge to its nearest neighbours, the
    other copies first. An edge stays if either end lists the other.
    """
    n, k = numbers.shape
    copies = np.maximum(weights - 1.0, 0.0)
    lists = NeighbourLists(distances, numbers, weights[numbers], copies, most)
    edges = kind.of(lists)
    values = lists.counted * weights[:, None] * edges.values(lists, np.arange(n))
    parts = (values.ravel(), numbers.ravel(), k * np.arange(n + 1))
    one_way = sparse.csr_array(parts, shape=(n, n))
    loops = diagonal_csr(weights * np.minimum(copies, most))
    both = sparse.csr_array(one_way.maximum(one_way.T.tocsr()) + loops)
    both.eliminate_zeros()
    both.sort_indices()
    return both, edges


def arcs_of_new_rows(
    distances: Float64,  # (b, k) to rows of the graph, ascending
    numbers: npt.NDArray[Any],  # (b, k)
    weights: Float64,  # (n,)
    most: int,
    edges: Edges,
) -> Any:
    """Return the affinities (b, n), CSR, of new rows to their nearest neighbours."""
    b, k = numbers.shape
    lists = NeighbourLists(distances, numbers, weights[numbers], np.zeros(b), most)
    values = lists.counted * edges.values(lists, np.full(b, -1))
    parts = (values.ravel(), numbers.ravel().astype(np.int64), k * np.arange(b + 1))
    return sparse.csr_array(parts, shape=(b, len(weights)))
