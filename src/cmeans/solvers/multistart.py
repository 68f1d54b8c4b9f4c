"""A result from starts: the fuzzy pilot where the rule needs one, the best of several starts, the
last pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray
from ..landmarks.certificate import Approximation
from ..rules import Rule
from ..sampling.population import Population
from ..spaces import Space
from ..spaces.centres import Centres
from ..sweeps.final_pass import Assignment, GivenLabels, Moves, assign_all
from ..sweeps.passes import FirstRowsPass
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .fixed_point import Solver, solve
from .observer import AsFinal, Observer, Progressed, known
from .search import Searching, is_enough
from .solution import Solution
from .stopping import reason, rounding_of
from .subsampling import SubsampleSchedule

# of masses and distances, relative to the largest, by which clusters are told apart when they are
# numbered
DIGITS = 6


@dataclass(frozen=True)
class FitResult:
    """The best run, and what its last pass says of every row."""

    solution: Solution
    history: list[float]  # the objective at the start and after each sweep
    reason: str  # why the run ended, and what to do if it fell short
    assignment: Assignment
    space: Space  # where `state` lives: the portable twin of the space of the rows
    state: State
    rule: Rule
    alive: npt.NDArray[np.bool_]  # (c,) which clusters hold any mass at the end
    row_visits: int
    # where the run was on landmarks, and the estimator certifies them
    approximation: Approximation | None = None
    # where sizes are bounded, the share by which the cost may lie above the least for these centres
    size_gap: float | None = None
    # fitted attributes that only this way to a solution has
    attributes: Mapping[str, Any] = field(default_factory=dict)


class Pilot(Protocol):
    """A run of one rule that goes first, and the run of another that it makes possible."""

    @property
    def rule(self) -> Rule:
        """The rule of the run that goes first."""

    def as_final(self, final: Rule) -> AsFinal:
        """Return the conversion of an interrupted pilot to the final rule; it gives None where
        there is nothing to convert yet."""

    def follow(self, first: BestRun, runs: Runs) -> tuple[Problem, BestRun]:
        """Solve the problem of `runs` from the pilot's end; return it with the rule that it was
        solved for, and the run."""


@dataclass(frozen=True)
class ScalesPilot:
    """The fuzzy run that gives another rule its start and its clusters' scales."""

    rule: Rule
    eta_scale: float = 1.0

    def as_final(self, final: Rule) -> AsFinal:
        """As of `Pilot`: there are scales once the first sweep is over."""

        def converted(
            rule: Rule, state: State, sums: Statistics | None
        ) -> tuple[Rule, State] | None:
            return None if sums is None else (final, self.state(state, sums))

        return converted

    def state(self, state: State, sums: Statistics) -> State:
        """The centres of the pilot, with the scales that its sums make."""
        scales = possibilistic_scales(sums.spread, sums.mass, self.eta_scale)
        return replace(state, scales=scales)

    def follow(self, first: BestRun, runs: Runs) -> tuple[Problem, BestRun]:
        """As of `Pilot`. The start comes from the best fuzzy run too, since objectives with
        different scales do not compare."""
        assert first.sums is not None
        problem, observer = runs.problem, runs.observer
        state, visits = self.state(first.solution.state, first.sums), first.row_visits
        if runs.schedule is not None:
            warm = runs.schedule([state], problem, 1, observer.within("fit"))
            state, visits = warm.state, visits + warm.row_visits
        solution = solve(problem, state, observer.at("fit"))
        return problem, BestRun(solution, None, visits + solution.row_visits)


@dataclass(frozen=True)
class BestRun:
    """The best of several runs."""

    solution: Solution
    sums: Statistics | None  # at its end, where it was measured
    row_visits: int  # of all runs together
    attributes: Mapping[str, Any] = field(default_factory=dict)  # as of `FitResult`
    remark: str = ""  # on what was found, beside the reason of the end


