"""Hard c-means with sizes between bounds: a row belongs where its squared distance less the
cluster's price is least."""

from __future__ import annotations

from dataclasses import dataclass

from ..data.arrays import Array, Float64, as_like, device, namespace
from .base import NativeFunctions, Rule, priced
from .sized_entropy import SizedEntropy


@dataclass(frozen=True, repr=False)
class SizedHard(Rule):
    """u_ij = 1 for the least d2_ij - g_j (ties to the lowest number), else 0: the rows' part of the
    dual of an assignment within bounds.

    The scales are the prices g_j: above zero where a cluster must be filled up, below where it is
    full, zero in between.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import SizedHard
    >>> SizedHard().memberships(np.array([[1.0, 4.0], [9.0, 4.0]]), np.array([0.0, 3.5]))
    array([[0., 1.],
           [0., 1.]])

    References
    ----------
    Bradley, Bennett, Demiriz: Constrained k-means clustering. Microsoft Research MSR-TR-2000-65,
    2000 (the assignment as a flow).
    """

    is_soft = False
    refills_empty_clusters = True
    has_prices = True
    is_partition = True
    native_functions = NativeFunctions("sized hard")

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        xp = namespace(d2)
        numbers = xp.arange(d2.shape[1], device=device(d2))
        best = xp.argmin(d2 - as_like(priced(scales), d2)[None, :], axis=1)
        return xp.astype(numbers[None, :] == best[:, None], d2.dtype)

    def smoothed(self, temperature: float) -> SizedEntropy:
        return SizedEntropy(temperature)
