"""Fuzzy c-means with a noise cluster: rows far from all centres belong to none."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

from ..data.arrays import Array, Float64, device, namespace
from .base import NativeFunctions, Rule, SoftnessLimits
from .fuzzy import Fuzzy


@dataclass(frozen=True)
class NoiseFuzzy(Rule):
    """u_ij = d2_ij^-p / (sum_k d2_ik^-p + delta^-p), p = 1/(m-1): what a row's memberships lack of one, u_i0, is noise.

    Minimises  sum_ij u_ij^m d2_ij + delta sum_i u_i0^m  with  u_i0 + sum_j u_ij = 1:  noise is one more cluster, at the same squared
    distance from every row. It is the largest membership of the rows that are farther from all centres than that; their label is -1.

    Parameters
    ----------
    m : float > 1
        The fuzzifier.
    delta : float > 0
        The squared distance of the noise cluster from every row. `FuzzyCMeans(noise=...)` settles it from the data.

    Raises
    ------
    ValueError
        If m is not above 1, or delta is not a finite number above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import NoiseFuzzy
    >>> NoiseFuzzy(2.0, delta=3.0).memberships(np.array([[1.0, 1.5]]), None)
    array([[0.5       , 0.33333333]])

    References
    ----------
    Dave: Characterization and detection of noise in clustering. Pattern Recognition Letters 12(11), 1991.
    """

    m: float
    delta: float
    name = "noise_fuzzy"
    leaves_rows_out = True

    def __post_init__(self) -> None:
        if not self.m > 1:
            raise ValueError(f"NoiseFuzzy(m={self.m!r}): m must be greater than 1.")
        if isinstance(self.delta, bool) or not isinstance(self.delta, numbers.Real) or not 0 < self.delta < math.inf:
            raise ValueError(f"NoiseFuzzy(delta={self.delta!r}): delta, a squared distance, must be a finite number greater than 0.")

    @property
    def native_functions(self) -> NativeFunctions:
        name = "noise, m = 2" if self.m == 2 else "noise"
        return NativeFunctions(name, m=self.m, power=1.0 / (self.m - 1.0), noise=self.delta)

    @property
    def noise_distance(self) -> float:
        return self.delta

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        return self._fuzzy.memberships(self._with_noise(d2), None)[:, : d2.shape[1]]

    def weights(self, u: Array) -> Array:
        return self._fuzzy.weights(u)

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        xp = namespace(u)
        noise = 1.0 - xp.sum(u, axis=1)
        return self.weights(xp.where(noise > 0, noise, xp.zeros_like(noise))) * self._delta(u)

    def merged(self, other: Rule, share: float) -> Rule | None:
        if not isinstance(other, NoiseFuzzy) or other.m != self.m:
            return None
        return NoiseFuzzy(self.m, (1.0 - share) * self.delta + share * other.delta)

    def left_out(self, u: Array, d2: Array) -> Array:
        return namespace(d2).min(d2, axis=1) > self._delta(d2)

    @property
    def has_removal_costs(self) -> bool:
        return True

    def removal_costs(self, d2: Array) -> Array:
        return self._fuzzy.removal_costs(self._with_noise(d2))[:, : d2.shape[1]]

    @property
    def _fuzzy(self) -> Fuzzy:
        return Fuzzy(self.m)

    def _with_noise(self, d2: Array) -> Array:
        """d2 (b, c + 1), the noise cluster last."""
        xp = namespace(d2)
        noise = xp.full((d2.shape[0], 1), self._delta(d2), dtype=d2.dtype, device=device(d2))
        return xp.concat([d2, noise], axis=1)

    def _delta(self, like: Array) -> float:
        """delta, or the nearest number that the array's type can hold."""
        limits = namespace(like).finfo(like.dtype)
        return min(max(float(self.delta), float(limits.smallest_normal)), float(limits.max))

    def advice_on_collapse(self, limits: SoftnessLimits) -> str:
        return self._fuzzy.advice_on_collapse(limits)

    def advice_on_coincidence(self, limits: SoftnessLimits) -> str:
        return self._fuzzy.advice_on_coincidence(limits)