def best_of(
    starts: Iterable[Centres | State],
    n_starts: int,
    problem: Problem,
    observer: Observer,
    *,
    stage: str = "fit",
    measured: bool = False,
    schedule: SubsampleSchedule | None = None,
    search: Searching | None = None,
    solver: Solver = solve,
) -> BestRun:
    """Solve from every start and keep the lowest objective; it is `measured` at the end even where
    there is but one start.

    With a `schedule` starts are told apart on its samples, and only the best of them sees all rows.
    With a `search` a better solution is looked for around the best of them: on a sample, where
    there are any.
    """
    best: BestRun | None = None
    visits = 0
    runs: Iterator[tuple[int, State]] = (
        (run, start if isinstance(start, State) else State(start))
        for run, start in enumerate(starts)
    )
    if schedule is not None:
        warm = schedule(
            [state for _, state in runs], problem, n_starts, observer.within(stage), search, solver
        )
        runs, visits = iter([(warm.run, warm.state)]), warm.row_visits
    for run, state in runs:
        solution = solver(problem, state, observer.at(stage, run, n_starts))
        visits += solution.row_visits
        sums = None
        if measured or (n_starts > 1 and schedule is None):
            sums = problem.sweep(solution.state, solution.sweep)
            visits += problem.n_rows
            # what it remembers would be there once more while the next start is followed
            solution = replace(solution, sweep=None)
        if best is None or (
            sums is not None and best.sums is not None and _is_lower(sums, best.sums, problem.rows)
        ):
            best = BestRun(solution, sums, 0)
            if sums is not None:
                observer.best_start(
                    Progressed(
                        problem.rule, known(solution.state), solution.n_iter, sums.objective, sums
                    )
                )
        if solution.ended:
            break  # no callback wants a further start
    assert best is not None, "there is always a start"
    observer.best_start(None)
    if search is not None and not (
        schedule is not None and is_enough(schedule.sizes, len(best.solution.state.centres))
    ):
        # trials have memories of their own
        best = replace(best, solution=replace(best.solution, sweep=None))
        searched = search(problem, best.solution, observer.within(stage).at(stage))
        visits += searched.row_visits
        if searched.solution is not best.solution:
            if measured:
                sums = problem.sweep(searched.solution.state, searched.solution.sweep)
            else:
                sums = None
            visits += problem.n_rows if measured else 0
            best = BestRun(searched.solution, sums, 0)
    return replace(best, row_visits=visits)


def _is_lower(sums: Statistics, before: Statistics, rows: RepresentedRows) -> bool:
    """True where an objective lies below another by more than rounding; starts that end in the same
    optimum differ by that alone."""
    return sums.objective < before.objective - rounding_of(rows) * before.magnitude


@dataclass(frozen=True)
class Runs:
    """The runs that a problem is to be solved by; `schedule` and `search` as of `best_of`."""

    starts: Iterable[Centres]
    n_starts: int
    problem: Problem
    observer: Observer
    schedule: SubsampleSchedule | None = None
    search: Searching | None = None


class Solving(Protocol):
    """A way to solve a problem from its starts, and to assign every row at the end of the best
    run."""

    @property
    def takes_fewer_starts(self) -> bool:
        """True where several clusters may begin at one centre."""
        return False

    def best(self, runs: Runs) -> tuple[Problem, BestRun]:
        """Return the problem that was solved, and the best run."""

    def conclude(
        self, best: BestRun, problem: Problem, observer: Observer, numbered_along: Population | None
    ) -> FitResult:
        """Return the result of the last pass over all rows, as `concluded` does."""
        return concluded(best, problem, observer, numbered_along=numbered_along)


@dataclass(frozen=True)
class FromStarts(Solving):
    """Sweeps from every start, after those of a pilot where another rule's best run prepares the
    problem's."""

    pilot: Pilot | None = None

    def best(self, runs: Runs) -> tuple[Problem, BestRun]:
        problem = runs.problem
        more: dict[str, Any] = {"schedule": runs.schedule, "search": runs.search}
        if self.pilot is None:
            return problem, best_of(runs.starts, runs.n_starts, problem, runs.observer, **more)
        fuzzy = replace(problem, rule=self.pilot.rule)
        before = runs.observer.of_pilot(self.pilot.as_final(problem.rule))
        first = best_of(
            runs.starts, runs.n_starts, fuzzy, before, stage="pilot", measured=True, **more
        )
        return self.pilot.follow(first, runs)


