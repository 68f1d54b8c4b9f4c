"""The width of a kernel exp(-gamma distance), chosen without labels by the eigengap behind a given number of clusters."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..data.arrays import Float64

FACTORS = (0.25, 0.5, 2.0, 4.0, 8.0, 16.0)  # times 1 / median distance: the widths compared with 1 / median itself
SURE = 3.0  # standard errors that a gap must exceed to change the width
EQUAL_GAPS = 1e-9  # gaps that differ by less are equal: eigenvalues add up to at most 1, and rounding must not decide


def clearest(
    distances: Float64,  # (p, p) among a fair sample of rows, over their median: squared ones for RBF, L1 for Laplacian
    weights: Float64,  # (p,)
    n_clusters: int,
) -> float:
    """Return the factor t, 1 or in `FACTORS`, for which exp(-t distance) has the largest gap  lambda_{c-1} - lambda_c  behind c clusters.

    With y_i = phi(x_i) - mean, lambda_1 >= lambda_2 >= ... are the eigenvalues of sum_i w_i y_i y_i^T / sum_i w_i. Kernel k-means
    with its partitions relaxed to subspaces is solved by the first c - 1 eigenvectors (Zha 2001, Ding 2004). The distance of those
    of n rows from those of the whole distribution is bounded by the error of the matrix over the gap (Zwald 2005); and as
    k(x, x) = 1 for every width, that error is of order 1 / sqrt(n) for every width. So gaps of different widths are comparable. A
    wide kernel has no gap because all but the first few eigenvalues vanish, a narrow one because all are nearly equal.

    Without clear clusters, gaps are due to chance. The standard error of an eigenvalue of n normal rows is lambda sqrt(2 / n)
    (Anderson 1963), that of a gap therefore about 2 lambda_{c-1} / sqrt(n): unless a gap is larger than the one at t = 1 and than
    `SURE` of these, with n = (sum_i w_i)^2 / sum_i w_i^2, t = 1 stays. It also stays for one cluster, or as many as rows.

    References
    ----------
    Anderson: Asymptotic theory for principal component analysis. Annals of Mathematical Statistics 34(1), 1963.
    Zha, He, Ding, Gu, Simon: Spectral relaxation for k-means clustering. NIPS 14, 2001.
    Ding, He: K-means clustering via principal component analysis. ICML 2004.
    Zwald, Blanchard: On the convergence of eigenspaces in kernel principal component analysis. NIPS 18, 2005.
    """
    if not 1 < n_clusters < len(weights):
        return 1.0
    share = weights / weights.sum()
    error = 2.0 * float(np.sqrt(share @ share))  # of a gap, relative to the eigenvalue before it
    best, largest = 1.0, -np.inf
    for t in (1.0, *FACTORS):
        before, after = _eigenvalues(distances, share, n_clusters, t)
        gap = before - after
        if gap > largest + EQUAL_GAPS and (t == 1.0 or gap > SURE * error * before):
            best, largest = t, gap
    return best


def _eigenvalues(
    distances: Float64,  # (p, p)
    share: Float64,  # (p,) of the whole weight
    n_clusters: int,
    t: float,
) -> tuple[float, float]:
    """lambda_{c-1} and lambda_c of the centred kernel exp(-t distance)."""
    gram = np.exp(-t * distances)
    means = gram @ share
    gram -= means[:, None]
    gram -= (means - share @ means)[None, :]
    root = np.sqrt(share)
    gram *= root[:, None]
    gram *= root[None, :]
    first = len(share) - n_clusters
    after, before = scipy.linalg.eigh(gram, eigvals_only=True, subset_by_index=(first, first + 1), overwrite_a=True, check_finite=False)
    return float(before), float(after)
