"""One judge for every contestant: plain float64 formulas, sharing no code with any of them."""

from __future__ import annotations

import numpy as np

BLOCK = 8192


def rbf(x: np.ndarray, y: np.ndarray, gamma: float) -> np.ndarray:
    """exp(-gamma |x - y|^2) in float64."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    d2 = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1)[None, :] - 2.0 * x @ y.T
    return np.exp(-gamma * np.maximum(d2, 0.0))


def landmark_kmeans_cost(x: np.ndarray, labels: np.ndarray, landmarks: np.ndarray, gamma: float) -> float:
    """sum_i |phi(x_i) - v_label(i)|^2 for RBF, the centres being projections of the clusters' means on the landmarks' span."""
    c = int(labels.max()) + 1
    sums, counts = np.zeros((c, len(landmarks))), np.bincount(labels, minlength=c)
    for start in range(0, len(x), BLOCK):
        part = rbf(x[start : start + BLOCK], landmarks, gamma)
        sums += np.eye(c)[labels[start : start + BLOCK]].T @ part
    values, vectors = np.linalg.eigh(rbf(landmarks, landmarks, gamma))
    kept = values > 1e-10 * values[-1]
    z = sums @ (vectors[:, kept] / np.sqrt(values[kept]))
    return float(len(x) - ((z * z).sum(axis=1) / np.maximum(counts, 1)).sum())


def fuzzy_cost(x: np.ndarray, centres: np.ndarray, m: float) -> float:
    """min over memberships of sum_ij u_ij^m |x_i - v_j|^2 = sum_i (sum_j d2_ij^(-1/(m-1)))^(1-m) at given centres."""
    total = 0.0
    v = centres.astype(np.float64)
    for start in range(0, len(x), BLOCK):
        part = x[start : start + BLOCK].astype(np.float64)
        d2 = np.zeros((len(part), len(v)))
        for f in range(part.shape[1]):
            d2 += (part[:, f][:, None] - v[:, f][None, :]) ** 2
        with np.errstate(divide="ignore"):
            total += float(((d2 ** (-1.0 / (m - 1.0))).sum(axis=1) ** (1.0 - m)).sum())
    return total
