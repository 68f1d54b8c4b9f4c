"""The minimum spanning tree of rows under mutual reachability, and that of given distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..data.arrays import Float64, IntArray, binary_exponent, is_sparse
from ..engines import Engine
from .nearest_neighbours import nearest_rows
from .plain_lengths import squared_lengths


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
    scaled = np.ldexp(np.asarray(points, np.float64), -exponent)
    core = _cores(scaled, weights, min_samples)
    every = np.arange(len(scaled))

    def squares_from(row: int) -> Float64:
        squares = squared_lengths(scaled, np.array([row]), every)
        reached: Float64 = np.maximum(squares, np.maximum(core, core[row]))
        return reached

    edges, squares = _grown(squares_from, len(scaled))
    return SpanningTree(
        edges, np.ldexp(np.sqrt(squares), exponent), np.ldexp(np.sqrt(core), exponent)
    )


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
        edges, lengths = _grown(
            lambda row: np.maximum(
                np.minimum(given[row], given[:, row]), np.maximum(core, core[row])
            ),
            len(given),
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
FEW = 8  # neighbours of each row that are looked at first


def _cores(points: Float64, weights: Float64, min_samples: float) -> Float64:
    """Return the squared core distances (u,)."""
    core = np.zeros(len(points))
    left, k = np.flatnonzero(weights * (1 + ROUNDING) < min_samples), FEW
    while len(left):
        k = min(k, len(points) - 1)
        squares, numbers = nearest_rows(points, k, left)
        core[left], reached = _reached(squares, weights[left], weights[numbers], min_samples)
        left, k = left[~reached & (k < len(points) - 1)], 2 * k
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


def _grown(lengths_from: Callable[[int], Float64], n: int) -> tuple[IntArray, Float64]:
    """Return the edges (m, 2) of the tree and their lengths in its order, grown row by row from the
    lengths (n,) of all edges that begin at a row; infinite ones join nothing."""
    best = np.full(n, np.inf)  # shortest edge from the tree to each row outside
    ends = np.zeros(n, np.int64)  # where it begins
    keys = np.zeros(n, np.int64)  # its place among equally long ones
    outside = np.ones(n, bool)
    every = np.arange(n)
    edges = np.empty((max(n - 1, 0), 2), np.int64)
    lengths = np.full(max(n - 1, 0), np.inf)
    row = 0
    for step in range(n - 1):
        outside[row] = False
        new = lengths_from(row)
        key = np.minimum(every, row) * n + np.maximum(every, row)
        closer = outside & ((new < best) | ((new == best) & (key < keys)))
        best[closer], ends[closer], keys[closer] = new[closer], row, key[closer]
        waiting = np.where(outside, best, np.inf)
        nearest = np.flatnonzero(outside & (waiting == waiting.min()))
        row = int(nearest[np.argmin(keys[nearest])])
        edges[step] = sorted((row, int(ends[row])))
        lengths[step] = best[row]
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    order = order[np.isfinite(lengths[order])]
    return edges[order], lengths[order]
