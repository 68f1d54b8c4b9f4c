"""Possibilistic clusters that fit their own scales, go when they own nothing, and become one where they meet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .arrays import Float64, IntArray
from .centres import Centres
from .engines import Engine
from .jobs import Deviating, FuzzyDeviating, Sweeping
from .rules import Rule
from .solver import NoRowsLeftError, Run, swept
from .statistics import Own, Statistics
from .sweep import State
from .table import Table

MERGED = 1e-3  # |v_j - v_k|^2, as a share of the smallest scale, below which two clusters are one
COINCIDENT = 1e-7  # deviation, as a share of the scale's root, that is none
NEGLIGIBLE = 0.1  # of an average cluster's weight: less of coincident rows makes no cluster
NARROWEST = 0.01  # of the median deviation: clusters of a fuzzy run narrower than that are rows that coincide


@dataclass(frozen=True)
class Adaptation:
    """The next state of adaptive possibilistic clusters (Xenaki, Koutroumbas, Rontogiannis 2014, APCM and SAPCM).

    Each cluster's scale becomes  length * mean |x - mu_j|  (power 1) or  mean |x - mu_j|^2  (power 2) over its own rows, mu_j
    their mean; with power None scales stay. A cluster that owns no row goes, and one whose rows coincide, unless they
    weigh as much as a tenth of an average cluster: then it keeps its scale. Of coincident clusters the first stays. The rows
    of a cluster that went are looked at again before scales adapt.
    """

    power: int | None = 1
    length: float = 1.0  # what makes a mean deviation a squared length

    @property
    def needs_owners(self) -> bool:
        return True

    @property
    def keeps_clusters(self) -> bool:
        return False

    def __call__(self, run: Run, state: State, sums: Statistics) -> State:
        own = _of(sums)
        if not own.mass.any():
            return _back(run, state)
        centres, deviation = run.means(state, sums), self._deviation(run, own)
        kept = self._kept(centres, state, own, deviation)
        if len(kept) < len(centres):
            centres, state = centres[kept], _some(state, kept)
            own = _of(run.fold(state))
            deviation = self._deviation(run, own)
        return State(centres, self._scales(state, deviation))

    def _kept(self, centres: Centres, state: State, own: Own, deviation: Float64) -> IntArray:
        scales = _known(state)
        average = float(own.mass.sum()) / len(own.mass)
        real = (deviation > COINCIDENT * self._size(scales)) | (own.mass >= NEGLIGIBLE * average)
        kept = np.flatnonzero((own.mass > 0) & real)  # never none: not all can weigh less than a tenth of their average
        return kept[apart(centres[kept], MERGED * float(scales.min()))]

    def _deviation(self, run: Run, own: Own) -> Float64:
        """(c,) mean |x - mu_j| or |x - mu_j|^2 over each cluster's own rows; 0 where it owns none."""
        assert run.latest is not None
        run.row_visits += run.table.n_rows
        return own_deviations(run.table, run.engine, own, run.latest, self.power or 1)

    def _scales(self, state: State, deviation: Float64) -> Float64:
        scales = _known(state)
        if self.power is None:
            return scales
        wide = deviation > COINCIDENT * self._size(scales)
        return np.where(wide, deviation * (self.length if self.power == 1 else 1.0), scales)

    def _size(self, scales: Float64) -> Float64:
        """The deviations that would have made these scales."""
        return scales / self.length if self.power == 1 else scales


def _back(run: Run, state: State) -> State:
    """The clusters that owned rows one sweep ago, where now none does: scales have shrunk too far, and this is as far as it goes."""
    if run.last is None:
        raise NoRowsLeftError(state)
    run.stuck = True
    before, sums = run.last
    return _some(before, np.flatnonzero(_of(sums).mass > 0))


def apart(centres: Centres, tolerance: float) -> IntArray:
    """Which centres are the first of those that coincide, |v_j - v_k|^2 <= tolerance."""
    d2 = centres.squared_distances()
    kept: list[int] = []
    for j in range(len(centres)):
        if all(d2[j, k] > tolerance for k in kept):
            kept.append(j)
    return np.array(kept, dtype=np.intp)


def merged(state: State, tolerance: float) -> State:
    """A state without the centres that coincide with earlier ones."""
    return _some(state, apart(state.centres, tolerance))


def halfway_scales(centres: Centres, beta: float) -> Float64:
    """eta_j = (min_k |v_j - v_k|^2 / 2) / -ln(beta): u = beta halfway (in squared units) to the nearest other centre."""
    d2 = centres.squared_distances()
    np.fill_diagonal(d2, math.inf)
    halfway: Float64 = d2.min(axis=1) / 2.0
    return halfway / -math.log(beta)


def pilot_deviations(table: Table, rule: Rule, state: State, engine: Engine) -> tuple[Float64, float]:
    """(c,) mean distance within fuzzy clusters, sum_i u_ij |x_i - v_j| / sum_i u_ij, and the smallest of them.

    Clusters of rows that coincide are left out of the smallest: they say nothing of how narrow clusters are.
    """
    weighted, mass = engine.fold(table, FuzzyDeviating(rule, state))
    deviation: Float64 = weighted / np.where(mass > 0, mass, 1.0)
    if not deviation.any():
        return np.ones(len(deviation)), 1.0
    deviation = np.maximum(deviation, NARROWEST * float(np.median(deviation[deviation > 0])))
    within = _own_deviations(table, rule, state, engine)
    wide = within > NARROWEST * float(np.median(within[within > 0])) if within.any() else within >= 0
    return deviation, float(deviation[wide].min())


def _own_deviations(table: Table, rule: Rule, state: State, engine: Engine) -> Float64:
    """(c,) mean distance of each cluster's own rows from their mean; 0 where it owns none."""
    sweeping = Sweeping(rule, state, owned=True)
    return own_deviations(table, engine, _of(swept(table, sweeping, engine)), sweeping, 1)


def own_deviations(table: Table, engine: Engine, own: Own, noted: Sweeping, power: int) -> Float64:
    """(c,) mean |x - mu_j| or |x - mu_j|^2 over each cluster's own rows, noted by the last sweep; 0 where it owns none."""
    total = engine.fold(table, Deviating(noted, State(table.space.centres(own.mass, own.moment)), power))
    return total / np.where(own.mass > 0, own.mass, 1.0)


def _of(sums: Statistics) -> Own:
    assert sums.own is not None, "who adapts asks for them"
    return sums.own


def _known(state: State) -> Float64:
    assert state.scales is not None, "adaptive clusters have scales"
    return state.scales


def _some(state: State, which: IntArray) -> State:
    return State(state.centres[which], None if state.scales is None else state.scales[which])
