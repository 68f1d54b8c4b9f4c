"""Clusters of a stream that open, split, merge and sleep, by the evidence of valleys between their
rows."""

from __future__ import annotations

import itertools

import numpy as np

from ..data.arrays import Float64
from .cells import LEAST, Cells
from .living_clusters import CELLS, FULL, HORIZONS, LATE, MEMORY, LivingClusters
from .living_stream import MOST_ROWS, LivingStream, NearPairs, Swallowed, alike, with_clusters
from .valleys import Cut, Side, drawn, in_space

BASE, LOW = (
    9.0,
    2.0,
)  # evidence that parts two sides, beside what many looks may show; that does not
LEAST_MASS, LEAST_HEAP, LEAST_CELLS = 6.0, 5.0, 5  # of a side; of outlying rows; of a cluster
PLAIN_STARTS = 4  # of 2-means in the space of rows, and three where covariances are whitened;
PLAIN_WAYS = np.array([[0, 4], [1, 5], [2, 6], [3, 7]])  # the numbers that each is drawn by
WAYS = np.array([*PLAIN_WAYS.tolist(), [8, 11], [9, 12], [10, 13]])
OF_COLUMN = 0.05  # evidence that each column may add by chance
NEAR = 36.0  # squared distance of means within which clusters may merge
SILENT = 20.0  # minus the logarithm of the chance of such a silence
SLEEPING_CELLS, MOST_CLUSTERS, MOST_SWALLOWED = 8, 256, 64
LOOKS = 16.0  # share of a cluster's memory, 1 in so many, that comes before it is looked at again


def turned_over(stream: LivingStream) -> LivingStream:
    """Return the stream after its clusters have opened, split, merged and fallen asleep."""
    rng = np.random.default_rng(stream.n_steps)
    stream = _opened(_split(stream, rng), rng)
    if len(stream.clusters) > 1:
        stream = _merged(stream)
    c = stream.clusters
    silent = np.flatnonzero((c.awake > 0) & (c.heard * np.log1p(c.silence / c.time) > SILENT))
    for j in silent.tolist():
        cells = fewer(c.cells[j], SLEEPING_CELLS)
        stream = with_clusters(stream, stream.clusters.with_cells(j, cells).changed(j, awake=0))
        stream = stream.with_event("sleeps", int(c.number[j]))
    if len(c) > MOST_CLUSTERS:
        oldest = int(stream.clusters.seen.argmin())
        number = int(stream.clusters.number[oldest])
        stream = with_clusters(stream, stream.clusters.without(oldest))
        stream = stream.with_event("ends", number)
    return stream


def _threshold(stream: LivingStream) -> float:
    return BASE + float(np.log(stream.n_steps))


def _split(stream: LivingStream, rng: np.random.Generator) -> LivingStream:
    """Return the stream after clusters with a valley inside have split, those of which enough rows
    have come since they were last looked at."""
    c = stream.clusters
    patience = np.maximum(np.minimum(c.mass, c.rows) / LOOKS, stream.step_rows**2 / MOST_ROWS)
    fresh = c.rows - c.tested >= patience
    queue = c.number[(c.seen == stream.n_rows) & (c.awake > 0) & fresh].tolist()
    shapes = stream.shapes
    while queue and len(stream.clusters) <= MOST_CLUSTERS:
        j = int(np.flatnonzero(stream.clusters.number == queue.pop())[0])
        cells, bar = stream.clusters.cells[j], _threshold(stream)
        found = _valley(cells, shapes.factors[j], bar, rng)
        c = stream.clusters.changed(j, tested=stream.clusters.rows[j])
        stream = alike(stream, clusters=c)
        if found is not None:
            stream = _parted(stream, j, *found)
            shapes = stream.shapes
            queue += stream.clusters.number[[j, -1]].tolist()
    return stream


