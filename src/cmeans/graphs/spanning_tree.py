"""The minimum spanning tree of rows under mutual reachability, and that of given distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..data.arrays import Float64, IntArray, binary_exponent, is_sparse
from ..engines import Engine, ThreadEngine
from .nearest_neighbours import searchable
from .prim import grown_by_rows


@dataclass(frozen=True)
class SpanningTree:
    """The minimum spanning tree of u rows: of trees that are equally short, the one whose edges
    come first by (length, smaller row number, larger row number)."""

    edges: IntArray  # (m, 2) row numbers, the smaller first; u - 1 edges, fewer where rows fall
    # into several parts
    lengths: Float64  # (m,) ascending
    core: Float64  # (u,) radii within which rows of the given weight lie


def spanning_tree(
    points: Float64,  # (u, d) different rows
    weights: Float64,  # (u,)
    min_samples: float = 1,
    engine: Engine | None = None,
) -> SpanningTree:
    """Return the tree under d(x, y) = max(|x - y|, core(x), core(y)), where core(x) is the least
    radius within which rows weigh `min_samples` or more, x itself counted.

    Bits depend on the points alone: not on the engine, its threads, or the machine.
    """
    _refuse_light(weights, min_samples)
    exponent = binary_exponent(points)  # so that squares stay in range
    rows = searchable(np.ldexp(np.asarray(points, np.float64), -exponent))
    engine = ThreadEngine() if engine is None else engine
    n = len(points)
    listed = rows.nearest(min(n - 1, max(FEW, int(min_samples) + MORE)), engine)
    core = _cores(rows, engine, listed, weights[rows.order], min_samples)
    edges, squares = rows.spanning_edges(core, listed, engine)
    edges, squares = _in_order(rows.order[edges], squares)
    radii = np.empty(n)
    radii[rows.order] = np.ldexp(np.sqrt(core), exponent)
    return SpanningTree(edges, np.ldexp(np.sqrt(squares), exponent), radii)


def spanning_tree_of_graph(
    distances: Any, weights: Float64, min_samples: float = 1
) -> SpanningTree:
    """Return the tree of given distances (u, u), dense or sparse: numbers that are not stored or
    infinite join nothing, a stored 0 joins equal rows, the diagonal is 0 whatever is there, and
    where two rows have two distances the smaller counts."""
    _refuse_light(weights, min_samples)
    if not is_sparse(distances):
        given = np.asarray(distances, np.float64)
        core = _cores_of_matrix(given, weights, min_samples)
        edges, lengths = _in_order(
            *grown_by_rows(
                lambda row: np.maximum(
                    np.minimum(given[row], given[:, row]), np.maximum(core, core[row])
                ),
                len(given),
            )
        )
        return SpanningTree(edges, lengths, core)
    i, j, lengths = _arcs(distances)
    core = _cores_of_arcs(i, j, lengths, weights, min_samples)
    lengths = np.maximum(lengths, np.maximum(core[i], core[j]))
    some = np.flatnonzero((i < j) & np.isfinite(lengths))
    order = some[np.lexsort((j[some], i[some], lengths[some]))]
    # the places of edges in their order are the whole numbers that scipy compares
    places = sparse.csr_array(
        (np.arange(1.0, len(order) + 1), (i[order], j[order])), distances.shape
    )
    tree = order[np.sort(sparse.csgraph.minimum_spanning_tree(places).data).astype(np.int64) - 1]
    return SpanningTree(np.stack([i[tree], j[tree]], axis=1), lengths[tree], core)


def _refuse_light(weights: Float64, min_samples: float) -> None:
    if not weights.sum() * (1 + ROUNDING) >= min_samples:
        raise ValueError(
            f"min_samples={min_samples}: all rows together weigh {weights.sum():.3g}; give at most "
            "that."
        )


ROUNDING = 1e-12  # of sums of weights, by which they may fall short of min_samples
FEW = 8  # neighbours of each row, at least, that are found at first
MORE = 3  # of them than make its core distance


def _cores(rows: Any, engine: Engine, listed: Any, weights: Float64, min_samples: float) -> Float64:
    """Return the squared core distances (u,), given the nearest neighbours of all rows."""
    squares, numbers = listed
    core, reached = _reached(squares, weights, weights[numbers], min_samples)
    left, k = np.flatnonzero(~reached), squares.shape[1]
    while len(left) and k < len(weights) - 1:
        k = min(2 * k, len(weights) - 1)
        squares, numbers = rows.nearest(k, engine, left)
        core[left], reached = _reached(squares, weights[left], weights[numbers], min_samples)
        left = left[~reached]
    return core


def _reached(
    distances: Float64, own: Float64, weights: Float64, min_samples: float
) -> tuple[Float64, Any]:
    """Return the first of each row's distances (b, k), ascending, at which it and its neighbours of
    these weights (b, k) weigh enough, and whether they ever do; the last one where they do not."""
    total = np.add.accumulate(np.hstack([own[:, None], weights]), axis=1) * (1 + ROUNDING)
    first = np.argmax(total >= min_samples, axis=1)
    reached = total[:, -1] >= min_samples
    radii = np.hstack([np.zeros((len(own), 1)), distances])
    return radii[np.arange(len(own)), np.where(reached, first, -1)], reached


def _cores_of_matrix(distances: Float64, weights: Float64, min_samples: float) -> Float64:
    core = np.zeros(len(distances))
    for row in np.flatnonzero(weights * (1 + ROUNDING) < min_samples):
        radii = np.minimum(distances[row], distances[:, row])
        radii[row] = -1.0  # itself first
        order = np.argsort(radii, kind="stable")[1:]
        core[row] = _reached(radii[None, order], weights[[row]], weights[None, order], min_samples)[
            0
        ][0]
    return core


def _arcs(distances: Any) -> tuple[IntArray, IntArray, Float64]:
    """Return the edges of a sparse matrix in both directions, by row and length, without the
    diagonal: each once, as long as the shorter of the numbers that are stored for it."""
    graph = sparse.coo_array(distances)
    i = np.concatenate([graph.row, graph.col]).astype(np.int64)
    j = np.concatenate([graph.col, graph.row]).astype(np.int64)
    lengths = np.concatenate([graph.data, graph.data]).astype(np.float64)
    order = np.lexsort((lengths, j, i))
    i, j, lengths = i[order], j[order], lengths[order]
    first = np.append(True, (i[1:] != i[:-1]) | (j[1:] != j[:-1])) & (i != j)
    i, j, lengths = i[first], j[first], lengths[first]
    order = np.lexsort((j, lengths, i))
    return i[order], j[order], lengths[order]


def _cores_of_arcs(
    i: IntArray, j: IntArray, lengths: Float64, weights: Float64, min_samples: float
) -> Float64:
    core = np.zeros(len(weights))
    starts = np.searchsorted(i, np.arange(len(weights) + 1))
    for row in np.flatnonzero(weights * (1 + ROUNDING) < min_samples):
        own = slice(starts[row], starts[row + 1])
        radius, reached = _reached(
            lengths[None, own], weights[[row]], weights[None, j[own]], min_samples
        )
        core[row] = radius[0] if reached[0] else np.inf
    return core


def _in_order(edges: IntArray, lengths: Float64) -> tuple[IntArray, Float64]:
    """Return edges, each with the smaller number first, and their lengths, in the tree's order;
    without infinite ones."""
    edges = np.sort(edges, axis=1)
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    order = order[np.isfinite(lengths[order])]
    return edges[order], lengths[order]
