"""The state of a run between two sweeps, the step that makes the next one from the sums of a sweep,
and the end of the run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from ..sampling.farthest import farthest_of_few, farthest_rows
from ..storage.codec import declared, fits
from ..sweeps.choice import SweepFunction
from ..sweeps.passes import SweepPass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .anderson import Mixing
from .probes import some_rows

LastSweep: TypeAlias = tuple[State, Statistics]  # the state one sweep before, and its sums


class Verdict(Enum):
    """The verdict of a step on the run."""

    GOES_ON = "goes on"
    STUCK = "stuck"  # no way leads on from here
    CYCLE = "cycle"  # the same states come again and again
    EMPTY = "empty"  # every membership is zero where the run starts


@dataclass(frozen=True)
class StepResult:
    """The next state, the rows that finding it has visited beyond the sweep, the verdict, and the
    sums as corrected where they are."""

    state: State
    row_visits: int = 0
    verdict: Verdict = Verdict.GOES_ON
    sums: Statistics | None = None


class Step(Protocol):
    """A function that makes the next state from the sums of a sweep."""

    @property
    def needs_labels(self) -> bool:
        """True for steps that need the sums over each cluster's own rows, and which rows they
        are."""

    @property
    def needs_sums(self) -> bool:
        """False for steps that pass over the rows by themselves, so that a sweep before them would
        be for nothing."""

    @property
    def keeps_clusters(self) -> bool:
        """True where clusters and their scales stay what they are from sweep to sweep."""

    def __call__(
        self, problem: Problem, swept: SweepPass, sums: Statistics, last: LastSweep | None
    ) -> StepResult:
        """Return the next state; `sums`: of that sweep, or of no rows where they are not
        needed."""


@dataclass(frozen=True)
class NextCentres:
    """New centres, and the scales as they are: every rule whose clusters stay to the end."""

    needs_labels: bool = False
    keeps_clusters: bool = True
    needs_sums: ClassVar[bool] = True

    def __call__(
        self, problem: Problem, swept: SweepPass, sums: Statistics, last: LastSweep | None
    ) -> StepResult:
        state = swept.state
        new, visits = problem.means(state, sums), 0
        empty = np.flatnonzero(sums.mass <= 0)
        if len(empty) and problem.rule.refills_empty_clusters:
            if problem.probes:
                among = some_rows(problem, len(new))
                far = farthest_of_few(among, new, len(empty))
            else:
                among, far = problem, farthest_rows(problem, state.centres, len(empty))
            visits = far.passes * among.n_rows
            if far.centres is not None:
                new = problem.space.feasible(new.replaced(empty[: len(far.rows)], far.centres))
        return StepResult(state.at(new), visits)


NEXT_CENTRES = NextCentres()


@dataclass(frozen=True)
class SolverState:
    """The state of a run: all that the next sweeps depend on, and the history of those before."""

    state: State
    at: State  # where the next sweep starts: `state`, or centres mixed from it and those before
    before: State | None = None  # where the last sweep started
    last: LastSweep | None = None
    mixing: Mixing | None = None
    history: tuple[float, ...] = ()  # objective at the centres each sweep started from
    movements: tuple[float, ...] = ()
    row_visits: int = 0
    converged: bool = False
    ended: bool = False  # by a callback
    verdict: Verdict = Verdict.GOES_ON
    # the movement below which rounding let no centre come, where that ended the run
    floor: float | None = None

    def is_over(self, max_iter: int) -> bool:
        """True when no further sweep is to be made."""
        return (
            self.converged
            or self.ended
            or self.verdict is not Verdict.GOES_ON
            or len(self.history) >= max_iter
        )

    def packed(self) -> dict[str, Any]:
        """The same in values that a checkpoint can hold."""
        mixing = None if self.mixing is None or self.converged or self.ended else vars(self.mixing)
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "mixing": mixing,
            "verdict": self.verdict.value,
        }

    @classmethod
    def unpacked(cls, packed: dict[str, Any], like: State) -> SolverState:
        """Rebuild a state from `packed` as it is read again: tuples have become lists.

        ValueError where a value is of another type than a state's, or centres are not of the space
        of `like`: compiled code would read beyond them.
        """
        values = _with_tuples(packed)
        if values["mixing"] is not None:
            values["mixing"] = Mixing(**_with_tuples(values["mixing"]))
        found = cls(**{**values, "verdict": Verdict(packed["verdict"])})
        own: Any = cls
        for name, kind in declared(own).items():
            if not fits(getattr(found, name), kind, finite=False):
                raise ValueError(
                    f"checkpoint: it holds no {name} of a fit where one belongs; it is damaged."
                )
        for one in (found.state, found.at, found.before, found.last and found.last[0]):
            if one is not None and (
                one.centres.coordinates.shape[1] != like.centres.coordinates.shape[1]
            ):
                raise ValueError(
                    "checkpoint: its centres are not of the space of this fit; it is damaged."
                )
        return found


def _with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }


@dataclass(frozen=True)
class Solution:
    """A fixed point, or as near to one as `max_iter` allowed."""

    state: State
    # objective at the centres each sweep started from, in the user's unit of weight; [0] is the
    # start's
    history: list[float]
    n_iter: int
    row_visits: int
    converged: bool
    ended: bool  # by a callback
    # STUCK: no way led on from the last sweep but one, which this is
    verdict: Verdict = Verdict.GOES_ON
    last: LastSweep | None = None
    # the movement below which rounding let no centre come, where that ended the run
    floor: float | None = None
    # what swept, and may remember its last sweep, so that a further one takes less
    sweep: SweepFunction | None = None
    step: Step = NEXT_CENTRES  # by which its states followed
