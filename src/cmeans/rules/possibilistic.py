"""Possibilistic c-means: each cluster judges a row by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..data.arrays import Array, Float64, as_like, namespace
from .base import NativeFunctions, Rule, SoftnessLimits, needed


@dataclass(frozen=True)
class Possibilistic(Rule):
    """u_ij = 1 / (1 + (d2_ij / eta_j)^(1/(m-1))): Havens 2011 eq. 7 with Krishnapuram & Keller's exponent.

    The typicality is 1/2 at the distance sqrt(eta_j) from centre j. The objective adds sum_j eta_j sum_i (1 - u_ij)^m.

    Parameters
    ----------
    m : float > 1, default=2.0
        How softly typicality falls with distance.

    Raises
    ------
    ValueError
        If m is not above 1, or scales are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import Possibilistic
    >>> Possibilistic().memberships(np.array([[0.0, 1.0, 3.0]]), np.array([1.0, 1.0, 1.0]))
    array([[1.  , 0.5 , 0.25]])

    References
    ----------
    Krishnapuram, Keller: A possibilistic approach to clustering. IEEE Trans. Fuzzy Systems 1(2), 1993.
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale clustering. FUZZ-IEEE 2011, eq. 7.
    """

    m: float = 2.0
    name = "possibilistic"
    made_from = ("m",)
    rows_sum_to_one = False
    needs_pilot = True

    def __post_init__(self) -> None:
        if not self.m > 1:
            raise ValueError(f"Possibilistic(m={self.m!r}): m must be greater than 1; for m = 1 use KernelKMeans.")

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], settle: Callable[[str, Any], float]) -> Self:
        m = parameters["m"]
        return cls(settle("m", 2.0 if isinstance(m, str) and m == "auto" else m))

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions("possibilistic, m = 2" if self.m == 2 else "possibilistic", m=self.m, power=1.0 / (self.m - 1.0))

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        xp = namespace(d2)
        eta = as_like(needed(scales), d2)[None, :]
        if self.m == 2:
            return eta / (d2 + eta)
        zero = d2 <= 0
        odds = xp.log(xp.where(zero, xp.ones_like(d2), d2) / eta)
        odds *= 1.0 / (self.m - 1.0)
        return xp.where(zero, xp.ones_like(d2), _logistic(-odds))

    def weights(self, u: Array) -> Array:
        return u * u if self.m == 2 else u**self.m

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        rest = 1.0 - u
        return namespace(u).sum(self.weights(rest) * as_like(needed(scales), u)[None, :], axis=1)

    def advice_on_collapse(self, limits: SoftnessLimits) -> str:
        return "the scales eta_ are as wide as the data: take a smaller eta_scale or fewer clusters"

    def advice_on_coincidence(self, limits: SoftnessLimits) -> str:
        return "Possibilistic clusters do not repel each other: take fewer clusters or a smaller eta_scale."


def _logistic(t: Array) -> Array:
    """1 / (1 + exp(-t)) without overflow: only exponentials of negative numbers are taken."""
    xp = namespace(t)
    small = xp.exp(-xp.abs(t))
    return xp.where(t >= 0, xp.ones_like(t), small) / (1.0 + small)
