"""One sweep's step of clusters with metrics, and the end of their runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...runtime.stored_classes import stored
from ...spaces.centres import Centres
from ...sweeps.passes import SweepPass
from ...sweeps.problem import Problem
from ...sweeps.state import State
from ...sweeps.statistics import Statistics
from ..solution import LastSweep, StepResult
from .shrinkage import Shrinkage
from .volumes import FoundClusters, SweptSums, Volumes


@stored
@dataclass(frozen=True)
class NextClusters:
    """New centres, and the metrics and scales that the second moments make."""

    shrinkage: Shrinkage
    volumes: Volumes
    needs_labels: bool = False
    keeps_clusters: bool = True  # and the objective falls, so that there are no cycles
    needs_sums: ClassVar[bool] = True

    def __call__(
        self, problem: Problem, swept: SweepPass, sums: Statistics, last: LastSweep | None
    ) -> StepResult:
        penalty = self.objective(sums, swept.state) - float(sums.spread.sum())
        return StepResult(
            self.state(problem, sums, swept.state),
            sums=replace(sums, penalty=penalty, rule_penalty=sums.penalty),
        )

    def start(self, problem: Problem, sums: Statistics, before: State) -> State:
        """Return the clusters that the sums of a partition make."""
        weight = float(sums.mass.sum()) / self.volumes.first_share
        return self.state(problem, replace(sums, weight=weight), before)

    def state(self, problem: Problem, sums: Statistics, before: State) -> State:
        """Return the clusters that the sums of a sweep make."""
        new = self.clusters(problem.means(before, sums), sums)
        return new if new.scales is not None else replace(new, scales=before.scales)

    def clusters(self, centres: Centres, sums: Statistics) -> State:
        """Return the clusters whose centres are the means of sums."""
        covariances = self.shrinkage.covariances(sums, centres)
        found = FoundClusters(centres, covariances, sums.mass, sums.weight)
        return self.volumes.state(self.shrinkage, found)

    def until_it_stands(self, problem: Problem, weight: float) -> Problem:
        """Return a problem whose runs end where the objective of rows of this weight stands."""
        ends = ObjectiveStands(self, weight)
        stopping = replace(problem.stopping, criterion=ends, acceleration=None)
        return replace(problem, stopping=stopping)

    def objective(self, sums: Statistics, state: State) -> float:
        """Return the penalised objective where a sweep started."""
        swept = SweptSums(sums.objective, sums.mass, sums.weight)
        return self.volumes.objective(self.shrinkage, swept, state)


@dataclass(frozen=True)
class ObjectiveStands:
    """The end of a run where the objective falls by little in a sweep: how far centres move means
    nothing beside an objective that may be negative."""

    step: NextClusters
    weight: float  # of all rows
    name: str = "clusters"

    def __call__(
        self, problem: Problem, before: State | None, at: State, history: Sequence[float]
    ) -> tuple[bool, float]:
        if len(history) < 2:
            return False, np.inf
        fall = history[-2] - history[-1]
        least = self.step.volumes.least_fall(problem.stopping.tol, self.weight, history[-1])
        return fall <= least, max(fall, 0.0) / self.weight
