"""The search for a partition from one start: projected gradients, k-means from where they end, and
single moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...data.arrays import Array, Float64, to_numpy
from ...data.partitions import one_hot
from ...sampling.population import Population
from ...solvers.fixed_point import solve
from ...solvers.observer import Observer, Progressed
from ...solvers.search import Breathing
from ...spaces.centres import Centres
from ...sweeps.passes import TotalNormPass
from ...sweeps.problem import Problem, Stopping
from ...sweeps.state import State
from ...sweeps.statistics import Statistics
from .batched import AfterStep, follow_batched
from .distributions import GivenStart, LabelPass, LargestPass, Start, SumsPass
from .grams import Gram, gram_of
from .projection import Path, follow
from .transfer import transfer, transfer_in_memory

MOST_STEPS = 10**6  # small steps of an indefinite kernel might never end
PASSES = 100  # of single moves over all rows


@dataclass(frozen=True)
class Found:
    """The result of one start."""

    # (n, c) on the host, where the search was cut short and rows are in memory
    memberships: Array | None
    # (n,) the largest of them, ties to the lowest number, wherever rows are; None where it came to
    # a partition
    labels: Any
    centres: Centres
    objective: float  # in blocks' units of weight
    history: list[float]  # the objective at the start and after each step or sweep
    n_iter: int
    row_visits: int
    finished: bool  # at a partition that nothing leads down from
    ended: bool  # by a callback
    sums: Statistics | None = None  # at the centres, where the search came to a partition


@dataclass(frozen=True)
class PartitionProblem:
    """The parts that all starts share: the problem of a hard rule, and the rows that count."""

    problem: Problem
    population: Population

    @cached_property
    def gram(self) -> Gram:
        """Inner products of the population, in memory."""
        return gram_of(self.problem.rows, self.population.rows)

    def centres_of(self, kept: Any) -> Centres:
        """The centres that memberships make which are kept beside the rows."""
        problem = self.problem
        sums = problem.engine.fold(problem.rows, SumsPass(problem.rule), kept=kept)
        return problem.space.centres(sums.mass, sums.moment)

    def total_norm(self) -> float:
        """sum_l w_l k(x_l, x_l)."""
        return float(sum(self.problem.map(TotalNormPass())))

    def after_step(self, observer: Observer, max_iter: int) -> AfterStep | None:
        """Return the function that reports each step, and returns True where a callback ends the
        search."""
        reporter, after_sweep, rows = observer.reporter, observer.after_sweep, self.problem.rows
        if after_sweep is None and not reporter.listeners:
            return None

        def step_ended(centres: Callable[[], Centres], steps: int, objective: float) -> bool:
            reporter.emit(
                reporter.stage,
                steps,
                max_iter,
                rows.n_rows,
                rows.n_rows,
                objective * rows.blocks.unit,
            )
            return after_sweep is not None and after_sweep(
                self.problem.rule, State(centres()), steps
            )

        return step_ended


@dataclass(frozen=True)
class PartitionSearch:
    """The way from a start to a partition."""

    solver: str  # "fagp", "agp", "batched" or "lloyd"
    step: float  # of "agp"
    quantile: float  # of "batched"
    polish: bool
    max_iter: int
    breathing: Breathing | None = None  # out of the optimum that "lloyd" ends in

    def __call__(self, start: Start, given: PartitionProblem, observer: Observer) -> Found:
        """The partition that a start leads to."""
        problem = given.problem
        stopping = Stopping(self.max_iter, problem.stopping.tol)
        if self.solver == "lloyd":
            sums, _ = problem.engine.keep(problem.rows, start)
            return self._partition(
                problem.space.centres(sums.mass, sums.moment), given, stopping, observer, [], 0, 0
            )
        path, visits = self._path(start, given, observer)
        centres = given.centres_of(path.memberships)
        if not path.finished:
            ended = path.n_iter < min(self.max_iter, MOST_STEPS)
            _, kept = problem.engine.keep(problem.rows, LargestPass(), path.memberships)
            soft = problem.rows.blocks.in_full(lambda: kept.column("p"))
            observer.solved()
            return Found(
                soft,
                kept.answer("labels"),
                centres,
                path.history[-1],
                path.history,
                path.n_iter,
                visits,
                False,
                ended,
            )
        # What FAGP and AGP end in is a fixed point of k-means already.
        stopping = stopping if self.solver == "batched" else Stopping(1, stopping.tol)
        history, n_iter = path.history, path.n_iter
        del path  # P is as large as all that k-means needs
        return self._partition(
            centres, given, stopping, observer.without_callbacks(), history, n_iter, visits
        )

    def _path(self, start: Start, given: PartitionProblem, observer: Observer) -> tuple[Path, int]:
        problem, population, constant = given.problem, given.population, given.total_norm()
        after_step = given.after_step(observer, self.max_iter)
        if self.solver == "batched":
            return follow_batched(
                problem, start, self.quantile, self.max_iter, constant, after_step, observer
            )
        step = self.step if self.solver == "agp" else None
        limit = min(self.max_iter, MOST_STEPS)
        p = problem.engine.keep(problem.rows, start)[1].column("p")
        of_all_rows = _OfAllRows(p, population)

        def step_ended(p: Array, steps: int, objective: float) -> bool:
            def centres() -> Centres:
                return problem.centres_of(of_all_rows(p))

            observer.note(Progressed(problem.rule, lambda: State(centres()), steps, objective))
            return after_step is not None and after_step(centres, steps, objective)

        first = of_all_rows.of_population(p)
        path = follow(
            given.gram,
            population.weights,
            first,
            limit,
            constant,
            step,
            step_ended,
            observer.within("path").section(),
        )
        end = GivenStart(problem.rule, p.shape[1], of_all_rows(path.memberships))
        return replace(
            path, memberships=problem.engine.keep(problem.rows, end)[1]
        ), path.n_iter * len(population)

    def _partition(
        self,
        start: Centres,
        given: PartitionProblem,
        stopping: Stopping,
        observer: Observer,
        history: list[float],
        n_iter: int,
        visits: int,
    ) -> Found:
        """k-means and single moves from where the path ends."""
        problem, population = replace(given.problem, stopping=stopping), given.population
        rows, engine = problem.rows, problem.engine
        solution = solve(problem, State(start), observer)
        visits += solution.row_visits
        if self.breathing is not None:
            searched = self.breathing(problem, replace(solution, sweep=None), observer)
            solution, visits = searched.solution, visits + searched.row_visits
        _, kept = engine.keep(rows, LabelPass(problem.rule, solution.state))
        visits += 2 * rows.n_rows
        if self.polish and not solution.ended:
            if population.member is not None:  # few rows, of which equal ones stay together
                labels, c = kept.column("labels")[:], len(start)
                own = transfer_in_memory(
                    given.gram, population.weights, population.of(labels), c, PASSES
                )
                labels = np.where(population.member >= 0, own[population.member], labels)
                visits = visits + rows.n_rows
                _, kept = engine.keep(rows, LabelPass(problem.rule, solution.state, labels))
            else:
                moved = transfer(
                    problem, solution.state, kept, PASSES, observer.within("polish").section()
                )
                kept, visits = moved.kept, visits + moved.row_visits
        centres = given.centres_of(kept)
        sums = problem.sweep(State(centres))
        history = history[:-1] or [value / rows.blocks.unit for value in solution.history]
        n_iter = n_iter or solution.n_iter
        finished, soft, labels = solution.converged or self.solver in ("fagp", "agp"), None, None
        if not finished:
            labels = kept.answer("labels")
            soft = rows.blocks.in_full(lambda: to_numpy(one_hot(labels, len(start), rows.blocks.x)))
        return Found(
            soft,
            labels,
            centres,
            sums.objective,
            [*history, sums.objective],
            n_iter,
            visits,
            finished,
            solution.ended,
            sums,
        )


@dataclass(frozen=True)
class _OfAllRows:
    """Distributions of the population, which equal rows share, and those of all rows."""

    start: Array  # (n, c); rows of no weight stay where they start
    population: Population

    def of_population(self, p: Array) -> Float64:
        """(p, c) the mean over the rows that each entry stands for."""
        member = self.population.members()
        counted = member >= 0
        total = np.zeros((len(self.population), p.shape[1]))
        np.add.at(total, member[counted], p[counted].astype(np.float64))
        mean: Float64 = total / total.sum(axis=1, keepdims=True)
        return mean

    def __call__(self, p: Array) -> Array:
        member = self.population.members()
        return np.where(member[:, None] >= 0, p[member].astype(self.start.dtype), self.start)
