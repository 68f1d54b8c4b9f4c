"""The naive twin of c-means over rows with missing values. Loops over rows, clusters and columns,
float64.

Hathaway, Bezdek 2001, "Fuzzy c-means clustering of incomplete data" (HB): the partial distance
strategy Chi, Chi, Baraniuk 2016, "k-POD: a method for k-means clustering of missing data" (CCB):
the objective of hard clusters
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Partial(NamedTuple):
    memberships: Array  # (n, c) at the last centres
    centres: Array  # (c, d)
    d2: Array  # (n, c)
    # sum_ij w_i u_ij^m d2_ij, and the penalty, at the start and after every sweep
    history: list[float]


def row_scale(x: Array) -> float:
    """HB: d over the number of values that there are."""
    return len(x) / sum(1 for value in x if not np.isnan(value))


def partial_distances(X: Array, V: Array, *, scaled: bool) -> Array:
    """HB:  d2_ij = s_i sum_k over the columns that row i has values in of (x_ik - v_jk)^2,  s_i = 1
    or that scale."""
    d2 = np.zeros((len(X), len(V)))
    for i, x in enumerate(X):
        scale = row_scale(x) if scaled else 1.0
        for j, v in enumerate(V):
            for k in range(len(v)):
                if not np.isnan(x[k]):
                    d2[i, j] += scale * (x[k] - v[k]) ** 2
    return d2


def partial_means(X: Array, A: Array, V: Array, *, scaled: bool) -> Array:
    """HB, CCB: the mean of every column over the rows that have values there; a coordinate that no
    row of a cluster has stays."""
    means, scales = V.copy(), [row_scale(x) if scaled else 1.0 for x in X]
    for j in range(len(V)):
        for k in range(V.shape[1]):
            mass = total = 0.0
            for i, x in enumerate(X):
                if not np.isnan(x[k]):
                    a = A[i, j] * scales[i]
                    mass, total = mass + a, total + a * x[k]
            if mass > 0:
                means[j, k] = total / mass
    return means


def partial_cmeans(
    X: Array,
    V: Array,
    memberships: Callable[[Array], Array],  # d2 -> u
    m: float,  # 1 for hard memberships, and entropy
    sweeps: int,
    weights: Array,
    penalty: Callable[[Array], Array] = lambda u: np.zeros(len(u)),  # of each row
    *,
    scaled: bool = False,
) -> Partial:
    """c-means from centres V, by alternating minimisation."""
    history = []
    for sweep in range(sweeps + 1):
        d2 = partial_distances(X, V, scaled=scaled)
        u = memberships(d2)
        A = weights[:, None] * u**m
        history.append(float((A * d2).sum() + weights @ penalty(u)))
        if sweep < sweeps:
            V = partial_means(X, A, V, scaled=scaled)
    return Partial(u, V, d2, history)
