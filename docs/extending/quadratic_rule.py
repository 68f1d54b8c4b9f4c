"""A rule of one's own, in one file: fuzzy c-means with a quadratic term (Miyamoto & Umayahara
1998)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from array_api_compat import array_namespace

from cmeans.rules import Rule, RuleEvidence


@dataclass(frozen=True, repr=False)
class QuadraticFuzzy(Rule):
    """Minimises  sum_ij u_ij d2_ij + strength sum_ij u_ij^2,  rows summing to one.

    A row shares itself among the centres that are hardly farther than its nearest, and has no part
    in others.

    Parameters
    ----------
    strength : "auto" or float > 0, default="auto"
        The softness, in units of squared distances: the larger, the more clusters share a row.
    """

    strength: Literal["auto"] | float = "auto"
    name = "quadratic_fuzzy"

    def __post_init__(self) -> None:
        if self.strength != "auto" and not 0 < self.strength < float("inf"):
            raise ValueError(
                f'QuadraticFuzzy(strength={self.strength!r}): give "auto" or a number above 0.'
            )

    def settled(self, evidence: RuleEvidence) -> Self:
        return replace(self, strength=evidence.temperature) if self.strength == "auto" else self

    def memberships(self, d2: Any, scales: Any) -> Any:
        """u_j = max(level - d2_j, 0) / (2 strength), where the level makes rows sum to one: the
        least of those of the k nearest."""
        xp = array_namespace(d2)
        farther = d2 - xp.min(d2, axis=1, keepdims=True)
        numbers = xp.astype(xp.arange(1, d2.shape[1] + 1), d2.dtype)
        levels = (2 * self.strength + xp.cumulative_sum(xp.sort(farther, axis=1), axis=1)) / numbers
        u = xp.clip(xp.min(levels, axis=1, keepdims=True) - farther, 0)
        return u / xp.sum(u, axis=1, keepdims=True)

    def weights(self, u: Any) -> Any:
        return u

    def penalty(self, u: Any, scales: Any) -> Any:
        return self.strength * array_namespace(u).sum(u * u, axis=1)
