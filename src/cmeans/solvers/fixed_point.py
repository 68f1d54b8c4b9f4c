"""The one fixed-point loop, for every space, rule and engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from ..sweeps.choice import SweepFunction, sweep_for
from ..sweeps.passes import SweepPass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .anderson import Anderson, Mixing
from .observer import UNOBSERVED, Observer, Progressed
from .steps import NEXT_CENTRES, Step, Verdict
from .stopping import PATIENCE, is_at_rest, only_rounds, rounding_of

Carried: TypeAlias = Callable[[State], Statistics]  # the sums over rows that have gone by, which every sweep's are added to


@dataclass(frozen=True)
class SolverState:
    """The state of a run: all that the next sweeps depend on, and the history of those before."""

    state: State
    at: State  # where the next sweep starts: `state`, or centres mixed from it and those before
    before: State | None = None  # where the last sweep started
    last: tuple[State, Statistics] | None = None  # the same, with the sums it made
    mixing: Mixing | None = None
    history: tuple[float, ...] = ()  # objective at the centres each sweep started from
    movements: tuple[float, ...] = ()
    row_visits: int = 0
    converged: bool = False
    ended: bool = False  # by a callback
    verdict: Verdict = Verdict.GOES_ON
    floor: float | None = None  # the movement below which rounding let no centre come, where that ended the run

    def is_over(self, max_iter: int) -> bool:
        """True when no further sweep is to be made."""
        return self.converged or self.ended or self.verdict is not Verdict.GOES_ON or len(self.history) >= max_iter

    def packed(self) -> dict[str, Any]:
        """The same in values that a checkpoint can hold."""
        mixing = None if self.mixing is None or self.converged or self.ended else vars(self.mixing)
        return {**{field.name: getattr(self, field.name) for field in fields(self)}, "mixing": mixing, "verdict": self.verdict.value}

    @classmethod
    def unpacked(cls, packed: dict[str, Any]) -> SolverState:
        """Rebuild a state from `packed` as it is read again: tuples have become lists."""
        mixing = packed["mixing"]
        mixing = None if mixing is None else Mixing(**_with_tuples(mixing))
        return cls(**{**_with_tuples(packed), "mixing": mixing, "verdict": Verdict(packed["verdict"])})


def _with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


@dataclass(frozen=True)
class Solution:
    """A fixed point, or as near to one as `max_iter` allowed."""

    state: State
    history: list[float]  # objective at the centres each sweep started from, in the user's unit of weight; [0] is the start's
    n_iter: int
    row_visits: int
    converged: bool
    ended: bool  # by a callback
    verdict: Verdict = Verdict.GOES_ON  # STUCK: no way led on from the last sweep but one, which this is
    last: tuple[State, Statistics] | None = None  # the state one sweep ago, and the sums that made this one
    floor: float | None = None  # the movement below which rounding let no centre come, where that ended the run
    sweep: SweepFunction | None = None  # what swept, and may remember its last sweep, so that a further one takes less


def solve(
    problem: Problem, state: State, observer: Observer = UNOBSERVED, step: Step = NEXT_CENTRES, carried: Carried | None = None
) -> Solution:
    """Sweep from `state` until the centres stand still, or a callback ends it.

    `carried` are the sums over rows that are not there any more, with which a stream's next rows are clustered.
    """
    loop = _Loop(problem, observer, step, carried, sweep_for(problem.rows, problem.rule, len(state.centres)))
    section = observer.section()
    if section.found is not None:
        now = SolverState.unpacked(section.found)
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
        now.converged,
        now.ended,
        now.verdict,
        now.last,
        now.floor,
        None if step.needs_labels else loop.function,  # a labelling sweep does nothing else
    )


@dataclass(frozen=True)
class _Loop:
    """The parts of a run that stay the same from sweep to sweep."""

    problem: Problem
    observer: Observer
    step: Step
    carried: Carried | None
    function: SweepFunction

    def note(self, now: SolverState) -> None:
        sums, objective = None if now.last is None else now.last[1], now.history[-1] if now.history else math.inf
        self.observer.note(Progressed(self.problem.rule, lambda: now.state, len(now.history), objective, sums))

    def advance(self, now: SolverState) -> SolverState:
        """One sweep, and the step that its sums make."""
        problem = self.problem
        by_memberships = problem.stopping.criterion == "memberships"
        swept = SweepPass(problem.rule, now.at, now.before if by_memberships else None, self.step.needs_labels, self.function)
        sums = problem.engine.fold(problem.rows, swept, self._reports(now))
        sums = sums if self.carried is None else sums + self.carried(now.at)
        visits, mixing = now.row_visits + problem.n_rows, now.mixing
        if mixing is not None:
            accepted, mixing = Anderson(rounding_of(problem.rows)).judge(mixing, sums)
            if not accepted:  # the run stands where it stood
                now = replace(now, at=now.state, mixing=mixing, history=(*now.history, now.history[-1]), row_visits=visits)
                return self._heard(now)
        result = self.step(problem, swept, sums, now.last)
        now = replace(now, row_visits=visits + result.row_visits, history=(*now.history, sums.objective), verdict=result.verdict)
        if result.verdict is not Verdict.GOES_ON:
            return replace(now, state=result.state, converged=True)
        new, at = result.state, now.at
        now = self._judged(replace(now, state=new), at, sums)
        start = new
        if mixing is not None:
            start, mixing = Anderson(rounding_of(problem.rows)).next(mixing, at, new, sums)
        return self._heard(replace(now, at=start, before=at, last=(at, sums), mixing=mixing))

    def _reports(self, now: SolverState) -> Callable[[int], None] | None:
        reporter, rows, max_iter = self.observer.reporter, self.problem.rows, self.problem.stopping.max_iter
        if not reporter.listeners:
            return None
        return lambda task: reporter.emit(reporter.stage, len(now.history) + 1, max_iter, rows.rows_done(task), rows.n_rows)

    def _heard(self, now: SolverState) -> SolverState:
        """The same, ended where a callback says so."""
        after_sweep = self.observer.after_sweep
        return now if after_sweep is None else replace(now, ended=after_sweep(now.state, len(now.history)))

    def _judged(self, now: SolverState, at: State, sums: Statistics) -> SolverState:
        """The same, converged where the step from `at` ends the run."""
        stopping, rows, reporter = self.problem.stopping, self.problem.rows, self.observer.reporter
        ends, movement = is_at_rest(stopping, at, now.state, sums, compared=now.before is not None)
        now = replace(now, movements=(*now.movements, movement), converged=ends)
        reporter.emit(reporter.stage, len(now.history), stopping.max_iter, rows.n_rows, rows.n_rows, sums.objective, movement)
        bound = stopping.tol > 0 and stopping.criterion == "centres"
        if not ends and bound and only_rounds(now.movements, now.history, rounding_of(rows), sums.magnitude):
            return replace(now, converged=True, floor=max(now.movements[-PATIENCE:]))
        return now


def _may_mix(problem: Problem, step: Step) -> bool:
    """True where the next centres change smoothly with the centres, and the objective says which of two are better."""
    stopping = problem.stopping
    return stopping.acceleration is not None and stopping.criterion == "centres" and problem.rule.is_soft and step.keeps_clusters
