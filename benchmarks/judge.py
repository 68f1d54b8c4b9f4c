"""One judge for every contestant: plain float64 formulas, sharing no code with any of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

BLOCK = 8192
SAMPLE = 10_000  # rows that the full-kernel objective is taken on


def rbf(x: np.ndarray, y: np.ndarray, gamma: float) -> np.ndarray:
    """exp(-gamma |x - y|^2) in float64."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    d2 = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1)[None, :] - 2.0 * x @ y.T
    return np.exp(-gamma * np.maximum(d2, 0.0))


def polynomial(x: np.ndarray, y: np.ndarray, gamma: float, degree: int, coef0: float) -> np.ndarray:
    """(gamma x.y + coef0)^degree in float64."""
    return (gamma * x.astype(np.float64) @ y.astype(np.float64).T + coef0) ** degree


def kernel_of(words: dict[str, Any]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The kernel that a job's words name."""
    if words["kernel"] == "rbf":
        return lambda x, y: rbf(x, y, words["gamma"])
    return lambda x, y: polynomial(x, y, words["gamma"], words["degree"], words["coef0"])


def fixed_sample(n: int) -> np.ndarray:
    """Row numbers of the sample, the same for everybody."""
    return np.sort(np.random.default_rng(12345).choice(n, min(n, SAMPLE), replace=False))


def full_kernel_costs(
    x: np.ndarray, labels: list[np.ndarray], kernel: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> list[float]:
    """sum_i k(x_i, x_i) - sum_j (1 / n_j) sum_{i, l in j} k(x_i, x_l) of several labellings of the
    same rows, without landmarks."""
    members = [np.eye(int(own.max()) + 1)[own] for own in labels]
    trace, within = 0.0, [np.zeros(one.shape[1]) for one in members]
    for start in range(0, len(x), BLOCK):
        part = kernel(x[start : start + BLOCK], x)
        trace += float(np.trace(part, offset=start))
        for one, total in zip(members, within, strict=True):
            total += (one[start : start + BLOCK] * (part @ one)).sum(axis=0)
    return [
        float(trace - (total / np.maximum(one.sum(axis=0), 1)).sum())
        for one, total in zip(members, within, strict=True)
    ]


def hard_cost(x: np.ndarray, labels: np.ndarray) -> float:
    """sum_i |x_i - mean of the rows with its label|^2."""
    rows = x.astype(np.float64)
    rows = rows - rows.mean(axis=0)
    c = int(labels.max()) + 1
    sums = np.stack([np.bincount(labels, weights=column, minlength=c) for column in rows.T], axis=1)
    counts = np.maximum(np.bincount(labels, minlength=c), 1)
    return float((rows * rows).sum() - ((sums * sums).sum(axis=1) / counts).sum())


def rand_index(one: np.ndarray, other: np.ndarray) -> float:
    """The adjusted Rand index (Hubert & Arabie 1985)."""
    one, other = np.unique(one, return_inverse=True)[1], np.unique(other, return_inverse=True)[1]
    width = int(other.max()) + 1
    table = (
        np.bincount(one * width + other, minlength=(int(one.max()) + 1) * width)
        .reshape(-1, width)
        .astype(np.float64)
    )

    def pairs(counts: np.ndarray) -> float:
        return float((counts * (counts - 1) / 2).sum())

    rows, columns, both = pairs(table.sum(axis=1)), pairs(table.sum(axis=0)), pairs(table)
    chance = rows * columns / pairs(table.sum())
    most = (rows + columns) / 2
    return (both - chance) / (most - chance) if most != chance else 1.0


def landmark_kmeans_cost(
    x: np.ndarray, labels: np.ndarray, landmarks: np.ndarray, gamma: float
) -> float:
    """sum_i |phi(x_i) - v_label(i)|^2 for RBF, the centres being projections of the clusters' means
    on the landmarks' span."""
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
    """min over memberships of sum_ij u_ij^m |x_i - v_j|^2 = sum_i (sum_j d2_ij^(-1/(m-1)))^(1-m) at
    given centres."""
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
