"""Fuzzy c-means: a row divides one unit of membership among the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from ..data.arrays import Array, Float64, device, namespace
from ..runtime.checks import known_number
from .base import NativeFunctions, Rule, RuleEvidence, check_fuzzifier, with_numbers
from .sized_fuzzy import SizedFuzzy


@dataclass(frozen=True, repr=False)
class Fuzzy(Rule):
    """u_ij = 1 / sum_k (d2_ij / d2_ik)^(1/(m-1)): Havens 2011 eq. 6 and Zhang 2013 eq. 2, with
    Bezdek's exponent.

    A row that coincides with centres is shared equally among them.

    Parameters
    ----------
    m : "auto" or float > 1, default="auto"
        The fuzzifier: the larger, the softer memberships are. "auto": as the rows allow (see
        Notes).

    Raises
    ------
    ValueError
        If m is neither "auto" nor above 1.

    Notes
    -----
    m="auto" is read off the best hard partition, into as many clusters as are asked for, of a fixed
    sample. Of its cluster j, E_j is the sum of squared distances to its mean, U_j the rise of the
    fuzzy objective at that m without it, and m*_j = 1 / (1 - 2 lambda_max) from the largest
    eigenvalue of the mean of y y^T / |y|^2 over its rows, y = phi(x) - mean, infinite from
    lambda_max = 1/2 on; m* is that of all rows about their mean. Two centres in one cluster lower
    its cost to 2^(1-m) E_j, so m is the least of

    - where (1 - 2^(1-m)) max_j E_j = min_j U_j / 2: up to there half the least use of a centre
      exceeds what it saves elsewhere;
    - 1 + (m* - 1) / 2, and 1 + (median_j m*_j - 1) / 2;
    - 2.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import Fuzzy
    >>> Fuzzy(2.0).memberships(np.array([[1.0, 3.0]]), None)
    array([[0.75, 0.25]])

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, eq. 6. Zhang, Havens: Scalable approximation of kernel fuzzy
    c-means. IEEE Big Data 2013, eq. 2. Bezdek: Pattern Recognition with Fuzzy Objective Function
    Algorithms. Plenum, 1981.
    """

    m: Literal["auto"] | float = "auto"
    name = "fuzzy"
    is_scale_free = True
    has_removal_costs = True

    def __post_init__(self) -> None:
        check_fuzzifier(self)

    def settled(self, evidence: RuleEvidence) -> Self:
        return with_numbers(self, m=lambda: evidence.automatic_fuzzifier)

    @property
    def _m(self) -> float:
        return known_number(self, "m")

    @property
    def power(self) -> float:
        """Of ratios of squared distances."""
        return 1.0 / (self._m - 1.0)

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions(
            "fuzzy, m = 2" if self._m == 2 else "fuzzy", m=self._m, power=self.power
        )

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        return shares(d2, self.power)

    def weights(self, u: Array) -> Array:
        return u * u if self._m == 2 else u**self._m

    def with_prices(self) -> SizedFuzzy | None:
        return SizedFuzzy(self._m)

    def removal_costs(self, d2: Array) -> Array:
        """A row's part is  (sum_k d2_ik^-power)^(1-m);  without a cluster the sum is over the
        others."""
        xp = namespace(d2)
        numbers = xp.arange(d2.shape[1], device=device(d2))
        nearest = numbers[None, :] == xp.argmin(d2, axis=1)[:, None]
        others = xp.where(nearest, xp.full_like(d2, xp.inf), d2)
        low, second = xp.min(d2, axis=1, keepdims=True), xp.min(others, axis=1, keepdims=True)
        ratios, of_others = self._raised(low, d2), self._raised(second, others)
        total, power = xp.sum(ratios, axis=1, keepdims=True), 1.0 - self._m
        without_nearest = second * xp.sum(of_others, axis=1, keepdims=True) ** power
        without = low * xp.where(nearest, total, total - ratios) ** power
        return xp.where(nearest, without_nearest, without) - low * total**power

    def _raised(self, low: Array, d2: Array) -> Array:
        """(low / d2)^power, 1 where both are zero."""
        xp = namespace(d2)
        zero = d2 <= 0
        return xp.where(
            zero, xp.ones_like(d2), (low / xp.where(zero, xp.ones_like(d2), d2)) ** self.power
        )

    def advice_on_collapse(self, evidence: RuleEvidence) -> str:
        critical = evidence.critical_fuzzifier
        if self._m > critical:
            beyond = (
                f"m={self._m:g} is beyond m*={critical:.4g}, from where these rows fall together"
            )
            return f'{beyond}: take m="auto" (at most {1.0 + (critical - 1.0) / 2.0:.4g} here)'
        automatic = evidence.advised_fuzzifier
        if self._m > automatic:
            return (
                f'm={self._m:g} is too large for so many clusters of these rows: take m="auto" '
                f"(about {automatic:.2g} here)"
            )
        return (
            f"m={self._m:g} is not too large for these rows, so they need not: take another "
            "init or more sweeps"
        )

    def advice_on_coincidence(self, evidence: RuleEvidence) -> str:
        automatic = evidence.advised_fuzzifier
        if self._m > automatic:
            too_large = f"m={self._m:g} is too large for so many clusters of these rows"
            return f'{too_large}: take m="auto" (about {automatic:.2g} here), or fewer clusters.'
        return (
            f"Take a smaller m, m={1.0 + (self._m - 1.0) / 2.0:.4g} for instance, or fewer "
            "clusters."
        )


def shares(d2: Array, power: float) -> Array:
    """Return memberships (b, c) in proportion to d2^-power; a row that coincides with centres is
    shared equally among them."""
    xp = namespace(d2)
    zero = d2 <= 0
    coincide = bool(xp.any(zero))
    safe = xp.where(zero, xp.ones_like(d2), d2) if coincide else d2
    if power == 1.0:
        u = xp.min(safe, axis=1, keepdims=True) / safe
    else:  # in logarithms: at m = 1.004 the power is 250, which overflows anything else
        u = xp.log(safe)
        u *= -power
        u -= xp.max(u, axis=1, keepdims=True)
        u = xp.exp(u)
    u /= xp.sum(u, axis=1, keepdims=True)
    if coincide:
        shared = xp.astype(zero, d2.dtype)
        count = xp.sum(shared, axis=1, keepdims=True)
        u = xp.where(count > 0, shared / xp.where(count > 0, count, xp.ones_like(count)), u)
    return u
