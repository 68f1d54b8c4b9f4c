"""Possibilistic clusters that fit their own scales, go when they own nothing, and become one where
they meet."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..spaces.centres import Centres
from ..sweeps.passes import DeviationPass, FuzzyDeviationPass, SweepPass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import HardStatistics, Statistics
from .solution import LastSweep, StepResult, Verdict

MERGED = 1e-3  # |v_j - v_k|^2, as a share of the smallest scale, below which two clusters are one
TOGETHER = 1024  # centres that are compared together with all that stay
COINCIDENT = 1e-7  # deviation, as a share of the scale's root, that is none
NEGLIGIBLE = 0.1  # of an average cluster's weight: less of coincident rows makes no cluster
# of the median deviation: clusters of a fuzzy run narrower than that are rows that coincide
NARROWEST = 0.01
# standard deviation of distances within clusters, as a share of their mean: less comes of a few
# rows a cluster
LEAST_SPREAD = 0.01


@dataclass(frozen=True)
class Adaptation:
    """The next state of adaptive possibilistic clusters (Xenaki, Koutroumbas, Rontogiannis 2014,
    APCM and SAPCM).

    Each cluster's scale becomes  length * mean |x - mu_j|  over its own rows, mu_j their mean. A
    cluster that owns no row goes, and one whose rows coincide, unless they weigh as much as a tenth
    of an average cluster: then it keeps its scale. Of coincident clusters the first stays. The rows
    of a cluster that went are looked at again before scales adapt.

    Forms of one's own say how deviations are measured (`deviations`), and what scales they make
    (`scales_of`).
    """

    length: float = 1.0  # what makes a mean deviation a squared length
    needs_labels: ClassVar[bool] = True
    needs_sums: ClassVar[bool] = True
    keeps_clusters: ClassVar[bool] = False

    def __call__(
        self, problem: Problem, swept: SweepPass, sums: Statistics, last: LastSweep | None
    ) -> StepResult:
        state, hard = swept.state, hard_sums(sums)
        if not hard.mass.any():
            return _one_sweep_back(state, last)
        centres = problem.means(state, sums)
        deviation = self.deviations(problem, hard, swept)
        visits = problem.n_rows
        kept = self._kept(centres, state, hard, deviation)
        if len(kept) < len(centres):
            centres, state = centres[kept], state[kept]
            swept = replace(swept, state=state)
            deviation = self.deviations(
                problem, hard_sums(problem.engine.fold(problem.rows, swept)), swept
            )
            visits += 2 * problem.n_rows
        return StepResult(State(centres, self._scales(state.known_scales(), deviation)), visits)

    def _kept(
        self, centres: Centres, state: State, hard: HardStatistics, deviation: Float64
    ) -> IntArray:
        scales = state.known_scales()
        average = float(hard.mass.sum()) / len(hard.mass)
        real = (deviation > COINCIDENT * self.deviations_of(scales)) | (
            hard.mass >= NEGLIGIBLE * average
        )
        # never none: not all can weigh less than a tenth of their average
        kept = np.flatnonzero((hard.mass > 0) & real)
        return kept[apart(centres[kept], MERGED * float(scales.min()))]

    def _scales(self, scales: Float64, deviation: Float64) -> Float64:
        wide = deviation > COINCIDENT * self.deviations_of(scales)
        return np.where(wide, self.scales_of(deviation, scales), scales)

    def deviations(self, problem: Problem, hard: HardStatistics, swept: SweepPass) -> Float64:
        """Return the deviations (c,) of clusters' own rows, as a labelling sweep has found them."""
        return hard_deviations(problem, hard, swept, 1)

    def scales_of(self, deviation: Float64, scales: Float64) -> Float64:
        """Return the scales that deviations make of the former ones."""
        return deviation * self.length

    def deviations_of(self, scales: Float64) -> Float64:
        """Return the deviations that would have made these scales."""
        return scales / self.length


