"""The one fixed-point loop. It knows tables, rules and engines by their interfaces, and nothing of kernels or files."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from .arrays import Array, Float64, IntArray, dense_like
from .centres import Centres
from .choice import Sweep, assign_for, sweep_for
from .complaints import NOT_FINITE
from .engines import Engine
from .progress import Progress, anybody_listens, tell
from .rules import Rule
from .spaces import Space
from .statistics import Statistics
from .sweep import Outputs, State, gather, own_distances
from .table import Table


@dataclass(frozen=True)
class Stopping:
    """When a run ends.

    "centres": max_j |dv_j|^2 <= tol^2 objective / sum of weights, that is, no centre moves by more than tol times the
    typical distance. "memberships": max |u - u'| <= tol, as the papers print it (twice the distances a sweep).
    """

    max_iter: int = 300
    tol: float = 1e-4
    criterion: str = "centres"


@dataclass(frozen=True)
class Place:
    """Which run of which stage a solver works on: for progress messages only."""

    stage: str = "fit"
    run: int = 0
    n_runs: int = 1


AfterSweep: TypeAlias = Callable[[State, int], bool]  # hears the new state and how many sweeps made it; True ends the run


@dataclass(frozen=True)
class Solution:
    """A fixed point, or as near to one as `max_iter` allowed."""

    state: State
    history: list[float]  # objective at the centres each sweep started from, in the user's unit of weight; [0] is the start's
    n_iter: int
    row_visits: int
    converged: bool
    ended: bool  # whoever listened had heard enough


@dataclass
class _Run:
    """One run's bookkeeping."""

    table: Table
    rule: Rule
    engine: Engine
    stopping: Stopping
    place: Place
    sweep: Sweep
    history: list[float] = field(default_factory=list)
    row_visits: int = 0

    def tell(self, rows_done: int, objective: float | None = None, movement: float | None = None) -> None:
        place, n = self.place, self.table.n_rows
        sweep_number = len(self.history) + (objective is None)
        tell(Progress(place.stage, place.run, place.n_runs, sweep_number, self.stopping.max_iter, rows_done, n, objective, movement))


def solve(
    table: Table,
    rule: Rule,
    state: State,
    engine: Engine,
    stopping: Stopping,
    place: Place = Place(),
    after_sweep: AfterSweep | None = None,
) -> Solution:
    """Sweep from `state` until the centres stand still, or whoever listens after each sweep has heard enough."""
    run = _Run(table, rule, engine, stopping, place, sweep_for(table, rule))
    before: State | None = None
    converged = ended = False
    for _ in range(stopping.max_iter):
        sums = fold(table, rule, state, engine, before if stopping.criterion == "memberships" else None, run)
        run.history.append(sums.objective)
        new = _next_centres(run, state, sums)
        moved = float((new - state.centres).squared_norms().max())
        scale = sums.objective / sums.weight if sums.weight > 0 else 0.0
        if stopping.criterion == "memberships":
            converged = moved == 0 or (before is not None and sums.change <= stopping.tol)
            movement = sums.change
        else:
            converged = moved <= stopping.tol**2 * scale
            movement = math.sqrt(moved / scale) if scale > 0 else 0.0
        before, state = state, State(new, state.scales)
        run.tell(table.n_rows, sums.objective, movement)
        ended = after_sweep is not None and after_sweep(state, len(run.history))
        if converged or ended:
            break
    history = [value * table.blocks.unit for value in run.history]
    return Solution(state, history, len(history), run.row_visits, converged, ended)


def fold(table: Table, rule: Rule, state: State, engine: Engine, before: State | None = None, run: _Run | None = None) -> Statistics:
    """One sweep over all rows."""
    sweep = sweep_for(table, rule) if run is None else run.sweep
    done = (lambda task: run.tell(table.rows_done(task))) if run is not None and anybody_listens() else None
    sums = engine.fold(lambda task: sweep(table, rule, state, task, before), table.n_tasks, done)
    if run is not None:
        run.row_visits += table.n_rows
    _refuse_non_finite(sums.is_finite())
    return sums


