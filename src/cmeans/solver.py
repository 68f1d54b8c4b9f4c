"""The one fixed-point loop. It knows tables, rules and engines by their interfaces, and nothing of kernels or files."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np

from .acceleration import Anderson
from .arrays import Array, resolution
from .centres import Centres
from .checkpoints import Standing, next_page
from .choice import Sweep, sweep_for
from .complaints import NOT_FINITE
from .engines import Engine
from .farthest import farthest_rows
from .jobs import Gathering, Sweeping
from .progress import FIT, Place, Progress, anybody_listens, tell
from .rules import Rule
from .statistics import Statistics
from .sweep import State
from .table import Table

STANDING = ("state", "at", "before", "converged", "ended", "row_visits", "stuck", "floor")  # what a run is
LISTED = ("history", "movements")  # and what it remembers of all its sweeps
PATIENCE = 10  # sweeps that must look like the ten before them, until it is rounding that moves the centres


@dataclass(frozen=True)
class Stopping:
    """When a run ends.

    "centres": max_j |dv_j|^2 <= tol^2 objective / sum of weights, that is, no centre moves by more than tol times the
    typical distance. "memberships": max |u - u'| <= tol, as the papers print it (twice the distances a sweep).
    Anderson mixing serves rules whose next centres change smoothly with the centres: soft ones.
    """

    max_iter: int = 300
    tol: float = 1e-4
    criterion: str = "centres"
    acceleration: str | None = None  # None or "anderson"


AfterSweep: TypeAlias = Callable[[State, int], bool]  # hears the new state and how many sweeps made it; True ends the run
Carried: TypeAlias = Callable[[State], Statistics]  # the sums over rows that have gone by, which every sweep's are added to


@dataclass(frozen=True)
class Solution:
    """A fixed point, or as near to one as `max_iter` allowed."""

    state: State
    history: list[float]  # objective at the centres each sweep started from, in the user's unit of weight; [0] is the start's
    n_iter: int
    row_visits: int
    converged: bool
    ended: bool  # whoever listened had heard enough
    stuck: bool = False  # no way led on from the last sweep but one, which this is
    last: tuple[State, Statistics] | None = None  # the state one sweep ago, and the sums that made this one
    floor: float | None = None  # the movement below which rounding let no centre come, where that ended the run
    sweep: Sweep | None = None  # what swept, and may know from its last sweep how to do a further one sooner


@dataclass
class Run:
    """One run's bookkeeping."""

    table: Table
    rule: Rule
    engine: Engine
    stopping: Stopping
    place: Place
    sweep: Sweep
    state: State  # where it stands
    at: State  # where the next sweep starts: `state`, or centres mixed from it and those before
    before: State | None = None  # where the last sweep started
    anderson: Anderson | None = None
    converged: bool = False
    ended: bool = False
    owned: bool = False  # sweeps note which cluster each row belongs to most, since the next state depends on it
    carried: Carried | None = None
    history: list[float] = field(default_factory=list)
    row_visits: int = 0
    last: tuple[State, Statistics] | None = None  # the state one sweep ago, and its sums
    latest: Sweeping | None = None  # the sweep that was run last
    stuck: bool = False  # whoever makes the next state sees no way on from here
    movements: list[float] = field(default_factory=list)
    floor: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether no further sweep is to be made."""
        return self.converged or self.ended or len(self.history) >= self.stopping.max_iter

    def standing(self) -> Standing:
        """All that the next sweeps depend on, and what there is to say of those before."""
        return {
            **{name: getattr(self, name) for name in STANDING},
            **{name: list(getattr(self, name)) for name in LISTED},
            "last": None if self.last is None else list(self.last),
            "anderson": None if self.anderson is None or self.is_over else self.anderson.standing(),
        }

    def restore(self, standing: Standing) -> None:
        """Go on from where another stood."""
        for name in STANDING:
            setattr(self, name, standing[name])
        for name in LISTED:
            setattr(self, name, list(standing[name]))
        self.last = None if standing["last"] is None else tuple(standing["last"])
        if self.anderson is not None and standing["anderson"] is not None:
            self.anderson.restore(standing["anderson"])

    def advance(self, step: Step) -> None:
        """One sweep, and the step that it gives cause for."""
        sums = self.fold(self.at, self.before if self.stopping.criterion == "memberships" else None)
        if self.anderson is not None and self.anderson.refuses(sums):
            self.history.append(self.history[-1])  # the run stands where it stood
            self.at = self.state
            return
        self.history.append(sums.objective)
        at, new = self.at, step(self, self.at, sums)
        self.state = new
        if self.stuck:
            self.converged = True
            return
        self.converged = self.judge(at, new, self.before, sums)
        self.before, self.last = at, (at, sums)
        self.at = new if self.anderson is None else self.anderson.next(at, new, sums)

    def judge(self, state: State, new: State, before: State | None, sums: Statistics) -> bool:
        """Whether the run ends with the step from `state` to `new`."""
        stopping = self.stopping
        moved = _movement(state, new)
        scale = sums.objective / sums.weight if sums.weight > 0 else 0.0
        if stopping.criterion == "memberships":
            ends = moved == 0 or (before is not None and sums.change <= stopping.tol)
            movement = sums.change
        else:
            ends = moved <= stopping.tol**2 * scale and _widening(state, new) <= stopping.tol
            movement = math.sqrt(moved / scale) if scale > 0 else 0.0
        self.movements.append(movement)
        self.tell(self.table.n_rows, sums.objective, movement)
        if not ends and stopping.tol > 0 and self._only_rounds():
            self.floor = max(self.movements[-PATIENCE:])
            return True
        return ends

    def _only_rounds(self) -> bool:
        """Whether the last sweeps have shown rounding only: small movements that go up and down but no lower, and an objective that
        stands. Slow convergence falls from sweep to sweep."""
        if len(self.movements) < 2 * PATIENCE or self.stopping.criterion != "centres":
            return False
        rounding = _rounding_of(self.table)
        earlier, late = self.movements[-2 * PATIENCE : -PATIENCE], self.movements[-PATIENCE:]
        rises = sum(after > before for before, after in itertools.pairwise(self.movements[-2 * PATIENCE :]))
        if rises < PATIENCE // 2 or max(late) > math.sqrt(rounding) or min(late) < 0.7 * min(earlier) or max(late) > 2 * max(earlier):
            return False
        values = self.history[-2 * PATIENCE :]
        return max(values) - min(values) <= 2.0 * rounding * abs(values[-1])  # each may be off either way

    def fold(self, state: State, before: State | None = None) -> Statistics:
        """One sweep over all rows."""
        done = (lambda task: self.tell(self.table.rows_done(task))) if anybody_listens() else None
        self.latest = Sweeping(self.rule, state, before, self.owned, self.sweep)
        sums = swept(self.table, self.latest, self.engine, done)
        self.row_visits += self.table.n_rows
        return sums if self.carried is None else sums + self.carried(state)

    def means(self, state: State, sums: Statistics) -> Centres:
        """The centres that the sums make; those of clusters without mass stay where they are."""
        new = self.table.space.centres(sums.mass, sums.moment)
        empty = np.flatnonzero(sums.mass <= 0)
        return new.replaced(empty, state.centres[empty]) if len(empty) else new

    def tell(self, rows_done: int, objective: float | None = None, movement: float | None = None) -> None:
        """Where the run stands, for whoever listens."""
        place, n = self.place, self.table.n_rows
        sweep_number = len(self.history) + (objective is None)
        tell(Progress(place.stage, place.run, place.n_runs, sweep_number, self.stopping.max_iter, rows_done, n, objective, movement))


class NoRowsLeftError(ValueError):
    """Every membership is zero where a run starts: no cluster wants any row."""

    def __init__(self, state: State) -> None:
        super().__init__("no cluster wants any row")
        self.state = state


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a run, which brings along what the run has come to."""

    def __init__(self, rule: Rule, standing: Standing) -> None:
        self.n_iter = len(standing["history"])
        super().__init__(f"interrupted after {self.n_iter} sweeps")
        self.rule = rule
        self.state: State = standing["state"]
        self.objective = standing["history"][-1] if standing["history"] else math.inf
        self.sums: Statistics | None = None if standing["last"] is None else standing["last"][1]


