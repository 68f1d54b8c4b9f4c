"""Metrics and scales of clusters by their covariances, and the objective that falls."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...data.arrays import Float64
from ...rules import NoiseMixture, StudentMixture
from ...rules.mixture import LOG_CIRCLE
from ...runtime.stored_classes import stored
from ...spaces import Metrics
from ...spaces.centres import Centres
from ...sweeps.state import State
from .shapes import diagonals, inverse_factors
from .shrinkage import Shrinkage, StandardColumns

# of a log-likelihood, for each row and column, that a run from random rows must gain: crossing
# lines gain .5, components that describe no cluster .03 at most
MUCH = 0.1
LEAST_SHARE = 1e-300  # of the rows in a cluster, for logarithms
LEAST_PART = 1e-12  # of the rows that are no noise


class SweptSums(NamedTuple):
    """The sums of a sweep that tell the rule's objective."""

    objective: float
    mass: Float64  # (c,) sums of weights times memberships
    weight: float  # of all rows


class FoundClusters(NamedTuple):
    """Clusters as the sums of a sweep make them."""

    centres: Centres
    covariances: Float64  # in standard columns
    mass: Float64  # (c,)
    weight: float  # of all rows


class Volumes(ABC):
    """A way from covariances to the clusters of the next sweep."""

    # of the rows that are in clusters, where a run starts from a partition
    first_share: float = 1.0
    # whether clusters are densities, which are multiplied over the members of one row
    are_densities: bool = False

    def attributes(self, shrinkage: Shrinkage, sums: SweptSums, state: State) -> dict[str, Any]:
        """Return fitted attributes, from the last pass."""
        return {}

    @abstractmethod
    def state(self, shrinkage: Shrinkage, found: FoundClusters) -> State:
        """Return the clusters of the next sweep."""

    def typical_metric(self, shrinkage: Shrinkage) -> Metrics:
        """Return the metric (one) of the covariance towards which those of clusters shrink."""
        return shrinkage.columns.metrics(inverse_factors(shrinkage.target[None]))

    @abstractmethod
    def objective(self, shrinkage: Shrinkage, sums: SweptSums, state: State) -> float:
        """Return what is minimised, from what the rule's sweep from a state says."""

    def least_fall(self, tol: float, weight: float, objective: float) -> float:
        """Return the fall of the objective in a sweep below which a run ends, of a likelihood
        unless overridden."""
        return tol * weight

    def much(self, weight: float, objective: float, d: int) -> float:
        """Return how much lower another objective must be, in d columns, to be worth more than the
        little that components gain which describe no cluster; of minus a log-likelihood unless
        overridden."""
        return MUCH * d * weight


@stored
@dataclass(frozen=True)
class EqualVolumes(Volumes):
    """Metrics of determinant 1, in the units of the rows: any rule on squared distances

    d_ij = (x_i - v_j)^T A_j (x_i - v_j),   A_j = |S_j|^(1/d) S_j^-1  (Gustafson & Kessel 1979).

    Minimises the rule's objective + nu sum_j tr(A_j T).
    """

    has_prices: bool = False  # whether the rule takes some, which are 0

    def state(self, shrinkage: Shrinkage, found: FoundClusters) -> State:
        prices = np.zeros(len(found.centres)) if self.has_prices else None
        return State(found.centres, prices, self.metrics(shrinkage, found.covariances))

    def typical_metric(self, shrinkage: Shrinkage) -> Metrics:
        return self.metrics(shrinkage, shrinkage.target[None])

    def metrics(self, shrinkage: Shrinkage, covariances: Float64) -> Metrics:
        """Return the metrics of covariances."""
        factors = inverse_factors(covariances)
        size = np.exp(-np.log(diagonals(factors)).mean(axis=1)) * shrinkage.columns.typical
        return shrinkage.columns.metrics(factors * size.reshape((-1,) + (1,) * (factors.ndim - 1)))

    def objective(self, shrinkage: Shrinkage, sums: SweptSums, state: State) -> float:
        assert state.metrics is not None, "stretched clusters have metrics"
        return sums.objective + shrinkage.penalty(shrinkage.traces(state.metrics))

    def least_fall(self, tol: float, weight: float, objective: float) -> float:
        return tol * tol * abs(objective)

    def much(self, weight: float, objective: float, d: int) -> float:
        # distances are in proportion to |S|^(1/d), of which a row's likelihood has the square root
        return abs(objective) * -math.expm1(-2.0 * MUCH)


@stored
@dataclass(frozen=True)
class FreeVolumes(Volumes):
    """Metrics S_j^-1, and ln |S_j| added to squared distances, which may be negative then: for
    rules for which only differences of a row's distances count, as prices of the clusters
    (classification EM).

    Minimises  sum_ij w_i u_ij (D_ij + ln |S_j|) + the rule's penalty + nu sum_j [ln |S_j| +
    tr(S_j^-1 T)].
    """

    def state(self, shrinkage: Shrinkage, found: FoundClusters) -> State:
        metrics = shrinkage.columns.metrics(inverse_factors(found.covariances))
        return State(found.centres, -shrinkage.log_determinants(metrics), metrics)

    def objective(self, shrinkage: Shrinkage, sums: SweptSums, state: State) -> float:
        prices = float(state.known_scales() @ sums.mass)
        return sums.objective - prices + log_prior(shrinkage, state)

    def much(self, weight: float, objective: float, d: int) -> float:
        return 2.0 * super().much(weight, objective, d)


