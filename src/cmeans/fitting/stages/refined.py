"""A cut of a given graph, sought on the graph itself too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ...data.arrays import Array, is_foreign
from ...data.partitions import one_hot
from ...graphs.cut_refinement import refined_cut
from ...kernels import PrecomputedGraphKernel
from ...sampling.population import Population
from ...solvers.multistart import BestRun, FitResult, Runs, Solving, best_of
from ...solvers.observer import Observer
from ...spaces import FeatureSpace, Space
from ...sweeps.final_pass import assign_all
from ...sweeps.problem import Problem
from ...sweeps.represented_rows import RepresentedRows
from ..procedure import Outcome, Stage, Swept


@dataclass(frozen=True)
class RefinedCut(Stage):
    """Labels from the leading eigenvectors are moved between clusters while that lowers the
    normalised cut."""

    name = "refine"
    solves = True

    def prepare(self, swept: Swept) -> Swept:
        problem, context = swept.problem, swept.context
        themselves = problem.rows is swept.starting.rows and problem.known is None
        if problem.rule.is_soft or not themselves:
            return swept
        kernel = cast(PrecomputedGraphKernel, swept.geometry.kernel)

        def rows_of(space: Space) -> RepresentedRows:
            geometry = replace(swept.geometry, kernel=space.kernel, space=space)
            rows: RepresentedRows = context.estimator._rows_for(context, geometry, problem.rule)
            return rows

        return replace(
            swept, solving=Refining(swept.solving, kernel, swept.geometry.blocks.x, rows_of)
        )

    def restore(self, outcome: Outcome) -> Outcome:
        """The eigenvectors are those of the graph in which the cut is lower."""
        geometry, space = outcome.geometry, outcome.result.space
        if space.kernel is geometry.kernel:
            return outcome
        return replace(outcome, geometry=replace(geometry, kernel=space.kernel, space=space))


@dataclass(frozen=True)
class Refining(Solving):
    """Solves for the eigenvectors of a graph, and then for those of a graph in which a lower cut
    shows."""

    first: Solving
    kernel: PrecomputedGraphKernel
    x: Array  # (n, n) affinities
    rows_of: Callable[[FeatureSpace], RepresentedRows]  # as a space sees them

    def best(self, runs: Runs) -> tuple[Problem, BestRun]:
        problem, best = self.first.best(runs)
        state = best.solution.state
        labels = assign_all(problem.rows, problem.space, problem.rule, state, problem.engine).labels
        found = refined_cut(self.kernel, self.x, labels.astype(np.intp), len(state.centres))
        if found is None:
            return problem, best
        kernel, lower = found
        features = None if is_foreign(self.x) else kernel.features(self.x)
        again = replace(problem, rows=self.rows_of(FeatureSpace(kernel, features)))
        start = again.centres_of(one_hot(lower, len(state.centres), np.zeros(0)))
        refined = best_of([start], 1, again, runs.observer, stage="refined")
        return again, replace(refined, row_visits=best.row_visits + refined.row_visits)

    def conclude(
        self, best: BestRun, problem: Problem, observer: Observer, numbered_along: Population | None
    ) -> FitResult:
        return self.first.conclude(best, problem, observer, numbered_along)
