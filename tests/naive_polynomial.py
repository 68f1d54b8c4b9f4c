"""The naive twin of the polynomial fuzzifier, in loops.

    Klawonn, Hoppner 2003, "What is Fuzzy about Fuzzy Clustering? Understanding and Improving the
    Concept of the Fuzzifier"

R's `fclust` has the same algorithm as FKM.pf: distances in rising order, the largest number of
clusters that share a row, and memberships of these.
"""

from __future__ import annotations

import numpy as np


def memberships(d2: np.ndarray, beta: float) -> np.ndarray:
    """u_ij = [(1 + (k-1) beta) / sum_{l<=k} (d_j / d_l) - beta] / (1 - beta)  of the k nearest
    clusters, the largest k with beta / (1 + (k-1) beta)  <  (1 / d_k) / sum_{l<=k} 1 / d_l;  a row
    at centres is shared equally among them."""
    u = np.zeros_like(d2)
    for i in range(len(d2)):
        there = [j for j in range(d2.shape[1]) if d2[i, j] == 0]
        if there:
            u[i, there] = 1 / len(there)
            continue
        order = sorted(range(d2.shape[1]), key=lambda j: d2[i, j])
        shared = 1
        for k in range(1, d2.shape[1] + 1):
            nearest = d2[i, order[:k]]
            if beta / (1 + (k - 1) * beta) < (1 / nearest[-1]) / sum(1 / d for d in nearest):
                shared = k
        for j in order[:shared]:
            ratios = sum(d2[i, j] / d2[i, other] for other in order[:shared])
            u[i, j] = ((1 + (shared - 1) * beta) / ratios - beta) / (1 - beta)
    return u


def fuzzified(u: np.ndarray, beta: float) -> np.ndarray:
    """h(u) = (1 - beta) / (1 + beta) u^2 + 2 beta / (1 + beta) u."""
    h = np.zeros_like(u)
    for i, j in np.ndindex(*u.shape):
        h[i, j] = (1 - beta) / (1 + beta) * u[i, j] ** 2 + 2 * beta / (1 + beta) * u[i, j]
    return h
