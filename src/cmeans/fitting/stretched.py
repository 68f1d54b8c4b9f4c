"""The c-means family with covariances: rules settled in the metric of their clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..data.arrays import Float64
from ..rules import Hard, Rule
from ..sampling.sampled_rows import CoordinateRows
from ..solvers.multistart import ScalesPilot
from ..solvers.stretched import EqualVolumes, FreeVolumes, MixtureVolumes, Shrinkage, Volumes
from ..spaces import Metrics
from ..tuning.softness import Fuzzifier, automatic_temperature, critical_temperature, fuzzifier
from .covariance import Covariance, covariance_from
from .geometry import Geometry
from .procedure import Method, Procedure
from .stages.stretched import StretchedClusters, given_start
from .together import COVARIANCES, IN_MIXTURES


@dataclass(frozen=True)
class EvidenceInMetric:
    """Evidence of a fixed sample of the rows in one metric, that of the scatter within the
    clusters of the best hard partition (`RuleEvidence`)."""

    geometry: Geometry
    metric: Metrics  # one

    @cached_property
    def _rows(self) -> tuple[CoordinateRows, Float64]:
        geometry, limits = self.geometry, self.geometry.blocks.limits
        size = limits.fuzzifier_rows_for(geometry.judged_rows, geometry.n_clusters)
        positions, weights = geometry.population.fixed_sample_of(size)
        numbers = geometry.population.at(positions)
        x = geometry.space.embed(geometry.blocks.take(numbers), numbers).coordinates
        x = self.metric.coordinates(x - weights @ x / weights.sum(), np.ones(1))
        return CoordinateRows(x), weights

    @cached_property
    def _fuzzifier(self) -> Fuzzifier:
        return fuzzifier(*self._rows, self.geometry.n_clusters)

    @property
    def automatic_fuzzifier(self) -> float:
        """As of `RuleEvidence`, like all of these."""
        return self._fuzzifier.automatic

    @property
    def advised_fuzzifier(self) -> float:
        return self._fuzzifier.automatic

    @property
    def critical_fuzzifier(self) -> float:
        return self._fuzzifier.critical

    @property
    def temperature(self) -> float:
        return automatic_temperature(*self._rows, self.geometry.n_clusters)

    @property
    def critical_temperature(self) -> float:
        rows, weights = self._rows
        return critical_temperature(rows.between(np.arange(len(weights))), weights)


def stretched(
    plain: Procedure, value: Covariance | str | None, rule: Rule, estimator_name: str
) -> Procedure:
    """Return the procedure of a rule whose clusters have the covariances that a parameter asks for;
    refused for rules that cannot have them. None: the plain one."""
    if value is None:
        return plain
    covariance = covariance_from(value, estimator_name)
    _refuse(rule, covariance, f"{estimator_name}(covariance={value!r})")
    free = covariance.volume == "free"
    priced = (free or rule.follows_nearest) and not rule.has_densities
    volumes: Volumes = FreeVolumes() if free else EqualVolumes(priced)
    if rule.has_densities:  # components of a mixture are free always
        volumes = MixtureVolumes()

    def rules(geometry: Geometry, shrinkage: Shrinkage) -> tuple[Rule, ScalesPilot | None]:
        settled = rule.settled(EvidenceInMetric(geometry, volumes.typical_metric(shrinkage)))
        if settled.pilot is not None:
            return settled, ScalesPilot(settled.pilot, getattr(settled, "eta_scale", 1.0))
        return (settled.with_prices() if priced else None) or settled, None

    stage = StretchedClusters(covariance, lambda _: volumes, rules, given_start)
    return replace(plain, method=lambda _: Method(Hard()), stages=(*plain.stages, stage))


def _refuse(rule: Rule, covariance: Covariance, said: str) -> None:
    """Refuse covariances for rules that cannot have them."""
    if rule.noise_share is not None or rule.noise_distance is not None:
        raise ValueError(
            f"{said}: {COVARIANCES.format('a noise cluster', f'noise={IN_MIXTURES}')}."
        )
    if covariance.df is not None or covariance.rounding is not None:
        raise ValueError(
            f"{said}: df and rounding are of mixtures; leave them out, or take GaussianMixture."
        )
    if covariance.volume == "free" and not (rule.is_shift_free or rule.has_densities):
        raise ValueError(
            f'{said}: with Covariance(volume="free") squared distances may be negative, which hard '
            'and entropy rules alone allow; take Covariance(volume="equal"), or KernelKMeans, '
            'CMeans(rule="entropy") or GaussianMixture.'
        )
