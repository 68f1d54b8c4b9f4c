"""Initial centres drawn among all rows in a few passes: k-means||."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray
from ..data.blocks import Block, GivenRows
from ..engines import Engine, NumberedPass
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from .drawing import exponentials, new_key, one_drawn
from .kmeanspp import seeds
from .pairwise import Metric, NearestOf
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
    of k copies of it, in any unit of weights. What is kept of each row stays where the row is: candidates alone travel.
    """
    if population.member is not None:  # few rows, of which equal ones are one
        rows = population.rows
        features = None if metric.features is None else metric.features[rows]
        among = replace(metric, blocks=metric.blocks.part(rows, population.weights), features=features)
        everyone = Population(None, population.weights, None, len(rows), population.limits)
        return rows[scalable_kmeans_plus_plus(among, everyone, count, rng, engine)]
    found = np.empty(0, dtype=np.intp)
    nearest = _Nearest(metric, count, engine)
    new_candidates = population.at(np.array([one_drawn(population.weights, rng)]))
    rounds = 0
    while True:
        total = nearest.join(new_candidates)
        if not math.isfinite(total):
            raise OutOfRangeError(NOT_FINITE)
        if rounds >= ROUNDS or not total > 0:
            before, found = len(found), _chosen(metric, nearest, count, rng)
            # Every new candidate differs from all others; where candidates were added but no row was gained, the difference is rounding.
            if len(found) == count or not total > 0 or (len(new_candidates) and len(found) == before):
                return found
        new_candidates = nearest.draw(new_key(rng), total / (OVERSAMPLING * count))
        rounds += 1


@dataclass
class _NearestMemory:
    """Distances of the rows of one task that are kept."""

    distance: Float64  # (b,) squared, to the nearest candidate
    member: npt.NDArray[np.int32]  # (b,) index of that candidate; of equal ones the first
    joined: int = 0  # sets of candidates that these know of


@dataclass(frozen=True)
class _Candidates:
    """All candidates so far, by the rounds that drew them: from these the memory of a task is made again where it is lost."""

    rounds: tuple[NearestOf, ...]

    def prepared(self) -> Callable[[int], Callable[[Block, int], tuple[IntArray, Float64]]]:
        """Return a function of a round's number that returns what tells its nearest candidates, made once."""
        return cache(lambda number: self.rounds[number].function())

    def memory(self, rows: GivenRows, task: int, first: int, prepared: Callable[[int], Any]) -> _NearestMemory:
        """Return the memory of one task, with all candidates joined; `first`: number of the first row of `rows`."""
        start, stop = rows.task_range(task)
        known = rows.memory.get(task) or _NearestMemory(np.full(stop - start, np.inf), np.zeros(stop - start, np.int32))
        if known.joined < len(self.rounds):
            for block in rows.task(task):
                here, index = slice(block.start - start, block.stop - start), sum(len(one.rows) for one in self.rounds[: known.joined])
                distance, member = known.distance[here], known.member[here]
                for number in range(known.joined, len(self.rounds)):
                    best, d2 = prepared(number)(block, first)
                    closer = d2 < distance
                    distance[closer], member[closer] = d2[closer], index + best[closer]
                    index += len(self.rounds[number].rows)
            known.joined = len(self.rounds)
            rows.memory[task] = known
        return known

    def weight(self, rows: GivenRows, task: int) -> Float64:
        """Return the weights of the rows of a task."""
        return rows.blocks.weight[slice(*rows.task_range(task))]


@dataclass(frozen=True)
class _CostPass(NumberedPass[float]):
    """sum_i w_i d2_i over the nearest candidates."""

    candidates: _Candidates

    def prepare(self, rows: GivenRows) -> Callable[[int], Any]:
        return self.candidates.prepared()

    def work(self, rows: GivenRows, task: int, prepared: Callable[[int], Any]) -> float:
        known = self.candidates.memory(rows, task, self.first, prepared)
        return float(self.candidates.weight(rows, task) @ known.distance)


@dataclass(frozen=True)
class _Drawn:
    """Numbers of rows, in order."""

    rows: IntArray

    def __add__(self, other: _Drawn) -> _Drawn:
        return _Drawn(np.concatenate([self.rows, other.rows]))


@dataclass(frozen=True)
class _DrawPass(NumberedPass[_Drawn]):
    """Rows whose exponential numbers, times `scale`, are less than their part of the cost."""

    candidates: _Candidates
    key: int
    scale: float

    def prepare(self, rows: GivenRows) -> Callable[[int], Any]:
        return self.candidates.prepared()

    def work(self, rows: GivenRows, task: int, prepared: Callable[[int], Any]) -> _Drawn:
        known, (start, stop) = self.candidates.memory(rows, task, self.first, prepared), rows.task_range(task)
        keys = exponentials(self.key, self.first + start, self.first + stop)
        hits = np.flatnonzero(keys * self.scale < known.distance * self.candidates.weight(rows, task))
        return _Drawn(self.first + start + hits)


@dataclass(frozen=True)
class _MassPass(NumberedPass[Float64]):
    """(k,) the weights of the rows that each candidate is nearest to."""

    candidates: _Candidates

    def prepare(self, rows: GivenRows) -> Callable[[int], Any]:
        return self.candidates.prepared()

    def work(self, rows: GivenRows, task: int, prepared: Callable[[int], Any]) -> Float64:
        known = self.candidates.memory(rows, task, self.first, prepared)
        count = sum(len(one.rows) for one in self.candidates.rounds)
        return np.bincount(known.member, self.candidates.weight(rows, task), minlength=count).astype(np.float64)


class _Nearest:
    """The candidate nearest to each row, updated as candidates are added."""

    def __init__(self, metric: Metric, count: int, engine: Engine) -> None:
        self._metric, self._engine, self._candidates = metric, engine, _Candidates(())
        width = max(int(metric.blocks.x.shape[1]), OVERSAMPLING * count) * NARROWING
        self._rows = GivenRows(metric.blocks, width)

    @property
    def candidates(self) -> IntArray:
        """Numbers of the candidates (k,)."""
        return np.concatenate([one.rows for one in self._candidates.rounds])

    def join(self, rows: IntArray) -> float:
        """Add candidates by one pass over all rows, with distances to the new ones only, and return the cost of all."""
        if len(rows):
            self._candidates = _Candidates((*self._candidates.rounds, self._metric.nearest_of(rows)))
        return self._engine.fold(self._rows, _CostPass(self._candidates))

    def draw(self, key: int, scale: float) -> IntArray:
        """Draw rows in proportion to their cost, each independently."""
        return self._engine.fold(self._rows, _DrawPass(self._candidates, key, scale)).rows

    def masses(self) -> Float64:
        """Weights (k,) of the rows that each candidate is nearest to."""
        return self._engine.fold(self._rows, _MassPass(self._candidates))


def _chosen(metric: Metric, nearest: _Nearest, count: int, rng: np.random.RandomState) -> IntArray:
    """Return the candidates that k-means++ takes."""
    candidates = nearest.candidates
    return candidates[seeds(metric.among(candidates), nearest.masses(), count, rng)]
