"""Rows that lie apart from all others, of which no cluster is to begin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..sampling.pairwise import Metric
from ..sampling.population import FIXED_SEED, distinct_numbers

NEIGHBOURS = 10  # that a row is compared with
# rows for each neighbour at least: clusters of fewer rows than there are neighbours would all lie
# apart
FEW = 9
APART = 3.0  # distance to the last of them, over what it is for these themselves
OUTERMOST = 0.1  # share of the rows that may lie apart: more are of a kind of their own
MIDDLE = 100  # rows by which the outermost are told
TOGETHER = 512  # rows whose distances are computed at a time


def isolated_rows(
    metric: Metric,
    rows: IntArray,  # (p,)
    weight: Float64,  # (p,)
) -> npt.NDArray[np.bool_]:
    """Return True (p,) for outer rows much farther from their nearest neighbours than these are
    from theirs (a simple form of local outlier factors, Breunig et al. 2000). Neighbours are rows
    that differ from them, of a fixed sample where they are many. Rows of which there are more
    copies than neighbours, by the lightest row, are a cluster of their own."""
    found, most = np.zeros(len(rows), dtype=bool), metric.blocks.limits.fixed_rows
    few = len(rows) <= most
    if few:
        some = np.arange(len(rows))
    else:
        some = distinct_numbers(len(rows), most, np.random.RandomState(FIXED_SEED))
    among, copies = rows[some], weight[some] / weight[weight > 0].min(initial=np.inf)
    k = min(NEIGHBOURS, len(among) // FEW)
    if k < 2:
        return found
    outer = _outermost(metric, rows, among)
    near, distance, equal = _nearest(metric, rows[outer], among, k)
    neighbours, place = np.unique(near, return_inverse=True)
    theirs = np.median(
        _nearest(metric, among[neighbours], among, k)[1][place.reshape(near.shape)], axis=1
    )
    found[outer] = (
        np.isfinite(distance)
        & (distance > APART**2 * theirs)
        & (theirs > 0)
        & (equal @ copies <= k)
    )
    return found


def _outermost(metric: Metric, rows: IntArray, among: IntArray) -> IntArray:
    """Return the positions of the rows that lie farthest from others, by the median of their
    distances to some of these."""
    middle, distance = among[:: -(-len(among) // MIDDLE)], np.empty(len(rows))
    q, columns = len(middle), np.arange(len(middle))
    for start, stop in spans(len(rows), 8 * TOGETHER):
        d2 = metric.among(np.concatenate([middle, rows[start:stop]])).squared_distances(columns)[q:]
        distance[start:stop] = np.median(d2, axis=1)
    return np.flatnonzero(distance >= np.quantile(distance, 1.0 - OUTERMOST))


def _nearest(
    metric: Metric, rows: IntArray, among: IntArray, k: int
) -> tuple[IntArray, Float64, npt.NDArray[np.bool_]]:
    """Return the k nearest of some rows (q,) that differ from each row (p, k), the squared distance
    (p,) to the last of them, and which do not differ (p, q)."""
    near, distance, q = np.empty((len(rows), k), dtype=np.intp), np.empty(len(rows)), len(among)
    equal = np.empty((len(rows), q), dtype=bool)
    for start, stop in spans(len(rows), TOGETHER):
        d2 = metric.among(np.concatenate([among, rows[start:stop]])).squared_distances(
            np.arange(q, q + stop - start)
        )[:q]
        equal[start:stop] = (d2 <= 0).T
        d2 = np.where(d2 > 0, d2, np.inf).T
        first = np.argpartition(d2, k - 1, axis=1)[:, :k]
        near[start:stop], distance[start:stop] = (
            first,
            np.take_along_axis(d2, first, axis=1).max(axis=1),
        )
    return near, distance, equal
