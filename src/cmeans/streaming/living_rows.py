"""Rows of a stream whose clusters come and go, step by step whatever chunks they come in."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray
from .cells import Cells
from .living_clusters import LivingClusters
from .living_stream import LivingStream, absorbed, alike, in_units, spread, with_clusters
from .turnover import turned_over

SEEN_AGAIN = 512  # rows of a chunk that are labelled anew, where a cluster opens


def with_rows(stream: LivingStream, x: Float64) -> tuple[LivingStream, IntArray]:
    """Return the stream after a chunk of rows (b, d), and their labels: each as the rows before it
    say; where a cluster opens, late rows of the same chunk that belong to it have its number."""
    labels, at, known = np.empty(len(x), np.intp), 0, stream.n_numbers
    while at < len(x):
        left = stream.step_rows - len(stream.waiting)
        part = x[at : at + left]
        at += len(part)
        waiting = np.concatenate([stream.waiting, part]) if len(stream.waiting) else part
        if len(part) < left:
            labels[at - len(part) :] = stream.labels(part)
            return alike(stream, waiting=waiting.copy()), labels
        before = stream.n_numbers
        stream, found = _stepped(stream, waiting)
        labels[at - len(part) : at] = found[-len(part) :]
        if stream.n_numbers > before:
            late = slice(max(0, at - max(SEEN_AGAIN, 2 * len(waiting))), at)
            new = stream.labels(x[late])
            labels[late] = np.where(new >= max(known, 1), new, labels[late])
    return stream, labels


def _stepped(stream: LivingStream, rows: Float64) -> tuple[LivingStream, IntArray]:
    """Return the stream after a step, and the labels of its rows before it."""
    counted = alike(
        stream,
        waiting=rows[:0],
        n_rows=stream.n_rows + len(rows),
        n_steps=stream.n_steps + 1,
    )
    if len(stream.clusters):
        vars(counted)["shapes"] = stream.shapes  # of the rows before
        after, labels = absorbed(counted, rows * stream.unit)
        return turned_over(after), labels
    counted = alike(counted, unit=in_units(stream, rows))
    x = spread(rows * counted.unit, counted.n_steps)
    first = LivingClusters.of(Cells.of_rows(x), 0, counted.n_rows, 1.0)
    begun = with_clusters(counted, first, n_numbers=1).with_event("opens", 0)
    return turned_over(begun), np.zeros(len(rows), np.intp)
