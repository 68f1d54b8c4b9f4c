"""Softness of maximum entropy c-means: the temperature above which centres collapse to one, and a
choice that keeps them apart."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, rounding
from ..sampling.sampled_rows import GramRows, SampledRows
from ..spaces.spectrum import largest_eigenvalue
from .partition import best_partition

LEAST_MEAN = 1e-3  # length of the mean of rows on the sphere, for a bound that is finite


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
    highest, share = (
        2.0 * _largest_variance(GramRows(gram), weights, np.arange(len(weights))),
        weights / weights.sum(),
    )
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
