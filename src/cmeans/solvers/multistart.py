"""From starts to a result: the fuzzy pilot where the rule needs one, the best of several starts, the last pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64
from ..landmarks.certificate import Approximation
from ..rules import Rule
from ..spaces import Space
from ..spaces.centres import Centres
from ..sweeps.final_pass import Assignment, assign_all
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .fixed_point import Solution, solve
from .observer import AsFinal, Observer, Progressed, known
from .search import Breathing
from .stopping import reason
from .subsampling import SubsampleSchedule


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
    approximation: Approximation | None = None  # where the run was on landmarks, and the estimator certifies them


@dataclass(frozen=True)
class Pilot:
    """The fuzzy run that gives another rule its start and its scales."""

    rule: Rule
    eta_scale: float = 1.0

    def as_final(self, final: Rule) -> AsFinal:
        """Return the conversion of an interrupted pilot to the final rule; it gives None before the first sweep is over."""

        def converted(rule: Rule, state: State, sums: Statistics | None) -> tuple[Rule, State] | None:
            return None if sums is None else (final, self.state(state, sums))

        return converted

    def state(self, state: State, sums: Statistics) -> State:
        """The centres of the pilot, with the scales that its sums make."""
        return State(state.centres, possibilistic_scales(sums.spread, sums.mass, self.eta_scale))


@dataclass(frozen=True)
class BestRun:
    """The best of several runs."""

    solution: Solution
    sums: Statistics | None  # at its end, where it was measured
    row_visits: int  # of all runs together


def best_of(
    starts: Iterable[Centres],
    n_starts: int,
    problem: Problem,
    observer: Observer,
    *,
    stage: str = "fit",
    measured: bool = False,
    schedule: SubsampleSchedule | None = None,
    search: Breathing | None = None,
) -> BestRun:
    """Solve from every start and keep the lowest objective; it is `measured` at the end even where there is but one start.

    With a `schedule` starts are told apart on its samples, and only the best of them sees all rows. With a `search` a better solution
    is looked for around the best of them: on a sample, where there are any.
    """
    best: BestRun | None = None
    visits = 0
    runs: Iterator[tuple[int, State]] = ((run, State(centres)) for run, centres in enumerate(starts))
    if schedule is not None:
        warm = schedule([state for _, state in runs], problem, n_starts, observer.within(stage), search)
        runs, visits = iter([(warm.run, warm.state)]), warm.row_visits
    for run, state in runs:
        solution = solve(problem, state, observer.at(stage, run, n_starts))
        visits += solution.row_visits
        sums = None
        if measured or (n_starts > 1 and schedule is None):
            sums = problem.sweep(solution.state, solution.sweep)
            visits += problem.n_rows
            solution = replace(solution, sweep=None)  # what it remembers would be there once more while the next start is followed
        if best is None or (sums is not None and best.sums is not None and sums.objective < best.sums.objective):
            best = BestRun(solution, sums, 0)
            if sums is not None:
                observer.best_start(Progressed(problem.rule, known(solution.state), solution.n_iter, sums.objective, sums))
        if solution.ended:
            break  # no callback wants a further start
    assert best is not None, "there is always a start"
    observer.best_start(None)
    if search is not None and not (schedule is not None and search.is_settled_by(schedule.sizes, len(best.solution.state.centres))):
        best = replace(best, solution=replace(best.solution, sweep=None))  # trials have memories of their own
        searched = search(problem, best.solution, observer.within(stage).at(stage))
        visits += searched.row_visits
        if searched.solution is not best.solution:
            sums = problem.sweep(searched.solution.state, searched.solution.sweep) if measured else None
            visits += problem.n_rows if measured else 0
            best = BestRun(searched.solution, sums, 0)
    return replace(best, row_visits=visits)


def from_pilot(
    starts: Iterable[Centres],
    n_starts: int,
    problem: Problem,
    observer: Observer,
    *,
    pilot: Pilot,
    schedule: SubsampleSchedule | None = None,
    search: Breathing | None = None,
) -> BestRun:
    """Solve for a rule that needs scales: they come from the best fuzzy run, and so does the start, since objectives with
    different scales do not compare."""
    fuzzy, before = replace(problem, rule=pilot.rule), observer.of_pilot(pilot.as_final(problem.rule))
    first = best_of(starts, n_starts, fuzzy, before, stage="pilot", measured=True, schedule=schedule, search=search)
    assert first.sums is not None
    state = pilot.state(first.solution.state, first.sums)
    visits = first.row_visits
    if schedule is not None:
        warm = schedule([state], problem, 1, observer.within("fit"))
        state, visits = warm.state, visits + warm.row_visits
    solution = solve(problem, state, observer.at("fit"))
    return BestRun(solution, None, visits + solution.row_visits)


def concluded(best: BestRun, problem: Problem, observer: Observer) -> FitResult:
    """The last pass over all rows, and why the run ended."""
    solution, rows, rule = best.solution, problem.rows, problem.rule
    space, centres = rows.space.portable(solution.state.centres)
    state = State(centres, solution.state.scales)
    assignment = assign_all(rows, space, rule, state, problem.engine, observer.at("fit").reporter, observer.taker)
    if problem.known is not None:
        assignment = assignment.with_sums(problem.known.final(rule, solution.state), rows.blocks.unit)
    return FitResult(
        solution,
        [*solution.history, assignment.objective],
        reason(solution, problem.stopping, assignment.objective),
        assignment,
        space,
        state,
        rule,
        assignment.mass > 0,
        best.row_visits + rows.n_rows,
    )


def possibilistic_scales(spread: Float64, mass: Float64, eta_scale: float) -> Float64:
    """eta_j = eta_scale * sum_i w_ij d2_ij / sum_i w_ij (Havens 2011 eq. 11): the mean squared distance within the pilot's cluster j.

    A cluster of coinciding rows would get zero, which lets no other row near; it gets a millionth of the mean instead.
    """
    eta = eta_scale * spread / np.where(mass > 0, mass, 1.0)
    mean = float(eta.mean())
    return np.maximum(eta, 1e-6 * mean if mean > 0 else 1.0)
