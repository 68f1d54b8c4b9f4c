"""Problem of a fit, made once and handed down whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from ..data.arrays import Array, Float64, IntArray
from ..data.partitions import Partition
from ..engines import Engine, Pass
from ..rules import Rule
from ..spaces import Space
from ..spaces.centres import Centres
from .choice import SweepFunction
from .passes import PartitionPass, SweepPass
from .represented_rows import RepresentedRows
from .state import State
from .statistics import KnownSums, Statistics

Result = TypeVar("Result")


class Criterion(Protocol):
    """A test for the end of a run that looks at more than the centres."""

    @property
    def name(self) -> str:
        """The name, in the plural, of the things that stand still: "memberships"."""

    def __call__(
        self, problem: Problem, before: State | None, at: State, history: Sequence[float]
    ) -> tuple[bool, float]:
        """Return True where it stands still to `problem.stopping.tol`, and how far it moved from
        the state `before`, where the last sweep but one started (None: there was none), to the
        state `at`, where the last one did. `history` holds the objectives of all sweeps so far."""


@dataclass(frozen=True)
class Stopping:
    """Conditions under which a run ends.

    By itself max_j |dv_j|^2 <= tol^2 objective / sum of weights, that is, no centre moves by more
    than tol times the typical distance; a penalty that is negative does not count. A `criterion`
    takes the place of that. Anderson mixing serves rules whose next centres change smoothly with
    the centres: soft ones.
    """

    max_iter: int = 300
    tol: float = 1e-4
    criterion: Criterion | None = None
    acceleration: str | None = None  # None or "anderson"
    ends_as_planned: bool = False  # after `max_iter` sweeps: more are not wanted


@dataclass(frozen=True)
class Problem:
    """Rows in their space, the rule by which they belong to clusters, who runs the passes, and when
    to stop."""

    rows: RepresentedRows
    rule: Rule
    engine: Engine
    stopping: Stopping = Stopping()
    # the sums of what is known of the rows; `rows` weigh what is left to the rule
    known: KnownSums | None = None
    # groups of very many centres that hard sweeps look through for each row, of which `solve` finds
    # how many are enough; 0: as many as may hold the nearest
    probes: int = 0

    @property
    def space(self) -> Space:
        """The space of the centres."""
        return self.rows.space

    @property
    def n_rows(self) -> int:
        """Number of rows that a sweep visits."""
        return self.rows.n_rows

    @property
    def whole(self) -> Problem:
        """The problem over the same rows where none is known."""
        return self if self.known is None else replace(self, rows=self.known.rows, known=None)

    def map(self, over: Pass[Result]) -> Iterator[Result]:
        """The results of a pass, one task after the other."""
        return self.engine.map(self.rows, over)

    def sweep(self, state: State, function: SweepFunction | None = None) -> Statistics:
        """The sums of one sweep; `function` of the sweeps before, where they were over these
        rows."""
        over = SweepPass(self.rule, state, False, function, self.probes)
        return self.with_known(self.engine.fold(self.rows, over), state)

    def with_known(self, sums: Statistics, state: State) -> Statistics:
        """Return the sums of a sweep from a state with what is known of the rows."""
        return sums if self.known is None else sums.with_past(self.known.sums(self.rule, state))

    def on_sample(self, numbers: IntArray, weights: Float64, stopping: Stopping) -> Problem:
        """Return the problem over some of the rows, which stand for all."""
        part, total = self.rows.part(numbers, weights), float(self.rows.blocks.weight.sum())
        known = None if self.known is None else self.known * (float(weights.sum()) / total)
        return replace(self, rows=part, stopping=stopping, known=known)

    def sums_of(self, memberships: Array | Partition) -> Statistics:
        """The sums that given memberships (n, c) make, without distances."""
        return self.engine.fold(self.rows, PartitionPass(self.rule, memberships))

    def centres_of(self, memberships: Array | Partition) -> Centres:
        """The centres that given memberships (n, c) make."""
        sums = self.sums_of(memberships)
        return self.space.centres(sums.mass, sums.moment)

    def moment_of(self, numbers: IntArray, mass: Float64) -> Float64:
        """The moments (c, moment_width) that some rows make with masses (q, c) of any sign in the
        clusters, for rules whose weights are their memberships."""
        if self.space.sweeps_products:
            return (
                replace(self, rows=self.rows.part(numbers, np.ones(len(numbers))))
                .sums_of(mass)
                .moment
            )
        moment = np.zeros((mass.shape[1], self.space.moment_width))
        self.space.as_rows(self.space.embed(self.rows.blocks.take(numbers), numbers)).add_moment(
            mass, moment
        )
        return moment

    def means(self, state: State, sums: Statistics) -> Centres:
        """The centres that the sums of a sweep make; those of clusters without mass, or of no
        direction, stay where they are."""
        return self.space.next_centres(sums.pulling_mass, sums.moment, state.centres)

    def feasible(self, state: State) -> State:
        """Return a state whose centres are such as the space allows."""
        centres = self.space.feasible(state.centres)
        return state if centres is state.centres else state.at(centres)
