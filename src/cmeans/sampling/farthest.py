"""Rows far from all centres, which refill empty clusters and seed new ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.precision import ascending, first_largest, rounding_of_sums
from ..engines import NumberedPass, Pass
from ..engines.base import Sum
from ..rules import Rule
from ..spaces.centres import Centres
from ..sweeps.choice import NearestFunction, nearest_for
from ..sweeps.passes import NearestRowsPass
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State
from .quantiles import QuantileSearch, quantile_of_sums

TOGETHER = 2048  # rows that are measured with each other at once


@dataclass(frozen=True)
class FarRows:
    """Rows of positive weight, each far from given centres and from those before it."""

    rows: IntArray  # (k,)
    centres: Centres | None  # the same rows as centres; None where there are none
    passes: int  # over the table

    def first(self) -> FarRows:
        """The first of the rows alone."""
        return FarRows(
            self.rows[:1], None if self.centres is None else self.centres[:1], self.passes
        )


def farthest_rows(problem: Problem, centres: Centres, count: int, quantile: float = 1.0) -> FarRows:
    """Return up to `count` rows, each the farthest from its nearest centre and from the rows taken
    before it.

    Fewer are returned where all other rows coincide with one of these. With a quantile below 1 the
    rows of the largest distances, 1 - quantile of the weight, are passed over.
    """
    search = _FarSearch(problem, centres)
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
        search.add(latest)
    return FarRows(np.array(rows, dtype=np.intp), Centres.stack(chosen) if chosen else None, passes)


def farthest_of_few(problem: Problem, centres: Centres, count: int) -> FarRows:
    """Return such rows of a problem of few rows, the farthest of which are measured with each other
    at once."""
    blocks = problem.rows.blocks
    noise = rounding_of_sums(blocks.x.dtype)
    d2, new, passes = np.where(blocks.weight > 0, np.inf, 0.0), centres, 0
    taken: list[IntArray] = []
    chosen: list[Centres] = []
    while (left := count - sum(map(len, taken))) > 0:
        found = problem.map(NearestRowsPass(problem.rule, State(new)))
        d2, passes = np.minimum(d2, np.concatenate([nearest for _, nearest in found])), passes + 1
        order = ascending(-d2)
        most = min(2 * left, TOGETHER)
        far, beyond = order[:most], d2[order[most:]].max(initial=0.0)
        points = problem.space.embed(blocks.take(far), far)
        here = _farthest_first(points, d2[far], float(beyond), left, noise)
        if not len(here):
            break
        new = points[here]
        taken.append(far[here])
        chosen.append(new)
    numbers = np.concatenate(taken) if taken else np.empty(0, np.intp)
    return FarRows(numbers, Centres.stack(chosen) if chosen else None, passes)


def _farthest_first(
    points: Centres, d2: Float64, beyond: float, count: int, noise: float
) -> IntArray:
    """Return which points are far, at squared distances d2 at first, as long as no others, which
    are `beyond` at most, may be farther."""
    norms, between = points.squared_norms(), points.squared_distances()
    between[between <= noise * (norms[:, None] + norms)] = 0.0
    here: list[int] = []
    while len(here) < count:
        at = first_largest(d2, noise * float(d2.max()))
        if d2[at] <= 0 or (here and d2[at] < beyond):
            break
        here.append(at)
        d2 = np.minimum(d2, between[at])
    return np.array(here, dtype=np.intp)


class _FarSearch:
    """Looks for rows far from some centres, and from those that are added; distances stay where the
    rows are."""

    def __init__(self, problem: Problem, centres: Centres) -> None:
        self._problem = problem
        self._centres: tuple[State, ...] = (State(centres),)
        self._kept: Any = None
        self._most = math.inf  # no distance is larger

    def add(self, centres: Centres) -> None:
        """Let rows be far from these too."""
        self._centres = (*self._centres, State(centres))

    def farthest(self, quantile: float) -> tuple[int, float]:
        """Return the row of the largest distance, or the first of the distance at a weighted
        quantile below 1, and the distance."""
        if quantile < 1.0:
            most = quantile_of_sums(self._weights, quantile)
            found: _Farthest = self._fold(_FarthestPass(*self._to, most=most))
            return found.row, found.distance
        # Distances only fall as centres come. So the tasks of the largest former ones are measured
        # anew, then the next of them, and last all that may hold a larger one than was found.
        found = self._fold(_FarthestPass(*self._to, above=self._most))
        if found.may_be_exceeded:
            found = self._fold(_FarthestPass(*self._to, above=found.former))
        if found.may_be_exceeded:
            found = self._fold(_FarthestPass(*self._to, above=found.needed))
        self._most = max(found.distance, found.former)
        return found.row, found.distance

    def _weights(self, search: QuantileSearch) -> Any:
        return self._fold(_WeightsPass(*self._to, search))

    @property
    def _to(self) -> tuple[Rule, tuple[State, ...]]:
        return self._problem.rule, self._centres

    def _fold(self, over: Pass[Any]) -> Any:
        total, self._kept = self._problem.engine.keep(self._problem.rows, over, self._kept)
        return total


@dataclass
class _Distances:
    """Squared distances of rows to their nearest centres."""

    least: Float64  # (n,)
    known: IntArray  # (tasks,) number of sets of centres that those of a task know of
    most: Float64  # (tasks,) the largest of those of a task when it was last asked for
    # by the numbers of sets between which their centres came
    searches: dict[tuple[int, int], tuple[NearestFunction, State]] = field(default_factory=dict)

    def __reduce__(self) -> Any:  # searches do not travel
        return type(self), (self.least, self.known, self.most)


@dataclass(frozen=True)
class _DistancesPass(Pass[Sum]):
    """A pass over the distances that one search keeps of each row."""

    rule: Rule
    centres: tuple[State, ...]

    def begin(self, rows: RepresentedRows) -> _Distances:
        return _Distances(
            np.full(rows.n_rows, np.inf),
            np.zeros(rows.n_tasks, np.intp),
            np.full(rows.n_tasks, np.inf),
        )

    def distances(
        self, rows: RepresentedRows, task: int, kept: _Distances
    ) -> tuple[Float64, Float64]:
        """Return the distances of the rows of one task, and their weights."""
        here = slice(*rows.task_range(task))
        least, since = kept.least[here], int(kept.known[task])
        if since < len(self.centres):  # rows are read once for all of them
            nearest, state = kept.searches.get((since, len(self.centres))) or self._search(
                rows, since, kept
            )
            np.minimum(least, nearest(rows, state, task)[1], out=least)
        kept.known[task] = len(self.centres)
        return least, rows.blocks.weight[here]

    def _search(
        self, rows: RepresentedRows, since: int, kept: _Distances
    ) -> tuple[NearestFunction, State]:
        """Return the search for the nearest of the centres since a number of sets, the same for all
        tasks."""
        new = [state.centres for state in self.centres[since:]]
        state = State(new[0] if len(new) == 1 else Centres.stack(new))
        nearest = nearest_for(rows, self.rule, len(state.centres))
        return kept.searches.setdefault((since, len(self.centres)), (nearest, state))


@dataclass(frozen=True)
class _Farthest:
    row: int
    distance: float
    noise: float  # relative difference of distances that is rounding alone
    former: float = -1.0  # the largest in tasks that were not measured anew

    def __add__(self, other: _Farthest) -> _Farthest:
        farthest = other if other.distance * (1.0 - self.noise) > self.distance else self
        return replace(farthest, former=max(self.former, other.former))

    @property
    def needed(self) -> float:
        """The least distance that counts as equal to this one."""
        return self.distance * (1.0 - self.noise)

    @property
    def may_be_exceeded(self) -> bool:
        """True where a task that was not measured anew may hold a row that is as far."""
        return self.former >= max(self.needed, 0.0)


@dataclass(frozen=True)
class _FarthestPass(_DistancesPass[_Farthest], NumberedPass[_Farthest]):
    """The first row of the largest distance, or of the largest up to a given one; equal are those
    that differ by rounding alone. Tasks whose former distances are all below `above` are left as
    they are."""

    most: float = math.inf
    above: float = -math.inf

    def work(self, rows: RepresentedRows, task: int, prepared: _Distances) -> _Farthest:
        noise, former = rounding_of_sums(rows.blocks.x.dtype), float(prepared.most[task])
        if former < self.above and prepared.known[task] < len(self.centres):
            return _Farthest(-1, -1.0, noise, former)
        distance, weight = self.distances(rows, task, prepared)
        values = np.where((weight > 0) & (distance <= self.most * (1.0 + noise)), distance, -1.0)
        at = first_largest(values, noise * float(values.max()))
        if self.most == math.inf:
            prepared.most[task] = values.max()
        return _Farthest(self.first + rows.task_range(task)[0] + at, float(values[at]), noise)


@dataclass(frozen=True)
class _WeightsPass(_DistancesPass[Any]):
    """The weights of distances, for the search of their quantile."""

    search: QuantileSearch

    def work(self, rows: RepresentedRows, task: int, prepared: _Distances) -> Any:
        distance, weight = self.distances(rows, task, prepared)
        return self.search.weights(distance[weight > 0], weight[weight > 0])
