"""The naive twin of connected pieces: all paths and all sets of centres.

Fischer, Roth, Buhmann 2003, "Clustering with the connectivity kernel": the longest step of the best
path. Draganov et al. 2025, "I want 'em all": k-means with centres among the points of an
ultrametric. McInnes et al. 2017: mutual reachability.
"""

from __future__ import annotations

import itertools

import numpy as np

Array = np.ndarray


def reachability(X: Array, w: Array, min_samples: int) -> Array:
    """max(|x - y|, core(x), core(y)) between points, 0 between each and itself."""
    n = len(X)
    d = np.array([[np.sqrt(((x - y) ** 2).sum()) for y in X] for x in X])
    core = np.empty(n)
    for i in range(n):
        weighs, core[i] = 0.0, np.inf
        for j in sorted(range(n), key=lambda j: d[i, j]):
            weighs += w[j]
            if weighs >= min_samples or weighs >= w.sum():
                core[i] = d[i, j]
                break
    r = np.maximum(d, np.maximum(core[:, None], core[None, :]))
    np.fill_diagonal(r, 0)
    return r


def longest_steps(r: Array) -> Array:
    """The least, over the paths between two points, of the longest step."""
    m = r.copy()
    for k in range(len(m)):
        m = np.minimum(m, np.maximum(m[:, [k]], m[[k], :]))
    np.fill_diagonal(m, 0)
    return m


def spanning_forest(r: Array) -> tuple[Array, Array]:
    """Edges and lengths of a shortest spanning forest, the shortest first; infinite is no edge."""
    part, edges, lengths = list(range(len(r))), [], []
    pairs = itertools.combinations(range(len(r)), 2)
    for length, i, j in sorted((r[i, j], i, j) for i, j in pairs):
        if length < np.inf and part[i] != part[j]:
            part = [part[i] if p == part[j] else p for p in part]
            edges.append((i, j))
            lengths.append(length)
    return np.array(edges, dtype=int).reshape(-1, 2), np.array(lengths)


def least_cost(m: Array, w: Array, k: int, z: float, sets: list | None = None) -> float:
    """The least cost of k centres among the points, or of the given sets of centres."""
    sets = sets or itertools.combinations(range(len(m)), k)
    return min((w * (m[:, list(C)] ** z).min(axis=1)).sum() for C in sets)
