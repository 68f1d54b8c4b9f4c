"""A stream whose clusters come and go: the state, which is a function of the rows and not of the
chunks they come in.

A step is made whenever there are enough rows: `absorbed` gives them to the clusters, and
`turnover` lets clusters open, split, merge and sleep.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import Float64, IntArray
from ..runtime.stored_classes import stored
from .cells import Cells, with_rows
from .living_clusters import CELLS, FULL, OF_ITS_OWN, LivingClusters, Shapes, renewed
from .steps import step_of

LEAST_ROWS, MOST_ROWS = 32, 1024  # of a step
SHARE_OF_ROWS = 64  # of all rows so far, that a step has
OUTLYING_CELLS, OUTLYING_HORIZON = 64, 2000.0
MOST_EVENTS = 1000  # that are remembered
KINDS = ("opens", "splits", "merges", "sleeps", "wakes", "ends")
FEW_VALUES = 256  # rows by which columns of few values are known,
MOSTLY = 0.9  # and the share of them below which distinct values are few


class Event(NamedTuple):
    """A change of a cluster: it `opens`, `splits` off another, `merges` into another, `sleeps`
    when its rows no longer come, `wakes` when they come again, or `ends`, forgotten."""

    row: int  # rows of the stream before it
    kind: str
    cluster: int
    other: int  # -1 where no other has a part in it


@stored
@dataclass(frozen=True)
class NearPairs:
    """Pairs of clusters between which there has been no valley for a while."""

    numbers: IntArray  # (p, 2) of the clusters
    rows: Float64  # (p, 2) of each, when that began
    way: Float64  # (p, d) from the first to the second
    since: IntArray  # (p,) rows of the stream before

    def find(self, a: int, b: int) -> int | None:
        """Return the place of a pair of numbers."""
        places = np.flatnonzero((self.numbers == (a, b)).all(axis=1))
        return int(places[0]) if len(places) else None

    def part(self, some: IntArray) -> NearPairs:
        """Return some of the pairs."""
        return NearPairs(self.numbers[some], self.rows[some], self.way[some], self.since[some])


@stored
@dataclass(frozen=True)
class Swallowed:
    """Clusters that were merged into others, where they may come out again."""

    into: IntArray  # (q,) numbers of the others
    number: IntArray  # (q,) their own
    way: Float64  # (q, d) from the other to where it was


@stored
@dataclass(frozen=True)
class LivingStream:
    """State of a stream after some rows."""

    clusters: LivingClusters
    outlying: Cells
    near: NearPairs
    swallowed: Swallowed
    unit: Float64  # (d,) what columns are multiplied by
    waiting: Float64  # (b, d) rows, as they came, since the last step
    events: IntArray  # (e, 4) the last ones: row, kind, cluster, other
    n_rows: int = 0  # before the last step
    n_steps: int = 0
    n_numbers: int = 0  # that were given to clusters
    n_events: int = 0
    outlying_tested: float = field(default=0.0)  # mass of outlying rows that was looked at

    def __post_init__(self) -> None:
        d = self.clusters.means.shape[2]
        widths = self.outlying.x.shape[1], self.unit.shape[0], self.waiting.shape[1]
        if set(widths) != {d} or self.near.way.shape[1:] != (d,) or self.events.shape[1:] != (4,):
            raise ValueError(f"LivingStream: parts of {widths} columns, where there are {d}")
        counts = self.n_rows, self.n_steps, self.n_numbers, self.n_events
        if any(not 0 <= count < 2**53 for count in counts):
            raise ValueError(f"LivingStream: counts of {counts}")
        if len(self.events) and not 0 <= self.events[:, 1].min() <= self.events[:, 1].max() < len(
            KINDS
        ):
            raise ValueError("LivingStream: an event is none")

    @classmethod
    def begun(cls, d: int) -> LivingStream:
        """Return a stream of d columns without rows."""
        pairs = NearPairs(
            np.empty((0, 2), np.intp), np.empty((0, 2)), np.empty((0, d)), np.empty(0, np.intp)
        )
        none = np.empty(0, np.intp)
        return cls(
            LivingClusters.of_none(d),
            Cells.of_rows(np.empty((0, d))),
            pairs,
            Swallowed(none, none, np.empty((0, d))),
            np.ones(d),
            np.empty((0, d)),
            np.empty((0, 4), np.intp),
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.waiting.shape[1])

    @property
    def step_rows(self) -> int:
        """Rows of the next step: the largest power of two within a share of those so far."""
        most = max(self.n_rows // SHARE_OF_ROWS, 1)
        return min(max(LEAST_ROWS, 1 << (most.bit_length() - 1)), MOST_ROWS)

    @cached_property
    def shapes(self) -> Shapes:
        """The metrics of the clusters."""
        return Shapes.of(self.clusters, self.n_rows)

    @property
    def covariances(self) -> Float64:
        """Covariances (c, d, d) of the clusters, or their diagonals (c, d), in the rows' units;
        before there are any, those of the one in which distances are Euclidean."""
        d = self.n_columns
        if not len(self.clusters):
            return np.eye(d)[None] if d <= FULL else np.ones((1, d))
        found = self.shapes.covariances
        root = 1 / self.unit
        scaled: Float64 = found * (root[:, None] * root if found.ndim == 3 else root**2)
        return scaled

    def labels(self, x: Float64) -> IntArray:
        """Return numbers (b,) of the clusters of rows; 0 before there are any."""
        if not len(self.clusters):
            return np.zeros(len(x), np.intp)
        shapes = self.shapes
        nearest = shapes.log_shares(shapes.distances(x * self.unit)).argmax(axis=1)
        numbers: IntArray = self.clusters.number[nearest]
        return numbers

    def with_event(self, kind: str, cluster: int, other: int = -1) -> LivingStream:
        """Return the stream with one event more."""
        event = np.array([[self.n_rows, KINDS.index(kind), cluster, other]], np.intp)
        events = np.concatenate([self.events, event])[-MOST_EVENTS:]
        return alike(self, events=events, n_events=self.n_events + 1)

    def events_since(self, count: int) -> list[Event]:
        """Return the events after the first `count`, those that are remembered."""
        some = self.events[max(len(self.events) - (self.n_events - count), 0) :]
        return [
            Event(row, KINDS[kind], cluster, other) for row, kind, cluster, other in some.tolist()
        ]


def alike(stream: LivingStream, **changes: Any) -> LivingStream:
    """Return the stream with changes in other things than clusters, whose metrics stay."""
    return renewed(stream, **changes)


def with_clusters(stream: LivingStream, clusters: LivingClusters, **changes: Any) -> LivingStream:
    """Return the stream with other clusters, and other changes."""
    changed = renewed(stream, clusters=clusters, **changes)
    vars(changed).pop("shapes", None)
    return changed


def in_units(stream: LivingStream, x: Float64) -> Float64:
    """Return units (d,) of columns: their deviations where these differ much, else 1."""
    deviations = x.std(axis=0)
    largest = deviations.max()
    if not largest > 5 * deviations.min():
        return stream.unit
    unit: Float64 = 1 / np.where(deviations > 1e-12 * largest, deviations, largest)
    return unit


def spread(x: Float64, number: int) -> Float64:
    """Return rows in which columns of few values, such as whole numbers, are spread over their
    steps, lest the gaps between values be valleys."""
    gaps = np.diff(np.sort(np.ascontiguousarray(x[:FEW_VALUES].T)))  # (d, b - 1)
    distinct = (gaps > 0).sum(axis=1) + 1
    few = (distinct > 1) & (distinct < MOSTLY * (gaps.shape[1] + 1))
    if not few.any():
        return x
    step = np.array(
        [np.median(g[g > 0]) if some else 0.0 for g, some in zip(gaps, few, strict=True)]
    )
    return x + step * (np.random.default_rng(number).random(x.shape) - 0.5)


def absorbed(stream: LivingStream, x: Float64) -> tuple[LivingStream, IntArray]:
    """Return the stream after its clusters have taken a step's rows (b, d) in its units, and the
    numbers of the clusters that were the likeliest before."""
    c, b, cells = stream.clusters, len(x), spread(x, stream.n_steps)
    step = step_of(x, stream.shapes, c, stream.n_rows)
    for j in np.flatnonzero((c.awake == 0) & (step.clusters["awake"] > 0)):
        stream = stream.with_event("wakes", int(c.number[j]))
    q = float(np.exp(-b / OUTLYING_HORIZON))
    counts, taken = np.diff(step.ends), np.append(step.came >= OF_ITS_OWN, True)
    *every, outlying = with_rows(
        [*c.cells, stream.outlying],
        cells[step.order[np.repeat(taken, counts)]],
        np.append(0, np.cumsum(counts * taken)),
        [CELLS] * len(c) + [OUTLYING_CELLS],
        np.concatenate([step.left, [[q, q]]]),
    )
    clusters = renewed(c, cells=tuple(every), **step.clusters)
    return with_clusters(stream, clusters, outlying=outlying), c.number[step.nearest]
