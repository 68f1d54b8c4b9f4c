"""Which rows become landmarks, and how many."""

from __future__ import annotations

import numpy as np

from .affinity import affinity
from .arrays import IntArray
from .blocks import Blocks
from .chance import Population, draw, sample
from .kernels import Kernel
from .seeding import SEEDING_ROWS, kmeans_plus_plus

EXACT_UP_TO = 2000  # rows up to which "auto" takes no landmarks


def automatic_number(n_rows: int, n_clusters: int) -> int | None:
    """n_landmarks="auto": None (exact) up to 2,000 rows, else 20 a cluster, but no fewer than 300 and no more than 2,000."""
    if n_rows <= EXACT_UP_TO:
        return None
    return min(n_rows, int(np.clip(20 * n_clusters, 300, 2000)))


def choose(method: str, count: int, kernel: Kernel, blocks: Blocks, population: Population, rng: np.random.RandomState) -> IntArray:
    """Row numbers of up to `count` landmarks: "uniform" (in proportion to weight) or "k-means++" (far from each other)."""
    count = min(count, len(population))
    if method == "uniform":
        return population.rows[np.sort(draw(population, count, rng))]
    positions, weights = sample(population, max(SEEDING_ROWS, count), rng)
    rows = population.rows[positions]
    return rows[kmeans_plus_plus(affinity(kernel, blocks, rows), weights, count, rng, candidates=1)]