def _valley(
    cells: Cells, factor: Float64, bar: float, rng: np.random.Generator
) -> tuple[Cells, Side] | None:
    """Return cells of some mass, and the sides of the deepest valley between them, by all rows or
    else by late ones; None where none is deep enough."""
    if cells.mass < 2 * LEAST_MASS:
        return None
    d = cells.x.shape[1]
    ways, cut = WAYS if d > 1 else PLAIN_WAYS, Cut(cells, factor if d > 1 else None, plain=True)
    for mass in (cells.w, cells.f):
        w = np.where(mass > LEAST, mass, 0.0)
        if np.count_nonzero(w) <= LEAST_CELLS or w.sum() < 2 * LEAST_MASS:
            continue
        found = cut.by_two_means(w, rng.random(ways.size)[ways], PLAIN_STARTS)
        found.evidence[PLAIN_STARTS:] -= OF_COLUMN * min(d, FULL)
        deep = np.where(found.smaller >= LEAST_MASS, found.evidence, 0.0)
        if deep.max() > bar:
            some = w > 0
            side = found.side[deep.argmax()][some]
            cells = Cells(cells.x, w, cells.f, cells.s / cells.w * w)
            return cells.part(some), side
    return None


def _parted(stream: LivingStream, j: int, cells: Cells, side: Side) -> LivingStream:
    """Return the stream with the smaller side of a cluster's cells as a cluster of its own; with
    one that had been merged into it, that one has its number again."""
    c, now = stream.clusters, stream.n_rows
    own, new = side == 0, side == 1
    if cells.w[new].sum() > cells.w[own].sum():
        own, new = new, own
    number, parent = stream.n_numbers, int(c.number[j])
    back = np.flatnonzero(stream.swallowed.into == parent)
    if len(back):
        last = back[-1]
        number, way = int(stream.swallowed.number[last]), stream.swallowed.way[last]
        if (cells.part(new).mean - cells.part(own).mean) @ way < 0:
            own, new = new, own
        others = np.delete(np.arange(len(stream.swallowed.into)), last)
        swallowed = Swallowed(*(part[others] for part in vars(stream.swallowed).values()))
        stream = alike(stream, swallowed=swallowed)
    else:
        stream = alike(stream, n_numbers=number + 1)
    part = cells.w[new].sum() / cells.w.sum()
    share = float(c.share[j])
    c = c.fitted_anew(j, cells.part(own), c.rows[j] * (1 - part), share * (1 - part))
    c = c + LivingClusters.of(cells.part(new), number, now, share * part)
    return with_clusters(stream, c).with_event("splits", number, parent)


def _opened(stream: LivingStream, rng: np.random.Generator) -> LivingStream:
    """Return the stream after a heap of outlying rows has become a cluster, beyond valleys from the
    two clusters nearest to it."""
    mass = stream.outlying.mass
    if mass < LEAST_HEAP or mass < stream.outlying_tested + max(1.0, mass / LOOKS):
        kept = min(stream.outlying_tested, mass)
        return alike(stream, outlying_tested=kept)
    c, out, shapes = stream.clusters, stream.outlying, stream.shapes
    for start in range(4):
        to_space = None if start % 2 == 0 else shapes.pooled
        x, means = in_space(out.x, to_space), in_space(shapes.mean, to_space)
        away = ((means[:, None] - x) ** 2).sum(axis=2)  # (c, k)
        heap = _heap(x, out.w, away.min(axis=0), rng)
        if heap is None:
            continue
        middle = out.w[heap] @ x[heap] / out.w[heap].sum()
        nearest = np.argsort(((means - middle) ** 2).sum(axis=1), kind="stable")[:2]
        new = out.part(heap)
        if min(between_clusters(c.cells[j], new, to_space) for j in nearest) > _threshold(stream):
            share = min(new.mass / LATE, 0.5)
            number, now = stream.n_numbers, stream.n_rows
            stream = with_clusters(
                stream,
                c + LivingClusters.of(fewer(new, CELLS), number, now, share),
                outlying=out.part(~heap),
                outlying_tested=0.0,
                n_numbers=number + 1,
            ).with_event("opens", number)
            return _opened(stream, rng)
    return alike(stream, outlying_tested=mass)


def _heap(x: Float64, w: Float64, away: Float64, rng: np.random.Generator) -> np.ndarray | None:
    """Return which cells are nearer to a heap of them than to any cluster; None without a heap."""
    middle, near = x[drawn(w, rng.random())], np.zeros(len(w), bool)
    for _ in range(5):
        near = ((x - middle) ** 2).sum(axis=1) < away
        if w[near].sum() < LEAST_HEAP:
            return None
        middle = w[near] @ x[near] / w[near].sum()
    return near


