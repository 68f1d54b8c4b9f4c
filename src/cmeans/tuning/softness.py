"""The softness of memberships: the fuzzifier, or the temperature of maximum entropy c-means, above
which all centres collapse to one, and a choice that keeps clusters apart.

Both are read off the best hard partition of a few rows, whose sweeps take the products of rows that
have changed sides alone. The solvers' search instead, on 64 coordinates of these rows and from
three starts, leads to an m that serves as well, in 1.6 times the time where rows are few and in
1.06 times where they are 1,000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ..data.arrays import Float64, IntArray
from ..data.precision import ascending, rounding
from ..rules import Fuzzy
from ..sampling.kmeanspp import kmeans_plus_plus
from ..sampling.sampled_rows import GramRows, SampledRows
from ..spaces.spectrum import largest_eigenvalue

LARGEST_AUTOMATIC = 2.0
LEAST_AUTOMATIC = 1.001  # memberships are hard from here on down to 1, which m must exceed
LEAST_MEAN = 1e-3  # length of the mean of rows on the sphere, for a bound that is finite
SEED = 0
STARTS = 10
TRIED_SWEEPS = 3  # of every start, before the best of them are followed
FOLLOWED = 3
MOST_SWEEPS = 50


@dataclass(frozen=True)
class Fuzzifier:
    """Bounds and choice of m from a sample of rows."""

    lambda_max: float  # largest eigenvalue of the scatter of directions from the mean (trace 1)
    # m*: beyond it "all centres at the mean" is a stable solution; infinite where lambda_max >= 1/2
    critical: float
    # beneath it, and beneath the values from which on pairs of these clusters merge; at most 2
    automatic: float


def fuzzifier(
    rows: SampledRows,
    weights: Float64,  # (p,)
    n_clusters: int,
    starts: int = STARTS,
) -> Fuzzifier:
    """m* = 1 / (1 - 2 lambda_max), from one linearised step of fuzzy c-means at the point where all
    centres are the mean, and m = "auto".

    With y_i = phi(x_i) - mean, C = sum_i w_i y_i y_i^T / |y_i|^2 / sum_i w_i, that point is
    unstable iff 2m/(m-1) lambda_max(C) > 1 (the threshold of Yu, Cheng & Huang, IEEE Trans. SMC-B
    34(1), 2004, in feature space).

    Pairs of centres merge at a smaller m already: two centres in one cluster divide its rows by
    halves, which costs only 2^(1-m) of the sum E of its squared distances. So m is taken from the
    best hard partition found from so many starts, as the least of 1 + (m* - 1) / 2;  1 + (median_j
    m*_j - 1) / 2, with the m*_j of the rows of each cluster, about its mean;  2;  and the m for
    which (1 - 2^(1-m)) max_j E_j = min_j U_j / 2, where U_j is what cluster j is good for at that
    m: the rise of the fuzzy objective without it. (Its rows would not go to the next mean alone: c
    - 1 others at one distance d share a row at a cost of d (c - 1)^(1-m). In narrow kernels'
    spaces, where all that is far is equally far, a small cluster is of little use for that reason.)
    """
    share = weights / weights.sum()
    scatter, visible = rows.scatter_of_directions(np.arange(len(weights)), share)
    if not visible > 0:
        return Fuzzifier(1.0, np.inf, LARGEST_AUTOMATIC)
    lambda_max = largest_eigenvalue(scatter)
    most = min(LARGEST_AUTOMATIC, _halfway(_critical(lambda_max)))
    if n_clusters > 1:
        labels, d2 = best_partition(rows, weights, n_clusters, starts)
        most = _without_theft(
            weights, labels, d2, min(most, _halfway(_typical_critical(rows, weights, labels)))
        )
    return Fuzzifier(lambda_max, _critical(lambda_max), max(most, LEAST_AUTOMATIC))


def _critical(lambda_max: float) -> float:
    return 1.0 / (1.0 - 2.0 * lambda_max) if lambda_max < 0.5 else np.inf


def _halfway(critical: float) -> float:
    return 1.0 + (critical - 1.0) / 2.0


def _without_theft(
    weights: Float64,
    labels: IntArray,
    d2: Float64,  # (p, c)
    most: float,
) -> float:
    """Return the m, at most so large, up to which giving the centre of the least useful cluster to
    the costliest one does not pay."""
    costliest = float(np.bincount(labels, weights * d2.min(axis=1)).max())

    def loss(m: float) -> float:
        least_use = (weights @ Fuzzy(m).removal_costs(d2)).min()
        return float(least_use / 2.0 - (1.0 - 2.0 ** (1.0 - m)) * costliest)

    if d2.shape[1] < 2 or most <= LEAST_AUTOMATIC or loss(most) >= 0:
        return most
    return (
        float(brentq(loss, LEAST_AUTOMATIC, most)) if loss(LEAST_AUTOMATIC) > 0 else LEAST_AUTOMATIC
    )


def _typical_critical(rows: SampledRows, weights: Float64, labels: IntArray) -> float:
    """Return the median of the clusters' own m*, infinite for one whose rows are all the same."""
    found = []
    for j in range(labels.max() + 1):
        members = np.flatnonzero(labels == j)
        scatter, visible = rows.scatter_of_directions(
            members, weights[members] / weights[members].sum()
        )
        found.append(_critical(largest_eigenvalue(scatter) / visible) if visible > 0 else np.inf)
    return float(np.median(found))


