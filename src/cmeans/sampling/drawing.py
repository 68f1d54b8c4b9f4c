"""Draws keyed by row number, the same for a row wherever it lies, whoever draws and however rows
are divided; draws in proportion to weight, of weights in memory and on other machines; and one row
within each of some clusters, by one pass wherever rows are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..data.column_facts import are_alike, are_here
from ..engines import NumberedPass
from ..rules import Rule
from ..sweeps.choice import NearestFunction, nearest_for
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State

MOST_SEED = 2**31


def new_key(rng: np.random.RandomState) -> int:
    """Draw the key of a set of draws."""
    return int(rng.randint(MOST_SEED))


def uniforms(key: int, start: int, stop: int) -> Float64:
    """Return the numbers in [0, 1) of rows start ... stop - 1: a generator is moved to each row's
    place in one stream."""
    return np.random.Generator(np.random.PCG64(key).advance(start)).random(stop - start)


def exponentials(key: int, start: int, stop: int) -> Float64:
    """Return exponential numbers of rows start ... stop - 1, of mean 1."""
    return -np.log1p(-uniforms(key, start, stop))


def balanced_labels(key: int, span: int, count: int, start: int, stop: int) -> IntArray:
    """Return random labels 0 ... count - 1 of rows start ... stop - 1, each as often as any other
    in every `span` consecutive rows."""
    parts = []
    for number in range(start // span, -(-stop // span)):
        labels = np.random.Generator(np.random.PCG64([key, number])).permutation(span) % count
        first = number * span
        parts.append(labels[max(start - first, 0) : stop - first])
    return np.concatenate(parts)


class Weights(Protocol):
    """Weights (p,) of entries."""

    def first_arrivals(self, size: int, rng: np.random.RandomState, at_once: int) -> IntArray:
        """Draw `size` different entries, one after the other in proportion to weight; few keys
        (`at_once`) are drawn together."""

    def fair(self, size: int, rng: np.random.RandomState) -> IntArray:
        """Draw `size` entries, of each as many as its share of the weight, rounded up or down."""

    def hit(self, points: Float64) -> IntArray:
        """Return the entries in whose stretches points of [0, sum of weights) fall, where each is
        as long as its weight."""


@dataclass(frozen=True)
class WeightsHere:
    """Weights in memory."""

    values: Float64  # (p,)

    def first_arrivals(self, size: int, rng: np.random.RandomState, at_once: int) -> IntArray:
        kept, positions = np.empty(0), np.empty(0, dtype=np.intp)  # the smallest keys so far
        for start, stop in spans(len(self.values), at_once):
            keys = np.concatenate(
                [kept, rng.exponential(size=stop - start) / self.values[start:stop]]
            )
            order = np.argsort(keys, kind="stable")[:size]
            kept = keys[order]
            positions = np.concatenate([positions, np.arange(start, stop)])[order]
        return positions

    def fair(self, size: int, rng: np.random.RandomState) -> IntArray:
        order = rng.permutation(len(self.values))
        ends = self.values[order]
        np.cumsum(ends, out=ends)
        ticks = (rng.uniform() + np.arange(size)) * (ends[-1] / size)
        hits: IntArray = order[
            np.minimum(np.searchsorted(ends, ticks, side="right"), len(order) - 1)
        ]
        return hits

    def hit(self, points: Float64) -> IntArray:
        return np.minimum(
            np.searchsorted(np.cumsum(self.values), points, side="right"), len(self.values) - 1
        ).astype(np.intp)


@dataclass(frozen=True)
class WeightsElsewhere:
    """Weights that are parts on other machines. Some may be zero, and are never drawn."""

    values: Any  # a column: `asked` says what a function says of each part

    def first_arrivals(self, size: int, rng: np.random.RandomState, at_once: int) -> IntArray:
        arrived = self.values.asked(partial(_first_arrivals, new_key(rng), size))
        times, rows = map(np.concatenate, zip(*arrived, strict=True))
        order = np.argsort(times, kind="stable")[:size]
        return np.asarray(rows[order[np.isfinite(times[order])]], np.intp)

    def fair(self, size: int, rng: np.random.RandomState) -> IntArray:
        return self.hit((rng.uniform(size=size) + np.arange(size)) * (self.values.sum() / size))

    def hit(self, points: Float64) -> IntArray:
        masses = np.array(self.values.asked(_total))
        ends = np.cumsum(masses)
        part = np.minimum(np.searchsorted(ends, points, side="right"), np.flatnonzero(masses)[-1])
        asked = {
            self.values.rows.first_rows[k]: points[part == k] - (ends[k] - masses[k])
            for k in np.unique(part)
        }
        hits = np.empty(len(points), np.intp)
        hits[np.argsort(part, kind="stable")] = np.concatenate(
            self.values.asked(partial(_hit, asked))
        )
        return hits


def weights_at(values: Any) -> Weights:
    """Return weights, an array or a column of other machines, as what is drawn by."""
    return WeightsHere(values) if are_here(values) else WeightsElsewhere(values)


def one_drawn(values: Any, rng: np.random.RandomState) -> int:
    """Draw one entry, in proportion to weight."""
    if are_alike(values):
        return min(int(rng.uniform() * len(values)), len(values) - 1)
    return int(weights_at(values).hit(np.array([rng.uniform() * values.sum()]))[0])


def _total(part: Float64, start: int) -> float:
    return float(part.sum())


def _hit(asked: dict[int, Float64], part: Float64, start: int) -> IntArray:
    points = asked.get(start)
    if points is None:
        return np.empty(0, np.intp)
    within = np.searchsorted(np.cumsum(part), points, side="right")
    return np.asarray(start + np.minimum(within, np.flatnonzero(part)[-1]), np.intp)


def _first_arrivals(key: int, size: int, part: Float64, start: int) -> tuple[Float64, IntArray]:
    """Return the exponential times over their weights of the first entries of a part to arrive, and
    their numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        times = exponentials(key, start, start + len(part)) / part
    order = np.argsort(times, kind="stable")[:size]
    return times[order], start + order