class Step(Protocol):
    """How the sums of a sweep make the next state."""

    @property
    def needs_owners(self) -> bool:
        """Whether it asks for the sums over each cluster's own rows, and which rows they are."""

    @property
    def keeps_clusters(self) -> bool:
        """Whether clusters and their scales stay what they are from sweep to sweep."""

    def __call__(self, run: Run, state: State, sums: Statistics) -> State: ...


@dataclass(frozen=True)
class NextCentres:
    """New centres, and the scales as they are: every rule whose clusters stay to the end."""

    needs_owners: bool = False
    keeps_clusters: bool = True

    def __call__(self, run: Run, state: State, sums: Statistics) -> State:
        new = run.means(state, sums)
        empty = np.flatnonzero(sums.mass <= 0)
        if len(empty) and run.rule.refills_empty_clusters:
            far = farthest_rows(run.table, run.engine, state.centres, len(empty))
            run.row_visits += far.passes * run.table.n_rows
            new = new.replaced(empty[: len(far.rows)], far.centres) if far.centres is not None else new
        return State(new, state.scales)


def solve(
    table: Table,
    rule: Rule,
    state: State,
    engine: Engine,
    stopping: Stopping,
    place: Place = FIT,
    after_sweep: AfterSweep | None = None,
    step: Step = NextCentres(),
    carried: Carried | None = None,
) -> Solution:
    """Sweep from `state` until the centres stand still, or whoever listens after each sweep has heard enough.

    `carried` are the sums over rows that are not there any more, with which a stream's next rows are clustered.
    """
    sweep = sweep_for(table, rule, owned=step.needs_owners)
    run = Run(table, rule, engine, stopping, place, sweep, state, state, owned=step.needs_owners, carried=carried)
    run.anderson = Anderson(_rounding_of(table)) if _may_mix(run, step) else None
    page = next_page()
    if page.standing is not None:
        run.restore(page.standing)
    standing = run.standing()
    try:
        while not run.is_over:
            run.advance(step)
            run.ended = after_sweep is not None and not run.stuck and after_sweep(run.state, len(run.history))
            standing = run.standing()
            page.note(standing)
    except BaseException as error:
        page.breaks_off(standing)
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(rule, standing) from None
        raise
    page.ends(standing)
    history = [value * table.blocks.unit for value in run.history]
    again = None if run.owned else run.sweep  # a sweep that notes owners does nothing else
    return Solution(run.state, history, len(history), run.row_visits, run.converged, run.ended, run.stuck, run.last, run.floor, again)


