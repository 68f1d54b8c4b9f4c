"""Mixtures of densities: a row belongs to each component by its share of the density there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..data.arrays import Array, Float64, as_like
from .base import NativeFunctions, Rule
from .sized_entropy import entropy_memberships, entropy_penalty

LOG_CIRCLE = math.log(2.0 * math.pi)
TEMPERATURE = 2.0  # of a density exp(-d2 / 2)


@dataclass(frozen=True, repr=False)
class Mixture(Rule):
    """u_ij = exp((s_j - d2_ij) / 2) / sum_k exp((s_k - d2_ik) / 2): the posterior probabilities of
    Gaussians, where d2 are Mahalanobis distances and the scales are s_j = 2 ln p_j - ln |S_j|.

    It is the entropy rule at the temperature 2, with a price of each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import Mixture
    >>> Mixture().memberships(np.array([[0.0, 2.0]]), np.array([0.0, 2.0]))
    array([[0.5, 0.5]])
    """

    has_densities = True
    native_functions = NativeFunctions("sized entropy", power=TEMPERATURE)

    def numbers(self, scales: Float64) -> Float64:
        return self._differences(scales)[None, :]

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        assert scales is not None, "the scales of a mixture come from weights and covariances"
        return entropy_memberships(
            d2 - as_like(self._differences(scales), d2)[None, :], TEMPERATURE
        )

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        return entropy_penalty(u, TEMPERATURE)

    def component_weights(self, scales: Float64, log_volumes: Float64, d: int) -> Float64:
        """(c,) p_j, of clusters whose covariances have `log_volumes` (c,) ln |S_j| in `d`
        columns."""
        weights: Float64 = np.exp((scales + log_volumes) / 2.0)
        weights /= weights.sum()
        return weights

    def log_likelihoods(
        self, costs: Float64, scales: Float64, log_volumes: Float64, d: int
    ) -> Float64:
        """(b,) ln sum_j p_j N(x_i; v_j, S_j) in `d` columns, from squared distances `costs` (b, c)
        and `log_volumes` (c,) ln |S_j|."""
        values: Float64 = logsumexp((scales[None, :] - costs - d * LOG_CIRCLE) / 2.0, axis=1)
        return values

    def _differences(self, scales: Float64) -> Float64:
        """Return the scales but for what they have in common, which decides nothing and would cost
        digits of single precision."""
        differences: Float64 = scales - scales.max()
        return differences

    def advice_on_coincidence(self, evidence: object) -> str:
        return "Components may share a centre and differ in their covariances; else take fewer."
