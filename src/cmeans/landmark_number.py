"""How many landmarks are enough."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .affinity import Affinity
from .arrays import Float64, IntArray, one_hot
from .chance import Population, sample
from .cholesky import PROPOSALS, PartialCholesky
from .landmarks import MOST, AffinityOf, rows_for
from .seeding import kmeans_plus_plus
from .spectrum import leading_sum

EXACT_UP_TO = 2000  # rows up to which "auto" takes no landmarks
LOOKED_AT = 1000  # rows on which landmarks are judged
LEAST_RESIDUAL = 0.01  # share of the variance in feature space left out at which there are enough of them whatever else
QUICK_SWEEPS = 5  # of the kernel k-means that tells what a partition costs


def automatic_number(n_rows: int, n_clusters: int) -> int | None:
    """A number of rows that stand for all by the number of clusters alone: None (all) up to 2,000, else 20 a cluster, but no fewer than
    300 and no more than 2,000."""
    if n_rows <= EXACT_UP_TO:
        return None
    return min(n_rows, int(np.clip(20 * n_clusters, 300, 2000)))


def enough_landmarks(
    method: str, tol: float, n_clusters: int, known: AffinityOf, people: Population, rng: np.random.RandomState
) -> IntArray:
    """n_landmarks="auto": row numbers of as many landmarks as it takes to tell partitions apart.

    They grow by 64, from 64 or four a cluster, until the sum of the n_clusters largest eigenvalues of what they leave of the kernel
    falls to `tol` times what a partition costs (by so much the difference of two partitions' costs may be wrong), or they leave out
    less than 1% of the variance, or there are 2,048. Both are measured on at most 1,000 rows.
    """
    limit = min(MOST, len(people))
    positions, weights = sample(people, rows_for(limit), rng)
    affinity = known(positions)
    looked_at = np.sort(rng.permutation(len(positions))[:LOOKED_AT])
    judge = _Judge(known(positions[looked_at]), weights[looked_at], len(people), n_clusters, tol)
    cholesky = PartialCholesky(affinity)
    if method == "rpcholesky":
        blocks = _drawn(cholesky, weights, limit, rng)
    elif method == "k-means++":
        blocks = _in_order(cholesky, kmeans_plus_plus(affinity, weights, limit, rng, candidates=1))
    else:
        blocks = _in_order(cholesky, np.argsort(rng.exponential(size=len(weights)) / weights, kind="stable")[:limit])
    least = min(max(PROPOSALS, 4 * n_clusters), limit)
    for _ in blocks:
        if len(cholesky.chosen) >= least and judge.is_content(cholesky.factor(looked_at, judge.seen)):
            break
    chosen = np.array(cholesky.chosen[:limit], dtype=np.intp)
    return people.at(positions[chosen]) if len(chosen) else people.at(np.arange(1))  # a kernel that is zero on all rows


def _drawn(cholesky: PartialCholesky, weights: Float64, limit: int, rng: np.random.RandomState) -> Iterator[None]:
    """One randomly pivoted block after the other, until nothing is left."""
    while len(cholesky.chosen) < limit and float(weights @ cholesky.residual) > 0:
        cholesky.draw_up_to(min(len(cholesky.chosen) + PROPOSALS, limit), weights, rng)
        yield


def _in_order(cholesky: PartialCholesky, order: IntArray) -> Iterator[None]:
    for start in range(0, len(order), PROPOSALS):
        if not cholesky.residual.any():
            return
        cholesky.given(order[start : start + PROPOSALS])
        yield


class _Judge:
    """Whether landmarks serve, seen on a few rows whose whole kernel matrix is known."""

    def __init__(self, affinity: Affinity, weights: Float64, n_rows: int, n_clusters: int, tol: float) -> None:
        gram, share = affinity.between(np.arange(len(weights))), weights / weights.sum()
        self.seen = 0  # columns of the factor that have been taken out of the kernel
        self._root = np.sqrt(share)
        self._error = self._root[:, None] * gram * self._root[None, :]
        self._sampled = len(weights) / n_rows
        self._n_clusters = n_clusters
        self._enough = LEAST_RESIDUAL * max(float(share @ np.diag(gram) - share @ gram @ share), 0.0)
        self._leading_enough = tol * quick_cost(affinity, gram, share, n_clusters)
        self._space: Float64 | None = None

    def is_content(self, more: Float64) -> bool:
        """Whether the landmarks are enough, of which these are the further columns (p, k) of the factor."""
        self.seen += more.shape[1]
        scaled = self._root[:, None] * more
        self._error -= scaled @ scaled.T
        if float(np.trace(self._error)) <= self._enough:
            return True
        leading, self._space = leading_sum(self._error, self._n_clusters, self._sampled, self._space)
        return leading <= self._leading_enough


def quick_cost(affinity: Affinity, gram: Float64, share: Float64, n_clusters: int) -> float:
    """What a partition into so many clusters costs, in the mean over rows: a few sweeps of kernel k-means."""
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
