"""Sparse possibilistic c-means: a cluster wants only the rows within a radius that its scale and
the sparsity set."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Array, Float64, as_like, namespace
from .base import NativeFunctions, needed
from .with_scales import RuleWithScales

HALLEY_STEPS = 4


@dataclass(frozen=True, repr=False)
class SparsePossibilistic(RuleWithScales):
    """u_ij minimises  u d2_ij + eta_j (u ln u - u + 1) + lambda u^p  over u >= 0.

    This is Xenaki, Koutroumbas, Rontogiannis 2014, eq. 3-9, but for the constant eta_j, with which
    a row that belongs nowhere costs eta_j and the objective is never negative.

    The largest stationary point is u = exp(-d2/eta + W(-z) / (1-p)), z = lambda p (1-p) / eta
    exp((1-p) d2 / eta), with W the principal branch of Lambert's function. It is taken where it
    beats u = 0, which is where z < p e^-p; elsewhere u = 0, so that a row may belong nowhere.

    Without sparsity u = exp(-d2/eta): the possibilistic c-means of Krishnapuram & Keller 1996
    (PCM-96).

    Parameters
    ----------
    sparsity : float >= 0 or None, default=None
        lambda; None: as `share` says.
    share : float >= 0, default=0.9
        lambda = share min_j eta_j / (p (1-p) e^(2-p)), which follows the scales. Below
        `largest_share`.
    p : float in (0, 1), default=0.5
        Power of the sparsity term.
    reach : float >= 0, default=0.0
        Of a share: lambda is lowered where R_j^2 of some cluster, beyond which u = 0, would be less
        than reach eta_j^2; for scales that are deviations and stand for their squares.
    pilot_m : "auto" or float > 1, default="auto"
        The fuzzifier of the fuzzy run that goes first, of `CMeans`.
    eta_scale : float > 0, default=1.0
        Width of the clusters relative to those of that run: it multiplies all eta_j.

    Raises
    ------
    ValueError
        If a number is out of its range, or scales are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import SparsePossibilistic
    >>> d2, scales = np.array([[0.0, 1.0, 9.0]]), np.array([1.0, 1.0, 1.0])
    >>> SparsePossibilistic().memberships(d2, scales).round(2)
    array([[0.59, 0.  , 0.  ]])

    References
    ----------
    Xenaki, Koutroumbas, Rontogiannis: Sequential sparse adaptive possibilistic clustering. SETN
    2014, eq. 3-9. Krishnapuram, Keller: The possibilistic c-means algorithm: insights and
    recommendations. IEEE Trans. Fuzzy Systems 4(3), 1996.
    """

    sparsity: float | None = None
    share: float = 0.9
    p: float = 0.5
    reach: float = 0.0
    rows_sum_to_one = False
    leaves_rows_out = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.p < 1:
            raise ValueError(f"SparsePossibilistic(p={self.p!r}): p must lie between 0 and 1.")
        if self.sparsity is not None and not 0 <= self.sparsity < math.inf:
            raise ValueError(
                f"SparsePossibilistic(sparsity={self.sparsity!r}): give a number of at least 0, or "
                "None for a share."
            )
        if not 0 <= self.share < self.largest_share:
            raise ValueError(
                f"SparsePossibilistic(share={self.share!r}): it must be at least 0 and below "
                f"{self.largest_share:.4g} for p={self.p:g}; "
                "beyond, the smallest cluster wants no row at all."
            )
        if not 0 <= self.reach < math.inf:
            raise ValueError(
                f"SparsePossibilistic(reach={self.reach!r}): it must be a number of at least 0."
            )

    @property
    def largest_share(self) -> float:
        """The share at which the smallest cluster's radius is 0: lambda (1-p) / eta = e^-p."""
        return self.p * math.exp(2.0 - 2.0 * self.p)

    def largest_strength(self, scales: Float64) -> float:
        """The lambda at which the widest cluster's radius is 0, so that no row belongs anywhere."""
        return float(scales.max()) * math.exp(self.edge) / (self.p * (1.0 - self.p))

    def strength(self, scales: Float64 | None) -> float:
        """lambda, for clusters of these scales."""
        if self.sparsity is not None:
            return self.sparsity
        p, known = self.p, needed(scales)
        strength = self.share * float(known.min()) / (p * (1.0 - p) * math.exp(2.0 - p))
        if self.reach > 0:
            bounds = known / (p * (1.0 - p)) * np.exp(self.edge - (1.0 - p) * self.reach * known)
            strength = min(strength, float(bounds.min()))
        return strength

    @property
    def edge(self) -> float:
        """ln z at the radius."""
        return math.log(self.p) - self.p

    def radii(self, scales: Float64) -> Float64:
        """R_j^2 (c,): squared distances at and beyond which u = 0; infinite without sparsity, 0
        where a cluster wants no row."""
        strength, p = self.strength(scales), self.p
        if strength == 0:
            infinite: Float64 = scales * math.inf
            return infinite
        ratio = strength * p * (1.0 - p) / scales  # z at distance 0
        radii: Float64 = scales / (1.0 - p) * (self.edge - _log(ratio))
        return radii.clip(min=0.0)

    @property
    def native_functions(self) -> NativeFunctions:
        return NativeFunctions("sparse", p=self.p)

    def numbers(self, scales: Float64) -> Float64:
        """eta_j, R_j^2, and the logarithm of z at distance 0, -inf without sparsity."""
        ratio = self.strength(scales) * self.p * (1.0 - self.p) / scales
        return np.stack(
            [
                scales,
                self.radii(scales),
                np.log(np.where(ratio > 0, ratio, 1.0)) + np.where(ratio > 0, 0.0, -np.inf),
            ]
        )

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        xp = namespace(d2)
        known = needed(scales)
        eta = as_like(known, d2)[None, :]
        plain = d2 / eta
        strength = self.strength(known)
        if strength == 0:
            return xp.exp(-plain)
        p = self.p
        wanted = d2 < as_like(self.radii(known), d2)[None, :]
        inside = xp.where(wanted, plain, xp.zeros_like(plain))
        z = as_like(strength * p * (1.0 - p) / known, d2)[None, :] * xp.exp((1.0 - p) * inside)
        u = xp.exp(_lambert(z) / (1.0 - p) - inside)
        kept = xp.where(wanted, u, xp.zeros_like(u))
        return xp.where(d2 == d2, kept, d2)  # NaN stays, and is found

    def penalty(self, u: Array, scales: Float64 | None) -> Array:
        xp = namespace(u)
        known = needed(scales)
        eta = as_like(known, u)[None, :]
        positive = u > 0
        logs = xp.log(xp.where(positive, u, xp.ones_like(u)))
        costs = eta * (u * logs - u + 1.0)
        strength = self.strength(known)
        if strength > 0:
            costs = costs + xp.where(positive, strength * xp.exp(self.p * logs), xp.zeros_like(u))
        return xp.sum(costs, axis=1)


def _lambert(z: Array) -> Array:
    """W0(-z) for 0 <= z <= 1/e, by Halley's steps from a series about 0, or about the branch point
    -1/e where z is near it."""
    xp = namespace(z)
    near = xp.where(z < 0.25, z, 0.25 * xp.ones_like(z))
    root = xp.sqrt(2.0 * xp.where(math.e * z < 1.0, 1.0 - math.e * z, xp.zeros_like(z)))
    w = xp.where(
        z < 0.25,
        -near * (1.0 + near * (1.0 + 1.5 * near)),
        -1.0 + root * (1.0 - root * (1.0 / 3.0 - 11.0 / 72.0 * root)),
    )
    for _ in range(HALLEY_STEPS):
        power = xp.exp(w)
        g = w * power + z
        slope = power * (w + 1.0) - (w + 2.0) * g / (2.0 * w + 2.0)
        step = g / slope
        w = xp.where((slope != 0) & (step == step), w - step, w)
    return w


def _log(values: Float64) -> Float64:
    logs: Float64 = namespace(values).log(values)
    return logs
