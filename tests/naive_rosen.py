"""The naive twin of probabilistic kernel k-means: Rosen's gradient projection as printed, with
explicit matrices in R^(n c).

P (n, c) is the vector p = (p_11, ..., p_1c, p_21, ...); constraint l c + k is p_lk >= 0, and every
row sums to one. Liu et al. 2021, "Kernel Probabilistic K-Means Clustering", Algorithm 1 with
(14)-(35); a row at a vertex that a multiplier frees moves there alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Walk(NamedTuple):
    iterates: list[Array]  # P before each step, and at the end
    steps: list[float]


def objective(K: Array, P: Array) -> float:
    """(16):  sum_l K_ll - sum_k p_k' K p_k / s_k."""
    return float(np.trace(K)) - sum(float(p @ K @ p) / float(p.sum()) for p in P.T)


def gradient(K: Array, P: Array) -> Array:
    """df / dp_lk = |phi(x_l) - v_k|^2, term by term."""
    n, c = P.shape
    g = np.empty((n, c))
    for k in range(c):
        p = P[:, k]
        for row in range(n):
            g[row, k] = K[row, row] - 2 * (K[row] @ p) / p.sum() + p @ K @ p / p.sum() ** 2
    return g


def projector(active: list[int], n: int, c: int) -> tuple[Array, Array]:
    """N, the active constraints and the row sums, and Q = I - N' (N N')^-1 N."""
    N = np.vstack([np.eye(n * c)[active], np.kron(np.eye(n), np.ones(c))])
    return N, np.eye(n * c) - N.T @ np.linalg.solve(N @ N.T, N)


def with_constraint(Q: Array, constraint: int) -> Array:
    """(32): the projector once one more constraint is active, by a matrix of rank one."""
    q = Q[:, constraint]
    return Q - np.outer(q, q) / q[constraint]


def gradient_projection(
    K: Array, P: Array, step: float = np.inf, max_iter: int = 10**6, flat: float = 1e-12
) -> Walk:
    """Algorithm 1: the longest step along -Q grad that stays feasible (FAGP), or `step` where that
    is shorter (AGP)."""
    n, c = P.shape
    p = P.ravel().copy()
    active = [i for i in range(n * c) if p[i] == 0]
    _, Q = projector(active, n, c)
    iterates, steps = [P.copy()], []
    while len(steps) < max_iter:
        g = gradient(K, p.reshape(n, c)).ravel()
        if len(active) == n * (c - 1):  # a vertex: N is square
            N, _ = projector(active, n, c)
            w = np.linalg.solve(N @ N.T, N @ g)[: len(active)]
            if w.min() >= -flat:
                break
            active.pop(int(np.argmin(w)))
            _, Q = projector(active, n, c)
        d = -Q @ g
        d[active] = 0
        d[np.abs(d) < 1e-14] = 0
        ratio = np.array([-p[i] / d[i] if d[i] < 0 else np.inf for i in range(n * c)])
        first = int(np.argmin(ratio))
        length = min(float(ratio[first]), step)
        p = p + length * d
        if ratio[first] <= step:
            p[first] = 0
            active.append(first)
            active.sort()
            Q = with_constraint(Q, first)
            row = first // c
            free = [k for k in range(c) if row * c + k not in active]
            if len(free) == 1:
                p[row * c + free[0]] = 1
        iterates.append(p.reshape(n, c).copy())
        steps.append(length)
    return Walk(iterates, steps)