def critical_temperature(
    gram: Float64,  # (p, p) kernel of a fair sample of rows
    weights: Float64,  # (p,)
    *,
    spherical: bool = False,
) -> float:
    """T* = 2 lambda_max of the rows' covariance in the kernel's space: Rose, Gurewitz, Fox 1990,
    from one linearised step.

    Where all centres are the mean and move apart by e_j, sum_j e_j = 0, the next ones are (2 / T)
    covariance e_j away from it. Centres of length one move 1 / |mean| times as far at most, along
    the sphere, so that T* / |mean| is an upper bound for them.
    """
    highest = 2.0 * _largest_variance(GramRows(gram), weights, np.arange(len(weights)))
    share = weights / weights.sum()
    return (
        highest / max(float(share @ gram @ share), LEAST_MEAN**2) ** 0.5 if spherical else highest
    )


def automatic_temperature(
    rows: SampledRows,
    weights: Float64,  # (p,)
    n_clusters: int,
) -> float:
    """Return the temperature that keeps the clusters of the best hard partition apart, the least of

    - T* / 2;
    - median_j lambda_max of the covariance of cluster j, half of where a pair of centres in one of
      them falls together;
    - min_j U_j / (2 ln 2 max_j W_j): two centres in one cluster of mass W share its rows by halves,
      which is rewarded by T W ln 2; U_j, what cluster j is good for, is the sum of its rows'
      squared distances to the nearest other mean, less that to their own.

    1 where all rows are the same.
    """
    critical = 2.0 * _largest_variance(rows, weights, np.arange(len(weights)))
    if not critical > 0:
        return 1.0
    bounds = [critical / 2.0]
    if n_clusters > 1:
        labels, d2 = best_partition(rows, weights, n_clusters)
        nearest, second = np.partition(d2, min(1, d2.shape[1] - 1), axis=1)[
            :, [0, min(1, d2.shape[1] - 1)]
        ].T
        useful = np.bincount(labels, weights * (second - nearest)).min()
        variances = [
            _largest_variance(rows, weights, np.flatnonzero(labels == j))
            for j in range(labels.max() + 1)
        ]
        bounds += [
            float(np.median(variances)),
            float(useful / (2.0 * np.log(2.0) * np.bincount(labels, weights).max())),
        ]
    # not zero, where clusters are of equal rows
    return max(min(bounds), rounding(np.float64) * critical)


def _largest_variance(rows: SampledRows, weights: Float64, members: np.ndarray) -> float:
    """The largest eigenvalue of the covariance of some rows."""
    share = weights[members] / weights[members].sum()
    return max(largest_eigenvalue(rows.covariance(members, share)), 0.0)


def best_partition(
    rows: SampledRows,
    weights: Float64,  # (p,)
    n_clusters: int,
    starts: int = STARTS,
) -> tuple[IntArray, Float64]:
    """Return labels (p,), and squared distances (p, c) to the means, of the best hard partition
    that several starts lead to.

    There are fewer clusters where no further row differs from those that start them. The same for
    every random_state.
    """
    rng = np.random.RandomState(SEED)
    tried = [
        _Lloyd.begun(rows, weights, kmeans_plus_plus(rows, weights, n_clusters, rng))
        for _ in range(starts)
    ]
    for one in tried:
        one.sweep(TRIED_SWEEPS)
    tried = [
        tried[number]
        for number in ascending(np.array([one.objective() for one in tried]))[:FOLLOWED]
    ]
    for one in tried:
        one.sweep(MOST_SWEEPS)
    best = tried[ascending(np.array([one.objective() for one in tried]))[0]]
    return best.labels, best.d2


@dataclass
class _Lloyd:
    """Sweeps of k-means over rows that are given by inner products; a sweep takes the products of
    rows that have changed sides."""

    rows: SampledRows
    weights: Float64  # (p,)
    labels: IntArray  # (p,)
    d2: Float64  # (p, c) to the means of the partition before
    members: Float64  # (p, c) the weight of each row in its cluster
    products: Float64  # (p, c) with the sums of clusters

    @classmethod
    def begun(cls, rows: SampledRows, weights: Float64, seeds: IntArray) -> _Lloyd:
        d2 = rows.squared_distances(seeds)
        return cls(rows, weights, np.full(len(d2), -1), d2, np.zeros(d2.shape), np.zeros(d2.shape))

    def objective(self) -> float:
        return float(self.weights @ self.d2.min(axis=1))

    def sweep(self, times: int) -> None:
        """Sweep so many times, or until labels stand still."""
        for _ in range(times):
            labels = self._nearest()
            changed = np.flatnonzero(labels != self.labels)
            if not len(changed):
                break
            self.labels = labels
            after = np.zeros((len(changed), self.d2.shape[1]))
            after[np.arange(len(changed)), labels[changed]] = self.weights[changed]
            self.products += self.rows.products(after - self.members[changed], changed)
            self.members[changed] = after
            self.d2 = self.rows.distances_to_means(self.members, self.products)

    def _nearest(self) -> IntArray:
        """Return the nearest mean of every row; a cluster that no row is nearest to takes the one
        that costs most."""
        noise = 2.0 * rounding(np.float64) * self.rows.diag()
        # of equal means the first is nearest, whatever rounding makes of them
        behind = noise[:, None] * np.arange(self.d2.shape[1])
        labels: IntArray = np.argmin(self.d2 + behind, axis=1)
        empty = np.flatnonzero(np.bincount(labels, minlength=self.d2.shape[1]) == 0)
        if len(empty):
            labels[ascending(-self.weights * self.d2.min(axis=1))[: len(empty)]] = empty
        return labels
