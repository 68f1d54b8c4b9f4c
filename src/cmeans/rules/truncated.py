"""Memberships in the nearest clusters of a row alone, for very many clusters."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ..data.arrays import Array, Float64, namespace
from ..runtime.forwarding import forwards
from .base import Rule, RuleEvidence


@forwards("rule", "native_functions", "noise_share", "noise_distance", "weights", "penalty")
@forwards("rule", "left_out", "advice_on_collapse", "advice_on_coincidence")
@dataclass(frozen=True, repr=False)
class Truncated(Rule):
    """A rule whose rows have memberships in their k nearest clusters, N_k(i), alone: those that it
    gives if there are no others.

    It minimises the rule's objective, for fuzzy c-means  sum_i w_i sum_{j in N_k(i)} u_ij^m d2_ij
    with  sum_{j in N_k(i)} u_ij = 1,  over memberships of which at most k of a row are not zero,
    and so does not rise from sweep to sweep: for given centres no other k clusters of a row cost
    less, as a membership that goes from a cluster to a nearer one that has none costs less there,
    and all else (the other terms, the sum of one, a penalty that is the same for every cluster)
    stays; among k clusters the rule's own formula is the best; for given memberships the weighted
    means are. With k of at least the number of clusters it is the rule itself.

    Parameters
    ----------
    rule : Rule
        A soft rule whose rows sum to one, without scales or prices: `Fuzzy`, `Entropy`,
        `NoiseFuzzy` (noise is none of the k), your own.
    k : int >= 1
        The number of clusters in which a row has memberships; of centres at the same distance those
        of lower numbers count.

    Raises
    ------
    ValueError
        If k is no whole number of at least 1, or the rule is none of these.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans.rules import Fuzzy, Truncated
    >>> Truncated(Fuzzy(2.0), k=2).memberships(np.array([[1.0, 9.0, 3.0]]), None)
    array([[0.75, 0.  , 0.25]])
    """

    rule: Rule
    k: int

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, numbers.Integral) or self.k < 1:
            raise ValueError(
                f"Truncated(k={self.k!r}): k, the clusters in which a row has memberships, must be "
                "a whole number of at least 1."
            )
        why = self.refusal(self.rule) if isinstance(self.rule, Rule) else "it is no rule"
        if why is not None:
            raise ValueError(f"Truncated(rule={self.rule!r}): {why}.")
        object.__setattr__(self, "leaves_rows_out", self.rule.leaves_rows_out)

    def settled(self, evidence: RuleEvidence) -> Self:
        return replace(self, rule=self.rule.settled(evidence))

    @property
    def pilot(self) -> Rule | None:
        return None if self.rule.pilot is None else Truncated(self.rule.pilot, self.k)

    def at_noise_distance(self, delta: float) -> Self:
        return replace(self, rule=self.rule.at_noise_distance(delta))

    @staticmethod
    def refusal(rule: Rule) -> str | None:
        """Return a reason why a rule cannot be truncated; None where it can."""
        if not rule.is_soft:
            return "its memberships are hard, in the nearest cluster alone already"
        if not rule.rows_sum_to_one:
            return "its rows do not sum to one, so that each cluster decides alone"
        if rule.has_prices or rule.needs_pilot:
            return (
                "its clusters have scales or prices, by which others than the nearest may be "
                "the best"
            )
        return None if not isinstance(rule, Truncated) else "it is truncated already"

    @property
    def m(self) -> float:
        """The rule's fuzzifier; 1 where it has none."""
        return getattr(self.rule, "m", 1.0)

    @property
    def most_clusters(self) -> int:
        return int(self.k)

    def memberships(self, d2: Array, scales: Float64 | None) -> Array:
        if self.k >= d2.shape[1]:
            return self.rule.memberships(d2, scales)
        xp = namespace(d2)
        near = nearest_clusters(d2, self.k)
        u = self.rule.memberships(xp.where(near, d2, xp.full_like(d2, xp.inf)), scales)
        return xp.where(near, u, xp.zeros_like(u))


def nearest_clusters(d2: Array, k: int) -> Array:
    """True (b, c) for the k nearest centres of each row, of equal distances those of the lowest
    numbers."""
    xp = namespace(d2)
    in_part = np.partition(d2, k - 1, axis=1) if isinstance(d2, np.ndarray) else xp.sort(d2, axis=1)
    farthest = in_part[:, k - 1 : k]
    nearer, equal = d2 < farthest, d2 == farthest
    left = k - xp.sum(xp.astype(nearer, xp.int64), axis=1, keepdims=True)
    return nearer | (equal & (xp.cumulative_sum(xp.astype(equal, xp.int64), axis=1) <= left))
