"""The one fixed-point loop, for every space, rule and engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeAlias

import numpy as np

from ..sweeps.choice import SweepFunction, sweep_for
from ..sweeps.passes import SweepPass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .anderson import Anderson, Mixing
from .observer import UNOBSERVED, Observer, Progressed
from .probes import with_enough_probes
from .solution import NEXT_CENTRES, Solution, SolverState, Step, Verdict
from .stopping import cycle_length, is_at_rest, is_rounding_only, rounding_of
from .sweeps_in_a_row import Course, SweepsInARow

# the sums over rows that have gone by, which every sweep's are added to
Carried: TypeAlias = Callable[[State], Statistics]


class Solver(Protocol):
    """A way from a state to a fixed point: `solve`, or one that prepares it."""

    def __call__(self, problem: Problem, state: State, observer: Observer, /) -> Solution: ...


def solve(
    problem: Problem,
    state: State,
    observer: Observer = UNOBSERVED,
    step: Step = NEXT_CENTRES,
    carried: Carried | None = None,
    sweep: SweepFunction | None = None,
) -> Solution:
    """Sweep from `state` until the centres stand still, or a callback ends it.

    `carried` are the sums over rows that are not there any more, with which a stream's next rows
    are clustered. `sweep` is what swept the same rows before, from centres near these.
    """
    state = problem.feasible(state)
    problem = with_enough_probes(problem, state) if problem.probes else problem
    function = sweep or sweep_for(problem.rows, problem.rule, len(state.centres), problem.probes)
    nothing_added = carried is None and problem.known is None
    unseen = (
        observer.is_silent
        and step is NEXT_CENTRES
        and nothing_added
        and problem.stopping.criterion is None
    )
    in_a_row = unseen and not _may_mix(problem, step)
    loop = _Loop(
        problem,
        observer,
        step,
        carried,
        function,
        SweepsInARow.of(problem, state, function) if in_a_row else None,
    )
    section = observer.section()
    if section.found is not None:
        now = SolverState.unpacked(section.found, state)
    else:
        now = SolverState(state, state, mixing=Mixing() if _may_mix(problem, step) else None)
    loop.note(now)
    try:
        while not now.is_over(problem.stopping.max_iter):
            now = loop.advance(now)
            loop.note(now)
            section.note(now.packed)
    except BaseException:
        section.break_off(now.packed)
        raise
    section.end(now.packed)
    observer.solved()
    return Solution(
        now.state,
        [value * problem.rows.blocks.unit for value in now.history],
        len(now.history),
        now.row_visits,
        now.converged or (problem.stopping.ends_as_planned and not now.ended),
        now.ended,
        now.verdict,
        now.last,
        now.floor,
        None if step.needs_labels else loop.function,  # a labelling sweep does nothing else
        step,
    )


@dataclass(frozen=True)
class _Loop:
    """The parts of a run that stay the same from sweep to sweep."""

    problem: Problem
    observer: Observer
    step: Step
    carried: Carried | None
    function: SweepFunction
    in_a_row: SweepsInARow | None

    def note(self, now: SolverState) -> None:
        sums = None if now.last is None else now.last[1]
        objective = now.history[-1] if now.history else math.inf
        self.observer.note(
            Progressed(self.problem.rule, lambda: now.state, len(now.history), objective, sums)
        )

    def advance(self, now: SolverState) -> SolverState:
        """One sweep, and the step that its sums make; some of them where nothing is asked between
        them."""
        if self.in_a_row is None:
            course = None
        else:
            course = self.in_a_row.follow(now.at, now.history, now.movements)
        return self._one_sweep(now) if course is None else self._after(now, course)

    def _after(self, now: SolverState, course: Course) -> SolverState:
        return SolverState(
            state=course.state,
            at=course.state,
            before=course.at,
            last=(course.at, course.sums),
            history=course.history,
            movements=course.movements,
            row_visits=now.row_visits
            + self.problem.n_rows * (len(course.history) - len(now.history)),
            converged=course.at_rest,
            floor=course.floor,
        )

    def _one_sweep(self, now: SolverState) -> SolverState:
        problem, at, mixing = self.problem, now.at, now.mixing
        labelling = self.step.needs_labels
        swept = SweepPass(problem.rule, at, labelling, self.function, problem.probes)
        sums, visits = self._sums(now, swept), now.row_visits
        visits += problem.n_rows if self.step.needs_sums else 0
        if mixing is not None:
            accepted, mixing = self._anderson.judge(mixing, sums)
            if not accepted:  # the run stands where it stood
                history = (*now.history, now.history[-1])
                ended = self._is_ended(now.state, len(history))
                stood = replace(now, at=now.state, mixing=mixing, history=history)
                return replace(stood, row_visits=visits, ended=ended)
        result = self.step(problem, swept, sums, now.last)
        sums = sums if result.sums is None else result.sums
        history = (*now.history, sums.objective)
        new, visits = result.state, visits + result.row_visits
        stopped = partial(
            replace, now, state=new, row_visits=visits, history=history, converged=True
        )
        if result.verdict is not Verdict.GOES_ON:
            return stopped(verdict=result.verdict)
        ends, movement = is_at_rest(problem, now.before, at, new, sums, history)
        movements = (*now.movements, movement)
        self._report(len(history), sums.objective, movement)
        if ends:
            floor = None
        else:
            floor = is_rounding_only(
                problem.stopping, movements, history, problem.rows, sums.magnitude
            )
        if not ends and not self.step.keeps_clusters and cycle_length(history) is not None:
            return stopped(verdict=Verdict.CYCLE)
        start = new
        if mixing is not None:
            start, mixing = self._anderson.next(mixing, at, new, sums)
            start = problem.feasible(start)
        return SolverState(
            state=new,
            at=start,
            before=at,
            last=(at, sums),
            mixing=mixing,
            history=history,
            movements=movements,
            row_visits=visits,
            converged=ends or floor is not None,
            ended=self._is_ended(new, len(history)),
            floor=floor,
        )

    def _sums(self, now: SolverState, swept: SweepPass) -> Statistics:
        """The sums of a sweep, with those of rows that have gone by or are known; of no rows where
        the step needs none."""
        problem, at = self.problem, now.at
        if not self.step.needs_sums:
            none = np.zeros(len(at.centres))
            return Statistics(0.0, none, none[:, None], none)
        sums = problem.engine.fold(problem.rows, swept, self._reports(now))
        sums = sums if self.carried is None else sums.with_past(self.carried(at))
        return problem.with_known(sums, at)

    @property
    def _anderson(self) -> Anderson:
        return Anderson(rounding_of(self.problem.rows))

    def _reports(self, now: SolverState) -> Callable[[int], None] | None:
        reporter = self.observer.reporter
        rows = self.problem.rows
        max_iter = self.problem.stopping.max_iter
        if not reporter.listeners:
            return None
        return lambda task: reporter.emit(
            reporter.stage, len(now.history) + 1, max_iter, rows.rows_done(task), rows.n_rows
        )

    def _report(self, sweeps: int, objective: float, movement: float) -> None:
        reporter, n = self.observer.reporter, self.problem.n_rows
        if reporter.listeners:
            reporter.emit(
                reporter.stage, sweeps, self.problem.stopping.max_iter, n, n, objective, movement
            )

    def _is_ended(self, state: State, sweeps: int) -> bool:
        """True where a callback says so."""
        after_sweep = self.observer.after_sweep
        return after_sweep is not None and after_sweep(self.problem.rule, state, sweeps)


def _may_mix(problem: Problem, step: Step) -> bool:
    """True where the next centres change smoothly with the centres, and the objective says which of
    two are better."""
    stopping = problem.stopping
    return (
        stopping.acceleration is not None
        and stopping.criterion is None
        and problem.rule.is_soft
        and step.keeps_clusters
    )
