"""k-means++ where very many rows are drawn: proposals are made ahead, so that their kernel values come from products of matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.arrays import Float64, IntArray, first_largest
from .kmeanspp import begun, kmeans_plus_plus, potential_noise, proposals
from .pairwise import Affinity
from .proposals import lowered

VERY_MANY = 256  # rows to be drawn from which on proposals are made ahead
CANDIDATES = 8  # of each draw: six of them lead, after 25 sweeps, to up to two percent more (benchmarks/seeding.py)
DIRECTIONS = 64  # along which rows of very many columns are drawn: no worse, in a sixth of the time (benchmarks/seeding.py)
AHEAD = 16  # rows taken so far for each draw that is made ahead: few proposals are rejected then
VALUES = 2**22  # kernel values that are there at a time


def seeds(
    affinity: Affinity,
    weights: Float64,  # (p,)
    count: int,
    rng: np.random.RandomState,
    *,
    nearest: Float64 | None = None,  # (p,) squared distances from what is taken already
) -> IntArray:
    """Return up to `count` rows far from each other: those of `kmeans_plus_plus`, or very many, drawn ahead.

    Candidates of several draws are proposed at once, in proportion to weight and squared distance D_i from the rows taken before all of
    them, and accepted with probability D_i now / D_i then, so that each is drawn in proportion to what D_i is when it is its turn
    (as Cohen-Addad et al. 2020 reject proposals from a bound). Of eight that are accepted the best is taken. Distances are computed in the
    precision of the rows, in plain space along a few directions alone, unless too few rows differ along these.
    """
    if count < VERY_MANY:
        return kmeans_plus_plus(affinity, weights, count, rng, nearest=nearest)
    affinity = affinity.in_given_precision()
    few = affinity.along(DIRECTIONS) if nearest is None else affinity
    chosen = _drawn_ahead(few, weights, count, rng, nearest)
    return chosen if few is affinity or len(chosen) == count else _drawn_ahead(affinity, weights, count, rng, nearest)


def _drawn_ahead(affinity: Affinity, weights: Float64, count: int, rng: np.random.RandomState, nearest: Float64 | None) -> IntArray:
    chosen, nearest = begun(affinity, weights, rng, nearest)
    noise = potential_noise(affinity, weights)
    while len(chosen) < count:
        ahead = min(max(len(chosen) // AHEAD, 1), max(VALUES // (CANDIDATES * len(weights)), 1), count - len(chosen))
        draws = proposals(weights * nearest, CANDIDATES * ahead, rng)
        if not len(draws):
            break
        measured, least = _Measured(affinity, draws), rng.uniform(size=len(draws)) * nearest[draws]
        left = list(range(len(draws)))
        while left and len(chosen) < count:
            tried, left = _accepted(left, draws, nearest, least)
            if tried:
                after, potentials = lowered(measured, draws[tried], nearest, weights)
                best = first_largest(-potentials, noise)
                chosen.append(int(draws[tried[best]]))
                nearest = after[best]
    return np.array(chosen, dtype=np.intp)


def _accepted(left: list[int], draws: IntArray, nearest: Float64, least: Float64) -> tuple[list[int], list[int]]:
    """Return the candidates of the next draw, and the proposals after them."""
    tried: list[int] = []
    for at, number in enumerate(left):
        if nearest[draws[number]] > least[number]:
            tried.append(number)
        if len(tried) == CANDIDATES:
            return tried, left[at + 1 :]
    return tried, []


@dataclass(frozen=True)
class _Measured(Affinity):
    """Rows of which the kernel values of some with all are known."""

    affinity: Affinity
    known: IntArray  # (q,)

    @cached_property
    def _values(self) -> Float64:
        return self.affinity.between(self.known)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {int(row): place for place, row in enumerate(self.known)}

    def between(self, rows: IntArray) -> Float64:
        return self._values[[self._places[int(row)] for row in rows]]

    @property
    def rounding(self) -> float:
        return self.affinity.rounding

    def diag(self) -> Float64:
        return self.affinity.diag()
