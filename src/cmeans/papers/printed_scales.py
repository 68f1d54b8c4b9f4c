"""Scales of possibilistic clusters as the papers print them: how they start, and how they follow
the clusters' rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Float64
from ..fitting.ways.adaptive import AdaptiveProblem
from ..solvers.adaptive import Adaptation, hard_deviations
from ..spaces.centres import Centres
from ..sweeps.passes import SweepPass
from ..sweeps.problem import Problem
from ..sweeps.statistics import HardStatistics

# K of the automatic sparsity where scales are mean squares: more, and rows within the radius make
# it smaller yet
SQUARED_SHARE = 0.2
# squared radius of every cluster over its squared deviation, at least, in the form "length"
REACH = 3.0
TENTH = 0.1  # of the longest distance: the unit of length for kernels without features in [0, 10]


@dataclass(frozen=True)
class SquaredAdaptation(Adaptation):
    """Scales become the mean squared deviations of clusters' own rows from their means."""

    def deviations(self, problem: Problem, hard: HardStatistics, swept: SweepPass) -> Float64:
        return hard_deviations(problem, hard, swept, 2)


@dataclass(frozen=True)
class FixedScales(Adaptation):
    """Scales stay as they are; clusters that own no rows go nevertheless."""

    def scales_of(self, deviation: Float64, scales: Float64) -> Float64:
        return scales


def halfway_scales(centres: Centres, beta: float) -> Float64:
    """eta_j = (min_k |v_j - v_k|^2 / 2) / -ln(beta): u = beta halfway (in squared units) to the
    nearest other centre."""
    d2 = centres.squared_distances()
    np.fill_diagonal(d2, math.inf)
    halfway: Float64 = d2.min(axis=1) / 2.0
    return halfway / -math.log(beta)


def in_conference_form(
    given: AdaptiveProblem, diameter: float
) -> tuple[AdaptiveProblem, Adaptation]:
    """Return the problem and the step for scales that are mean deviations used as squared lengths.

    An automatic sparsity must then be weaker the longer distances are, and they grow with the
    number of features. The factor from a mean deviation to a squared length is 1 for plain
    features, which the papers scale to [0, 10], and a tenth of the rows' diameter in the space of
    any other kernel.
    """
    length = (
        1.0 if given.geometry.kernel.coordinates == "rows" or diameter == 0 else TENTH * diameter
    )
    reach = 0.0 if given.rule.sparsity is not None else REACH / length**2
    return replace(given, rule=replace(given.rule, reach=reach)), Adaptation(length)
