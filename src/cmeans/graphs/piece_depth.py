"""The depth of points in their clusters, and the noise: points that are too far out."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray
from .pieces import Flags, Pieces

# times the median distance to the centre of a cluster are rows far out: in two columns those with a
# quarter of the density
FAR = 2.0


def quantiles(
    values: Float64, weights: Float64, labels: IntArray, count: int, share: float
) -> Float64:
    """Return the weighted quantile (count,) of the positive values of each cluster; 0 where it has
    none."""
    some = np.flatnonzero(values > 0)
    order = some[np.lexsort((values[some], labels[some]))]
    totals = np.bincount(labels[order], weights[order], minlength=count)
    upto = np.cumsum(weights[order])
    before = np.concatenate([[0.0], np.cumsum(totals)[:-1]])
    sizes = np.bincount(labels[order], minlength=count)
    ends = np.cumsum(sizes)
    found = np.searchsorted(upto, before + share * totals)
    found = np.clip(found, ends - sizes, np.maximum(ends - 1, 0))
    return np.where(sizes > 0, np.append(values[order], 0.0)[found], 0.0)


def depths(distances: Float64, scales: Float64, labels: IntArray) -> Float64:
    """Return the scale of each point's cluster over its distance to the centre, 1 at most."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = scales[labels] / distances
    depths: Float64 = np.where(distances > 0, np.minimum(ratios, 1.0), 1.0)
    return depths


def are_light(pieces: Pieces, chosen: Flags, least: float) -> Flags:
    """Say of each point if the piece by which it hangs on its cluster weighs less than `least`;
    False for centres."""
    light = ~chosen & (pieces.tree.weight[pieces.top] < least)
    return light[pieces.holders(chosen)]
