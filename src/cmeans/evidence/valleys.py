"""Valleys between clusters: how much thinner rows are on a border than in the clusters beside it.

Near rows are joined by edges, and each edge has a height, the logarithm of the distance from its
midpoint to the nearest rows there: high where rows are few. Between two clusters i and j the valley
is D (mean height of edges between them - the larger of the mean heights within i and within j), the
logarithm of the thinner cluster's density over that on the border, with D the rows' dimension. Sums
over pairs of clusters are all it takes, and clusters that join add theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..data.chosen_scaling import RECORDS
from .near_rows import NearRows, intrinsic_dimension

DEEPEST = 3.0  # that tells anything
EDGES = 4096  # at once
FLOOR = 1e-3  # of the median distance, below which rows are equal


@dataclass(frozen=True)
class Edges:
    """Pairs of near rows, and the heights of their midpoints times the dimension of the rows."""

    ends: IntArray  # (e, 2)
    heights: Float64  # (e,)

    @classmethod
    def of(cls, near: NearRows, per_row: int, at_midpoint: int) -> Edges:
        """Return the edges to a number of each row's neighbours, by the distances from their
        midpoints to the row that is so manieth near."""
        others = near.numbers[:, :per_row]
        pairs = np.stack([np.repeat(np.arange(len(others)), others.shape[1]), others.ravel()], 1)
        ends = np.unique(np.sort(pairs, axis=1), axis=0)
        reach = np.concatenate(
            [_reach(near, ends[start:stop], at_midpoint) for start, stop in spans(len(ends), EDGES)]
        )
        dimension = min(intrinsic_dimension(near.distances), near.x.shape[1])
        heights = np.log(np.maximum(reach, FLOOR * np.median(reach) + 1e-300))
        return cls(ends, dimension * heights)


def _reach(near: NearRows, ends: IntArray, count: int) -> Float64:
    """Return the distances (e,) from the midpoints of edges to the row that is so manieth near, of
    the rows near either end."""
    first, second = near.numbers[ends[:, 0]], near.numbers[ends[:, 1]]
    rows = np.sort(np.concatenate([ends, first, second], axis=1), axis=1)
    squares = _from_midpoints(near, ends, rows)
    squares[:, 1:][rows[:, 1:] == rows[:, :-1]] = np.inf  # each row once
    last = min(count, near.numbers.shape[1] + 1) - 1
    reach: Float64 = np.sqrt(np.partition(squares, last, axis=1)[:, last])
    return reach


def _from_midpoints(near: NearRows, ends: IntArray, rows: IntArray) -> Float64:
    """Return the squared distances (e, r) from the midpoints of edges to some rows of each."""
    first, second = ends.T
    # by Apollonius's theorem, which takes no column; differences of few have more digits
    if near.x.shape[1] > RECORDS:
        pairs = near.squares
        found: Float64 = 0.5 * (pairs[first[:, None], rows] + pairs[second[:, None], rows])
        found -= 0.25 * pairs[first, second][:, None]
        np.maximum(found, 0.0, out=found)
        return found
    middles = 0.5 * (near.x[first] + near.x[second])
    squares: Float64 = ((near.x[rows] - middles[:, None, :]) ** 2).sum(axis=2)
    return squares


@dataclass(frozen=True)
class Borders:
    """Numbers of edges (c, c) and sums of their heights, between clusters and within them."""

    counts: Float64
    sums: Float64

    @classmethod
    def of(cls, labels: IntArray, edges: Edges) -> Borders:
        c = int(labels.max()) + 1
        ours, theirs = labels[edges.ends].T
        pair = ours * c + theirs
        counts, sums = (
            np.bincount(pair, values, c * c).reshape(c, c) for values in (None, edges.heights)
        )
        return cls(*(_symmetric(table.astype(np.float64)) for table in (counts, sums)))

    def valleys(self) -> Float64:
        """Return the valleys (c, c), infinite between clusters that no edge joins, in which case
        they are apart, and from each to itself."""
        with np.errstate(divide="ignore", invalid="ignore"):
            means = self.sums / self.counts
        within = means.diagonal().copy()
        depths = means - np.maximum(within[:, None], within[None, :])
        # a cluster of rows that are far from each other has no edges of its own, and no density
        depths[np.isnan(depths)] = -DEEPEST
        depths[self.counts == 0] = np.inf
        np.fill_diagonal(depths, np.inf)
        return depths

    def joined(self, kept: int, gone: int) -> Borders:
        """Return the borders after cluster `gone` has become a part of `kept`."""
        return Borders(*(_folded(table, kept, gone) for table in (self.counts, self.sums)))


def shallowest(labels: IntArray, edges: Edges) -> Float64:
    """Return the shallowest valley (c,) around each cluster, from -DEEPEST to DEEPEST."""
    around: Float64 = np.clip(Borders.of(labels, edges).valleys().min(axis=1), -DEEPEST, DEEPEST)
    return around


def _symmetric(table: Float64) -> Float64:
    both = table + table.T
    np.fill_diagonal(both, table.diagonal())
    return both


def _folded(table: Float64, kept: int, gone: int) -> Float64:
    folded = table.copy()
    within = table[kept, kept] + table[gone, gone] + table[kept, gone]
    folded[kept] += table[gone]
    folded[:, kept] = folded[kept]
    folded[kept, kept] = within
    folded[gone], folded[:, gone] = 0.0, 0.0
    return folded
