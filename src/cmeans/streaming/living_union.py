"""Two streams whose clusters come and go, as one."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64
from .cells import Cells
from .living_clusters import CELLS, LATE, LivingClusters, renewed
from .living_rows import with_rows
from .living_stream import LivingStream, alike, with_clusters
from .turnover import LOW, NEAR, between_clusters

OF_MASS = 0.05  # evidence that each row of the smaller cluster may add, as no two streams are alike


def united(ours: LivingStream, theirs: LivingStream) -> LivingStream:
    """Return our stream with what another has seen: its clusters are those of ours that lie where
    they do, and others have new numbers. Rows of its that wait for a step come last."""
    if not len(theirs.clusters) or not len(ours.clusters):
        first, later = (ours, theirs) if len(ours.clusters) else (theirs, ours)
        return with_rows(first, later.waiting)[0]
    n = ours.n_rows + theirs.n_rows
    part = theirs.n_rows / n
    less = renewed(ours.clusters, share=ours.clusters.share * (1 - part))
    stream = with_clusters(ours, less, n_rows=n, n_steps=ours.n_steps + theirs.n_steps)
    to_ours = ours.unit / theirs.unit
    for j in range(len(theirs.clusters)):
        one = theirs.clusters.part(np.array([j]))
        cells = _in_other_units(one.cells[0], to_ours)
        stream = _with_cluster(stream, one, cells, float(one.share[0] * part), ours)
    cells = ours.outlying.with_more(_in_other_units(theirs.outlying, to_ours), 64)
    return with_rows(alike(stream, outlying=cells), theirs.waiting)[0]


def _in_other_units(cells: Cells, factor: Float64) -> Cells:
    """Return cells with columns multiplied."""
    return Cells(cells.x * factor, cells.w, cells.f, cells.s * float(np.mean(factor**2)))


def _with_cluster(
    stream: LivingStream, one: LivingClusters, cells: Cells, share: float, ours: LivingStream
) -> LivingStream:
    """Return the stream with a cluster of another, of these cells in our units."""
    c, mean, shapes = stream.clusters, cells.mean, ours.shapes
    d2 = shapes.distances(mean[None])[0]
    for i in np.argsort(d2, kind="stable")[:1].tolist():
        low = max(LOW, OF_MASS * min(c.mass[i], cells.mass))
        spaces = (None, shapes.pooled)
        if d2[i] < NEAR and max(between_clusters(c.cells[i], cells, to) for to in spaces) < low:
            both = c.cells[i].with_more(cells, CELLS)
            rows, shared = c.rows[i] + one.rows[0], c.share[i] + share
            awake = max(int(c.awake[i]), int(one.awake[0]))
            c = c.fitted_anew(i, both, rows, shared).changed(i, awake=awake)
            return with_clusters(stream, c)
    number = stream.n_numbers
    new = LivingClusters.of(cells, number, stream.n_rows, share)
    new = new.changed(0, awake=int(one.awake[0]), rows=float(one.rows[0]))
    heard = new.changed(0, heard=float(one.heard[0]), time=max(float(one.time[0]), LATE))
    stream = with_clusters(stream, c + heard, n_numbers=number + 1)
    return stream.with_event("opens", number)
