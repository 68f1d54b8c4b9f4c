"""The naive twin of landmark graphs: dense matrices of all rows, loops, and `numpy.linalg.eigh`.

Cai, Chen 2015, "Large scale spectral clustering via landmark-based sparse representation": z and
the graph Z Lambda^-1 Z^T Bengio et al. 2004, "Out-of-sample extensions": eigenvectors at new rows
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def landmark_weights(X: Array, landmarks: Array, r: int, width: float | None = None) -> Array:
    """z (n, s), the width of each row its mean distance to its r landmarks where none is given."""
    Z = np.zeros((len(X), len(landmarks)))
    for i, x in enumerate(X):
        d2 = np.array([((x - landmark) ** 2).sum() for landmark in landmarks])
        near = sorted(range(len(landmarks)), key=lambda j: (d2[j], j))[:r]
        sigma = np.mean([np.sqrt(d2[j]) for j in near]) if width is None else width
        for j in near:
            Z[i, j] = np.exp(-d2[j] / (2 * sigma**2)) if sigma > 0 else 1.0
        Z[i] /= Z[i].sum()
    return Z


def graph_weights(X: Array, landmarks: Array, r: int, w: Array, falloff: float = 6.0) -> Array:
    """w (n,) of rows in the graph, less for those that are farther from their r landmarks than half
    of all."""
    t = np.array([np.mean(sorted(np.sqrt(((x - landmarks) ** 2).sum(axis=1)))[:r]) for x in X])
    reached, usual = 0.0, 0.0
    for i in sorted(range(len(X)), key=lambda i: t[i]):
        reached, usual = reached + w[i], t[i]
        if reached >= w.sum() / 2:
            break
    return np.array(
        [w[i] if t[i] <= usual else w[i] * (usual / t[i]) ** falloff for i in range(len(X))]
    )


def graph(Z: Array, w: Array, others: Array | None = None) -> Array:
    """G (n', n) = Z' Lambda^-1 Z^T, Lambda = diag(sum_i w_i z_i)."""
    mass = w @ Z
    used = mass > 0
    return (Z if others is None else others)[:, used] / mass[used] @ Z[:, used].T


def features(Z: Array, v: Array, w: Array, k: int, others: Array) -> tuple[Array, Array, Array]:
    """All eigenvalues of V^1/2 G V^1/2, V = diag(v); the leading k eigenvectors over sqrt(v) of
    each row, made orthonormal one after the other by weights w / sum w; and these at other rows."""
    root = np.sqrt(v)
    values, vectors = np.linalg.eigh(root[:, None] * graph(Z, v) * root[None, :])
    values, vectors = values[::-1], vectors[:, ::-1]
    e = vectors[:, :k] / root[:, None]
    at_others = graph(Z, v, others) @ (v[:, None] * e) / values[:k]
    for j in range(k):
        for i in range(j):
            along = (w * e[:, i] * e[:, j]).sum() / w.sum()
            e[:, j], at_others[:, j] = (
                e[:, j] - along * e[:, i],
                at_others[:, j] - along * at_others[:, i],
            )
        length = np.sqrt((w * e[:, j] ** 2).sum() / w.sum())
        e[:, j], at_others[:, j] = e[:, j] / length, at_others[:, j] / length
    return values, e, at_others
