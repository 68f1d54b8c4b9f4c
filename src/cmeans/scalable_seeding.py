"""First centres drawn among all rows, in a few passes over them: k-means||."""

from __future__ import annotations

import math

import numpy as np

from .affinity import Metric
from .arrays import Float64, IntArray
from .chance import Population
from .complaints import NOT_FINITE
from .engines import Engine
from .seeding import drawn, kmeans_plus_plus

ROUNDS = 5
OVERSAMPLING = 2  # rows that a round draws on average, times the number of clusters
SLIMMER = 64  # times the columns at hand: blocks so small that their kernel values stay in the cache


def scalable_kmeans_plus_plus(metric: Metric, people: Population, count: int, rng: np.random.RandomState, engine: Engine) -> IntArray:
    """Numbers of up to `count` rows far from each other, as k-means++ draws them, but with few passes over an input of any size.

    k-means|| (Bahmani, Moseley, Vattani, Kumar, Vassilvitskii 2012): after a drawn row, 5 rounds take about 2 `count` rows each, every
    row on its own in proportion to its weight and squared distance from those before; of all these, each with the weight of the rows
    it is nearest to, greedy k-means++ takes `count`. Where they hold fewer that differ, rounds go on until `count` do or no row is left
    that differs from all of them.

    A row of weight w and squared distance d2 is taken with probability 1 - exp(-2 count w d2 / sum of w d2), where the paper has the
    smaller of 1 and the ratio itself, which is nearly the same wherever it is small: so a row of weight k is taken as often as any
    of k copies of it, whatever the unit of weights is.
    """
    found = np.empty(0, dtype=np.intp)
    nearest = _Nearest(metric, people, engine)
    fresh = people.at(np.array([drawn(people.weights, rng)]))
    done = 0
    while True:
        nearest.join(fresh)
        cost = people.of(nearest.distance) * people.weights
        total = float(cost.sum())
        if not math.isfinite(total):
            raise ValueError(NOT_FINITE)
        if done >= ROUNDS or not total > 0:
            before, found = len(found), _chosen(metric, nearest, people, count, rng)
            # Every further candidate differs from all others: were one taken and none gained, the difference would be rounding.
            if len(found) == count or not total > 0 or (len(fresh) and len(found) == before):
                return found
        keys = rng.exponential(size=len(people))
        keys *= total / (OVERSAMPLING * count)
        fresh = people.at(np.flatnonzero(keys < cost))
        done += 1


class _Nearest:
    """The candidate nearest to each row, while candidates join."""

    def __init__(self, metric: Metric, people: Population, engine: Engine) -> None:
        self.candidates = np.empty(0, dtype=np.intp)
        self.distance = np.full(people.n_rows, np.inf)  # squared
        self.number = np.zeros(people.n_rows, dtype=np.int32)  # which of the candidates, of equal ones the first
        self._metric = metric
        self._engine = engine

    def join(self, rows: IntArray) -> None:
        """One pass over all rows, with distances to the new candidates only."""
        if not len(rows):
            return
        blocks, first = self._metric.blocks, len(self.candidates)
        nearest_of = self._metric.nearest_of(rows)
        width = max(int(blocks.x.shape[1]), len(rows)) * SLIMMER

        def update(task: int) -> None:
            for block in blocks.task(task, width):
                best, d2 = nearest_of(block)
                here = slice(block.start, block.stop)
                closer = d2 < self.distance[here]
                self.distance[here][closer] = d2[closer]
                self.number[here][closer] = first + best[closer]

        for _ in self._engine.map(update, blocks.n_tasks(width)):
            pass
        self.candidates = np.concatenate([self.candidates, rows])


def _chosen(metric: Metric, nearest: _Nearest, people: Population, count: int, rng: np.random.RandomState) -> IntArray:
    """Of the candidates, those that k-means++ takes."""
    candidates = nearest.candidates
    weights: Float64 = np.bincount(people.of(nearest.number), people.weights, minlength=len(candidates)).astype(np.float64)
    return candidates[kmeans_plus_plus(metric.among(candidates), weights, count, rng)]