def _may_mix(run: Run, step: Step) -> bool:
    """Whether the next centres change smoothly with the centres, and the objective says which of two are better."""
    stopping = run.stopping
    return stopping.acceleration is not None and stopping.criterion == "centres" and run.rule.is_soft and step.keeps_clusters


def _rounding_of(table: Table) -> float:
    """By what share sums over these rows may differ without meaning anything."""
    return table.space.jitter * (1e-6 if resolution(table.blocks.x.dtype) > 1e-10 else 1e-11)


def _movement(old: State, new: State) -> float:
    """max_j |dv_j|^2; infinite where a cluster went."""
    return float((new.centres - old.centres).squared_norms().max()) if len(new.centres) == len(old.centres) else math.inf


def _widening(old: State, new: State) -> float:
    """max_j |d scale_j| / scale_j."""
    if old.scales is None or new.scales is None or new.scales is old.scales:
        return 0.0
    return float(np.abs(new.scales / old.scales - 1.0).max()) if len(new.scales) == len(old.scales) else math.inf


def fold(
    table: Table,
    rule: Rule,
    state: State,
    engine: Engine,
    sweep: Sweep | None = None,
) -> Statistics:
    """One sweep over all rows, by what has swept before where that is given."""
    return swept(table, Sweeping(rule, state, known=sweep), engine)


def swept(table: Table, sweeping: Sweeping, engine: Engine, done: Callable[[int], None] | None = None) -> Statistics:
    """The sums of a sweep, which are numbers."""
    sums = engine.fold(table, sweeping, done)
    if not sums.is_finite():
        raise ValueError(NOT_FINITE)
    return sums


def partition_sums(table: Table, rule: Rule, memberships: Array, engine: Engine) -> Statistics:
    """The sums that given memberships (n, c) make, without distances."""
    return engine.fold(table, Gathering(rule, memberships))


def centres_of(table: Table, rule: Rule, memberships: Array, engine: Engine) -> Centres:
    """The centres that given memberships (n, c) make."""
    sums = partition_sums(table, rule, memberships, engine)
    return table.space.centres(sums.mass, sums.moment)


def reason(solution: Solution, stopping: Stopping, last: float) -> str:
    """Why a run ended, in words, with advice where it fell short; `last` is the objective of the last pass."""
    if solution.floor is not None:
        return (
            f"converged: centres move by {solution.floor:.2g} of the typical distance, above tol={stopping.tol:g}, but that is rounding "
            f"(after {solution.n_iter} sweeps)"
        )
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
