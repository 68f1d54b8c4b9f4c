"""The naive twin of memberships in the k nearest clusters alone: loops, float64."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

import naive

Array = np.ndarray


def nearest(distances: Array, k: int) -> list[int]:
    """The k nearest clusters of a row, of equal distances those of the lowest numbers."""
    return sorted(range(len(distances)), key=lambda j: (distances[j], j))[:k]


def memberships(of_all: Callable[[Array], Array], d2: Array, k: int) -> Array:
    """Those that a rule gives if there are no other clusters than a row's k nearest."""
    u = np.zeros(d2.shape)
    for i in range(len(d2)):
        near = nearest(d2[i], k)
        u[i, near] = of_all(d2[i : i + 1, near])[0]
    return u


def fuzzy(d2: Array, m: float, k: int) -> Array:
    return memberships(lambda some: naive.fuzzy_memberships(some, m), d2, k)


def fcm_points(
    X: Array, V: Array, m: float, k: int, sweeps: int, weights: Array | None = None
) -> naive.Result:
    """Euclidean fuzzy c-means with memberships in the k nearest clusters alone, from centres `V`
    (c, d)."""
    return naive._points(lambda d2: fuzzy(d2, m, k), X, V, m, sweeps, weights)


def least_cost(cost: Callable[[Array], float], d2: Array, k: int) -> float:
    """The least cost of one row (c,) over all choices of k clusters, of which a formula knows the
    best memberships."""
    return min(cost(d2[list(some)]) for some in combinations(range(len(d2)), k))