def concluded(
    best: BestRun,
    problem: Problem,
    observer: Observer,
    *,
    numbered_along: Population | None,
    at: tuple[Space, State] | None = None,
    moves: Moves | GivenLabels | None = None,
) -> FitResult:
    """The last pass over all rows, and why the run ended.

    `numbered_along`: the rows in whose order clusters are numbered, where they are not as the start
    has them (None). `at`: the portable space and the state in it, where it is not the run's last.
    """
    solution, rows, rule = best.solution, problem.rows, problem.rule
    space, state = portable(best, problem, numbered_along) if at is None else at
    assignment = assign_all(
        rows,
        space,
        rule,
        state,
        problem.engine,
        observer.at("fit").reporter,
        observer.taker,
        moves,
        here=False,
    )
    if problem.known is not None:
        assignment = assignment.with_sums(
            problem.known.final(rule, solution.state), rows.blocks.unit
        )
    return FitResult(
        solution,
        [*solution.history, assignment.objective],
        reason(solution, problem.stopping, assignment.objective) + best.remark,
        assignment,
        space,
        state,
        rule,
        assignment.mass > 0,
        best.row_visits + rows.n_rows,
    )


def portable(
    best: BestRun, problem: Problem, numbered_along: Population | None = None
) -> tuple[Space, State]:
    """The space that a model keeps, and the last state of a run in it; `numbered_along` as of
    `concluded`."""
    last = best.solution.state
    if numbered_along is not None:
        first = FirstRowsPass(State(last.centres), numbered_along.member)
        last = last[
            by_decreasing_mass(
                mass_of(best, problem),
                last.centres,
                lambda: np.minimum.reduce(list(problem.map(first))),
            )
        ]
    space, centres = problem.rows.space.portable(last.centres)
    return space, last.at(centres)


def by_decreasing_mass(
    mass: Float64, centres: Centres, first_places: Callable[[], Float64]
) -> IntArray:
    """Return the order of clusters by decreasing mass, so that fits from different starts number
    the clusters that they share alike.

    Those of equal mass are ordered by the places (c,) of the first rows that they have, which are
    asked for where there are any. Clusters that have no row are ordered by their distance from the
    mean of all, and then by the sum of their coordinates. Differences in the last digits decide
    nothing.
    """
    keys = centres.coordinates.sum(axis=1), centres.squared_distances_from_mean(mass), -mass
    coordinates, distances, sizes = (
        np.round(key / (np.abs(key).max() or 1.0), DIGITS) for key in keys
    )
    held = sizes[sizes < 0]
    places = first_places() if len(np.unique(held)) < len(held) else np.zeros(len(mass))
    order: IntArray = np.lexsort([coordinates, distances, places, sizes])
    return order


def mass_of(best: BestRun, problem: Problem) -> Float64:
    """(c,) sum_i w_ij in the last sweep that was made from as many clusters."""
    last = best.solution.last
    if best.sums is not None:
        return best.sums.mass
    if last is not None and len(last[1].mass) == len(best.solution.state.centres):
        return last[1].mass
    return problem.sweep(best.solution.state).mass


def possibilistic_scales(spread: Float64, mass: Float64, eta_scale: float) -> Float64:
    """eta_j = eta_scale * sum_i w_ij d2_ij / sum_i w_ij (Havens 2011 eq. 11): the mean squared
    distance within the pilot's cluster j.

    A cluster of coinciding rows would get zero, which lets no other row near; it gets a millionth
    of the mean instead.
    """
    eta = eta_scale * spread / np.where(mass > 0, mass, 1.0)
    mean = float(eta.mean())
    return np.maximum(eta, 1e-6 * mean if mean > 0 else 1.0)
