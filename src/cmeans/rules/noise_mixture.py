"""Mixtures of densities with noise, of which one more component is that has the same density
everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..data.arrays import Array, Float64, as_like, namespace
from ..runtime.checks import real
from .base import NativeFunctions, Rule
from .mixture import LOG_CIRCLE, TEMPERATURE
from .sized_entropy import entropy_memberships, entropy_penalty


@dataclass(frozen=True, repr=False)
class NoiseMixture(Rule):
    """u_ij = exp((s_j - d2_ij) / 2) / (1 + sum_k exp((s_k - d2_ik) / 2)): the posterior
    probabilities of Gaussians beside noise of the constant density 1 / V, where d2 are Mahalanobis
    distances of d columns and the scales are

    s_j = 2 ln (p_j / p_0) - ln |S_j| - d ln 2 pi + 2 ln V.

    What a row's memberships lack of one is noise (Banfield & Raftery 1993); it is the largest of
    the rows whose label is -1.

    Parameters
    ----------
    log_volume : float
        ln V.
    log_ranges : sequence of floats or None, default=None
        The logarithms (d,) of the ranges whose product V is, for rows that lack some values: noise
        has the density of the others alone, 1 over the product of their ranges.

    Raises
    ------
    ValueError
        If one is no finite number.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import NoiseMixture
    >>> NoiseMixture(0.0).memberships(np.array([[0.0, 0.0]]), np.array([0.0, 0.0])).round(3)
    array([[0.333, 0.333]])

    References
    ----------
    Banfield, Raftery: Model-based Gaussian and non-Gaussian clustering. Biometrics 49, 1993.
    """

    log_volume: float
    log_ranges: Sequence[float] | None = None
    leaves_rows_out = True
    native_functions = NativeFunctions("noisy entropy", power=TEMPERATURE)

    def __post_init__(self) -> None:
        real(self.log_volume, "log_volume", "NoiseMixture", least=-math.inf)
        for value in self.log_ranges or ():
            real(value, "log_ranges", "NoiseMixture", least=-math.inf)

    @property
    def noise_distance(self) -> float:
        """Noise is one more cluster, whose price and distance from every row are 0."""
        return 0.0

    def numbers(self, scales: Float64) -> Float64:
        # the clusters' less what they have in common, as in a mixture, and what noise costs beside
        common: float = scales.max()
        return np.stack([scales - common, np.full(len(scales), common)])

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        assert scales is not None, "the scales of a mixture come from weights and covariances"
        xp, costs = namespace(d2), d2 - as_like(scales, d2)[None, :]
        noise = xp.zeros_like(costs[:, :1])
        return entropy_memberships(xp.concat([costs, noise], axis=1), TEMPERATURE)[:, :-1]

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        xp = namespace(u)
        return entropy_penalty(xp.concat([u, self._noise(u)[:, None]], axis=1), TEMPERATURE)

    def of_holes(self, holes: Array | None) -> Array | None:
        if holes is None or self.log_ranges is None:
            return None
        ranges = as_like(np.asarray(self.log_ranges), holes, namespace(holes).float64)
        missing = namespace(holes).astype(holes, namespace(holes).float64)
        return 2.0 * (missing @ ranges)

    def of_members(self, members: Float64 | None) -> Array | None:
        return None if members is None else 2.0 * self.log_volume * (1.0 - members)

    def left_out(self, u: Array, d2: Array) -> Array:
        return self._noise(u) > namespace(u).max(u, axis=1)

    def log_noise(self, scales: Float64, log_volumes: Float64, d: int) -> float:
        """ln p_0, of clusters whose covariances have `log_volumes` (c,) ln |S_j| in `d` columns."""
        return -float(logsumexp(np.append(self._log_ratios(scales, log_volumes, d), 0.0)))

    def component_weights(self, scales: Float64, log_volumes: Float64, d: int) -> Float64:
        """(c,) p_j, which lack p_0 of one; `log_volumes` (c,) ln |S_j| in `d` columns."""
        noise = self.log_noise(scales, log_volumes, d)
        weights: Float64 = np.exp(self._log_ratios(scales, log_volumes, d) + noise)
        return weights

    def log_likelihoods(
        self, costs: Float64, scales: Float64, log_volumes: Float64, d: int
    ) -> Float64:
        """(b,) ln (p_0 / V + sum_j p_j N(x_i; v_j, S_j)) in `d` columns, from squared distances
        `costs` (b, c) and `log_volumes` (c,) ln |S_j|."""
        density = self.log_noise(scales, log_volumes, d) - self.log_volume
        ratios = (scales[None, :] - costs) / 2.0
        values: Float64 = np.logaddexp(logsumexp(ratios, axis=1), 0.0) + density
        return values

    def _log_ratios(self, scales: Float64, log_volumes: Float64, d: int) -> Float64:
        """(c,) ln (p_j / p_0)."""
        ratios: Float64 = (scales + log_volumes + d * LOG_CIRCLE) / 2.0 - self.log_volume
        return ratios

    def _noise(self, u: Array) -> Array:
        xp = namespace(u)
        rest = 1.0 - xp.sum(u, axis=1)
        return xp.where(rest > 0, rest, xp.zeros_like(rest))
