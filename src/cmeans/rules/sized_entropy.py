"""Maximum entropy c-means with sizes between bounds; at a low temperature, the smooth form of hard
c-means within them."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

from ..data.arrays import Array, Float64, as_like, namespace
from .base import NativeFunctions, Rule, priced


@dataclass(frozen=True, repr=False)
class SizedEntropy(Rule):
    """u_ij = exp((g_j - d2_ij) / T) / sum_k exp((g_k - d2_ik) / T), where the scales g_j are the
    clusters' prices.

    Parameters
    ----------
    T : float > 0
        The temperature, in units of squared distances.

    Raises
    ------
    ValueError
        If T is not a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import SizedEntropy
    >>> SizedEntropy(1.0).memberships(np.array([[0.0, 2.0]]), np.array([0.0, 2.0]))
    array([[0.5, 0.5]])

    References
    ----------
    Cuturi: Sinkhorn distances: lightspeed computation of optimal transport. NIPS 2013.
    """

    T: float
    has_prices = True

    def __post_init__(self) -> None:
        if (
            isinstance(self.T, bool)
            or not isinstance(self.T, numbers.Real)
            or not 0 < self.T < math.inf
        ):
            raise ValueError(
                f"SizedEntropy(T={self.T!r}): T, the temperature, must be a finite number greater "
                "than 0."
            )

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions("sized entropy", power=float(self.T))

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        return entropy_memberships(d2 - as_like(priced(scales), d2)[None, :], self.T)

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        return entropy_penalty(u, self.T)

    def slopes(self, u: Array, d2: Array, scales: Float64) -> Array:
        return u / representable(self.T, u)


def entropy_memberships(costs: Array, temperature: float) -> Array:
    """exp(-costs_ij / T) / sum_k exp(-costs_ik / T) (b, c)."""
    xp = namespace(costs)
    u = costs - xp.min(costs, axis=1, keepdims=True)
    u /= -representable(temperature, costs)
    u = xp.exp(u)
    u /= xp.sum(u, axis=1, keepdims=True)
    return u


def entropy_penalty(u: Array, temperature: float) -> Array:
    """T sum_j u_ij ln u_ij (b,)."""
    xp = namespace(u)
    logs = xp.log(xp.where(u > 0, u, xp.ones_like(u)))
    return representable(temperature, u) * xp.sum(u * logs, axis=1)


def representable(temperature: float, like: Array) -> float:
    """The temperature, or the nearest number that the array's type can hold."""
    limits = namespace(like).finfo(like.dtype)
    return min(max(float(temperature), float(limits.smallest_normal)), float(limits.max))
