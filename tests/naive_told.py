"""The naive twin of fits that are told of the clusters of rows: known labels, linked rows. Loops
over rows and clusters, float64.

Pedrycz, Waletzky 1997, "Fuzzy clustering with partial supervision" (P): the objective and the
memberships for m = 2
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import naive

Array = np.ndarray


class Told(NamedTuple):
    memberships: Array  # (n, c) (1 - s) u + s [known]
    labels: Array  # (n,)
    objective: float
    history: list[float]


def mean_distances(d2: Array, groups: Array, weights: Array) -> Array:
    """The weighted mean, over the rows of a row's group, of their squared distances."""
    means = np.empty_like(d2)
    for i in range(len(d2)):
        rows = [k for k in range(len(d2)) if groups[k] == groups[i]]
        total = sum(weights[k] for k in rows)
        for j in range(d2.shape[1]):
            means[i, j] = sum(weights[k] * d2[k, j] for k in rows) / total
    return means


def told_cmeans(
    K: Array,
    start: Array,
    m: float,
    sweeps: int,
    weights: Array,
    known: Array,
    strength: Array,
    groups: Array,
) -> Told:
    """Kernel c-means from the rows `start`: a row of known cluster k weighs w s there, and w (1 -
    s) u_j^m in cluster j; u is that of the mean distances of its group. m = 1: hard."""
    n, c = len(K), len(start)

    def partition(d2: Array) -> tuple[Array, Array, float]:
        means = mean_distances(d2, groups, weights)
        u = naive.hard_memberships(means) if m == 1 else naive.fuzzy_memberships(means, m)
        A, mixed, objective = np.zeros((n, c)), np.zeros((n, c)), 0.0
        for i in range(n):
            s = strength[i] if known[i] >= 0 else 0.0
            for j in range(c):
                own = float(known[i] == j)
                A[i, j] = weights[i] * ((1 - s) * u[i, j] ** m + s * own)
                mixed[i, j] = (1 - s) * u[i, j] + s * own
                objective += A[i, j] * d2[i, j]
        return A, mixed, objective

    A, mixed, objective = partition(naive.row_start_distances_exact(K, start))
    history = [objective]
    for _ in range(sweeps):
        A, mixed, objective = partition(naive.exact_distances(K, A))
        history.append(objective)
    return Told(mixed, mixed.argmax(axis=1), objective, history)


def partially_supervised_memberships(d2: Array, known: Array, alpha: float) -> Array:
    """P (m = 2):  u = ((1 + alpha (1 - b sum f)) / sum_l d_j / d_l + alpha f b) / (1 + alpha);
    rows without a label: alpha = 0."""
    u = np.empty_like(d2)
    for i, d in enumerate(d2):
        for j in range(len(d)):
            labelled = known[i] >= 0
            f = float(labelled and known[i] == j)
            if not labelled:
                u[i, j] = 1 / sum(d[j] / other for other in d)
            else:
                u[i, j] = (
                    1 / sum(d[j] / other for other in d) * (1 + alpha * (1 - 1)) + alpha * f
                ) / (1 + alpha)
    return u