def fewer(cells: Cells, most: int) -> Cells:
    """Return at most so many cells, in the place of others."""
    return cells.with_more(cells.part(np.empty(0, np.intp)), most)


def between_clusters(a: Cells, b: Cells, to_space: Float64 | None) -> float:
    """Return the evidence of a valley between the cells of two clusters."""
    both = Cells(*(np.concatenate(parts) for parts in zip(a, b, strict=True)))
    side = np.repeat(np.array([0, 1], np.int8), [len(a), len(b)])
    return Cut(both, to_space, plain=to_space is None).between(both.w, side)


def _merged(stream: LivingStream) -> LivingStream:
    """Return the stream after clusters have merged that had no valley between them for long."""
    c, pooled = stream.clusters, stream.shapes.pooled
    close = stream.shapes.distances(stream.shapes.mean)
    close = np.minimum(close, close.T)
    if not len(stream.near.since) and np.count_nonzero(close <= NEAR) == len(c):
        return stream  # no two are close, as nearly always
    for a, b in itertools.combinations(c.number[c.awake > 0].tolist(), 2):
        i, j = (np.flatnonzero(c.number == number)[0] for number in (a, b))
        if close[i, j] > NEAR and stream.near.find(a, b) is None:
            continue
        stream = _merged_pair(stream, a, b, bool(close[i, j] <= NEAR), pooled)
    return stream


def _merged_pair(
    stream: LivingStream, a: int, b: int, close: bool, pooled: Float64
) -> LivingStream:
    """Return the stream after a look at two clusters, by their numbers."""
    c, near, now = stream.clusters, stream.near, stream.n_rows
    places = [np.flatnonzero(c.number == number) for number in (a, b)]
    if not all(len(place) for place in places):
        return stream  # one has merged already
    i, j = (int(place[0]) for place in places)
    place = near.find(a, b)
    low = close and min(c.mass[i], c.mass[j]) >= 20
    low = low and all(between_clusters(c.cells[i], c.cells[j], to) <= LOW for to in (None, pooled))
    if not low:
        if place is not None:
            others = np.delete(np.arange(len(near.since)), place)
            stream = alike(stream, near=near.part(others))
        return stream
    mean = c.mean
    if place is None:
        near = NearPairs(
            np.concatenate([near.numbers, [[a, b]]]),
            np.concatenate([near.rows, c.rows[[[i, j]]]]),
            np.concatenate([near.way, (mean[j] - mean[i])[None]]),
            np.append(near.since, now),
        )
        stream, place = alike(stream, near=near), len(near.since) - 1
    y = i if c.born[i] > c.born[j] else j
    young = c.heard[y] > 40 and near.since[place] - c.born[y] < (now - c.born[y]) / 5
    long = 2 * MEMORY * min(*c.horizon[[i, j]], HORIZONS[2])
    if young or (c.rows[[i, j]] - near.rows[place]).min() > long:
        return _joined(stream, i, j, near.way[place])
    return stream


def _joined(stream: LivingStream, i: int, j: int, way: Float64) -> LivingStream:
    """Return the stream with two clusters as one, which has the number of the larger."""
    c, near = stream.clusters, stream.near
    kept, gone, way = (i, j, way) if c.rows[i] >= c.rows[j] else (j, i, -way)
    number, lost = int(c.number[kept]), int(c.number[gone])
    cells = c.cells[kept].with_more(c.cells[gone], CELLS)
    rows, share = c.rows[[i, j]].sum(), c.share[[i, j]].sum()
    c = c.fitted_anew(kept, cells, rows, share).without(gone)
    old = stream.swallowed
    swallowed = Swallowed(
        np.append(np.where(old.into == lost, number, old.into), number)[-MOST_SWALLOWED:],
        np.append(old.number, lost)[-MOST_SWALLOWED:],
        np.concatenate([old.way, way[None]])[-MOST_SWALLOWED:],
    )
    others = np.flatnonzero((near.numbers != lost).all(axis=1))
    stream = with_clusters(stream, c, near=near.part(others), swallowed=swallowed)
    return stream.with_event("merges", lost, number)
