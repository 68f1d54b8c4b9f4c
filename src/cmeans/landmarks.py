"""Which rows become landmarks."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .affinity import Affinity
from .arrays import Float64, IntArray
from .chance import Population, draw, sample
from .cholesky import PartialCholesky
from .seeding import SEEDING_ROWS, kmeans_plus_plus

METHODS = ("rpcholesky", "k-means++", "uniform")
MOST = 2048  # landmarks, where nobody says how many
FACTOR_ELEMENTS = 2**22  # numbers of the factor that choosing landmarks works with; but never fewer rows than four a landmark
SPANNED = 1e-9  # share of the variance left out at which rows stand for all of them exactly
PACE = 0.25  # how much faster than so far the residual may be hoped to fall

AffinityOf = Callable[[IntArray], Affinity]  # kernel values among members of a population


def choose(
    method: str, count: int, known: AffinityOf, people: Population, rng: np.random.RandomState, *, shifted: bool = False
) -> IntArray:
    """Row numbers of up to `count` landmarks: "rpcholesky" (what is represented worst), "k-means++" (far from each other) or "uniform"
    (in proportion to weight). `shifted`: affinities are about another origin than the kernel's own."""
    count = min(count, len(people))
    if method == "uniform":
        return people.at(np.sort(draw(people, count, rng)))
    if method == "k-means++":
        positions, weights = sample(people, max(SEEDING_ROWS, count), rng)
        return people.at(positions[kmeans_plus_plus(known(positions), weights, count, rng, candidates=1)])
    positions, weights = sample(people, rows_for(count), rng)
    among = known(positions)
    picked = rpcholesky(among, weights, count, rng)
    if shifted and 0 < len(picked) < count:  # they span all about that origin, but what they span may not hold it
        picked = np.append(picked, _off_the_plane(among, picked))
    return people.at(positions[picked]) if len(picked) else people.at(np.arange(1))  # a kernel that is zero on all rows


def _off_the_plane(affinity: Affinity, rows: IntArray) -> int:
    """A row not among the affine combinations of the given ones, which span all rows: as far from them as can be."""
    cholesky = PartialCholesky(affinity)
    cholesky.given(rows)
    factor, chosen = cholesky.factor(), np.array(cholesky.chosen)
    shares = factor @ np.linalg.solve(factor[chosen], np.ones(len(chosen)))  # how they add up in what makes each row
    return int(np.argmax(np.abs(1.0 - shares)))


def rows_for(count: int) -> int:
    """Rows that `count` landmarks are chosen among."""
    return int(np.clip(FACTOR_ELEMENTS // count, 4 * count, SEEDING_ROWS))


def rpcholesky(
    affinity: Affinity,
    weights: Float64,  # (p,)
    count: int,
    rng: np.random.RandomState,
    *,
    known: Float64 | None = None,  # (p, k) coordinates of the rows in the span that there is already
    enough: float = 0.0,
) -> IntArray:
    """Up to `count` rows that together with what is known represent all of them: each drawn in proportion to its residual.

    Randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2025). It ends early where the mean residual falls to `enough`.
    """
    cholesky = PartialCholesky(affinity, known)
    cholesky.draw_up_to(count, weights, rng, enough * float(weights.sum()))
    return np.array(cholesky.chosen, dtype=np.intp)


def spanning_rows(affinity: Affinity, weights: Float64, variance: float) -> IntArray | None:
    """Rows whose span holds all rows but for 1e-9 of the variance; None where that takes more than a quarter of them, or 2,048.

    It is given up as soon as the residual falls too slowly, and nothing hangs on chance but which of many such sets comes back.
    """
    cholesky, p, rng = PartialCholesky(affinity), weights / weights.sum(), np.random.RandomState(0)
    limit, goal = min(len(p) // 4, MOST), SPANNED * variance
    residual = float(p @ cholesky.residual)
    while residual > goal:
        known = len(cholesky.chosen)
        cholesky.settled(p, limit - known, rng)
        added, before, residual = len(cholesky.chosen) - known, residual, float(p @ cholesky.residual)
        left = limit - known - added
        if residual > goal and (not left or left * math.log(before / residual) < PACE * max(added, 1) * math.log(residual / goal)):
            return None
    return np.array(cholesky.chosen, dtype=np.intp) if cholesky.chosen else None
