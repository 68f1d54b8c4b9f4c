"""Lemma 2 and Corollary 1 against what they bound: how much a sample of m rows costs a partition
that is held fixed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from ..paper import Run
from . import fits
from .problem import CLUSTERS, KERNELS, Array, sample, some_rows, starts

ROWS, QUICK_ROWS = 2000, 200
# by sample size: the smaller, the more its draws differ
DRAWS = {20: 200, 50: 200, 100: 200, 200: 100, 500: 20, 1000: 20}
QUICK_DRAWS = {20: 5, 50: 5, 100: 2}
NO_MORE = 1e-9  # of an error or an eigenvalue: what is less is rounding


def key_of(kernel: str) -> str:
    return f"bound | {kernel}"


def measure(run: Run) -> None:
    n, draws = (QUICK_ROWS, QUICK_DRAWS) if run.quick else (ROWS, DRAWS)
    for kernel in KERNELS:
        run.once(key_of(kernel), partial(cell, kernel, n, draws))


def cell(kernel: str, n: int, draws: dict[int, int]) -> dict[str, Any]:
    """Measured errors of the full kernel's partition, and the two bounds, per sample size."""
    x = some_rows(n)[0].astype(np.float64)
    gram, values, clipped = clip(KERNELS[kernel](x, x))
    labels = fits.full(gram, starts(0, n), CLUSTERS).labels
    u = scaled_memberships(labels)
    whole = float(np.trace(gram) - np.einsum("kn,kn->", u @ gram, u))
    found: dict[str, Any] = {
        "rows": n,
        "sizes": list(draws),
        "full": whole,
        "trace": float(np.trace(gram)),
    }
    found |= {
        "clipped": clipped,
        "rank": int((values > NO_MORE * values[0]).sum()),
        "largest_diagonal": float(np.diag(gram).max()),
    }
    found["measured"] = [
        [restricted(gram, u, sample(draw, m, n)) for draw in range(count)]
        for m, count in draws.items()
    ]
    found["lemma"] = [whole + lemma(gram, u, m) for m in draws]
    head, tail = values[: len(u)], values[len(u) :].sum()
    found["corollary"] = [float(1 + (head / (1 + head * m / n)).sum() / tail) for m in draws]
    found["corollary_last"] = [float(1 + len(u) / m / (tail / n)) for m in draws]
    return found


def clip(gram: Array) -> tuple[Array, Array, float]:
    """The matrix without its negative eigenvalues, its eigenvalues from the largest down, and the
    share clipped by absolute value."""
    values, vectors = scipy.linalg.eigh((gram + gram.T) / 2)
    share = float(-values[values < 0].sum() / np.abs(values).sum())
    values = np.maximum(values, 0.0)
    return (vectors * values) @ vectors.T, values[::-1], share


def scaled_memberships(labels: Array) -> Array:
    """U~ (c, n): rows of length one; clusters without rows are left out."""
    u = np.stack([labels == cluster for cluster in np.unique(labels)]).astype(np.float64)
    return u / np.sqrt(u.sum(axis=1, keepdims=True))


def restricted(gram: Array, u: Array, chosen: Array) -> float:
    """L(U, xi) = tr K - tr U~ K_B K_bb^+ K_B^T U~^T."""
    values, vectors = scipy.linalg.eigh(gram[np.ix_(chosen, chosen)])
    kept = values > 1e-12 * values[-1]
    inner = u @ gram[:, chosen] @ vectors[:, kept] / np.sqrt(values[kept])
    return float(np.trace(gram) - (inner**2).sum())


def lemma(gram: Array, u: Array, m: int) -> float:
    """tr U~ [K^-1 + (m/n) diag(K)^-1]^-1 U~^T, without K^-1: the bracket's inverse is D (K + D)^-1
    K with D = (n/m) diag(K)."""
    d = len(gram) / m * np.diag(gram)
    solved = scipy.linalg.solve(gram + np.diag(d), gram @ u.T, assume_a="pos")
    return float(np.einsum("kn,nk->", u * d, solved))
