"""Numbers of a stream's clusters, where labels of rows come to be known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...data.arrays import Float64, IntArray
from ...data.blocks import Blocks
from ...data.known_labels import KnownLabels, known_of, with_known
from .stream_state import StreamState


def tied_numbers(stream: StreamState | None, known: KnownLabels | None) -> IntArray | None:
    """Return the numbers of clusters that are those of labels, after further rows."""
    before = None if stream is None else stream.tied
    if known is None:
        return before
    here = np.unique(known.labels[known.strength > 0])
    return here if before is None else np.union1d(before, here)


def numbers_of_labels(
    stream: StreamState, rows: Blocks, memberships: Callable[[Blocks], Float64]
) -> IntArray:
    """Return the order (c,) in which the clusters take the numbers of labels that are new to the
    stream: each label that of the cluster to which most of its rows belong, among those that are no
    label's yet. `memberships` (k, c) are those of some of the rows."""
    c = len(stream.past.mass)
    order = np.arange(c)
    known = known_of(rows)
    if known is None:
        return order
    tied = np.empty(0, np.intp) if stream.tied is None else stream.tied
    told = np.flatnonzero((known.strength > 0) & ~np.isin(known.labels, tied))
    if not len(told):
        return order
    labels, free = np.unique(known.labels[told]), np.setdiff1d(order, tied)
    u = memberships(with_known(rows.part(told, rows.weight[told]), None))
    pull = known.fixed(rows.weight)[told]
    shared = np.stack([(pull * (known.labels[told] == label)) @ u[:, free] for label in labels])
    which, clusters = linear_sum_assignment(shared, maximize=True)
    taken = free[clusters]
    order[labels[which]] = taken
    order[np.setdiff1d(free, labels)] = np.setdiff1d(free, taken)
    return order
