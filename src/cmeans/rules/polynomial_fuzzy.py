"""Fuzzy c-means with a polynomial fuzzifier: far clusters have no part of a row, near ones share it."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..data.arrays import Array, Float64, namespace
from .base import NativeFunctions, Rule, SoftnessLimits

ROUNDINGS = 4  # steps of the rows' numbers that 1 - beta is at least, as they cannot tell memberships of less softness


@dataclass(frozen=True)
class PolynomialFuzzy(Rule):
    """Minimises  sum_ij h(u_ij) d2_ij,  h(u) = (1-beta)/(1+beta) u^2 + 2 beta/(1+beta) u,  rows summing to one.

    With the clusters in the order of their distances to a row,  u_ij = [(1 + (k-1) beta) / sum_l<=k (d2_ij / d2_il) - beta] / (1 - beta)
    for the k nearest of them, k the largest number for which all of these are positive, and 0 for the others. A row whose nearest squared
    distance is at most beta times the second belongs to that cluster alone: each cluster has a core, where memberships of `Fuzzy`
    never are 1. A row that coincides with centres is shared equally among them.

    beta = 0 is fuzzy c-means with m = 2; towards 1 memberships become hard.

    Parameters
    ----------
    beta : float in [0, 1)
        The hardness.

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
    Klawonn, Hoppner: What is fuzzy about fuzzy clustering? Understanding and improving the concept of the fuzzifier. IDA 2003.
    """

    beta: float
    name = "polynomial_fuzzy"
    made_from = ("beta",)
    is_scale_free = True

    def __post_init__(self) -> None:
        if isinstance(self.beta, bool) or not isinstance(self.beta, numbers.Real) or not 0 <= self.beta < 1:
            raise ValueError(
                f"PolynomialFuzzy(beta={self.beta!r}): beta must be a number from 0 to below 1; for beta = 1, hard memberships, use "
                "KernelKMeans."
            )

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], settle: Callable[[str, Any], float]) -> Self:
        return cls(settle("beta", parameters["beta"]))

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions("polynomial fuzzy", p=float(self.beta))

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        """From ratios r = low / d2:  u = (level r - beta) / (1 - beta)  where that is positive, found from all clusters down to those."""
        xp = namespace(d2)
        softness = max(1.0 - self.beta, ROUNDINGS * float(xp.finfo(d2.dtype).eps))
        beta, zero = 1.0 - softness, d2 <= 0
        ratios = xp.where(zero, xp.ones_like(d2), xp.min(d2, axis=1, keepdims=True) / xp.where(zero, xp.ones_like(d2), d2))
        kept = xp.ones_like(d2)
        for _ in range(d2.shape[1]):
            level = (softness + beta * xp.sum(kept, axis=1, keepdims=True)) / xp.sum(kept * ratios, axis=1, keepdims=True)
            fewer = kept * xp.astype(level * ratios > beta, d2.dtype)
            if not bool(xp.any(fewer != kept)):
                break
            kept = fewer
        u = xp.where(kept > 0, level * ratios - beta, xp.zeros_like(d2))
        total = xp.sum(u, axis=1, keepdims=True)
        return u / xp.where(total > 0, total, xp.ones_like(total))

    def weights(self, u: Array) -> Array:
        return u * ((1.0 - self.beta) * u + 2.0 * self.beta) / (1.0 + self.beta)

    def advice_on_collapse(self, limits: SoftnessLimits) -> str:
        return f"memberships of beta={self.beta:g} may be too soft for these rows: take a larger beta"

    def advice_on_coincidence(self, limits: SoftnessLimits) -> str:
        return "Take a larger beta, or fewer clusters."
