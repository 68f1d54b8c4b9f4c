"""K-means in the ultrametric of connected pieces, solved for every number of clusters by one sort.

With h the heights of the tree, W the weights below and g(v) = W(v) (h(p)^z - h(v)^z) for a node v
in p, the cost of centres C among the points, sum_i w_i min_{c in C} d(x_i, c)^z, is the sum of g
over the nodes that hold no centre. The tree falls into paths from a node down to a point, each the
one of the largest sum of g; the k paths of the largest sums have the k best centres at their ends
(Draganov et al. 2025, arXiv 2502.14018).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray
from .piece_tree import PieceTree

Flags = npt.NDArray[np.bool_]
SMALL = 1e-200  # powers of the largest height from which to 1 / SMALL all sums are numbers


@dataclass(frozen=True)
class Pieces:
    """The tree cut into paths, one to every point; the first k are the best k clusters."""

    tree: PieceTree
    centre: IntArray  # (u,) the point at the end of each path
    top: IntArray  # (u,) the node where it begins
    above: IntArray  # (u,) the path from which it branches off; -1 where it begins at a root
    # (u,) how much the cost falls by its centre, in a unit of its own; infinite for further roots
    gain: Float64
    most: int  # paths that may be clusters: those of pieces that weigh enough
    cost: Float64  # (most,) the least cost of 1, 2, ... clusters

    @cached_property
    def birth(self) -> Float64:
        """The height (u,) from which each path branches off."""
        return self.tree.join_height[self.top]

    def first(self, k: int) -> Flags:
        """Say which paths (u,) are the best k clusters."""
        return np.arange(len(self.centre)) < k

    def apart(self, distance: float) -> Flags:
        """Say which paths (u,) are clusters where no step may be longer than a distance."""
        return self.first(self.most) & (self.birth > distance)

    def holders(self, chosen: Flags) -> IntArray:
        """Return the path (u,) by which each point belongs to one of the chosen: its own if it is
        a centre, else the largest one that is not chosen, and hangs on one that is.

        With a path the one above it must be chosen.
        """
        held = chosen | chosen[self.above]
        paths = np.flatnonzero(held)
        nodes = np.where(chosen, self.centre, self.top)[paths]
        starts, at = self.tree.start[nodes], np.full(len(self.centre), -1)
        at[starts] = paths
        begins = at >= 0
        by_place = at[begins][np.cumsum(begins) - 1]
        holders: IntArray = by_place[self.tree.start[: self.tree.n_points]]
        return holders

    def labels(self, chosen: Flags) -> IntArray:
        """Return the cluster (u,) of each point: of the chosen paths, the one through its lowest
        piece that holds a centre."""
        number = np.cumsum(chosen) - 1
        return np.where(chosen, number, number[self.above])[self.holders(chosen)]

    def distances(self, chosen: Flags) -> Float64:
        """Return the distance (u,) of each point to the centre of its cluster."""
        return np.where(chosen, 0.0, self.birth)[self.holders(chosen)]


def pieces(
    tree: PieceTree,
    z: float = 1.0,  # the power of distances that clusters cost
    min_weight: float = 0.0,  # of the piece where a cluster begins
) -> Pieces:
    """Return the clusters of a tree, for every number of them.

    Paths that begin in lighter pieces are no clusters, except at roots. A path goes down through
    pieces that weigh enough as long as there are any.
    """
    is_root = tree.parent < 0
    unit, mass = _units(tree, z)
    upper = np.where(is_root, tree.height, tree.join_height)
    fall = (upper / unit) ** z - (tree.height / unit) ** z
    heavy = (tree.weight >= min_weight) | is_root
    value, best = _longest(tree, tree.weight / mass * fall, heavy)
    ends = _ends(best, tree.n_points)
    goes_on = np.zeros(len(best), dtype=bool)
    goes_on[best[best >= 0]] = True
    top = np.flatnonzero(~goes_on)
    # equal sums: the upper path first, then that of the first point
    order = np.lexsort((ends[top], -tree.join_height[top], -value[top], ~heavy[top], ~is_root[top]))
    top = top[order]
    rank = np.empty(tree.n_points, dtype=np.intp)
    rank[ends[top]] = np.arange(len(top))
    above = np.where(is_root[top], -1, rank[ends[tree.parent[top]]])
    gain, most, parts = value[top], int(heavy[top].sum()), len(tree.roots)
    cost = np.concatenate([np.cumsum(gain[::-1])[::-1], [0.0]])[1 : most + 1]
    if (unit, mass) != (1.0, 1.0):
        with np.errstate(over="ignore", under="ignore"):
            cost = (cost ** (1 / z) * unit) ** z * mass
    gain[1:parts], cost[: parts - 1] = np.inf, np.inf
    return Pieces(tree, ends[top], top, above, gain, most, cost)


def _units(tree: PieceTree, z: float) -> tuple[float, float]:
    """Return the length in which heights are measured and the weight in which those of nodes are: 1
    and 1, or the largest height and all weight where costs come near the ends of float64."""
    largest, mass = float(tree.height.max()), float(tree.weight[tree.roots].sum())
    with np.errstate(over="ignore", under="ignore"):
        power = np.float64(largest) ** z
        is_usual = min(power, power * mass) > SMALL and max(power, power * mass) < 1 / SMALL
    return (1.0, 1.0) if largest == 0 or is_usual else (largest, mass)


def _longest(tree: PieceTree, gain: Float64, heavy: Flags) -> tuple[Float64, IntArray]:
    """Return the largest sum (N,) of gains from each node down to a point, and the part (N,) of it
    to which that leads, -1 for points; of equal sums that of the first point."""
    parent, value, best = tree.parent.tolist(), gain.tolist(), [-1] * len(gain)
    weighs, first = heavy.tolist(), tree.first.tolist()
    for node, above in enumerate(parent):
        if (part := best[node]) >= 0:
            value[node] += value[part]
        if above < 0:
            continue
        other = best[above]
        if other < 0 or (weighs[node], value[node], -first[node]) > (
            weighs[other],
            value[other],
            -first[other],
        ):
            best[above] = node
    return np.array(value), np.array(best, dtype=np.intp)


def _ends(best: IntArray, n_points: int) -> IntArray:
    """Return the point (N,) to which the path through each node leads."""
    ends = list(range(n_points))
    for part in best[n_points:].tolist():
        ends.append(ends[part])
    return np.array(ends, dtype=np.intp)
