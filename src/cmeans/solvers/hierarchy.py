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
from ..sweeps.choice import searches
from ..sweeps.problem import Problem, Stopping
from ..sweeps.state import State
from .cells import RowsForCells, centres_in_cells
from .fixed_point import solve
from .solution import NextCentres

SAMPLED = 64  # rows for each cluster; half as many end 1 percent higher
SWEEPS = Stopping(max_iter=10, tol=1e-2)  # over the sample
MOST_MERGED = 2048  # clusters up to which sweeps of all end lower than cells, in no more time
FULL_SWEEPS = 2  # over all rows and clusters, after which little is gained by more
# Of very many clusters such a sweep takes longer than all before. Half the sample, and one of these
# sweeps, suffice where the clusters of all cells are swept over the sample together, each row
# looking through those of a few groups: eight of them hold the nearest of most rows.
PROBED_SAMPLED, PROBES, PROBED_FULL_SWEEPS = 32, 8, 1
IN_CELLS = Stopping(max_iter=5, tol=1e-2)
PROBED = Stopping(max_iter=3, tol=0.0)


def rows_of_hierarchy(n_rows: int, n_clusters: int) -> int:
    """Rows at most of the sample that starts are made of."""
    return min(n_rows, SAMPLED * n_clusters)


def sweeps_of_hierarchy(problem: Problem, n_clusters: int) -> Stopping:
    """Return when the few sweeps over all rows end that hard rules make from such starts."""
    most = PROBED_FULL_SWEEPS if _is_probed(problem, n_clusters) else FULL_SWEEPS
    most = min(problem.stopping.max_iter, most)
    return replace(problem.stopping, max_iter=most, ends_as_planned=True)


def _is_probed(problem: Problem, count: int) -> bool:
    return count > MOST_MERGED and searches(problem.space, problem.rows.blocks, Hard(), count)


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
        sampled = self._sampled(problem, count)
        if not _is_probed(problem, count):
            return centres_in_cells(sampled, count)
        part = replace(sampled.problem, stopping=IN_CELLS)
        start = State(centres_in_cells(replace(sampled, problem=part), count, rounds=0))
        probed = replace(part, stopping=PROBED, probes=PROBES)
        # a cluster without rows may hold some that have looked through other groups
        return solve(probed, start, step=NextCentres(refills=False)).state.centres

    def _sampled(self, problem: Problem, count: int) -> RowsForCells:
        each = PROBED_SAMPLED if _is_probed(problem, count) else SAMPLED
        size = min(len(self.population), each * count)
        positions, weights = sample(self.population, size, self.rng)
        numbers = self.population.at(positions)
        part = replace(problem, rule=Hard()).on_sample(numbers, weights, SWEEPS)
        return RowsForCells(self.metric, numbers, weights, part, self.rng)
