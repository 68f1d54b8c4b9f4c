"""Probabilistic kernel k-means (Liu et al. 2021): minimise over distributions p_l of each row over
the clusters

    f(P) = sum_lk w_l p_lk |phi(x_l) - v_k|^2,   v_k = sum_l w_l p_lk phi(x_l) / sum_l w_l p_lk.

f is concave for positive definite kernels, so it falls along any direction in which it falls at
first, the longest step is the best, and minima are partitions. `projection` follows projected
gradients in memory, step by step as the paper does; `batched` lets many rows fix a cluster at once,
over tables of any size; `transfer` moves single rows of a partition until none lowers the
objective. `search` puts them together. P is kept beside the rows (`distributions`), so that of rows
on other machines sums alone travel.
"""

from .distributions import DrawnStart, GivenStart, NearestStart, Start
from .search import Found, PartitionProblem, PartitionSearch

__all__ = [
    "DrawnStart",
    "Found",
    "GivenStart",
    "NearestStart",
    "PartitionProblem",
    "PartitionSearch",
    "Start",
]
