"""The number of landmarks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.partitions import one_hot
from ..engines import Engine
from ..sampling.kmeanspp import kmeans_plus_plus
from ..sampling.pairwise import Affinity
from ..sampling.population import Population, sample
from ..spaces.spectrum import leading_sum
from .rpcholesky import ONE_THREAD, PROPOSALS, PartialCholesky
from .select import AffinityOf, rows_for

LEAST_AUTOMATIC = 300  # landmarks, where their number is made of that of the clusters
JUDGED_ROWS = 1000  # rows on which the stopping rule is evaluated
# share of the variance in feature space below which nothing more needs to be represented
LEAST_RESIDUAL = 0.01
QUICK_SWEEPS = 5  # of the kernel k-means that estimates the cost of a partition


def automatic_number(n_rows: int, n_clusters: int, exact_rows: int) -> int | None:
    """Number of landmarks from the number of clusters alone: None (all rows) up to `exact_rows`,
    else 20 a cluster, but at least 300 and at most 2,000."""
    if n_rows <= exact_rows:
        return None
    return min(n_rows, int(np.clip(20 * n_clusters, LEAST_AUTOMATIC, 2000)))


def enough_landmarks(
    method: str,
    tol: float,
    n_clusters: int,
    affinity_of: AffinityOf,
    population: Population,
    rng: np.random.RandomState,
    engine: Engine = ONE_THREAD,
) -> IntArray:
    """Return the row numbers of landmarks for landmarks="auto": as many as are needed to tell
    partitions apart.

    Their number grows by 64, from 64 or four a cluster, until the sum of the n_clusters largest
    eigenvalues of the rest of the kernel falls to `tol` times the cost of a partition (which bounds
    the error in the difference of two partitions' costs), or the landmarks leave out less than 1%
    of the variance, or there are 2,048. Both are measured on at most 1,000 rows.
    """
    limit = min(population.limits.most_landmarks, len(population))
    positions, weights = sample(population, rows_for(limit, population.limits), rng)
    affinity = affinity_of(positions)
    judged = np.sort(rng.permutation(len(positions))[:JUDGED_ROWS])
    rule = _StoppingRule(
        affinity_of(positions[judged]), weights[judged], len(population), n_clusters, tol
    )
    cholesky = PartialCholesky(affinity, engine=engine)
    if method == "rpcholesky":
        blocks = _drawn_blocks(cholesky, weights, limit, rng)
    elif method == "k-means++":
        blocks = _ordered_blocks(
            cholesky, kmeans_plus_plus(affinity, weights, limit, rng, candidates=1)
        )
    else:
        blocks = _ordered_blocks(
            cholesky,
            np.argsort(rng.exponential(size=len(weights)) / weights, kind="stable")[:limit],
        )
    least = min(max(PROPOSALS, 4 * n_clusters), limit)
    for _ in blocks:
        if len(cholesky.chosen) >= least and rule.is_met(
            cholesky.factor(judged, rule.columns_taken)
        ):
            break
    chosen = np.array(cholesky.chosen[:limit], dtype=np.intp)
    # a kernel that is zero on all rows
    return population.at(positions[chosen]) if len(chosen) else population.at(np.arange(1))


def _drawn_blocks(
    cholesky: PartialCholesky, weights: Float64, limit: int, rng: np.random.RandomState
) -> Iterator[None]:
    """Add one randomly pivoted block after the other, until no residual is left."""
    while len(cholesky.chosen) < limit and float(weights @ cholesky.residual) > 0:
        cholesky.draw_up_to(min(len(cholesky.chosen) + PROPOSALS, limit), weights, rng)
        yield


def _ordered_blocks(cholesky: PartialCholesky, order: IntArray) -> Iterator[None]:
    """Add rows in the given order, block by block, until no residual is left."""
    for start in range(0, len(order), PROPOSALS):
        if not cholesky.residual.any():
            return
        cholesky.given(order[start : start + PROPOSALS])
        yield


class _StoppingRule:
    """The test for enough landmarks, on a few rows whose whole kernel matrix is known."""

    def __init__(
        self, affinity: Affinity, weights: Float64, n_rows: int, n_clusters: int, tol: float
    ) -> None:
        gram, share = affinity.between(np.arange(len(weights))), weights / weights.sum()
        self.columns_taken = 0  # columns of the factor already subtracted from the kernel
        self._root = np.sqrt(share)
        self._error = self._root[:, None] * gram * self._root[None, :]
        self._sampled = len(weights) / n_rows
        self._n_clusters = n_clusters
        self._residual_bound = LEAST_RESIDUAL * max(
            float(share @ np.diag(gram) - share @ gram @ share), 0.0
        )
        self._leading_bound = tol * quick_cost(affinity, gram, share, n_clusters)
        self._space: Float64 | None = None

    def is_met(self, more: Float64) -> bool:
        """Subtract further columns (p, k) of the factor; True where the landmarks are enough."""
        self.columns_taken += more.shape[1]
        scaled = self._root[:, None] * more
        self._error -= scaled @ scaled.T
        if float(np.trace(self._error)) <= self._residual_bound:
            return True
        leading, self._space = leading_sum(
            lambda vectors: self._error @ vectors,
            np.diag(self._error),
            self._n_clusters,
            self._sampled,
            self._space,
        )
        return leading <= self._leading_bound


def quick_cost(affinity: Affinity, gram: Float64, share: Float64, n_clusters: int) -> float:
    """Mean cost over rows of a partition into `n_clusters`, after a few sweeps of kernel
    k-means."""
    diag = np.diag(gram)
    seeds = kmeans_plus_plus(affinity, share, n_clusters, np.random.RandomState(0))
    d2 = diag[:, None] + diag[None, seeds] - 2.0 * gram[:, seeds]
    for _ in range(QUICK_SWEEPS):
        members = one_hot(np.argmin(d2, axis=1), d2.shape[1], gram) * share[:, None]
        mass = members.sum(axis=0)
        members = members[:, mass > 0] / mass[mass > 0]
        products = gram @ members
        d2 = diag[:, None] - 2.0 * products + np.einsum("ij,ij->j", members, products)[None, :]
    return float(share @ np.maximum(d2.min(axis=1), 0.0))
