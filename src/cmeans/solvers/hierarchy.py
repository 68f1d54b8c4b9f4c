"""Starts of very many clusters, made of a sample, after which few sweeps over all rows are left."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.blocks import Blocks
from ..rules import Hard
from ..sampling.kmeanspp import VERY_MANY
from ..sampling.merged_draws import merged_draws
from ..sampling.pairwise import Metric
from ..sampling.population import Population, sample
from ..spaces import Space
from ..spaces.centres import Centres
from ..sweeps.choice import searches
from ..sweeps.problem import Problem, Stopping
from ..sweeps.state import State
from .cells import RowsForCells, centres_in_cells
from .fixed_point import solve
from .probes import PROBES, fewest_suffice

SAMPLED = 64  # rows for each cluster; half as many end 1 percent higher
SWEEPS = Stopping(max_iter=10, tol=1e-2)  # over the sample
MOST_MERGED = 2048  # clusters up to which sweeps of all end lower than cells, in no more time
FULL_SWEEPS = 2  # over all rows and clusters, after which little is gained by more
# Of very many clusters such a sweep takes longer than all before. Fewer rows suffice, with a sweep
# over them of the clusters of all cells together, where many are nearest to one of another cell,
# and one over all rows, in which each looks through the clusters of a few groups. Where there are
# no more rows than that, cells end two to five percent higher than merged draws.
PROBED_SAMPLED, PROBED_FULL_SWEEPS = 32, 1
IN_CELLS = Stopping(max_iter=3, tol=1e-2)
PROBED = Stopping(max_iter=1, tol=0.0)


def rows_of_hierarchy(space: Space, blocks: Blocks, n_clusters: int) -> int:
    """Rows at most of the sample that starts are made of."""
    each = PROBED_SAMPLED if _are_probed(space, blocks, n_clusters) else SAMPLED
    return min(blocks.n_rows, each * n_clusters)


def with_few_sweeps(problem: Problem, n_clusters: int) -> Problem:
    """Return the problem of the few sweeps over all rows that hard rules make from such starts."""
    probed = _are_probed(problem.space, problem.rows.blocks, n_clusters)
    most = min(problem.stopping.max_iter, PROBED_FULL_SWEEPS if probed else FULL_SWEEPS)
    stopping = replace(problem.stopping, max_iter=most, ends_as_planned=True)
    return replace(problem, stopping=stopping, probes=PROBES[0] if probed else 0)


def _are_probed(space: Space, blocks: Blocks, count: int) -> bool:
    return count > MOST_MERGED and searches(space, blocks, Hard(), count)


@dataclass(frozen=True)
class HierarchicalStarts:
    """Makes starts: of hundreds of clusters, or of few rows for each, sweeps over a sample from
    merged draws; clusters within cells elsewhere, and where draws cannot be merged."""

    metric: Metric
    population: Population
    rng: np.random.RandomState

    def start(self, problem: Problem, count: int) -> Centres:
        """Return `count` centres, or as many as the sampled rows differ."""
        sampled, merged = self._sampled(problem, count), self._merged(problem, count)
        if not _are_probed(problem.space, problem.rows.blocks, count):
            if merged is None:
                return centres_in_cells(sampled, count)
            return solve(sampled.problem, State(merged)).state.centres
        within, start = replace(sampled.problem, stopping=IN_CELLS), merged
        if start is None:
            start = centres_in_cells(replace(sampled, problem=within), count, rounds=0)
        together = replace(within, stopping=PROBED, probes=PROBES[0])
        if merged is None and fewest_suffice(within, State(start)):
            return start  # few rows are nearest to clusters of other cells
        return solve(together, State(start)).state.centres

    def _merged(self, problem: Problem, count: int) -> Centres | None:
        """Return draws merged in pairs; None where there are none, or cells are as good."""
        few = len(self.population) <= PROBED_SAMPLED * count
        if count < VERY_MANY or (count > MOST_MERGED and not few):
            return None
        return merged_draws(problem, self.population, count, self.rng)

    def _sampled(self, problem: Problem, count: int) -> RowsForCells:
        size = rows_of_hierarchy(problem.space, problem.rows.blocks, count)
        size = min(len(self.population), size)
        positions, weights = sample(self.population, size, self.rng)
        numbers = self.population.at(positions)
        part = replace(problem, rule=Hard(), probes=0).on_sample(numbers, weights, SWEEPS)
        return RowsForCells(self.metric, numbers, weights, part, self.rng)
