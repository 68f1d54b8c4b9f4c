"""From starts to a result: the fuzzy pilot where the rule wants one, the best of several starts, the last pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .arrays import Float64
from .assignment import Assignment, assign_all
from .centres import Centres
from .certificate import Approximation
from .engines import Engine
from .progress import Place
from .progressive import Approach
from .rules import Rule
from .solver import AfterSweep, Interrupted, Solution, Stopping, fold, reason, solve
from .spaces import Space
from .statistics import Statistics
from .sweep import State
from .table import Table


@dataclass(frozen=True)
class Result:
    """The best run, and what its last pass says of every row."""

    solution: Solution
    history: list[float]  # the objective at the start and after each sweep
    reason: str  # why the run ended, and what to do if it fell short
    assignment: Assignment
    space: Space  # where `state` lives: the portable twin of the table's space
    state: State
    rule: Rule
    alive: npt.NDArray[np.bool_]  # (c,) which clusters hold any mass at the end
    row_visits: int
    approximation: Approximation | None = None  # where the run was on landmarks, and somebody asked


@dataclass(frozen=True)
class Pilot:
    """The fuzzy run that gives another rule its start and its scales."""

    rule: Rule
    eta_scale: float = 1.0


@dataclass(frozen=True)
class Best:
    """The best of several runs."""

    solution: Solution
    sums: Statistics | None  # at its end, where it was measured
    row_visits: int  # of all runs together


def best_of(
    starts: Iterable[Centres],
    n_starts: int,
    table: Table,
    rule: Rule,
    engine: Engine,
    stopping: Stopping,
    *,
    stage: str = "fit",
    measured: bool = False,
    after_sweep: AfterSweep | None = None,
    approach: Approach | None = None,
) -> Best:
    """Solve from every start and keep the lowest objective; it is `measured` at the end even where there is but one start.

    With an `approach` starts are told apart on its samples, and only the best of them sees all rows.
    """
    best: Best | None = None
    visits = 0
    places: Iterator[tuple[State, Place]] = ((State(centres), Place(stage, run, n_starts)) for run, centres in enumerate(starts))
    if approach is not None:
        near = approach([state for state, _ in places], table, rule, engine, stopping, n_starts)
        places, visits = iter([(near.state, Place(stage, near.run, n_starts))]), near.row_visits
    for state, place in places:
        try:
            solution = solve(table, rule, state, engine, stopping, place, after_sweep)
        except Interrupted as end:
            if best is not None and best.sums is not None and best.sums.objective <= end.objective:
                end.state = best.solution.state
            raise
        visits += solution.row_visits
        sums = None
        if measured or (n_starts > 1 and approach is None):
            sums = fold(table, rule, solution.state, engine, solution.sweep)
            visits += table.n_rows
            solution = replace(solution, sweep=None)  # what it remembers would be there once more while the next start is followed
        if best is None or (sums is not None and best.sums is not None and sums.objective < best.sums.objective):
            best = Best(solution, sums, 0)
        if solution.ended:
            break  # who has heard enough wants no further start
    assert best is not None, "there is always a start"
    return replace(best, row_visits=visits)


def from_pilot(
    starts: Iterable[Centres],
    n_starts: int,
    table: Table,
    rule: Rule,
    engine: Engine,
    stopping: Stopping,
    *,
    pilot: Pilot,
    after_sweep: AfterSweep | None = None,
    approach: Approach | None = None,
) -> Best:
    """Solve for a rule that needs scales: they come from the best fuzzy run, and so does the start, since objectives with
    different scales do not compare."""
    try:
        first = best_of(starts, n_starts, table, pilot.rule, engine, stopping, stage="pilot", measured=True, approach=approach)
    except Interrupted as end:
        if end.sums is None:
            raise KeyboardInterrupt from None  # there are no scales yet
        end.rule, end.state = rule, State(end.state.centres, possibilistic_scales(end.sums.spread, end.sums.mass, pilot.eta_scale))
        raise
    assert first.sums is not None
    state = State(first.solution.state.centres, possibilistic_scales(first.sums.spread, first.sums.mass, pilot.eta_scale))
    visits = first.row_visits
    if approach is not None:
        near = approach([state], table, rule, engine, stopping, 1)
        state, visits = near.state, visits + near.row_visits
    solution = solve(table, rule, state, engine, stopping, after_sweep=after_sweep)
    return Best(solution, None, visits + solution.row_visits)


def concluded(best: Best, table: Table, rule: Rule, engine: Engine, stopping: Stopping) -> Result:
    """The last pass over all rows, and what there is to say of the run."""
    solution = best.solution
    space, centres = table.space.portable(solution.state.centres)
    state = State(centres, solution.state.scales)
    assignment = assign_all(table, space, rule, state, engine)
    return Result(
        solution,
        [*solution.history, assignment.objective],
        reason(solution, stopping, assignment.objective),
        assignment,
        space,
        state,
        rule,
        assignment.mass > 0,
        best.row_visits + table.n_rows,
    )


def possibilistic_scales(spread: Float64, mass: Float64, eta_scale: float) -> Float64:
    """eta_j = eta_scale * sum_i w_ij d2_ij / sum_i w_ij (Havens 2011 eq. 11): the mean squared distance within the pilot's cluster j.

    A cluster of coinciding rows would get zero, which lets no other row near; it gets a millionth of the mean instead.
    """
    eta = eta_scale * spread / np.where(mass > 0, mass, 1.0)
    mean = float(eta.mean())
    return np.maximum(eta, 1e-6 * mean if mean > 0 else 1.0)