@dataclass(frozen=True)
class UniformNoise:
    """Noise of the same density everywhere, 1 / V, where V is the product of the columns'
    ranges."""

    ranges: Float64  # (r,); 0 where they are not known
    share: float | None  # of the rows that is noise; None: as a run finds it
    starting_share: float = 0.1  # where it is to be found

    @property
    def first_share(self) -> float:
        """The share at the start of a run."""
        return self.starting_share if self.share is None else self.share

    def share_of(self, mass: Float64, weight: float) -> float:
        """Return the share of the rows, of this weight, that is in none of the clusters."""
        found = self.share
        if found is None:
            found = 1.0 - float(mass.sum()) / weight
        return min(max(found, LEAST_SHARE), 1.0 - LEAST_PART)

    def log_volume(self, columns: StandardColumns) -> float:
        """Return ln V over the columns that differ."""
        return float(self._log_ranges(columns)[columns.live].sum())

    def _log_ranges(self, columns: StandardColumns) -> Float64:
        """(r,) the logarithms of the ranges, 0 in columns that do not differ."""
        live, out = columns.live, np.zeros(len(columns.deviations))
        wide = columns.deviations[live] * math.sqrt(12.0)
        ranges = self.ranges[live]
        out[live] = np.log(np.where(ranges > 0, ranges, wide))
        return out

    def rule(self, columns: StandardColumns) -> NoiseMixture:
        """Return the rule of clusters beside this noise."""
        return NoiseMixture(self.log_volume(columns), tuple(self._log_ranges(columns).tolist()))


@stored
@dataclass(frozen=True)
class MixtureVolumes(Volumes):
    """Gaussians of weights p_j: the scales are 2 ln p_j - ln |S_j|, so that the posteriors of a row
    are those of maximum entropy at the temperature 2 with these prices.

    Minimises minus the penalised log-likelihood, -sum_i w_i ln sum_j p_j N(x_i; v_j, S_j) + (nu/2)
    sum_j [ln |S_j| + tr(S_j^-1 T)].
    """

    noise: UniformNoise | None = None
    df: float | None = None  # of t distributions in place of Gaussians
    are_densities = True

    @property
    def first_share(self) -> float:  # type: ignore[override]
        return 1.0 if self.noise is None else 1.0 - self.noise.first_share

    def state(self, shrinkage: Shrinkage, found: FoundClusters) -> State:
        metrics = shrinkage.metrics(inverse_factors(found.covariances))
        volumes = shrinkage.log_determinants(metrics)
        if self.df is None:  # else tails of the distances know of errors
            volumes = volumes + metrics.expected_errors
        shares = np.maximum(found.mass / found.mass.sum(), LEAST_SHARE)
        if self.noise is None:
            return State(found.centres, 2.0 * np.log(shares) - volumes, metrics)
        log_volume, live = self.noise.log_volume(shrinkage.columns), len(shrinkage.columns.live)
        share = self.noise.share_of(found.mass, found.weight)
        shares = shares * ((1.0 - share) / share)
        scales = 2.0 * (np.log(shares) + log_volume) - volumes - live * LOG_CIRCLE
        return State(found.centres, scales, metrics)

    def objective(self, shrinkage: Shrinkage, sums: SweptSums, state: State) -> float:
        return (self._deviance(shrinkage, sums, state) + log_prior(shrinkage, state)) / 2.0

    def attributes(self, shrinkage: Shrinkage, sums: SweptSums, state: State) -> dict[str, Any]:
        return {"lower_bound_": self._deviance(shrinkage, sums, state) / (-2.0 * sums.weight)}

    def _deviance(self, shrinkage: Shrinkage, sums: SweptSums, state: State) -> float:
        """Return -2 times the log-likelihood."""
        prices, live = float(state.known_scales() @ sums.mass), len(shrinkage.columns.live)
        constant = live * LOG_CIRCLE
        if self.df is not None:
            constant = -2.0 * StudentMixture(self.df, live).log_constant
        if self.noise is not None:
            rule = self.noise.rule(shrinkage.columns)
            assert state.metrics is not None, "stretched clusters have metrics"
            volumes = shrinkage.log_determinants(state.metrics) + state.metrics.expected_errors
            log_noise = rule.log_noise(state.known_scales(), volumes, live)
            constant = -2.0 * (log_noise - rule.log_volume)
        return sums.objective - prices + constant * sums.weight


def log_prior(shrinkage: Shrinkage, state: State) -> float:
    """nu sum_j [ln |S_j| + tr(S_j^-1 T)]."""
    assert state.metrics is not None, "stretched clusters have metrics"
    return shrinkage.penalty(
        shrinkage.log_determinants(state.metrics) + shrinkage.traces(state.metrics)
    )