def _one_sweep_back(state: State, last: LastSweep | None) -> StepResult:
    """The clusters that owned rows one sweep ago, where now none does: scales have shrunk too far,
    and this is as far as it goes."""
    if last is None:
        return StepResult(state, verdict=Verdict.EMPTY)
    before, sums = last
    return StepResult(before[np.flatnonzero(hard_sums(sums).mass > 0)], verdict=Verdict.STUCK)


def apart(centres: Centres, tolerance: float) -> IntArray:
    """Return the numbers of the centres that are the first of those that coincide, |v_j - v_k|^2 <=
    tolerance."""
    kept = np.empty(0, dtype=np.intp)
    for start, stop in spans(len(centres), TOGETHER):
        new, here = centres[start:stop], list[int]()
        free = (new.squared_distances(centres[kept]) > tolerance).all(axis=1)
        d2 = new.squared_distances()
        for j in np.flatnonzero(free):
            if (d2[j, here] > tolerance).all():
                here.append(int(j))
        kept = np.append(kept, start + np.array(here, dtype=np.intp))
    return kept


def merged(state: State, tolerance: float) -> State:
    """A state without the centres that coincide with earlier ones."""
    return state[apart(state.centres, tolerance)]


@dataclass(frozen=True)
class PilotWidths:
    """Widths of the clusters of a fuzzy run."""

    # (c,) mean distance within fuzzy clusters, sum_i u_ij |x_i - v_j| / sum_i u_ij
    deviation: Float64
    # the smallest of them but those of rows that coincide, which say nothing of how narrow clusters
    # are
    narrowest: float
    # mean distance within hard clusters over twice the standard deviation: 0.96 for a normal
    # cluster in two columns
    concentration: float


def pilot_widths(problem: Problem, state: State) -> PilotWidths:
    """Widths of fuzzy clusters.

    In d columns distances of a normal cluster's rows from its mean are about sqrt(d) standard
    deviations of a column, give or take sqrt(1/2), so that their concentration is sqrt(d/2): there
    clusters can be far apart, by the latter, and near, by the former.
    """
    weighted, mass = problem.engine.fold(problem.rows, FuzzyDeviationPass(problem.rule, state))
    deviation: Float64 = weighted / np.where(mass > 0, mass, 1.0)
    if not deviation.any():
        length = _quarter(state.centres)
        return PilotWidths(np.full(len(deviation), length), length, 1.0)
    deviation = np.maximum(deviation, NARROWEST * float(np.median(deviation[deviation > 0])))
    labelling = SweepPass(problem.rule, state, labelling=True)
    hard = hard_sums(problem.engine.fold(problem.rows, labelling))
    within, squared = (hard_deviations(problem, hard, labelling, power) for power in (1, 2))
    wide = (
        within > NARROWEST * float(np.median(within[within > 0])) if within.any() else within >= 0
    )
    mean_square = float(hard.mass @ within**2)
    variance = max(float(hard.mass @ squared) - mean_square, LEAST_SPREAD**2 * mean_square)
    concentration = math.sqrt(mean_square / variance) / 2.0 if variance > 0 else 1.0
    return PilotWidths(deviation, float(deviation[wide].min()), concentration)


def _quarter(centres: Centres) -> float:
    """A quarter of the smallest distance between centres that do not coincide, which is narrow; 1
    where all do."""
    d2 = centres.squared_distances()
    different = d2[d2 > COINCIDENT * d2.max()]
    return math.sqrt(float(different.min())) / 4.0 if len(different) else 1.0


def hard_deviations(
    problem: Problem, hard: HardStatistics, swept: SweepPass, power: int
) -> Float64:
    """(c,) mean |x - mu_j| or |x - mu_j|^2 over each cluster's own rows, as a labelling sweep has
    found them; 0 where it owns none."""
    means = State(problem.space.centres(hard.mass, hard.moment))
    total = problem.engine.fold(problem.rows, DeviationPass(swept, means, power))
    return total / np.where(hard.mass > 0, hard.mass, 1.0)


def hard_sums(sums: Statistics) -> HardStatistics:
    """Return the sums over each cluster's own rows that a labelling sweep has made."""
    assert sums.hard is not None, "the sweep was a labelling one"
    return sums.hard
