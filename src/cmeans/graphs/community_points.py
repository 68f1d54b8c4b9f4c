"""The nodes of a graph whose communities were found, and the edges of new rows to them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Float64, IntArray
from ..data.blocks import Blocks, GivenRows
from ..data.csr import diagonal_csr
from ..engines import Engine, Pass
from ..kernels.nearest_points import NearestPoints
from ..runtime.stored_classes import stored
from .edges import Edges, arcs_of_new_rows
from .piece_points import GivenPoints
from .row_keys import KeyPlaces, row_keys

Keys = npt.NDArray[np.int64]


class NodePlaces(NamedTuple):
    """Places of rows in a graph."""

    known: IntArray  # (b,) the nodes that they are; -1 for new ones
    arcs: Any  # (b, n) CSR, weights of the edges of new rows to nodes


@runtime_checkable
class Nodes(Protocol):
    """Nodes of a graph, by which rows are known."""

    are_given: ClassVar[bool]  # rows come as their edges to these, in place of their coordinates

    @property
    def count(self) -> int: ...

    def known(self, x: Any) -> IntArray:
        """Return the nodes (b,) that rows are; -1 for new ones."""
        ...

    def arcs(self, x: Any) -> Any:
        """Return the weights (b, n), CSR, of the edges of new rows to nodes."""
        ...


@stored
@dataclass(frozen=True)
class NeighbourNodes:
    """Nodes that are different rows, along the axes in which they are compared."""

    rows: Float64  # (n, p)
    weights: Float64  # (n,) of the rows of the fit
    edges: Edges  # of nodes of some weight
    keys: Keys  # (n,) of the rows
    axes: Float64  # (d, p) orthonormal; (0, 0) where rows are compared as they are
    centre: Float64  # (d,)
    have_unit_length: bool
    n_neighbors: int

    are_given: ClassVar = False

    def __post_init__(self) -> None:
        if self.n_neighbors < 1:
            raise ValueError(
                f"NeighbourNodes: {self.n_neighbors} neighbours, where one is the least"
            )
        axes = {(0, 0), (len(self.centre), *self.rows.shape[1:])}
        _check_lengths(
            self,
            self.rows.shape == (self.count, *self.rows.shape[1:2])
            and self.axes.shape in axes
            and self.edges.have_rows(int(np.count_nonzero(self.weights > 0))),
        )

    @property
    def count(self) -> int:
        return len(self.weights)

    @property
    def n_columns(self) -> int:
        """Columns of the rows that it knows, and of those that it is asked for."""
        return len(self.centre) if self.axes.size else self.rows.shape[1]

    def known(self, x: Any) -> IntArray:
        return self._known(row_keys(self._given(x)))

    def arcs(self, x: Any) -> Any:
        given = self._given(x)
        arcs = self.arcs_of(projected(given, self.centre, self.axes))
        if self.have_unit_length:  # rows of length 0 have no neighbours
            arcs = sparse.csr_array(diagonal_csr(given.any(axis=1).astype(float)) @ arcs)
            arcs.eliminate_zeros()
        return arcs

    def arcs_of(self, rows: Float64) -> Any:
        """Return the same of rows along the axes."""
        if not len(rows):
            return sparse.csr_array((0, len(self.rows)))
        numbers, squares = self._search(np.ascontiguousarray(rows))
        distances = np.sqrt(np.maximum(squares.astype(np.float64), 0.0))
        heavy = self.weights[self._heavy]
        arcs = arcs_of_new_rows(distances, numbers, heavy, self.n_neighbors, self.edges)
        parts = arcs.data, self._heavy[arcs.indices], arcs.indptr
        return sparse.csr_array(parts, shape=(len(rows), self.count))

    def _given(self, x: Any) -> Float64:
        return GivenPoints(self.rows, self.have_unit_length).rows(x)

    @cached_property
    def _heavy(self) -> IntArray:
        return np.flatnonzero(self.weights > 0)

    @cached_property
    def _search(self) -> NearestPoints:
        return NearestPoints(
            np.ascontiguousarray(self.rows[self._heavy]), min(self.n_neighbors, len(self._heavy))
        )

    @cached_property
    def _known(self) -> KeyPlaces:
        return KeyPlaces(self.keys.view(np.uint64))


def projected(rows: Float64, centre: Float64, axes: Float64) -> Float64:
    """Return rows along axes through a centre; as they are where there are none."""
    return (rows - centre) @ axes if axes.size else rows


def both_ways(x: Any) -> Any:
    """Return affinities (n, n), CSR, as those of a graph: an edge weighs as much as the larger of
    its two directions, and a node is not its own neighbour."""
    both = sparse.csr_array(x.maximum(x.T.tocsr()))
    both = sparse.csr_array(both - diagonal_csr(both.diagonal()))
    both.eliminate_zeros()
    both.sort_indices()
    return both


def graph_key(both: Any) -> str:
    """Return a key of a graph: equal for one whose weights are so many times as large."""
    largest = both.data.max(initial=0.0)
    parts = both.data / (largest if largest > 0 else 1.0), both.indices, both.indptr
    keys = row_keys(sparse.csr_array(parts, shape=both.shape))
    return hashlib.sha256(keys.tobytes()).hexdigest()


@stored
@dataclass(frozen=True)
class GivenNodes:
    """Nodes of which a row holds its affinities to them."""

    weights: Float64  # (n,) of the nodes
    keys: Keys  # (n,) of their affinities
    graph_key: str  # of all of them

    are_given: ClassVar = True

    def __post_init__(self) -> None:
        _check_lengths(self)

    @property
    def count(self) -> int:
        return len(self.weights)

    def known(self, x: Any) -> IntArray:
        if x.shape[0] == x.shape[1] and graph_key(both_ways(x)) == self.graph_key:
            return np.arange(self.count)  # the graph of the fit, whose rows may be equal
        return self._known(row_keys(x))

    def arcs(self, x: Any) -> Any:
        weighted = sparse.csr_array(x @ diagonal_csr(self.weights))
        weighted.eliminate_zeros()
        return weighted

    @cached_property
    def _known(self) -> KeyPlaces:
        return KeyPlaces(self.keys.view(np.uint64))


def _check_lengths(nodes: NeighbourNodes | GivenNodes, others_fit: bool = True) -> None:
    """Refuse nodes whose parts are of different numbers."""
    if not (nodes.weights.shape == nodes.keys.shape == (nodes.count,) and others_fit):
        raise ValueError(f"{type(nodes).__name__}: the parts are not of one number of nodes")


def places_of(nodes: Nodes, x: Any) -> NodePlaces:
    """Return where rows are in a graph."""
    known = nodes.known(x)
    new = np.flatnonzero(known < 0)
    if not len(new):
        return NodePlaces(known, sparse.csr_array((len(known), nodes.count)))
    arcs, lengths = nodes.arcs(x[new]), np.zeros(len(known), np.int64)
    lengths[new] = np.diff(arcs.indptr)
    parts = arcs.data, arcs.indices, np.append(0, np.cumsum(lengths))
    return NodePlaces(known, sparse.csr_array(parts, shape=(len(known), nodes.count)))


@dataclass(frozen=True)
class PlacesPass(Pass[NodePlaces]):
    """Places of rows in a graph."""

    nodes: Nodes

    def work(self, rows: GivenRows, task: int, prepared: None) -> NodePlaces:
        return _stacked([places_of(self.nodes, block.x) for block in rows.task(task)])


def places_of_rows(nodes: Nodes, blocks: Blocks, engine: Engine) -> NodePlaces:
    """Return where all rows are in a graph."""
    rows = GivenRows(blocks, blocks.numbers_of_a_row)
    return _stacked(list(engine.map(rows, PlacesPass(nodes))))


def _stacked(parts: list[NodePlaces]) -> NodePlaces:
    known, arcs = zip(*parts, strict=True)
    return NodePlaces(np.concatenate(known), sparse.vstack(arcs, format="csr"))
