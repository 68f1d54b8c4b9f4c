"""Algorithm 1 in two forms: with dense projectors, as the paper writes it, and in closed form, as
the library walks."""

from __future__ import annotations

import numpy as np

from cmeans.papers.kpkm.grams import DenseGram
from cmeans.papers.kpkm.projection import Path as Walked
from cmeans.papers.kpkm.projection import follow

Array = np.ndarray


def projector(active: Array, n: int, c: int) -> Array:
    """(30): I - N' (N N')^-1 N, from all active constraints."""
    rows = constraints(active, n, c)
    return np.eye(n * c) - rows.T @ np.linalg.inv(rows @ rows.T) @ rows


def constraints(active: Array, n: int, c: int) -> Array:
    return np.vstack([np.eye(n * c)[active], np.kron(np.eye(n), np.ones(c))])


def dense(k: Array, start: Array, step: float | None) -> tuple[Array, int]:
    """Algorithm 1 with matrices of n c by n c. FAGP (`step` None) updates the projector by (32);
    AGP makes it anew each time by (30)."""
    n, c = start.shape
    p, active = start.ravel().copy(), start.ravel() == 0
    q, count, longest = projector(active, n, c), 0, np.inf if step is None else step
    while True:
        g = dense_gradient(k, p.reshape(n, c)).ravel()
        if active.sum() == n * (c - 1):  # a vertex
            rows = constraints(active, n, c)
            w = (np.linalg.inv(rows @ rows.T) @ (rows @ g))[: int(active.sum())]
            if w.min() >= -1e-12:
                return p.reshape(n, c), count
            active[np.flatnonzero(active)[int(np.argmin(w))]] = False
            q = projector(active, n, c)
        elif step is not None:
            q = projector(active, n, c)
        d = -q @ g
        d[active | (np.abs(d) < 1e-14)] = 0.0
        ratio = np.where(d < 0, -p / np.where(d < 0, d, -1.0), np.inf)
        first = int(np.argmin(ratio))
        p += min(float(ratio[first]), longest) * d
        count += 1
        if ratio[first] <= longest:
            p[first], active[first] = 0.0, True
            if step is None:
                column = q[:, first].copy()
                q -= np.outer(column, column) / column[first]
            row = first // c
            free = np.flatnonzero(~active[row * c : (row + 1) * c])
            if len(free) == 1:
                p[row * c + free[0]] = 1.0


def dense_gradient(k: Array, p: Array) -> Array:
    kp, s = k @ p, p.sum(axis=0)
    return np.diag(k)[:, None] - 2 * kp / s + (p * kp).sum(axis=0) / s**2


def closed(k: Array, start: Array, step: float | None = None, most: int = 10**6) -> Walked:
    return follow(
        DenseGram(k, np.diag(k).copy()),
        np.ones(len(k)),
        start.copy(),
        most,
        float(np.trace(k)),
        step,
    )


def drawn_start(n: int, c: int, seed: int) -> Array:
    return np.random.default_rng(seed).dirichlet(np.ones(c), size=n)
