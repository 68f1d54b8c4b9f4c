"""Kernel patch clustering: a few rows nearest to each centre represent its cluster (Fausser &
Schwenker, ICPR 2012)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.arrays import Array, Float64, IntArray, in_type_of
from ..data.blocks import Blocks
from ..sampling.population import distinct_rows
from ..spaces import LandmarkSpace, gram_matrix
from ..spaces.centres import Centres
from ..streaming.summary import StreamSummary


def carried_points(
    past: StreamSummary,  # in a space that all rows of `blocks` lie in
    blocks: Blocks,
    distances: Float64,  # (n, c) of the rows to the centres
    n_points: int,
    like: Array,  # array type of the kept points
) -> StreamSummary:
    """Return the past with each centre replaced by the mean of its `n_points` nearest rows, all
    different."""
    rows, a = _nearest(distances, blocks, n_points)
    found = blocks.take(rows)
    places = past.space.embed(found)
    gram = gram_matrix(past.space.kernel, found.x)
    means = Centres(a @ places.coordinates, a @ places.duals)
    lost = (past.centres - means).squared_norms()
    space = LandmarkSpace(past.space.kernel, in_type_of(found.x, like))
    return replace(
        past, space=space, centres=Centres(a, a @ gram), spread=past.spread + past.mass * lost
    )


def points_of(past: StreamSummary) -> tuple[Array, Float64]:
    """Return the carried rows and their weights: each cluster's mass divided evenly among its
    rows."""
    weights: Float64 = past.mass @ past.centres.coordinates
    return past.space.basis_points, weights


def _nearest(distances: Float64, blocks: Blocks, n_points: int) -> tuple[IntArray, Float64]:
    """Return the numbers of the rows nearest to any centre, and each centre's equal shares (c, p)
    of its own."""
    first, member = distinct_rows(blocks.x)
    there = first[np.bincount(member, weights=blocks.weight) > 0]
    order = np.argsort(distances[there], axis=0, kind="stable")[:n_points]  # (p, c)
    rows, which = np.unique(there[order], return_inverse=True)
    shares = np.zeros((distances.shape[1], len(rows)))
    np.put_along_axis(shares, which.reshape(order.shape).T, 1.0 / len(order), axis=1)
    return rows, shares
