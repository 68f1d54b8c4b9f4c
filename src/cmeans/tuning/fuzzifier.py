"""The fuzzifier m of fuzzy c-means: the value above which all centres collapse to one, and a choice
that keeps every pair apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ..data.arrays import Float64, IntArray
from ..rules import Fuzzy
from ..sampling.sampled_rows import SampledRows
from ..spaces.spectrum import largest_eigenvalue
from .partition import STARTS, best_partition

LARGEST_AUTOMATIC = 2.0
LEAST_AUTOMATIC = 1.001  # memberships are hard from here on down to 1, which m must exceed


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
