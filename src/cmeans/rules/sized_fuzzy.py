"""Fuzzy c-means with sizes between bounds: a row divides one unit of membership among clusters that
have prices."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.arrays import Array, Float64, as_like, namespace
from .base import NativeFunctions, Rule, priced

# of Newton's method for the price of a row, at most; some ten where it does not fall back to
# halving
STEPS = 60


@dataclass(frozen=True, repr=False)
class SizedFuzzy(Rule):
    """u_ij = (max(nu_i + g_j, 0) / (m d2_ij))^(1/(m-1)), where nu_i, the row's own price, makes the
    row sum to one.

    It minimises  sum_j u_ij^m d2_ij - sum_j g_j u_ij;  the scales are the clusters' prices g_j.
    With equal prices it is `Fuzzy`.

    Parameters
    ----------
    m : float > 1
        The fuzzifier.

    Raises
    ------
    ValueError
        If m is not above 1.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import SizedFuzzy
    >>> SizedFuzzy(2.0).memberships(np.array([[1.0, 3.0]]), np.array([0.0, 2.0]))
    array([[0.5, 0.5]])
    """

    m: float
    has_prices = True
    labels_need_norms = True

    def __post_init__(self) -> None:
        if not self.m > 1:
            raise ValueError(
                f"SizedFuzzy(m={self.m!r}): m must be greater than 1; for m = 1 use KernelKMeans."
            )

    @property
    def power(self) -> float:
        """1/(m-1)."""
        return 1.0 / (self.m - 1.0)

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions("sized fuzzy", m=self.m, power=self.power)

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        """With nu at its greatest possible value, min_j (m d2_j - g_j), less t >= 0: nu + g_j =
        lead_j - t, where lead_j <= m d2_j."""
        xp = namespace(d2)
        prices, costs = as_like(priced(scales), d2)[None, :], self.m * d2
        net = costs - prices
        first = xp.min(net, axis=1, keepdims=True)
        # which rounding must not make larger
        lead = xp.where(net == first, costs, xp.minimum(first + prices, costs))
        zero = costs <= 0
        safe = xp.where(zero, xp.ones_like(costs), costs)
        lead = xp.where(zero, xp.zeros_like(lead), lead)
        u = self._raised(
            lead, safe, self._less(lead, safe, xp.any(zero & (net == first), axis=1, keepdims=True))
        )
        # centres that the row coincides with have what the others leave
        at = xp.astype(zero & (net == first), d2.dtype)
        total, count = xp.sum(u, axis=1, keepdims=True), xp.sum(at, axis=1, keepdims=True)
        left = xp.where(
            count > 0, xp.maximum(1.0 - total, xp.zeros_like(total)), xp.zeros_like(total)
        )
        u = u + at * (left / xp.maximum(count, xp.ones_like(count)))
        return u / xp.sum(u, axis=1, keepdims=True)

    def weights(self, u: Array) -> Array:
        return u * u if self.m == 2 else u**self.m

    def slopes(self, u: Array, d2: Array, scales: Float64) -> Array:
        """power u_ij / (nu_i + g_j), where  nu_i + g_j = m d2_ij u_ij^(m-1)."""
        xp = namespace(d2)
        # where the row coincides with a centre, which takes up all changes
        least = float(xp.finfo(d2.dtype).smallest_normal) ** 0.5
        lead = self.m * d2 * (u if self.m == 2 else u ** (self.m - 1.0))
        return self.power * u / xp.maximum(lead, xp.full_like(lead, least))

    def _raised(self, lead: Array, costs: Array, t: Array) -> Array:
        xp = namespace(lead)
        ratio = xp.maximum(lead - t, xp.zeros_like(lead)) / costs
        return ratio if self.power == 1.0 else ratio**self.power

    def _less(self, lead: Array, costs: Array, coincide: Array) -> Array:
        """t (b, 1), by Newton's method on  (sum_j u_j)^(1/power) - 1,  a norm of the leads, within
        bounds that it must not leave."""
        xp = namespace(lead)
        # where memberships sum to one at least, but for rows at a centre
        low = xp.zeros_like(lead[:, :1])
        high = xp.max(lead, axis=1, keepdims=True)  # where they are all zero
        t = low
        for _ in range(STEPS):
            u = self._raised(lead, costs, t)
            total = xp.sum(u, axis=1, keepdims=True)
            settled = (xp.abs(total - 1.0) <= 4 * float(xp.finfo(lead.dtype).eps)) | (
                coincide & (t == 0) & (total <= 1)
            )
            if bool(xp.all(settled)):
                break
            low, high = xp.where(total >= 1, t, low), xp.where(total < 1, t, high)
            left = lead - t
            fall = xp.sum(
                xp.where(
                    left > 0, u / xp.where(left > 0, left, xp.ones_like(left)), xp.zeros_like(u)
                ),
                axis=1,
                keepdims=True,
            )
            safe = xp.where(total > 0, total, xp.ones_like(total))
            step = (safe - safe ** (1.0 - 1.0 / self.power)) / xp.where(
                fall > 0, fall, xp.ones_like(fall)
            )
            new = t + step
            inside = (fall > 0) & (total > 0) & (new > low) & (new < high)
            new = xp.where(inside, new, 0.5 * (low + high))
            t = xp.where(settled, t, new)
        return t