@dataclass(frozen=True)
class DrawnWithin:
    """The first arrivals of a race: a row of rate w d2 arrives after an exponential time over that
    rate."""

    rows: IntArray  # (k,) numbers of rows
    times: Float64  # (k,) infinite where no row can be drawn

    def __add__(self, other: DrawnWithin) -> DrawnWithin:
        later = other.times >= self.times
        return DrawnWithin(
            np.where(later, self.rows, other.rows), np.minimum(self.times, other.times)
        )


@dataclass(frozen=True)
class DrawWithinPass(NumberedPass[DrawnWithin]):
    """One row of each of some clusters, those of the nearest centres."""

    rule: Rule
    state: State
    clusters: IntArray  # (k,)
    key: int

    def prepare(self, rows: RepresentedRows) -> NearestFunction:
        return nearest_for(rows, self.rule, len(self.state.centres))

    def work(self, rows: RepresentedRows, task: int, prepared: NearestFunction) -> DrawnWithin:
        labels, distances = prepared(rows, self.state, task)
        start, stop = rows.task_range(task)
        return self.drawn(
            self.first + np.arange(start, stop),
            rows.blocks.weight[start:stop],
            labels,
            distances,
            self.first + start,
        )

    def drawn(
        self, rows: IntArray, weight: Float64, labels: IntArray, distances: Float64, place: int
    ) -> DrawnWithin:
        """Return the draws among some rows, the first of which has this place in the order of
        all."""
        costliest = self.rule.noise_distance or math.inf  # farther rows cost no more than that
        with np.errstate(divide="ignore"):
            times = exponentials(self.key, place, place + len(rows)) / (
                weight * np.minimum(distances, costliest)
            )
        found, least = np.zeros(len(self.clusters), np.intp), np.full(len(self.clusters), np.inf)
        for at, cluster in enumerate(self.clusters):
            members = np.flatnonzero(labels == cluster)
            if len(members):
                best = members[np.argmin(times[members])]
                found[at], least[at] = rows[best], times[best]
        return DrawnWithin(found, least)
