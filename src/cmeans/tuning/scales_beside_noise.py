"""The start and the scales of possibilistic clusters where some rows may be noise: no cluster of
them, no part in the scales."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..rules import NoiseFuzzy, Rule
from ..sampling.population import FIXED_SEED, population_of, sample
from ..solvers.multistart import BestRun, Runs, ScalesPilot
from ..solvers.noise import NearestCentres, NoisePilot, automatic_distance
from ..solvers.observer import AsFinal
from ..spaces.centres import Centres
from ..sweeps.problem import Problem
from ..sweeps.state import State

# share of the weight in clusters that are no wider than the one by which rows are judged: the
# others may be of outliers
OWN = 0.95
GROSS = 4.0  # squared distance of rows that nobody takes for that cluster's own, over its width
LIGHT = 0.5  # of an average cluster's weight: less may be of rows that are far from all others


@dataclass(frozen=True)
class ScalesBesideNoise:
    """A fuzzy run that gives another rule its start and its clusters' scales, which is followed by
    one with a noise cluster where rows lie far out or a cluster has few of them.

    The second run is taken where its centres serve the rows better, as an objective says by which
    no row costs more than a few widths of a cluster: one centre among outliers is paid for by two
    clusters that share another.
    """

    fuzzy: Rule
    eta_scale: float

    @property
    def rule(self) -> Rule:
        """As of `Pilot`."""
        return self.fuzzy

    @property
    def _m(self) -> float:
        return float(getattr(self.fuzzy, "m", 1.0))

    @property
    def _scales(self) -> ScalesPilot:
        return ScalesPilot(self.fuzzy, self.eta_scale)

    def as_final(self, final: Rule) -> AsFinal:
        """As of `Pilot`."""
        return self._scales.as_final(final)

    def follow(self, first: BestRun, runs: Runs) -> tuple[Problem, BestRun]:
        """As of `Pilot`."""
        before = runs.observer.of_pilot(self.as_final(runs.problem.rule)).within("beside noise")
        beside = replace(runs, problem=replace(runs.problem, rule=self.fuzzy), observer=before)
        return self._scales.follow(self._prepared(first, beside), runs)

    def _prepared(self, first: BestRun, runs: Runs) -> BestRun:
        noise, problem = NoisePilot(NoiseFuzzy(self._m)), runs.problem
        part = _part_of(problem)
        plain = first.solution.state
        near, visits = noise.nearest(part, plain.centres), first.row_visits + part.n_rows
        gross = GROSS * automatic_distance(near.d2, near.weight, near.labels, OWN)
        if gross == 0 or not _has_stray_rows(near, plain.centres, gross):
            return replace(first, row_visits=visits)
        beside, found = noise.follow(replace(first, row_visits=visits), runs)
        compared = replace(part, rule=NoiseFuzzy(self._m, delta=gross))
        visits = found.row_visits + 2 * part.n_rows
        cost, cost_beside = (
            compared.sweep(State(state.centres)).objective
            for state in (plain, found.solution.state)
        )
        if cost <= cost_beside:
            return replace(first, row_visits=visits)
        return BestRun(found.solution, beside.sweep(found.solution.state), visits + problem.n_rows)


def _has_stray_rows(near: NearestCentres, centres: Centres, gross: float) -> bool:
    """Return True where a row is far beyond the width of clusters, or would be without the centres
    that have so few rows that they may be such."""
    mass = np.bincount(near.labels, near.weight, minlength=len(centres))
    light = mass < LIGHT * mass.mean()
    apart = centres.squared_distances()[np.ix_(light, ~light)].min(axis=1)
    farthest = near.d2[near.weight > 0].max(initial=0)  # of none where all rows are known
    return bool(farthest > gross or (apart > gross).any())


def _part_of(problem: Problem) -> Problem:
    """Return the problem over all rows, or over a fixed sample of very many, in which a cluster of
    one row among a million has none."""
    blocks, most = problem.rows.blocks, problem.rows.blocks.limits.adaptive_rows
    if blocks.tuned_on(most) is None and (
        blocks.n_rows <= most or not problem.space.sweeps_products
    ):
        return problem
    population = population_of(blocks)
    positions, weights = sample(population, most, np.random.RandomState(FIXED_SEED))
    return problem.on_sample(population.at(positions), weights, problem.stopping)
