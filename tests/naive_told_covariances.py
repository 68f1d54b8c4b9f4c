"""Naive loops for clusters with covariances of which something is told: known labels, and rows that
are linked.

As in `naive_covariances`; known (n,) is the cluster that a row is known to be in or -1, s (n,) the
share of its weight that is held there, groups (n,) the group of each row, of which all rows have
the same known cluster and share.
"""

from __future__ import annotations

import math

import numpy as np

import naive_covariances as naive
from naive_told import mean_distances

Array = np.ndarray


def held(u: Array, known: Array, s: Array) -> Array:
    """(1 - s) u + s [known]."""
    out = u * (1 - s)[:, None]
    for i in range(len(u)):
        if known[i] >= 0:
            out[i, known[i]] += s[i]
    return out


def mixture(
    x: Array,
    w: Array,
    u: Array,
    T: Array,
    shape: str,
    sweeps: int,
    told: tuple[Array, Array, Array],
    noise: tuple[float, float] | None = None,
) -> dict[str, Array | list[float]]:
    """EM from memberships. The densities of linked rows are multiplied, and such a group counts as
    one row in the shares; known rows count by weight. `noise`: a share that is held, and V."""
    known, s, groups = told
    nu, history = naive.prior_rows(shape, x.shape[1]), []
    p0, V = (0.0, 1.0) if noise is None else noise
    several = np.bincount(groups)[groups] > 1
    u = held(u, known, s)
    counted = w[:, None] * u  # what each row adds to the shares
    for _ in range(sweeps + 1):
        N, v, W = naive.scatter(x, w, u)
        S = naive.covariances(N, W, T, nu, shape)
        p = counted.sum(axis=0) / counted.sum() * (1 - p0)
        joint = naive.log_joint(x, v, S, p)
        r, objective, counted = np.zeros_like(u), 0.0, np.zeros_like(u)
        for g in np.unique(groups):
            rows = np.flatnonzero(groups == g)
            power = w[rows] if several[rows[0]] else np.ones(1)
            one = 1.0 if several[rows[0]] else w[rows[0]]
            logs = np.log(p) + power @ (joint[rows] - np.log(p))
            if p0 > 0:
                logs = np.append(logs, math.log(p0) - power.sum() * math.log(V))
            total = logs.max() + math.log(np.exp(logs - logs.max()).sum())
            share = s[rows[0]] if known[rows[0]] >= 0 else 0.0
            r[rows] = np.exp(logs - total)[: len(p)]
            objective -= one * (1 - share) * total
            counted[rows[0]] += one * (1 - share) * r[rows[0]]
            if share > 0:
                objective -= share * w[rows] @ joint[rows, known[rows[0]]]
                counted[rows[0], known[rows[0]]] += share * w[rows].sum()
        u = held(r, known, s)
        history.append(objective + naive.log_prior(S, T, nu, shape))
    return {"v": v, "S": S, "p": p, "u": u, "history": history}


def gustafson_kessel(
    x: Array,
    w: Array,
    u: Array,
    T: Array,
    m: float,
    sweeps: int,
    shape: str,
    told: tuple[Array, Array, Array],
) -> dict[str, Array | list[float]]:
    """Fuzzy clusters in metrics of determinant 1; memberships of linked rows are those of their
    mean squared distance."""
    known, s, groups = told
    nu, history = naive.prior_rows(shape, x.shape[1]), []
    weights = held(u, known, s)
    for _ in range(sweeps + 1):
        N, v, W = naive.scatter(x, w, weights)
        A = naive.unit_metrics(naive.covariances(N, W, T, nu, shape))
        d2 = np.array([[(a - b) @ M @ (a - b) for b, M in zip(v, A, strict=True)] for a in x])
        u = mean_distances(d2, groups, w) ** (-1 / (m - 1))
        u /= u.sum(axis=1, keepdims=True)
        weights = held(u**m, known, s)
        penalty = nu * sum(np.trace(M @ T) for M in (A[:1] if shape == "tied" else A))
        history.append((w[:, None] * weights * d2).sum() + penalty)
    return {"v": v, "A": A, "u": held(u, known, s), "history": history}
