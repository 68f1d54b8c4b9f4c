"""Rows far from all centres, which refill empty clusters and seed new ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import numpy as np

from ..data.arrays import Float64, IntArray, first_largest, rounding_of_sums
from ..engines import NumberedPass, Pass
from ..engines.base import Sum
from ..rules import Rule
from ..spaces.centres import Centres
from ..sweeps.choice import nearest_for
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State
from .quantiles import QuantileSearch, quantile_of_sums


@dataclass(frozen=True)
class FarRows:
    """Rows of positive weight, each far from given centres and from those before it."""

    rows: IntArray  # (k,)
    centres: Centres | None  # the same rows as centres; None where there are none
    passes: int  # over the table

    def first(self) -> FarRows:
        """The first of the rows alone."""
        return FarRows(self.rows[:1], None if self.centres is None else self.centres[:1], self.passes)


def farthest_rows(problem: Problem, centres: Centres, count: int, quantile: float = 1.0) -> FarRows:
    """Return up to `count` rows, each the farthest from its nearest centre and from the rows taken before it.

    Fewer are returned where all other rows coincide with one of these. With a quantile below 1 the rows of the largest distances,
    1 - quantile of the weight, are passed over.
    """
    search = _FarSearch(problem, uuid4().hex, (State(centres),))
    rows: list[int] = []
    chosen: list[Centres] = []
    passes = 0
    while len(rows) < count:
        row, distance = search.farthest(quantile)
        passes += 1
        if distance <= 0:
            break
        latest = problem.space.embed(problem.rows.blocks.take(np.array([row])), np.array([row]))
        rows.append(row)
        chosen.append(latest)
        search = replace(search, centres=(*search.centres, State(latest)))
    problem.rows.memory.clear()
    return FarRows(np.array(rows, dtype=np.intp), Centres.stack(chosen) if chosen else None, passes)


@dataclass(frozen=True)
class _FarSearch:
    """Looks for rows far from some centres, and from those that are added; distances stay where the rows are."""

    problem: Problem
    name: str  # of no other search
    centres: tuple[State, ...]

    def farthest(self, quantile: float) -> tuple[int, float]:
        """Return the row of the largest distance, or the first of the distance at a weighted quantile below 1, and the distance."""
        most = math.inf if quantile >= 1.0 else quantile_of_sums(self._weights, quantile)
        found: _Farthest = self._fold(_FarthestPass(*self._to, most))
        return found.row, found.distance

    def _weights(self, search: QuantileSearch) -> Any:
        return self._fold(_WeightsPass(*self._to, search))

    @property
    def _to(self) -> tuple[str, Rule, tuple[State, ...]]:
        return self.name, self.problem.rule, self.centres

    def _fold(self, over: Pass[Any]) -> Any:
        return self.problem.engine.fold(self.problem.rows, over)


@dataclass(frozen=True)
class _DistancesPass(Pass[Sum]):
    """A pass over the squared distances of rows to their nearest centres, which are kept between the passes of one search."""

    name: str
    rule: Rule
    centres: tuple[State, ...]

    def distances(self, rows: RepresentedRows, task: int) -> tuple[Float64, Float64]:
        """Return the distances of the rows of one task, and their weights; where they are lost they are found anew."""
        name, known, least = rows.memory.get(task, (None, 0, None))
        known, least = (known, least) if name == self.name else (0, None)
        for state in self.centres[known:]:
            _, here = nearest_for(rows, self.rule, len(state.centres))(rows, state, task)
            least = here if least is None else np.minimum(least, here)
        rows.memory[task] = (self.name, len(self.centres), least)
        return least, rows.blocks.weight[slice(*rows.blocks.task_range(task, rows.space.size))]


@dataclass(frozen=True)
class _Farthest:
    row: int
    distance: float
    noise: float  # relative difference of distances that is rounding alone

    def __add__(self, other: _Farthest) -> _Farthest:
        return other if other.distance * (1.0 - self.noise) > self.distance else self


@dataclass(frozen=True)
class _FarthestPass(_DistancesPass[_Farthest], NumberedPass[_Farthest]):
    """The first row of the largest distance, or of the largest up to a given one; equal are those that differ by rounding alone."""

    most: float = math.inf

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> _Farthest:
        distance, weight = self.distances(rows, task)
        noise = rounding_of_sums(rows.blocks.x.dtype)
        values = np.where((weight > 0) & (distance <= self.most * (1.0 + noise)), distance, -1.0)
        at = first_largest(values, noise * float(values.max()))
        return _Farthest(self.first + rows.blocks.task_range(task, rows.space.size)[0] + at, float(values[at]), noise)


@dataclass(frozen=True)
class _WeightsPass(_DistancesPass[Any]):
    """The weights of distances, for the search of their quantile."""

    search: QuantileSearch

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> Any:
        distance, weight = self.distances(rows, task)
        return self.search.weights(distance[weight > 0], weight[weight > 0])
