"""A tree of pieces condensed to few branches, so that it can be drawn however deep it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64, IntArray
from .piece_tree import PieceTree


@dataclass(frozen=True)
class Branch:
    """A piece as it grows, from where it is light to where it joins another that is not."""

    heights: Float64  # (q,) rising
    left: Float64  # (q,) where it begins at each height among all points side by side, by weight
    right: Float64  # (q,)
    nodes: IntArray  # (q,) of the tree


def branches(tree: PieceTree, min_weight: float, most: int = 200) -> list[Branch]:
    """Return the branches of pieces of at least some weight, the lowest first, with so many heights
    each at most; a branch ends where it joins another, at its last height."""
    heavy = tree.weight >= min_weight
    heavy[tree.roots] = True
    held = heavy & (tree.parent >= 0)
    parts = np.bincount(tree.parent[held], minlength=len(tree.parent))
    ends = heavy & ((tree.parent < 0) | (parts[tree.parent] > 1))
    # the node that ends the branch of each, from the top down
    end = np.where(ends, np.arange(len(ends)), -1).tolist()
    parent = tree.parent.tolist()
    for node in np.flatnonzero(held & ~ends)[::-1].tolist():
        end[node] = end[parent[node]]
    nodes = np.flatnonzero(heavy)
    of_node = np.array(end)[nodes]
    nodes = nodes[np.argsort(of_node, kind="stable")]
    firsts = np.flatnonzero(np.diff(np.sort(of_node), prepend=-1))
    edges = np.concatenate([[0.0], np.cumsum(tree.weight[tree.order])])
    top = float(tree.height[tree.roots].max()) or 1.0
    found = []
    for chain in np.split(nodes, firsts[1:]):
        last = chain[-1]
        chain = chain[np.unique(np.linspace(0, len(chain) - 1, most).astype(np.intp))]
        joined = min(float(tree.join_height[last]), 1.1 * top)
        shown = np.append(chain, last)
        heights = np.append(tree.height[chain], joined)
        found.append(Branch(heights, edges[tree.start[shown]], edges[tree.stop[shown]], shown))
    return found
