"""Hard c-means: a row belongs to its nearest centre."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.arrays import Array, Float64, device, namespace
from .base import NativeFunctions, Rule
from .sized_hard import SizedHard


@dataclass(frozen=True, repr=False)
class Hard(Rule):
    """u_ij = 1 for the nearest centre (ties to the lowest number), else 0: Havens 2011 eq. 5.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import Hard
    >>> Hard().memberships(np.array([[1.0, 4.0], [9.0, 4.0]]), None)
    array([[1., 0.],
           [0., 1.]])

    References
    ----------
    Havens, Chitta, Jain, Jin: Speedup of fuzzy and possibilistic kernel c-means for large-scale
    clustering. FUZZ-IEEE 2011, eq. 5.
    """

    name = "hard"
    is_scale_free = True
    is_shift_free = True
    is_soft = False
    refills_empty_clusters = True
    follows_nearest = True
    has_removal_costs = True
    native_functions = NativeFunctions("hard")

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        xp = namespace(d2)
        numbers = xp.arange(d2.shape[1], device=device(d2))
        return xp.astype(numbers[None, :] == xp.argmin(d2, axis=1)[:, None], d2.dtype)

    def with_prices(self) -> SizedHard:
        return SizedHard()

    def removal_costs(self, d2: Array) -> Array:
        """The rows of the cluster would go to their second nearest centre."""
        xp = namespace(d2)
        own = self.memberships(d2, None) > 0
        second = xp.min(xp.where(own, xp.full_like(d2, xp.inf), d2), axis=1)
        return xp.where(own, (second - xp.min(d2, axis=1))[:, None], xp.zeros_like(d2))
