"""Merging of two streams: their summaries brought into one space, matched by cluster, and added."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..data.arrays import IntArray, equal, stacked, take
from ..sampling.population import distinct_rows
from ..spaces import Space, landmark_space, spanning_space
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
    return one + other[_partners(one, other)]


def _partners(one: StreamSummary, other: StreamSummary) -> IntArray:
    """Return the partner of each cluster: the matching of least total squared distance of centres,
    or where clusters have metrics of least likelihood lost."""
    centres, others = one.centres, other.centres
    costs = (
        centres.squared_norms()[:, None]
        + others.squared_norms()[None, :]
        - 2.0 * centres.inner(others)
    )
    if one.scatter is not None:
        shrinkage, numbers = one.scatter.step.shrinkage, np.arange(len(centres))
        for shift in numbers:
            which = (numbers + shift) % len(numbers)
            both = one + other[which]
            volumes = shrinkage.log_volumes(both.sums, both.centres)
            costs[numbers, which] = both.mass * volumes
    return np.asarray(linear_sum_assignment(costs)[1], dtype=np.intp)


def _moved(past: StreamSummary, space: Space) -> StreamSummary:
    return past.moved(space, space.project(past.centres, past.space))[0]
