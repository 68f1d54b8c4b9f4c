"""Initial centres drawn among rows: k-means++ and Max-Min."""

from __future__ import annotations

import math

import numpy as np

from ..data.arrays import Float64, IntArray, first_largest
from .drawing import one_drawn
from .pairwise import Affinity
from .proposals import lowered


def kmeans_plus_plus(
    affinity: Affinity,
    weights: Float64,  # (p,)
    count: int,
    rng: np.random.RandomState,
    *,
    candidates: int | None = None,
    nearest: Float64 | None = None,  # (p,) squared distances from what is taken already
) -> IntArray:
    """Return up to `count` rows far from each other: each is drawn in proportion to its squared distance from those before it.

    Distances are the kernel's own. Of 2 + ln(count) candidates the one that lowers the sum of distances most is taken
    (greedy k-means++, Arthur & Vassilvitskii 2007). Fewer rows are returned when no further row differs from those taken.
    """
    tries = 2 + int(math.log(max(count, 1))) if candidates is None else candidates
    chosen, nearest = begun(affinity, weights, rng, nearest)
    noise = potential_noise(affinity, weights)
    while len(chosen) < count:
        draws = proposals(weights * nearest, tries, rng)
        if not len(draws):
            break
        after, potentials = lowered(affinity, draws, nearest, weights)
        best = first_largest(-potentials, noise)
        chosen.append(int(draws[best]))
        nearest = after[best]
    return np.array(chosen, dtype=np.intp)


def max_min(
    affinity: Affinity,
    weights: Float64,  # (p,)
    count: int,
    rng: np.random.RandomState,
    *,
    nearest: Float64 | None = None,  # (p,) squared distances from what is taken already
) -> IntArray:
    """Return up to `count` rows far apart: after a drawn row, always the one that is farthest from those taken so far.

    (Gonzalez 1985; Max-Min in Xenaki, Koutroumbas, Rontogiannis 2014.) Fewer are returned when no further row differs.
    """
    chosen, nearest = begun(affinity, weights, rng, nearest)
    noise = 2.0 * affinity.rounding * float(affinity.diag().max())
    while len(chosen) < count and nearest.max() > 0:
        chosen.append(first_largest(nearest, noise))
        nearest = lowered(affinity, np.array(chosen[-1:]), nearest, weights)[0][0]
    return np.array(chosen, dtype=np.intp)


def proposals(masses: Float64, count: int, rng: np.random.RandomState) -> IntArray:
    """Draw so many rows (repetitions are possible) in proportion to their masses (p,); none where these are zero."""
    mass = np.cumsum(masses, dtype=np.float64)
    if not mass[-1] > 0:
        return np.empty(0, dtype=np.intp)
    draws = np.searchsorted(mass, rng.uniform(size=count) * mass[-1], side="right")
    possible: IntArray = np.minimum(draws, np.searchsorted(mass, mass[-1]))  # never a row of no mass after the last possible one
    return possible


def potential_noise(affinity: Affinity, weights: Float64) -> float:
    """Return what rounding may make of a weighted sum of squared distances."""
    return 2.0 * affinity.rounding * float(weights @ affinity.diag())


def begun(affinity: Affinity, weights: Float64, rng: np.random.RandomState, nearest: Float64 | None) -> tuple[list[int], Float64]:
    """Draw the first row, unless distances from what is taken are given; return it with the squared distances (p,) from it."""
    if nearest is not None:
        return [], nearest
    row = one_drawn(weights, rng)
    return [row], _distances_to(affinity, row, weights)


def _distances_to(affinity: Affinity, row: int, weights: Float64) -> Float64:
    """Squared distances (p,) of all rows to the first one taken."""
    distances: Float64 = lowered(affinity, np.array([row]), np.full(len(weights), np.inf), weights)[0][0]
    return distances
