"""The naive twin of landmark graphs: dense matrices of all rows, loops, and `numpy.linalg.eigh`.

Cai, Chen 2015, "Large scale spectral clustering via landmark-based sparse representation": z and the graph Z Lambda^-1 Z^T
Bengio et al. 2004, "Out-of-sample extensions": eigenvectors at new rows
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


def graph(Z: Array, w: Array, others: Array | None = None) -> Array:
    """G (n', n) = Z' Lambda^-1 Z^T, Lambda = diag(sum_i w_i z_i)."""
    mass = w @ Z
    used = mass > 0
    return (Z if others is None else others)[:, used] / mass[used] @ Z[:, used].T


def features(Z: Array, w: Array, k: int, others: Array) -> tuple[Array, Array, Array]:
    """All eigenvalues of W^1/2 G W^1/2, the leading k eigenvectors over sqrt(w / sum w) of each row, and these at other rows."""
    root = np.sqrt(w)
    values, vectors = np.linalg.eigh(root[:, None] * graph(Z, w) * root[None, :])
    values, vectors = values[::-1], vectors[:, ::-1]
    e = vectors[:, :k] / root[:, None] * np.sqrt(w.sum())
    return values, e, graph(Z, w, others) @ (w[:, None] * e) / values[:k]
