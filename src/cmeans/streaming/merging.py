"""Merging of two streams: their summaries brought into one space, matched by cluster, and added."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..data.arrays import IntArray, equal, stacked, take
from ..sampling.population import distinct_rows
from ..spaces import Space, landmark_space, spanning_space
from ..spaces.centres import Centres
from .summary import StreamSummary


def together(one: StreamSummary, other: StreamSummary) -> tuple[StreamSummary, bool]:
    """Return the sum of two summaries, and True if both had to be moved to the union of their
    landmarks."""
    mine, its = one.space, other.space
    points, others = mine.basis_points, its.basis_points
    if points is None or others is None:
        return _added(one, _moved(other, mine)), False
    if not mine.is_portable and equal(points, others):
        return _added(one, other), False
    rows = stacked(points, others)
    # centres over the rows of their last chunks: they lie in the span of these, and do not change
    if mine.is_portable:
        space = spanning_space(mine.kernel, rows, rows.dtype)
        return _added(_moved(one, space), _moved(other, space)).portable(), False
    different = np.sort(distinct_rows(rows)[0])
    space = landmark_space(mine.kernel, take(rows, different), None, rows.dtype)
    return _added(_moved(one, space), _moved(other, space)), True


def _added(one: StreamSummary, other: StreamSummary) -> StreamSummary:
    return one + other[_partners(one.centres, other.centres)]


def _partners(centres: Centres, others: Centres) -> IntArray:
    """Return the partner of each centre: the matching of least total squared distance."""
    distances = (
        centres.squared_norms()[:, None]
        + others.squared_norms()[None, :]
        - 2.0 * centres.inner(others)
    )
    return np.asarray(linear_sum_assignment(distances)[1], dtype=np.intp)


def _moved(past: StreamSummary, space: Space) -> StreamSummary:
    return past.moved(space, space.project(past.centres, past.space))[0]
