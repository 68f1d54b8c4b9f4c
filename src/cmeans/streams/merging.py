"""Two streams become one: their pasts brought into one space, cluster to cluster, and added."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..arrays import IntArray, equal, stacked, take
from ..centres import Centres
from ..chance import distinct_rows
from ..spaces import LandmarkSpace, Space, landmark_space, spanning_space
from .past import Past


def together(one: Past, other: Past) -> tuple[Past, bool]:
    """The sum of two pasts, and whether they had to be carried over to landmarks that neither had alone."""
    mine, its = one.space, other.space
    if not isinstance(mine, LandmarkSpace) or not isinstance(its, LandmarkSpace):
        return _added(one, _moved(other, mine)), False
    if mine.whitener is None:  # centres over the rows of their last chunks: they lie in the span of these, and stay what they are
        rows = stacked(mine.points, its.points)
        space = spanning_space(mine.kernel, rows, rows.dtype)
        return _added(_moved(one, space), _moved(other, space)).portable(), False
    if equal(mine.points, its.points):
        return _added(one, other), False
    space = _union(mine, its)
    return _added(_moved(one, space), _moved(other, space)), True


def _added(one: Past, other: Past) -> Past:
    return one + other[_partners(one.centres, other.centres)]


def _partners(centres: Centres, others: Centres) -> IntArray:
    """Which of the others goes with which: the pairing of least squared distances."""
    distances = centres.squared_norms()[:, None] + others.squared_norms()[None, :] - 2.0 * centres.inner(others)
    return np.asarray(linear_sum_assignment(distances)[1], dtype=np.intp)


def _moved(past: Past, space: Space) -> Past:
    return past.moved(space, space.project(past.centres, past.space))[0]


def _union(one: LandmarkSpace, other: LandmarkSpace) -> LandmarkSpace:
    """The space over the landmarks of both, each of them once."""
    points = stacked(one.points, other.points)
    different = np.sort(distinct_rows(points)[0])
    return landmark_space(one.kernel, take(points, different), None, points.dtype)
