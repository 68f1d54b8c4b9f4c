"""Starts of very many clusters, made of a sample, after which few sweeps over all rows are left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..rules import Hard
from ..sampling.kmeanspp import VERY_MANY
from ..sampling.merged_draws import merged_draws
from ..sampling.pairwise import Metric
from ..sampling.population import Population, sample
from ..spaces.centres import Centres
from ..sweeps.choice import probing_pays
from ..sweeps.problem import Problem, Stopping
from ..sweeps.state import State
from .cells import RowsForCells, centres_in_cells
from .fixed_point import solve

SAMPLED = 64  # rows for each cluster; half as many end 1 percent higher
SWEEPS = Stopping(max_iter=10, tol=1e-2)  # over the sample
MOST_MERGED = 2048  # clusters up to which sweeps of all end lower than cells, in no more time
FULL_SWEEPS = 2  # over all rows and clusters, after which little is gained by more
# instead, where groups of clusters are probed: four of the nearest hold that of most rows, and such
# a sweep takes a tenth of the time of a full one
PROBED_SWEEPS, PROBES = 4, 4


def rows_of_hierarchy(n_rows: int, n_clusters: int) -> int:
    """Rows of the sample that starts are made of."""
    return min(n_rows, SAMPLED * n_clusters)


def sweeps_of_hierarchy(problem: Problem, n_clusters: int) -> Problem:
    """Return the problem of the few sweeps over all rows that hard rules make from such starts."""
    if problem.rule.is_soft:
        return problem
    probed = probing_pays(problem.space, problem.rows.blocks, problem.rule, n_clusters)
    most = min(problem.stopping.max_iter, PROBED_SWEEPS if probed else FULL_SWEEPS)
    stopping = replace(problem.stopping, max_iter=most, ends_as_planned=True)
    return replace(problem, stopping=stopping, probes=PROBES if probed else 0)


@dataclass(frozen=True)
class HierarchicalStarts:
    """Makes starts: of hundreds of clusters sweeps over a sample from merged draws; clusters within
    cells where there are fewer or thousands, or draws cannot be merged."""

    metric: Metric
    population: Population
    rng: np.random.RandomState

    def start(self, problem: Problem, count: int) -> Centres:
        """Return `count` centres, or as many as the sampled rows differ."""
        ways: tuple[Callable[[Problem, int], Centres | None], ...] = (self._merged, self._in_cells)
        return next(found for way in ways if (found := way(problem, count)) is not None)

    def _merged(self, problem: Problem, count: int) -> Centres | None:
        """Sweep over the sample from merged draws; None where there are none."""
        if not VERY_MANY <= count <= MOST_MERGED:
            return None
        part = self._sampled(problem, count).problem
        merged = merged_draws(problem, self.population, count, self.rng)
        return None if merged is None else solve(part, State(merged)).state.centres

    def _in_cells(self, problem: Problem, count: int) -> Centres:
        return centres_in_cells(self._sampled(problem, count), count)

    def _sampled(self, problem: Problem, count: int) -> RowsForCells:
        size = rows_of_hierarchy(len(self.population), count)
        positions, weights = sample(self.population, size, self.rng)
        numbers = self.population.at(positions)
        part = replace(problem, rule=Hard()).on_sample(numbers, weights, SWEEPS)
        return RowsForCells(self.metric, numbers, weights, part, self.rng)
