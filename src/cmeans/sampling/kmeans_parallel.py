"""Initial centres drawn among all rows in a few passes: k-means||."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray
from ..data.blocks import GivenRows
from ..engines import Engine, NumberedPass
from ..engines.base import Sum
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from .drawing import exponentials, new_key, one_drawn
from .kmeanspp import seeds
from .pairwise import Metric, NearestOf
from .population import Population

ROUNDS = 5
OVERSAMPLING = 2  # rows that a round draws on average, times the number of clusters
# factor of the columns by which blocks are cut, so that their kernel values stay in the cache
NARROWING = 64


def scalable_kmeans_plus_plus(
    metric: Metric, population: Population, count: int, rng: np.random.RandomState, engine: Engine
) -> IntArray:
    """Return the numbers of up to `count` rows far from each other, drawn like k-means++ but in few
    passes over an input of any size.

    k-means|| (Bahmani, Moseley, Vattani, Kumar, Vassilvitskii 2012): after a first drawn row, 5
    rounds draw about 2 `count` candidates each, every row independently and in proportion to its
    weight and squared distance from the candidates so far. Each candidate then has the weight of
    the rows it is nearest to, and greedy k-means++ takes `count` of them. Where fewer candidates
    differ, rounds go on until `count` do or no row is left that differs from all of them.

    A row of weight w and squared distance d2 is taken with probability 1 - exp(-2 count w d2 / sum
    of w d2), where the paper has the smaller of 1 and the ratio itself, which is nearly the same
    where it is small. So a row of weight k is taken as often as any of k copies of it, in any unit
    of weights. What is kept of each row stays where the row is: candidates alone travel.
    """
    if population.member is not None:  # few rows, of which equal ones are one
        rows = population.rows
        space = None if metric.space is None else metric.space.of_part(rows)
        among = replace(metric, blocks=metric.blocks.part(rows, population.weights), space=space)
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
            # Every new candidate differs from all others; where candidates were added but no row
            # was gained, the difference is rounding.
            if (
                len(found) == count
                or not total > 0
                or (len(new_candidates) and len(found) == before)
            ):
                return found
        new_candidates = nearest.draw(new_key(rng), total / (OVERSAMPLING * count))
        rounds += 1


@dataclass
class _Known:
    """The candidate nearest to each row, as it is kept beside the rows."""

    distance: Float64  # (n,) squared, to that candidate
    member: npt.NDArray[np.int32]  # (n,) its index; of equally near ones the first
    joined: IntArray  # (tasks,) number of rounds that those of a task know of


@dataclass(frozen=True)
class _Candidates:
    """All candidates so far, by the rounds that drew them: from these all is found again where it
    is lost."""

    rounds: tuple[NearestOf, ...]

    def join(self, rows: GivenRows, task: int, first: int, kept: _Known) -> tuple[Float64, Any]:
        """Return the distances of the rows of one task and their nearest candidates, with all
        candidates joined; `first`: number of the first row of `rows`."""
        start, stop = rows.task_range(task)
        joined = int(kept.joined[task])
        if joined < len(self.rounds):
            before = sum(len(one.rows) for one in self.rounds[:joined])
            for block in rows.task(task):
                distance = kept.distance[block.start : block.stop]
                member = kept.member[block.start : block.stop]
                index = before
                for one in self.rounds[joined:]:
                    best, d2 = one.nearest(block, first)
                    closer = d2 < distance
                    distance[closer], member[closer] = d2[closer], index + best[closer]
                    index += len(one.rows)
            kept.joined[task] = len(self.rounds)
        return kept.distance[start:stop], kept.member[start:stop]

    def weight(self, rows: GivenRows, task: int) -> Float64:
        """Return the weights of the rows of a task."""
        return rows.blocks.weight[slice(*rows.task_range(task))]


@dataclass(frozen=True)
class _CandidatePass(NumberedPass[Sum]):
    """A pass over the nearest candidates that are kept of each row."""

    candidates: _Candidates

    def begin(self, rows: GivenRows) -> _Known:
        n = rows.blocks.n_rows
        return _Known(np.full(n, np.inf), np.zeros(n, np.int32), np.zeros(rows.n_tasks, np.intp))


@dataclass(frozen=True)
class _CostPass(_CandidatePass[float]):
    """sum_i w_i d2_i over the nearest candidates."""

    def work(self, rows: GivenRows, task: int, prepared: _Known) -> float:
        distance, _ = self.candidates.join(rows, task, self.first, prepared)
        return float(self.candidates.weight(rows, task) @ distance)


@dataclass(frozen=True)
class _Drawn:
    """Numbers of rows, in order."""

    rows: IntArray

    def __add__(self, other: _Drawn) -> _Drawn:
        return _Drawn(np.concatenate([self.rows, other.rows]))


@dataclass(frozen=True)
class _DrawPass(_CandidatePass[_Drawn]):
    """Rows whose exponential numbers, times `scale`, are less than their part of the cost."""

    key: int
    scale: float

    def work(self, rows: GivenRows, task: int, prepared: _Known) -> _Drawn:
        (distance, _), (start, stop) = (
            self.candidates.join(rows, task, self.first, prepared),
            rows.task_range(task),
        )
        keys = exponentials(self.key, self.first + start, self.first + stop)
        hits = np.flatnonzero(keys * self.scale < distance * self.candidates.weight(rows, task))
        return _Drawn(self.first + start + hits)


@dataclass(frozen=True)
class _MassPass(_CandidatePass[Float64]):
    """(k,) the weights of the rows that each candidate is nearest to."""

    def work(self, rows: GivenRows, task: int, prepared: _Known) -> Float64:
        _, member = self.candidates.join(rows, task, self.first, prepared)
        count = sum(len(one.rows) for one in self.candidates.rounds)
        return np.bincount(member, self.candidates.weight(rows, task), minlength=count).astype(
            np.float64
        )


class _Nearest:
    """The candidate nearest to each row, updated as candidates are added."""

    def __init__(self, metric: Metric, count: int, engine: Engine) -> None:
        self._metric, self._engine, self._candidates = metric, engine, _Candidates(())
        self._kept: Any = None
        width = max(metric.blocks.numbers_of_a_row, OVERSAMPLING * count) * NARROWING
        self._rows = GivenRows(metric.blocks, width)

    @property
    def candidates(self) -> IntArray:
        """Numbers of the candidates (k,)."""
        return np.concatenate([one.rows for one in self._candidates.rounds])

    def join(self, rows: IntArray) -> float:
        """Add candidates by one pass over all rows, with distances to the new ones only, and return
        the cost of all."""
        if len(rows):
            self._candidates = _Candidates(
                (*self._candidates.rounds, self._metric.nearest_of(rows))
            )
        return self._fold(_CostPass(self._candidates))

    def draw(self, key: int, scale: float) -> IntArray:
        """Draw rows in proportion to their cost, each independently."""
        return self._fold(_DrawPass(self._candidates, key, scale)).rows

    def masses(self) -> Float64:
        """Weights (k,) of the rows that each candidate is nearest to."""
        return self._fold(_MassPass(self._candidates))

    def _fold(self, over: _CandidatePass[Sum]) -> Sum:
        total: Sum
        total, self._kept = self._engine.keep(self._rows, over, self._kept)
        return total


def _chosen(metric: Metric, nearest: _Nearest, count: int, rng: np.random.RandomState) -> IntArray:
    """Return the candidates that k-means++ takes."""
    candidates = nearest.candidates
    return candidates[seeds(metric.among(candidates), nearest.masses(), count, rng)]
