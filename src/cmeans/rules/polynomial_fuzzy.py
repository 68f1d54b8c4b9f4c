"""Fuzzy c-means with a polynomial fuzzifier: far clusters have no part of a row, near ones share
it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ..data.arrays import Array, Float64, namespace
from ..runtime.checks import ParameterError, real
from .base import NativeFunctions, Rule, RuleEvidence, with_numbers

# steps of the rows' numbers that 1 - beta is at least, as they cannot tell memberships of less
# softness
ROUNDINGS = 4


@dataclass(frozen=True, repr=False)
class PolynomialFuzzy(Rule):
    """Minimises  sum_ij h(u_ij) d2_ij,  h(u) = (1-beta)/(1+beta) u^2 + 2 beta/(1+beta) u,  rows
    summing to one.

    With the clusters in the order of their distances to a row,  u_ij = [(1 + (k-1) beta) / sum_l<=k
    (d2_ij / d2_il) - beta] / (1 - beta) for the k nearest of them, k the largest number for which
    all of these are positive, and 0 for the others. A row whose nearest squared distance is at most
    beta times the second belongs to that cluster alone: each cluster has a core, where memberships
    of `Fuzzy` never are 1. A row that coincides with centres is shared equally among them.

    beta = 0 is fuzzy c-means with m = 2; towards 1 memberships become hard.

    Parameters
    ----------
    beta : float in [0, 1), default=0.5
        The hardness: memberships are 1 where the nearest squared distance is at most beta times the
        second.

    Raises
    ------
    ValueError
        If beta is not a number from 0 to below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import PolynomialFuzzy
    >>> PolynomialFuzzy(0.5).memberships(np.array([[1.0, 3.0, 3.0], [2.0, 3.0, 9.0]]), None)
    array([[1. , 0. , 0. ],
           [0.8, 0.2, 0. ]])

    References
    ----------
    Klawonn, Hoppner: What is fuzzy about fuzzy clustering? Understanding and improving the concept
    of the fuzzifier. IDA 2003.
    """

    beta: float = 0.5
    name = "polynomial_fuzzy"
    is_scale_free = True

    def __post_init__(self) -> None:
        if real(self.beta, "beta", type(self).__name__) >= 1:
            wanted = (
                "{name} must be less than 1; for hard memberships, its limit, use KernelKMeans."
            )
            raise ParameterError(type(self).__name__, "beta", self.beta, wanted)

    def settled(self, evidence: RuleEvidence) -> Self:
        return with_numbers(self, beta=float)

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions("polynomial fuzzy", p=float(self.beta))

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        """From ratios r = low / d2:  u = (level r - beta) / (1 - beta)  where that is positive,
        found from all clusters down to those."""
        xp = namespace(d2)
        softness = max(1.0 - self.beta, ROUNDINGS * float(xp.finfo(d2.dtype).eps))
        beta, zero = 1.0 - softness, d2 <= 0
        ratios = xp.where(
            zero,
            xp.ones_like(d2),
            xp.min(d2, axis=1, keepdims=True) / xp.where(zero, xp.ones_like(d2), d2),
        )
        kept = xp.ones_like(d2)
        for _ in range(d2.shape[1]):
            level = (softness + beta * xp.sum(kept, axis=1, keepdims=True)) / xp.sum(
                kept * ratios, axis=1, keepdims=True
            )
            fewer = kept * xp.astype(level * ratios > beta, d2.dtype)
            if not bool(xp.any(fewer != kept)):
                break
            kept = fewer
        u = xp.where(kept > 0, level * ratios - beta, xp.zeros_like(d2))
        total = xp.sum(u, axis=1, keepdims=True)
        return u / xp.where(total > 0, total, xp.ones_like(total))

    def weights(self, u: Array) -> Array:
        return u * ((1.0 - self.beta) * u + 2.0 * self.beta) / (1.0 + self.beta)

    def advice_on_collapse(self, evidence: RuleEvidence) -> str:
        return (
            f"memberships of beta={self.beta:g} may be too soft for these rows: take a larger beta"
        )

    def advice_on_coincidence(self, evidence: RuleEvidence) -> str:
        return "Take a larger beta, or fewer clusters."
