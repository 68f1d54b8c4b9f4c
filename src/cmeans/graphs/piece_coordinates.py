"""Coordinates of points in which squared distances are powers of the longest step between them.

A point has one for every piece v that holds it and is a part of another, p:

    phi_v = sqrt((h(p)^z - h(v)^z) / 2)

Two points share those of the pieces that hold both. The sum of the other squares, from both points
up to the piece at whose height h they join, is h^z.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..data.arrays import IntArray
from .piece_tree import PieceTree


def depths_below_roots(tree: PieceTree) -> IntArray:
    """Return how many coordinates each point (u,) has that are not 0."""
    depths, parents = [0] * len(tree.parent), tree.parent.tolist()
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] >= 0:
            depths[node] = depths[parents[node]] + 1
    return np.array(depths[: tree.n_points], dtype=np.intp)


def coordinates(tree: PieceTree, points: IntArray, z: float) -> sparse.csr_array:
    """Return the coordinates (b, N) of some points of one piece; column v is that of node v."""
    inside, upper = tree.parent >= 0, tree.join_height
    values = np.sqrt((1 - (tree.height / upper) ** z) / 2) * upper ** (z / 2)
    rows, nodes = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    row, node = np.arange(len(points)), points
    while len(node):
        row, node = row[inside[node]], node[inside[node]]
        rows.append(row)
        nodes.append(node)
        node = tree.parent[node]
    at = np.concatenate(nodes)
    shape = len(points), len(tree.parent)
    return sparse.csr_array((values[at], (np.concatenate(rows), at)), shape)
