"""The minimum spanning tree of rows under mutual reachability, and that of given distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Float64, IntArray, is_sparse
from ..data.blocks import spans
from ..engines import Engine, ThreadEngine
from .all_pairs import PAIRS, AllPairs
from .core_distances import core_distances, listed_cores, refuse_light
from .nearest_neighbours import in_range, searchable
from .prim import grown_by_rows
from .row_tree import RowTree

FEW = 8  # neighbours of each row that are found at first, at least
MORE = 3  # of them than make its core distance


@dataclass(frozen=True)
class SpanningTree:
    """The minimum spanning tree of u rows.

    Of trees that are equally short it is the one whose edges come first, by the squares of their
    lengths and then by the smaller and the larger of their row numbers.
    """

    edges: IntArray  # (m, 2), the smaller number first; m = u - 1, less where there are parts
    lengths: Float64  # (m,) ascending
    core: Float64  # (u,) core distances


def spanning_tree(
    points: npt.NDArray[Any],  # (u, d) different rows
    weights: Float64,  # (u,)
    min_samples: float = 1,
    engine: Engine | None = None,
) -> SpanningTree:
    """Return the tree under d(x, y) = max(|x - y|, core(x), core(y)), where core(x) is the least
    radius within which rows weigh `min_samples` or more, x itself counted.

    Bits depend on points and weights alone: not on the engine, its threads, or the machine.
    """
    refuse_light(weights, min_samples)
    engine = ThreadEngine() if engine is None else engine
    scaled, exponent = in_range(points)
    rows, n = searchable(scaled), len(points)
    squares, numbers = rows.nearest(min(n - 1, max(FEW, int(min_samples) + MORE)), engine)
    core = _cores(rows, engine, squares, numbers, weights[rows.order], min_samples)
    edges, squares = _in_order(*rows.spanning_edges(core, squares, numbers, engine), rows.order)
    radii = np.empty(n)
    radii[rows.order] = np.sqrt(core)
    return SpanningTree(edges, np.ldexp(np.sqrt(squares), exponent), np.ldexp(radii, exponent))


def spanning_tree_of_graph(
    distances: Any, weights: Float64, min_samples: float = 1
) -> SpanningTree:
    """Return the tree of given distances (u, u), dense or sparse: numbers that are not stored or
    infinite join nothing, a stored 0 joins equal rows, the diagonal is 0 whatever is there, and
    where two rows have two distances the smaller counts."""
    refuse_light(weights, min_samples)
    if is_sparse(distances):
        return _tree_of_arcs(distances, weights, min_samples)
    given = np.asarray(distances, np.float64)
    core = _cores_of_matrix(given, weights, min_samples)

    def lengths_from(row: int) -> Float64:
        lengths: Float64 = np.minimum(given[row], given[:, row])
        np.maximum(lengths, np.maximum(core, core[row]), out=lengths)
        return lengths

    edges, lengths = _in_order(*grown_by_rows(lengths_from, len(given)))
    return SpanningTree(edges, lengths, core)


def _cores(
    rows: RowTree | AllPairs,
    engine: Engine,
    squares: Float64,  # (u, k) to the nearest rows
    numbers: npt.NDArray[Any],  # (u, k)
    weights: Float64,
    min_samples: float,
) -> Float64:
    """Return squared core distances (u,); more of the nearest are found for rows that need them."""
    core = listed_cores(squares, weights, weights[numbers], min_samples)
    left, k = np.flatnonzero(np.isinf(core)), squares.shape[1]
    while len(left):
        k = min(2 * k, len(weights) - 1)
        squares, numbers = rows.nearest(k, engine, left)
        core[left] = listed_cores(squares, weights[left], weights[numbers], min_samples)
        left = left[np.isinf(core[left])]
    return core


def _cores_of_matrix(distances: Float64, weights: Float64, min_samples: float) -> Float64:
    n = len(distances)
    core = np.empty(n)
    for start, stop in spans(n, max(1, PAIRS // n)):
        some = np.minimum(distances[start:stop], distances[:, start:stop].T)
        np.fill_diagonal(some[:, start:], -1.0)  # a row itself comes first, and is counted already
        order = np.argsort(some, axis=1, kind="stable")[:, 1:]
        lengths = np.take_along_axis(some, order, axis=1)
        core[start:stop] = listed_cores(lengths, weights[start:stop], weights[order], min_samples)
    return core


def _tree_of_arcs(distances: Any, weights: Float64, min_samples: float) -> SpanningTree:
    i, j, lengths = _arcs(distances)
    places = np.searchsorted(i, np.arange(len(weights) + 1))
    core = core_distances(weights, lengths, weights[j], places[:-1], places[1:], min_samples)
    lengths = np.maximum(lengths, np.maximum(core[i], core[j]))
    some = np.flatnonzero((i < j) & np.isfinite(lengths))
    order = some[np.lexsort((j[some], i[some], lengths[some]))]
    # of the edges in their order, numbers from 1 on are what is compared
    ends = i[order], j[order]
    # older releases of SciPy take no other integers
    nodes = i[order].astype(np.int32), j[order].astype(np.int32)
    ordered = sparse.csr_array((np.arange(1.0, len(order) + 1), nodes), distances.shape)
    kept = np.sort(sparse.csgraph.minimum_spanning_tree(ordered).data).astype(np.int64) - 1
    edges = np.stack(ends, axis=1)[kept]
    return SpanningTree(edges, lengths[order[kept]], core)


def _arcs(distances: Any) -> tuple[IntArray, IntArray, Float64]:
    """Return where the edges of a sparse matrix begin and end and how long they are, in both
    directions, by their beginning and length; each once, without the diagonal."""
    graph = sparse.coo_array(distances)
    i = np.concatenate([graph.row, graph.col]).astype(np.int64)
    j = np.concatenate([graph.col, graph.row]).astype(np.int64)
    lengths = np.concatenate([graph.data, graph.data]).astype(np.float64)
    order = np.lexsort((lengths, j, i))
    i, j, lengths = i[order], j[order], lengths[order]
    again = np.append(False, (i[1:] == i[:-1]) & (j[1:] == j[:-1]))
    order = np.flatnonzero(~again & (i != j))
    order = order[np.lexsort((j[order], lengths[order], i[order]))]
    return i[order], j[order], lengths[order]


def _in_order(
    edges: IntArray, lengths: Float64, names: IntArray | None = None
) -> tuple[IntArray, Float64]:
    """Return finite edges and their lengths in the tree's order, by the names of rows."""
    edges = np.sort(edges if names is None else names[edges], axis=1)
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    order = order[np.isfinite(lengths[order])]
    return edges[order], lengths[order]
