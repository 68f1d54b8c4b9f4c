"""Possibilistic c-means: each cluster judges a row by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from ..data.arrays import Array, Float64, as_like, namespace
from ..runtime.checks import known_number
from .base import NativeFunctions, RuleEvidence, check_fuzzifier, needed, with_numbers
from .with_scales import RuleWithScales


@dataclass(frozen=True, repr=False)
class Possibilistic(RuleWithScales):
    """u_ij = 1 / (1 + (d2_ij / eta_j)^(1/(m-1))): Havens 2011 eq. 7 with Krishnapuram & Keller's
    exponent.

    The typicality is 1/2 at the distance sqrt(eta_j) from centre j. The objective adds sum_j eta_j
    sum_i (1 - u_ij)^m.

    Parameters
    ----------
    m : "auto" or float > 1, default=2.0
        How softly typicality falls with distance. "auto": as that of `Fuzzy`.
    pilot_m : "auto" or float > 1, default="auto"
        The fuzzifier of the fuzzy run that goes first.
    eta_scale : float > 0, default=1.0
        Width of the clusters relative to those of that run: it multiplies all eta_j.

    Raises
    ------
    ValueError
        If a number is out of its range, or scales are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import Possibilistic
    >>> Possibilistic().memberships(np.array([[0.0, 1.0, 3.0]]), np.array([1.0, 1.0, 1.0]))
    array([[1.  , 0.5 , 0.25]])

    References
    ----------
    Krishnapuram, Keller: A possibilistic approach to clustering. IEEE Trans. Fuzzy Systems 1(2),
    1993. Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for
    large-scale clustering. FUZZ-IEEE 2011, eq. 7.
    """

    m: Literal["auto"] | float = 2.0
    name = "possibilistic"
    rows_sum_to_one = False

    def __post_init__(self) -> None:
        check_fuzzifier(self)
        super().__post_init__()

    def settled(self, evidence: RuleEvidence) -> Self:
        return with_numbers(super().settled(evidence), m=lambda: evidence.automatic_fuzzifier)

    @property
    def _m(self) -> float:
        return known_number(self, "m")

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions(
            "possibilistic, m = 2" if self._m == 2 else "possibilistic",
            m=self._m,
            power=1.0 / (self._m - 1.0),
        )

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        xp = namespace(d2)
        eta = as_like(needed(scales), d2)[None, :]
        if self._m == 2:
            return eta / (d2 + eta)
        zero = d2 <= 0
        odds = xp.log(xp.where(zero, xp.ones_like(d2), d2) / eta)
        odds *= 1.0 / (self._m - 1.0)
        return xp.where(zero, xp.ones_like(d2), _logistic(-odds))

    def weights(self, u: Array) -> Array:
        return u * u if self._m == 2 else u**self._m

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        rest = 1.0 - u
        return namespace(u).sum(self.weights(rest) * as_like(needed(scales), u)[None, :], axis=1)

    def advice_on_collapse(self, evidence: RuleEvidence) -> str:
        return "the scales eta_ are as wide as the data: take a smaller eta_scale or fewer clusters"

    def advice_on_coincidence(self, evidence: RuleEvidence) -> str:
        return (
            "Possibilistic clusters do not repel each other: take fewer clusters or a smaller "
            "eta_scale."
        )


def _logistic(t: Array) -> Array:
    """1 / (1 + exp(-t)) without overflow: only exponentials of negative numbers are taken."""
    xp = namespace(t)
    small = xp.exp(-xp.abs(t))
    return xp.where(t >= 0, xp.ones_like(t), small) / (1.0 + small)
