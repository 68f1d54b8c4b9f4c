"""Draws keyed by row number, the same for a row wherever it lies, whoever draws and however rows are divided; and by them one row within
each of some clusters, in proportion to weight and squared distance, by one pass wherever rows are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Float64, IntArray
from ..engines import Pass
from ..rules import Rule
from ..sweeps.choice import NearestFunction, nearest_for
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State

MOST_SEED = 2**31


def new_key(rng: np.random.RandomState) -> int:
    """Draw the key of a set of draws."""
    return int(rng.randint(MOST_SEED))


def uniforms(key: int, start: int, stop: int) -> Float64:
    """Return the numbers in [0, 1) of rows start ... stop - 1: a generator is moved to each row's place in one stream."""
    return np.random.Generator(np.random.PCG64(key).advance(start)).random(stop - start)


def exponentials(key: int, start: int, stop: int) -> Float64:
    """Return exponential numbers of rows start ... stop - 1, of mean 1."""
    return -np.log1p(-uniforms(key, start, stop))


def balanced_labels(key: int, span: int, count: int, start: int, stop: int) -> IntArray:
    """Return random labels 0 ... count - 1 of rows start ... stop - 1, each as often as any other in every `span` consecutive rows."""
    parts = []
    for number in range(start // span, -(-stop // span)):
        labels = np.random.Generator(np.random.PCG64([key, number])).permutation(span) % count
        first = number * span
        parts.append(labels[max(start - first, 0) : stop - first])
    return np.concatenate(parts)


@dataclass(frozen=True)
class DrawnWithin:
    """The first arrivals of a race: a row of rate w d2 arrives after an exponential time over that rate."""

    rows: IntArray  # (k,) numbers of rows
    times: Float64  # (k,) infinite where no row can be drawn

    def __add__(self, other: DrawnWithin) -> DrawnWithin:
        later = other.times >= self.times
        return DrawnWithin(np.where(later, self.rows, other.rows), np.minimum(self.times, other.times))


@dataclass(frozen=True)
class DrawWithinPass(Pass[DrawnWithin]):
    """One row of each of some clusters, those of the nearest centres."""

    rule: Rule
    state: State
    clusters: IntArray  # (k,)
    key: int
    first: int = 0  # number of the first row

    def prepare(self, rows: RepresentedRows) -> NearestFunction:
        return nearest_for(rows, self.rule, len(self.state.centres))

    def work(self, rows: RepresentedRows, task: int, prepared: NearestFunction) -> DrawnWithin:
        labels, distances = prepared(rows, self.state, task)
        start, stop = rows.blocks.task_range(task, rows.space.size)
        return self.drawn(self.first + np.arange(start, stop), rows.blocks.weight[start:stop], labels, distances, self.first + start)

    def drawn(self, rows: IntArray, weight: Float64, labels: IntArray, distances: Float64, place: int) -> DrawnWithin:
        """Return the draws among some rows, the first of which has this place in the order of all."""
        costliest = self.rule.noise_distance or math.inf  # farther rows cost no more than that
        with np.errstate(divide="ignore"):
            times = exponentials(self.key, place, place + len(rows)) / (weight * np.minimum(distances, costliest))
        found, least = np.zeros(len(self.clusters), np.intp), np.full(len(self.clusters), np.inf)
        for at, cluster in enumerate(self.clusters):
            members = np.flatnonzero(labels == cluster)
            if len(members):
                best = members[np.argmin(times[members])]
                found[at], least[at] = rows[best], times[best]
        return DrawnWithin(found, least)

    def part(self, start: int, stop: int) -> DrawWithinPass:
        return replace(self, first=start)