def centres_of(table: Table, rule: Rule, memberships: Array, engine: Engine) -> Centres:
    """The centres that given memberships (n, c) make."""
    sums = engine.fold(lambda task: gather(table, rule, memberships, task), table.n_tasks)
    return table.space.centres(sums.mass, sums.moment)


@dataclass(frozen=True)
class Assignment:
    """What the last pass says of every row."""

    labels: IntArray  # (n,)
    memberships: Array  # (n, c) in the rows' library and dtype
    nearest: Float64  # (n,) squared distance to the centre of the row's label
    objective: float
    total_distance: float  # sum_ij weight_i d2_ij
    mass: Float64  # (c,) sum_i weight_i u_ij


def assign_all(
    table: Table,
    space: Space,
    rule: Rule,
    state: State,
    engine: Engine,
    place: Place = Place(),
) -> Assignment:
    """Labels and memberships of all rows of a table for centres of `space` (the table's own, or its portable twin)."""
    out = Outputs.empty(table.n_rows, len(state.centres), dense_like(table.blocks.x))
    assign = assign_for(table, space, rule, len(state.centres))

    def done(task: int) -> None:
        tell(Progress("assign", place.run, place.n_runs, 1, 1, table.rows_done(task), table.n_rows))

    sums = engine.fold(lambda task: assign(table, space, rule, state, task, out), table.n_tasks, done if anybody_listens() else None)
    _refuse_non_finite(math.isfinite(sums.objective))
    return Assignment(out.labels, out.memberships, out.nearest, sums.objective * table.blocks.unit, sums.total_distance, sums.mass)


def _refuse_non_finite(finite: bool) -> None:
    if not finite:
        raise ValueError(NOT_FINITE)


def _next_centres(run: _Run, state: State, sums: Statistics) -> Centres:
    new = run.table.space.centres(sums.mass, sums.moment)
    empty = np.flatnonzero(sums.mass <= 0)
    if len(empty) == 0:
        return new
    new = new.replaced(empty, state.centres[empty])
    if run.rule.refills_empty_clusters:
        refill = _farthest_rows(run, state, new, len(empty))
        new = new.replaced(empty[: len(refill)], refill) if len(refill) else new
    return new


def _farthest_rows(run: _Run, state: State, new: Centres, count: int) -> Centres:
    """Up to `count` rows of positive weight, each the farthest from its own centre and from those taken before it."""
    table, n = run.table, run.table.n_rows
    distance = np.full(n, np.inf)
    chosen: list[Centres] = []
    latest = state.centres
    for _ in range(count):
        probe = State(latest)
        parts = run.engine.map(lambda task, probe=probe: own_distances(table, probe, task), table.n_tasks)  # type: ignore[misc]
        distance = np.minimum(distance, np.concatenate(list(parts)))
        run.row_visits += n
        row = int(np.argmax(np.where(table.blocks.weight > 0, distance, -1.0)))
        if distance[row] <= 0:
            break
        rows = np.array([row])
        latest = table.space.embed(table.blocks.take(rows), rows)
        chosen.append(latest)
    if not chosen:
        return new[:0]
    return Centres.stack(chosen)


def reason(solution: Solution, stopping: Stopping, last: float) -> str:
    """Why a run ended, in words, with advice where it fell short; `last` is the objective of the last pass."""
    if solution.converged:
        return f"converged: {stopping.criterion} stand still to tol={stopping.tol:g} after {solution.n_iter} sweeps"
    if solution.ended:
        return f"ended by a callback after {solution.n_iter} sweeps"
    before = solution.history[-1]
    fall = 100 * max(before - last, 0.0) / abs(before) if before else 0.0
    return (
        f"stopped at max_iter={stopping.max_iter} with the objective still falling {fall:.2g}% a sweep; "
        f"raise max_iter or loosen tol={stopping.tol:g}"
    )
