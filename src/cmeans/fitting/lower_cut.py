"""The last step of a hard fit on a given graph: k-means on the graph itself, where this lowers the normalised cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..data.arrays import is_foreign, one_hot
from ..kernels import PrecomputedGraphKernel
from ..landmarks.cut_refinement import refined_cut
from ..solvers.multistart import BestRun, best_of
from ..solvers.observer import Observer
from ..spaces import FeatureSpace
from ..sweeps.final_pass import assign_all
from ..sweeps.problem import Problem
from ..sweeps.represented_rows import RepresentedRows
from .space import Geometry


def lower_cut(
    geometry: Geometry, problem: Problem, best: BestRun, observer: Observer, rows_of: Callable[[Geometry], RepresentedRows]
) -> tuple[Geometry, Problem, BestRun]:
    """Return the fit of a lower normalised cut, where one is found from that of the eigenvectors; `rows_of` a geometry, in its space."""
    kernel, x = geometry.kernel, geometry.blocks.x
    assert isinstance(kernel, PrecomputedGraphKernel)
    labels = assign_all(problem.rows, problem.space, problem.rule, best.solution.state, problem.engine).labels
    found = refined_cut(kernel, x, labels.astype(np.intp), geometry.n_clusters)
    if found is None:
        return geometry, problem, best
    kernel, labels = found
    finer = replace(geometry, kernel=kernel, space=FeatureSpace(kernel, None if is_foreign(x) else kernel.features(x)))
    again = replace(problem, rows=rows_of(finer))
    refined = best_of([again.centres_of(one_hot(labels, geometry.n_clusters, np.zeros(0)))], 1, again, observer, stage="refined")
    return finer, again, replace(refined, row_visits=best.row_visits + refined.row_visits)
