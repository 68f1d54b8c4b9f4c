"""A function that makes the next state from the sums of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from ..sampling.farthest import farthest_rows
from ..sweeps.passes import SweepPass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import Statistics


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
    def keeps_clusters(self) -> bool:
        """True where clusters and their scales stay what they are from sweep to sweep."""

    def __call__(
        self,
        problem: Problem,
        swept: SweepPass,
        sums: Statistics,  # of that sweep
        last: tuple[State, Statistics] | None,  # the state one sweep before, and its sums
    ) -> StepResult: ...


@dataclass(frozen=True)
class NextCentres:
    """New centres, and the scales as they are: every rule whose clusters stay to the end."""

    needs_labels: bool = False
    keeps_clusters: bool = True

    def __call__(
        self,
        problem: Problem,
        swept: SweepPass,
        sums: Statistics,
        last: tuple[State, Statistics] | None,
    ) -> StepResult:
        state = swept.state
        new, visits = problem.means(state, sums), 0
        empty = np.flatnonzero(sums.mass <= 0)
        if len(empty) and problem.rule.refills_empty_clusters:
            far = farthest_rows(problem, state.centres, len(empty))
            visits = far.passes * problem.n_rows
            new = (
                problem.space.feasible(new.replaced(empty[: len(far.rows)], far.centres))
                if far.centres is not None
                else new
            )
        return StepResult(state.at(new), visits)


NEXT_CENTRES = NextCentres()
