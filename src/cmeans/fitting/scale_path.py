"""Adaptive clusters at scales from narrow to wide: they become fewer on the way, and those that stand apart best are kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..solvers.adaptive import Adaptation, PilotWidths
from ..solvers.multistart import BestRun
from ..solvers.steps import Verdict
from ..sweeps.passes import SilhouettePass
from ..sweeps.state import State
from .adaptive_fit import AdaptiveProblem

WIDER = math.sqrt(2.0)  # factor of scales from one stage to the next
NARROW = 2.0  # alpha of the first stage, over the concentration of distances
STAGES = 9  # at most: alpha ends at an eighth of the concentration
APART = 0.2  # mean silhouette below which no clusters are apart
FAR = 2.5  # standard deviations of a cluster's distances beyond their mean within which its rows are, at least
LEAST_REACH = 3.0  # squared radius over the squared mean distance, at least: centres on their way are no means of their rows


@dataclass(frozen=True)
class Stage:
    """Clusters at one scale."""

    given: AdaptiveProblem
    step: Adaptation
    found: BestRun
    silhouette: float  # mean over the rows; 0 for one cluster and for none

    @property
    def is_empty(self) -> bool:
        return self.found.solution.verdict is Verdict.EMPTY


def best_separated(given: AdaptiveProblem, state: State, widths: PilotWidths) -> tuple[Stage, bool]:
    """Return the clusters of the largest mean silhouette, and True where none are apart: then they are the last, the widest.

    The start has scales for alpha = 1. Row visits are those of all stages.
    """
    stages = list(_stages(given, state, widths))
    best = max(stages, key=lambda stage: stage.silhouette)  # of equal ones the narrowest
    nothing = best.silhouette < APART
    if nothing:
        best = ([stage for stage in stages if not stage.is_empty] or stages)[-1]
    return replace(best, found=replace(best.found, row_visits=sum(stage.found.row_visits for stage in stages))), nothing


def _stages(given: AdaptiveProblem, state: State, widths: PilotWidths) -> Iterator[Stage]:
    alpha = NARROW * max(1.0, widths.concentration)
    state = State(state.centres, state.known_scales() / alpha)
    for number in range(STAGES):
        step = Adaptation(1, widths.narrowest / alpha)
        wide = _reaching(given, step, widths.concentration)
        solution = wide.solve(state, step, f"stage {number}")
        stage = Stage(wide, step, BestRun(solution, None, solution.row_visits), 0.0)
        if not stage.is_empty:
            state = solution.state
            stage = _judged(stage)
        yield stage
        if solution.ended or (len(state.centres) == 1 and not stage.is_empty):
            break
        alpha, state = alpha / WIDER, State(state.centres, WIDER * state.known_scales())


def _judged(stage: Stage) -> Stage:
    """Return the stage with its silhouette."""
    part, state = stage.given.part, stage.found.solution.state
    if len(state.centres) == 1:
        return stage
    total, weight = part.engine.fold(part.rows, SilhouettePass(state))
    return replace(stage, found=replace(stage.found, row_visits=stage.found.row_visits + part.n_rows), silhouette=float(total / weight))


def _reaching(given: AdaptiveProblem, step: Adaptation, concentration: float) -> AdaptiveProblem:
    """Return the problem with an automatic sparsity that leaves out rows far beyond a cluster's own alone.

    A cluster's radius is at least its mean distance plus so many standard deviations, which are mean / (2 concentration) each.
    """
    if given.rule.sparsity is not None:
        return given
    squared = max((1.0 + FAR / (2.0 * max(concentration, 0.5))) ** 2, LEAST_REACH)
    return replace(given, rule=replace(given.rule, reach=squared / step.length**2))
