"""Which rows become landmarks, and how many."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .affinity import Affinity, affinity
from .arrays import Float64, IntArray, rounding
from .blocks import Blocks
from .chance import Population, draw, sample
from .kernels import Kernel
from .seeding import SEEDING_ROWS, kmeans_plus_plus

PROPOSALS = 64  # rows that randomly pivoted Cholesky proposes at a time
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

    Randomly pivoted Cholesky in its accelerated form (Chen, Epperly, Tropp, Webber 2025; Epperly, Tropp, Webber 2024): a block of
    rows is proposed at once, and each is accepted with the share of its residual that those accepted before it have left.
    It ends early where the mean residual falls to `enough`.
    """
    diag = affinity.diag()
    residual = diag - (0.0 if known is None else np.einsum("ij,ij->i", known, known))
    parts = [] if known is None else [known]
    least = rounding(np.float64) * np.maximum(diag, 0.0)
    goal = enough * float(weights.sum())
    chosen: list[int] = []
    while len(chosen) < count:
        residual = np.where(residual > least, residual, 0.0)
        mass = np.cumsum(weights * residual)
        if not mass[-1] > goal:
            break
        draws = np.searchsorted(mass, rng.uniform(size=min(PROPOSALS, count - len(chosen))) * mass[-1], side="right")
        proposed = np.minimum(draws, np.searchsorted(mass, mass[-1]))
        columns = affinity.between(proposed)
        for part in parts:
            columns = columns - part @ part[proposed].T
        kept = _accepted(columns[proposed], residual[proposed], rng)
        if not len(kept):  # what residuals still show of these rows is rounding
            residual[proposed] = 0.0
            continue
        factor = np.linalg.cholesky(columns[proposed[kept]][:, kept])
        new = scipy.linalg.solve_triangular(factor, columns[:, kept].T, lower=True).T
        residual = residual - np.einsum("ij,ij->i", new, new)
        residual[proposed[kept]] = 0.0
        parts.append(new)
        chosen.extend(proposed[kept].tolist())
    return np.array(chosen, dtype=np.intp)


def _accepted(
    gram: Float64,  # (b, b) what is left of the kernel among the proposed rows, of which one may be there several times
    residual: Float64,  # (b,) with what chance they were proposed
    rng: np.random.RandomState,
) -> IntArray:
    """Which of the proposals drawing one after the other could have made: each with the share that those before it leave of it."""
    gram = gram.copy()
    kept: list[int] = []
    for i in range(len(gram)):
        if gram[i, i] > max(rng.uniform() if kept else 0.0, 1e-8) * residual[i]:
            kept.append(i)
            gram -= np.outer(gram[:, i], gram[i]) / gram[i, i]
    return np.array(kept, dtype=np.intp)
