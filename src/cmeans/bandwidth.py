"""The width of a kernel exp(-gamma distance), judged without labels: how clearly the kernel shows a given number of clusters."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .arrays import Float64

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # times 1 / median distance: the widths that are looked at
ALIKE = 1e-9  # gaps closer than that are equal: eigenvalues add up to at most 1, and rounding must not choose


def clearest(
    distances: Float64,  # (p, p) among a fair sample of rows, over their median: squared ones for RBF, L1 for Laplacian
    weights: Float64,  # (p,)
    n_clusters: int,
) -> float:
    """Of the widths exp(-t distance), t in `FACTORS`, that of the largest gap  lambda_{c-1} - lambda_c  behind c clusters.

    With y_i = phi(x_i) - mean, lambda_1 >= lambda_2 >= ... are the eigenvalues of sum_i w_i y_i y_i^T / sum_i w_i. Kernel k-means
    with its partitions relaxed to subspaces is solved by the first c - 1 eigenvectors (Zha 2001, Ding 2004). How far those of n
    rows are from those of all rows there could be is bounded by the error of the matrix over the gap (Zwald 2005); and as
    k(x, x) = 1 for every width, that error is of order 1 / sqrt(n) for every width. So gaps compare as they are. A wide kernel has
    no gap as all but the first few eigenvalues vanish, a narrow one as all are alike.

    1 where there is nothing to judge: one cluster, or as many as rows. Of widths that do equally well the one nearest to 1.

    References
    ----------
    Zha, He, Ding, Gu, Simon: Spectral relaxation for k-means clustering. NIPS 14, 2001.
    Ding, He: K-means clustering via principal component analysis. ICML 2004.
    Zwald, Blanchard: On the convergence of eigenspaces in kernel principal component analysis. NIPS 18, 2005.
    """
    if not 1 < n_clusters < len(weights):
        return 1.0
    share = weights / weights.sum()
    gaps = np.array([_gap(np.exp(-factor * distances), share, n_clusters) for factor in FACTORS])
    best = np.flatnonzero(gaps >= gaps.max() - ALIKE)
    return FACTORS[min(best, key=lambda number: abs(np.log(FACTORS[number])))]


def _gap(
    gram: Float64,  # (p, p), overwritten
    share: Float64,  # (p,) of the whole weight
    n_clusters: int,
) -> float:
    """lambda_{c-1} - lambda_c of the centred kernel."""
    means = gram @ share
    gram -= means[:, None]
    gram -= (means - share @ means)[None, :]
    root = np.sqrt(share)
    gram *= root[:, None]
    gram *= root[None, :]
    first = len(share) - n_clusters
    after, last = scipy.linalg.eigh(gram, eigvals_only=True, subset_by_index=(first, first + 1), overwrite_a=True, check_finite=False)
    return float(last - after)
