"""The tree of connected pieces: which rows hang together at every distance.

Two points belong to one piece at a distance if a path leads from one to the other in steps of at
most that length. The least such distance is an ultrametric, which is all that the tree knows: it
does not depend on which spanning tree of the shortest steps it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..data.arrays import Float64, IntArray
from ..runtime.stored_classes import stored


@stored
@dataclass(frozen=True)
class PieceTree:
    """Pieces as nodes: first the points, in their order, then the joins by rising height, of equal
    heights by their first point. A node comes before the one that holds it."""

    parent: IntArray  # (N,) the piece that each is a part of; -1 for those that nothing joins
    height: Float64  # (N,) the longest step that a piece needs; 0 for points
    weight: Float64  # (N,) of the points of a piece
    start: IntArray  # (N,) the points of a piece are order[start:stop]
    stop: IntArray  # (N,)
    order: IntArray  # (u,) points, those of every piece next to each other
    point: IntArray  # (v,) of each that was given: those at distance 0 of each other are one

    def __post_init__(self) -> None:
        if not (self._has_shapes() and self._is_nested()):
            raise ValueError("PieceTree: the pieces fit into no tree")

    def _has_shapes(self) -> bool:
        by_node = (self.parent, self.height, self.weight, self.start, self.stop)
        shapes = {a.shape for a in by_node} == {(len(self.parent),)}
        return shapes and self.order.ndim == self.point.ndim == 1

    def _is_nested(self) -> bool:
        """True where pieces are made of all points of their parts, and of no others."""
        nodes, u = len(self.parent), len(self.order)
        numbers, sizes = np.arange(nodes), self.stop - self.start
        rising = ((self.parent > numbers) & (self.parent < nodes)) | (self.parent == -1)
        inside = (self.start >= 0) & (self.start < self.stop) & (self.stop <= u)
        if not (rising.all() and inside.all() and np.array_equal(np.sort(self.order), numbers[:u])):
            return False
        parts = np.flatnonzero(self.parent >= 0)
        held = self.parent[parts]
        within = (self.start[held] <= self.start[parts]) & (self.stop[parts] <= self.stop[held])
        of_parts = np.bincount(held, sizes[parts], nodes)
        of_parts[:u] += 1  # points have no parts
        placed = np.array_equal(self.order[self.start[:u]], numbers[:u])
        known = len(self.point) >= u and np.array_equal(np.unique(self.point), numbers[:u])
        return bool(within.all() and placed and known and np.array_equal(of_parts, sizes))

    @property
    def n_points(self) -> int:
        return len(self.order)

    @cached_property
    def roots(self) -> IntArray:
        """The pieces that nothing joins, the largest heights last."""
        return np.flatnonzero(self.parent < 0)

    @cached_property
    def join_height(self) -> Float64:
        """The height (N,) at which each piece becomes a part of a larger one; infinite for
        roots."""
        return np.where(self.parent < 0, np.inf, self.height[self.parent])

    @cached_property
    def first(self) -> IntArray:
        """The first point (N,) of each piece in their canonical order."""
        first = list(range(self.n_points)) + [self.n_points] * (len(self.parent) - self.n_points)
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0 and first[node] < first[parent]:
                first[parent] = first[node]
        return np.array(first, dtype=np.intp)

    @cached_property
    def steps(self) -> Float64:
        """The longest step (u - 1,) on the way from each point of `order` to the next one; the
        largest of several is that between points farther apart."""
        steps = np.full(max(self.n_points - 1, 0), np.inf)
        later = np.flatnonzero((self.parent >= 0) & (self.start > self.start[self.parent]))
        steps[self.start[later] - 1] = self.height[self.parent[later]]
        return steps

    def distances(self, points: IntArray) -> Float64:
        """Return the longest step (u, c) on the way from every point to the given ones."""
        distances = np.zeros((self.n_points, len(points)))
        for column, place in enumerate(self.start[points]):
            after, before = distances[place + 1 :, column], distances[:place, column]
            np.maximum.accumulate(self.steps[place:], out=after)
            before[:] = np.maximum.accumulate(self.steps[:place][::-1])[::-1]
        return distances[self.start[: self.n_points]]


def binary_joins(edges: IntArray, n_points: int) -> IntArray:
    """Return the two pieces (m, 2) that each edge of a forest joins, the shortest edge first:
    points by their numbers, and the piece that edge i made as n_points + i."""
    up = list(range(n_points + len(edges)))
    joins = []
    for made, (one, other) in enumerate(edges.tolist(), n_points):
        while up[one] != one:
            up[one] = one = up[up[one]]
        while up[other] != other:
            up[other] = other = up[up[other]]
        up[one] = up[other] = made
        joins.append((one, other))
    return np.array(joins, dtype=np.intp).reshape(-1, 2)


def piece_tree(
    edges: IntArray,  # (m, 2) of a spanning forest
    lengths: Float64,  # (m,) rising
    weights: Float64,  # (v,) of the points
) -> PieceTree:
    """Return the tree of the pieces that a spanning forest connects."""
    apart, v = int(np.searchsorted(lengths, 0.0, side="right")), len(weights)
    equal = sparse.coo_array((np.ones(apart), tuple(edges[:apart].T)), (v, v))
    point = connected_components(equal, directed=False)[1].astype(np.intp)
    edges, lengths = point[edges[apart:]], lengths[apart:]
    summed: Float64 = np.bincount(point, weights).astype(np.float64)
    n = len(summed)
    binary = np.full(n + len(edges), -1)
    joins = binary_joins(edges, n)
    binary[joins[:, 0]] = binary[joins[:, 1]] = np.arange(n, len(binary))
    heights = np.concatenate([np.zeros(n), lengths])
    # joins of equal height are one: that of the last of them
    same = (binary >= 0) & (heights == heights[binary])
    same[:n] = False
    stands_for = np.where(same, binary, np.arange(len(binary)))
    while not np.array_equal(stands_for, further := stands_for[stands_for]):
        stands_for = further
    first = _first_points(joins, n)
    kept = np.flatnonzero(~same)
    kept = kept[np.lexsort((first[kept], heights[kept]))]
    number = np.empty(len(binary), dtype=np.intp)
    number[kept] = np.arange(len(kept))
    parent = np.where(binary[kept] < 0, -1, number[stands_for[binary[kept]]])
    return _with_places(parent, heights[kept], summed, point)


def _first_points(joins: IntArray, n_points: int) -> IntArray:
    """Return the first point of every point and join."""
    first = list(range(n_points))
    for one, other in joins.tolist():
        first.append(min(first[one], first[other]))
    return np.array(first, dtype=np.intp)


def _with_places(parent: IntArray, height: Float64, weights: Float64, point: IntArray) -> PieceTree:
    """Return a tree with the weights of its pieces, and their places, in passes up and down."""
    n, parents = len(weights), parent.tolist()
    weight = weights.tolist() + [0.0] * (len(parents) - n)
    size = [1] * n + [0] * (len(parents) - n)
    for node, above in enumerate(parents):
        if above >= 0:
            weight[above] += weight[node]
            size[above] += size[node]
    start, free, end = [0] * len(parents), [0] * len(parents), 0
    for node in range(len(parents) - 1, -1, -1):
        above = parents[node]
        if above < 0:
            start[node] = free[node] = end
            end += size[node]
        else:
            start[node] = free[node] = free[above]
            free[above] += size[node]
    starts = np.array(start, dtype=np.intp)
    order = np.empty(n, dtype=np.intp)
    order[starts[:n]] = np.arange(n)
    stops = starts + np.array(size, dtype=np.intp)
    return PieceTree(parent, height, np.array(weight), starts, stops, order, point)


def linkage(tree: PieceTree, point_of_row: IntArray) -> Float64:
    """Return the joins (n - 1, 4) of n rows at these points in scipy's form: two clusters, their
    distance, and how many rows they have; rows at no point, -1, come last, at infinity."""
    places = np.where(point_of_row < 0, tree.n_points, tree.start[point_of_row])
    order = np.argsort(places, kind="stable")
    here, there = places[order[:-1]], places[order[1:]]
    steps = np.append(tree.steps, [np.inf, np.inf])  # every point has rows, so none is left out
    lengths = np.where((here == there) & (here < tree.n_points), 0.0, steps[here])
    by_length = np.argsort(lengths, kind="stable")
    joins = binary_joins(np.stack([order[:-1], order[1:]], axis=1)[by_length], len(places))
    counts = [1.0] * len(places)
    for one, other in joins.tolist():
        counts.append(counts[one] + counts[other])
    return np.column_stack([joins, lengths[by_length], counts[len(places) :]])
