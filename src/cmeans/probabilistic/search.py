"""From one start to a partition: the way along projected gradients, k-means from where it ends, and single moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Array, Float64, Partition, one_hot, to_numpy
from ..assignment import assign_all
from ..centres import Centres
from ..chance import Population
from ..engines import Engine
from ..jobs import WholeNorm
from ..progress import Place
from ..rules import Hard
from ..solver import AfterSweep, Stopping, centres_of, fold, solve
from ..sweep import State
from ..table import Table
from .batched import follow_batched
from .grams import Gram, gram_of
from .projection import Heard, Path, follow
from .transfer import transfer, transfer_in_memory

MOST_STEPS = 10**6  # small steps of an indefinite kernel might never end
PASSES = 100  # of single moves over all rows


@dataclass(frozen=True)
class Found:
    """What one start has come to."""

    memberships: Array | None  # (n, c) on the host, where the search was cut short and rows are in memory
    centres: Centres
    objective: float  # in blocks' units of weight
    history: list[float]  # the objective at the start and after each step or sweep
    n_iter: int
    row_visits: int
    finished: bool  # at a partition that nothing leads down from
    ended: bool  # whoever listens had heard enough


@dataclass(frozen=True)
class Terrain:
    """What all starts go over."""

    table: Table
    people: Population
    engine: Engine

    @cached_property
    def gram(self) -> Gram:
        """The population in memory."""
        return gram_of(self.table, self.people.rows)


@dataclass(frozen=True)
class Search:
    """How to go from a start to a partition."""

    solver: str  # "fagp", "agp", "batched" or "lloyd"
    step: float  # of "agp"
    quantile: float  # of "batched"
    polish: bool
    max_iter: int

    def __call__(
        self,
        start: Array,  # (n, c) on the host, in the rows' dtype
        ground: Terrain,
        tol: float,
        place: Place,
        heard: Heard | None,
        after_sweep: AfterSweep | None,
    ) -> Found:
        """The partition that a start leads to."""
        stopping = Stopping(self.max_iter, tol)
        if self.solver == "lloyd":
            return self._partition(start, ground, stopping, place, after_sweep, [], 0, 0)
        path, visits = self._path(start, ground, heard)
        if not path.finished:
            centres = centres_of(ground.table, Hard(), path.memberships, ground.engine)
            ended = path.n_iter < min(self.max_iter, MOST_STEPS)
            soft = None if ground.table.blocks.are_stored else path.memberships
            return Found(soft, centres, path.history[-1], path.history, path.n_iter, visits, False, ended)
        # What FAGP and AGP end in is a fixed point of k-means already.
        stopping = stopping if self.solver == "batched" else Stopping(1, tol)
        return self._partition(path.memberships, ground, stopping, place, None, path.history, path.n_iter, visits)

    def _path(self, start: Array, ground: Terrain, heard: Heard | None) -> tuple[Path, int]:
        table, people, engine = ground.table, ground.people, ground.engine
        constant = whole_norm(table, engine)
        if self.solver == "batched":
            return follow_batched(table, engine, start, self.quantile, self.max_iter, constant, heard)
        step = self.step if self.solver == "agp" else None
        limit = min(self.max_iter, MOST_STEPS)
        everywhere = _Everywhere(start, people)

        def heard_of_all(p: Array, steps: int, objective: float) -> bool:
            return heard is not None and heard(everywhere(p), steps, objective)

        first = everywhere.of_people(start)
        path = follow(ground.gram, people.weights, first, limit, constant, step, heard_of_all if heard else None)
        return replace(path, memberships=everywhere(path.memberships)), path.n_iter * len(people)

    def _partition(
        self,
        p: Array,
        ground: Terrain,
        stopping: Stopping,
        place: Place,
        after_sweep: AfterSweep | None,
        history: list[float],
        n_iter: int,
        visits: int,
    ) -> Found:
        """k-means and single moves from where the path ends."""
        table, people, engine = ground.table, ground.people, ground.engine
        start = State(centres_of(table, Hard(), p, engine))
        solution = solve(table, Hard(), start, engine, stopping, place, after_sweep)
        assignment = assign_all(table, table.space, Hard(), solution.state, engine, place)
        labels, visits = assignment.labels, visits + solution.row_visits + 2 * table.n_rows
        c, like = p.shape[1], table.blocks.x
        if self.polish and not solution.ended:
            if people.member is not None:  # few rows, of which equal ones stay together
                own = transfer_in_memory(ground.gram, people.weights, people.of(labels), c, PASSES)
                labels, visits = np.where(people.member >= 0, own[people.member], labels), visits + table.n_rows
            else:
                moved = transfer(table, engine, labels, c, PASSES)
                labels, visits = moved.labels, visits + moved.row_visits
        centres = centres_of(table, Hard(), Partition(labels, c, like), engine)
        objective = fold(table, Hard(), State(centres), engine).objective
        history = history[:-1] or [value / table.blocks.unit for value in solution.history]
        n_iter = n_iter or solution.n_iter
        finished = solution.converged or self.solver in ("fagp", "agp")
        soft = None if finished or table.blocks.are_stored else to_numpy(one_hot(labels, c, like))
        return Found(soft, centres, objective, [*history, objective], n_iter, visits, finished, solution.ended)


@dataclass(frozen=True)
class _Everywhere:
    """Distributions of the population, which equal rows share, and those of all rows."""

    start: Array  # (n, c); rows of no weight stay where they start
    people: Population

    def of_people(self, p: Array) -> Float64:
        """(p, c) the mean over the rows that each entry stands for."""
        member = self.people.members()
        counted = member >= 0
        total = np.zeros((len(self.people), p.shape[1]))
        np.add.at(total, member[counted], p[counted].astype(np.float64))
        mean: Float64 = total / total.sum(axis=1, keepdims=True)
        return mean

    def __call__(self, p: Array) -> Array:
        member = self.people.members()
        return np.where(member[:, None] >= 0, p[member].astype(self.start.dtype), self.start)


def whole_norm(table: Table, engine: Engine) -> float:
    """sum_l w_l k(x_l, x_l)."""
    return float(sum(engine.each(table, WholeNorm())))
