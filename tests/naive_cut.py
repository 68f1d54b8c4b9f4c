"""The naive twin of graphs that are given by their affinities: dense matrices, loops, and
`numpy.linalg.eigh`.

Shi, Malik 2000, "Normalized cuts and image segmentation"; Bengio et al. 2004, "Out-of-sample
extensions": eigenvectors at new rows
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def degrees(A: Array, s: Array) -> Array:
    """Degrees (b,) of rows of affinities to the n rows of the graph, of which row j is there s_j
    times."""
    return np.array([sum(s[j] * a for j, a in enumerate(row)) for row in A])


def features(W: Array, s: Array, k: int, others: Array) -> tuple[Array, Array, Array]:
    """All eigenvalues of S^1/2 D^-1/2 W D^-1/2 S^1/2, the leading k eigenvectors over sqrt(s d /
    sum s d) of each row, and these at other rows, given by their affinities."""
    d = degrees(W, s)
    scale = np.sqrt(s / d)
    values, vectors = np.linalg.eigh(scale[:, None] * W * scale[None, :])
    values, vectors = values[::-1], vectors[:, ::-1]
    e = vectors[:, :k] / np.sqrt(s * d / (s @ d))[:, None]
    at_others = np.array([(a * s) @ e / (a @ s) / values[:k] for a in others])
    return values, e, at_others


def cut(W: Array, s: Array, labels: Array) -> float:
    """The normalised cut: of every cluster, the weight of edges that leave it over that of all its
    edges."""
    total = 0.0
    for cluster in np.unique(labels):
        inside, d = labels == cluster, degrees(W, s)
        volume = (s * d)[inside].sum()
        kept = sum(
            s[i] * s[j] * W[i, j] for i in np.flatnonzero(inside) for j in np.flatnonzero(inside)
        )
        total += (volume - kept) / volume
    return total


def scores(W: Array, s: Array, labels: Array) -> Array:
    """2 f_j / v_j - G_jj / v_j^2 of every row and cluster, the largest where kernel k-means of W /
    (d d^T) places the row."""
    n, d = len(labels), degrees(W, s)
    found = np.zeros((n, labels.max() + 1))
    for j in range(labels.max() + 1):
        inside = np.flatnonzero(labels == j)
        volume, kept = (
            sum(s[i] * d[i] for i in inside),
            sum(s[i] * s[q] * W[i, q] for i in inside for q in inside),
        )
        for i in range(n):
            found[i, j] = 2 * sum(s[q] * W[i, q] for q in inside) / d[i] / volume - kept / volume**2
    return found


def refined(W: Array, s: Array, labels: Array) -> Array:
    """The lowest of the cuts that kernel k-means goes through from one, for 100 sweeps at most."""
    best = labels
    for _ in range(100):
        moved = scores(W, s, labels).argmax(axis=1)
        if (moved == labels).all() or len(np.unique(moved)) < labels.max() + 1:
            break
        labels = moved
        if cut(W, s, labels) < cut(W, s, best):
            best = labels
    return best
