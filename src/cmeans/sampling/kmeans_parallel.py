"""Initial centres drawn among all rows in a few passes: k-means||."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.blocks import Block, GivenRows
from ..engines import Engine, Pass
from ..runtime.user_warnings import NOT_FINITE
from .kmeanspp import drawn
from .many_rows import seeds
from .pairwise import Metric
from .population import Population

ROUNDS = 5
OVERSAMPLING = 2  # rows that a round draws on average, times the number of clusters
NARROWING = 64  # factor of the columns by which blocks are cut, so that their kernel values stay in the cache


def scalable_kmeans_plus_plus(metric: Metric, population: Population, count: int, rng: np.random.RandomState, engine: Engine) -> IntArray:
    """Return the numbers of up to `count` rows far from each other, drawn like k-means++ but in few passes over an input of any size.

    k-means|| (Bahmani, Moseley, Vattani, Kumar, Vassilvitskii 2012): after a first drawn row, 5 rounds draw about 2 `count` candidates
    each, every row independently and in proportion to its weight and squared distance from the candidates so far. Each candidate then
    has the weight of the rows it is nearest to, and greedy k-means++ takes `count` of them. Where fewer candidates differ, rounds go on
    until `count` do or no row is left that differs from all of them.

    A row of weight w and squared distance d2 is taken with probability 1 - exp(-2 count w d2 / sum of w d2), where the paper has the
    smaller of 1 and the ratio itself, which is nearly the same where it is small. So a row of weight k is taken as often as any
    of k copies of it, in any unit of weights.
    """
    found = np.empty(0, dtype=np.intp)
    nearest = _Nearest(metric, population, engine)
    new_candidates = population.at(np.array([drawn(population.weights, rng)]))
    rounds = 0
    while True:
        nearest.join(new_candidates)
        cost = population.of(nearest.distance) * population.weights
        total = float(cost.sum())
        if not math.isfinite(total):
            raise ValueError(NOT_FINITE)
        if rounds >= ROUNDS or not total > 0:
            before, found = len(found), _chosen(metric, nearest, population, count, rng)
            # Every new candidate differs from all others; where candidates were added but no row was gained, the difference is rounding.
            if len(found) == count or not total > 0 or (len(new_candidates) and len(found) == before):
                return found
        keys = rng.exponential(size=len(population))
        keys *= total / (OVERSAMPLING * count)
        new_candidates = population.at(np.flatnonzero(keys < cost))
        rounds += 1


@dataclass(frozen=True)
class _CandidatePass(Pass[list[tuple[int, IntArray, Float64]]]):
    """Of each block the number of its first row, the candidate nearest to each row, and the squared distance from it."""

    metric: Metric
    candidates: IntArray

    def prepare(self, rows: GivenRows) -> Callable[[Block], tuple[IntArray, Float64]]:
        return self.metric.nearest_of(self.candidates)

    def work(
        self, rows: GivenRows, task: int, prepared: Callable[[Block], tuple[IntArray, Float64]]
    ) -> list[tuple[int, IntArray, Float64]]:
        return [(block.start, *prepared(block)) for block in rows.task(task)]


class _Nearest:
    """The candidate nearest to each row, updated as candidates are added."""

    def __init__(self, metric: Metric, population: Population, engine: Engine) -> None:
        self.candidates = np.empty(0, dtype=np.intp)
        self.distance = np.full(population.n_rows, np.inf)  # squared
        self.member = np.zeros(population.n_rows, dtype=np.int32)  # index of the nearest candidate; of equal ones the first
        self._metric = metric
        self._engine = engine

    def join(self, rows: IntArray) -> None:
        """Add candidates: one pass over all rows, with distances to the new ones only."""
        if not len(rows):
            return
        blocks, first = self._metric.blocks, len(self.candidates)
        given = GivenRows(blocks, max(int(blocks.x.shape[1]), len(rows)) * NARROWING)
        for found in self._engine.map(given, _CandidatePass(self._metric, rows)):
            for start, best, d2 in found:
                here = slice(start, start + len(best))
                closer = d2 < self.distance[here]
                self.distance[here][closer] = d2[closer]
                self.member[here][closer] = first + best[closer]
        self.candidates = np.concatenate([self.candidates, rows])


def _chosen(metric: Metric, nearest: _Nearest, population: Population, count: int, rng: np.random.RandomState) -> IntArray:
    """Return the candidates that k-means++ takes."""
    candidates = nearest.candidates
    weights: Float64 = np.bincount(population.of(nearest.member), population.weights, minlength=len(candidates)).astype(np.float64)
    return candidates[seeds(metric.among(candidates), weights, count, rng)]
