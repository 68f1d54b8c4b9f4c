"""The choice of landmarks among the rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.limits import Limits
from ..engines import Engine
from ..sampling.kmeanspp import kmeans_plus_plus
from ..sampling.pairwise import Affinity
from ..sampling.population import Population, draw, sample
from .rpcholesky import ONE_THREAD, PartialCholesky

# numbers of the factor that landmarks are chosen with; but at least four rows a landmark
FACTOR_ELEMENTS = 2**22
SPANNED = 1e-9  # share of the variance left out below which landmarks represent all rows exactly
# share of the way to the goal (of the residual's logarithm) that the rows left must cover at the
# latest pace
PACE = 0.25

AffinityOf = Callable[[IntArray], Affinity]  # kernel values among members of a population


def choose(
    method: str,
    count: int,
    affinity_of: AffinityOf,
    population: Population,
    rng: np.random.RandomState,
    *,
    shifted: bool = False,
    engine: Engine = ONE_THREAD,
) -> IntArray:
    """Return the row numbers of up to `count` landmarks: "rpcholesky" (rows represented worst),
    "k-means++" (far from each other) or "uniform" (in proportion to weight). `shifted`: affinities
    are about another origin than the kernel's own."""
    count = min(count, len(population))
    if method == "uniform":
        return population.at(np.sort(draw(population, count, rng)))
    if method == "k-means++":
        positions, weights = sample(population, max(population.limits.seeding_rows, count), rng)
        return population.at(
            positions[kmeans_plus_plus(affinity_of(positions), weights, count, rng, candidates=1)]
        )
    positions, weights = sample(population, rows_for(count, population.limits), rng)
    affinity = affinity_of(positions)
    chosen = rpcholesky(affinity, weights, count, rng, engine=engine)
    # they span all rows about that origin, but maybe not the origin itself
    if shifted and 0 < len(chosen) < count:
        chosen = np.append(chosen, _row_off_the_plane(affinity, chosen))
    # a kernel that is zero on all rows
    return population.at(positions[chosen]) if len(chosen) else population.at(np.arange(1))


def _row_off_the_plane(affinity: Affinity, rows: IntArray) -> int:
    """Return the row that is farthest from an affine combination of the given rows, which span all
    rows."""
    cholesky = PartialCholesky(affinity)
    cholesky.given(rows)
    factor, chosen = cholesky.factor(), np.array(cholesky.chosen)
    # sum of the coefficients that make up each row
    shares = factor @ np.linalg.solve(factor[chosen], np.ones(len(chosen)))
    return int(np.argmax(np.abs(1.0 - shares)))


def rows_for(count: int, limits: Limits) -> int:
    """Number of rows among which `count` landmarks are chosen."""
    return int(np.clip(FACTOR_ELEMENTS // count, 4 * count, limits.seeding_rows))


def rpcholesky(
    affinity: Affinity,
    weights: Float64,  # (p,)
    count: int,
    rng: np.random.RandomState,
    *,
    # (p, k) coordinates of the rows in the span of what is represented already
    known: Float64 | None = None,
    enough: float = 0.0,
    engine: Engine = ONE_THREAD,
) -> IntArray:
    """Return up to `count` rows that together with `known` represent all rows, each drawn in
    proportion to its residual.

    Randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2025). It ends early where the mean
    residual falls to `enough`.
    """
    cholesky = PartialCholesky(affinity, known, engine)
    cholesky.draw_up_to(count, weights, rng, enough * float(weights.sum()))
    return np.array(cholesky.chosen, dtype=np.intp)


def spanning_rows(
    affinity: Affinity, weights: Float64, variance: float, most: int, engine: Engine = ONE_THREAD
) -> IntArray | None:
    """Return rows whose span holds all rows but for 1e-9 of the variance; None where that takes
    more than a quarter of them, or `most`.

    The search ends as soon as the residual falls too slowly. Chance decides only which of many such
    sets is returned.
    """
    cholesky = PartialCholesky(affinity, engine=engine)
    p = weights / weights.sum()
    rng = np.random.RandomState(0)
    limit, goal = min(len(p) // 4, most), SPANNED * variance
    residual = float(p @ cholesky.residual)
    while residual > goal:
        known = len(cholesky.chosen)
        cholesky.settled(p, limit - known, rng)
        added = len(cholesky.chosen) - known
        before = residual
        residual = float(p @ cholesky.residual)
        left = limit - known - added
        if residual > goal and (
            not left
            or left * math.log(before / residual) < PACE * max(added, 1) * math.log(residual / goal)
        ):
            return None
    return np.array(cholesky.chosen, dtype=np.intp) if cholesky.chosen else None
