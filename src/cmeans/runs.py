"""From starts to a result: the fuzzy pilot where the rule wants one, the best of several starts, the last pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .arrays import Float64
from .centres import Centres
from .engines import Engine
from .rules import Rule
from .solver import AfterSweep, Assignment, Place, Solution, Stopping, assign_all, fold, reason, solve
from .spaces import Space
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


@dataclass(frozen=True)
class Pilot:
    """The fuzzy run that gives another rule its start and its scales."""

    rule: Rule
    eta_scale: float = 1.0


def best_of(
    starts: Iterable[Centres],
    n_starts: int,
    table: Table,
    rule: Rule,
    engine: Engine,
    stopping: Stopping,
    *,
    pilot: Pilot | None = None,
    after_sweep: AfterSweep | None = None,
) -> Result:
    """Solve from every start, keep the lowest objective, and assign the rows.

    A rule that needs scales gets them from its pilot: the best pilot run is what the rule starts from, since objectives
    with different scales do not compare.
    """
    first = rule if pilot is None else pilot.rule
    stage = "fit" if pilot is None else "pilot"
    best: Solution | None = None
    lowest = np.inf
    visits = 0
    scales: Float64 | None = None
    for run, centres in enumerate(starts):
        solution = solve(
            table, first, State(centres), engine, stopping, Place(stage, run, n_starts), after_sweep if pilot is None else None
        )
        visits += solution.row_visits
        objective = -np.inf
        if n_starts > 1 or pilot is not None:
            sums = fold(table, first, solution.state, engine)
            visits += table.n_rows
            objective = sums.objective
        if best is None or objective < lowest:
            best, lowest = solution, objective
            scales = None if pilot is None else possibilistic_scales(sums.spread, sums.mass, pilot.eta_scale)
        if solution.ended:
            break  # who has heard enough wants no further start
    assert best is not None, "there is always a start"
    if pilot is not None:
        best = solve(table, rule, State(best.state.centres, scales), engine, stopping, Place("fit"), after_sweep)
        visits += best.row_visits
    space, centres = table.space.portable(best.state.centres)
    state = State(centres, best.state.scales)
    assignment = assign_all(table, space, rule, state, engine)
    history = [*best.history, assignment.objective]
    return Result(
        best,
        history,
        reason(best, stopping, assignment.objective),
        assignment,
        space,
        state,
        rule,
        assignment.mass > 0,
        visits + table.n_rows,
    )


def possibilistic_scales(spread: Float64, mass: Float64, eta_scale: float) -> Float64:
    """eta_j = eta_scale * sum_i w_ij d2_ij / sum_i w_ij (Havens 2011 eq. 11): the mean squared distance within the pilot's cluster j.

    A cluster of coinciding rows would get zero, which lets no other row near; it gets a millionth of the mean instead.
    """
    eta = eta_scale * spread / np.where(mass > 0, mass, 1.0)
    mean = float(eta.mean())
    return np.maximum(eta, 1e-6 * mean if mean > 0 else 1.0)
