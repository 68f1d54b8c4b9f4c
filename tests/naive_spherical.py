"""The naive twin of fits whose centres have length one, in loops and float64, for any kernel.

    Dhillon, Modha 2001, "Concept decompositions for large sparse text data using clustering" (DM):
    hard memberships, eq. 5-6 Hornik, Feinerer, Kober, Buchta 2012, "Spherical k-means clustering"
    (HFKB): fuzzy ones, section 2

Both have rows of length one and 1 - cos; squared distances are twice that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import naive

Array = np.ndarray


class Rule(NamedTuple):
    memberships: Callable[[Array], Array]  # (n, c) of d2
    m: float = 1.0
    temperature: float = 0.0  # what T sum u ln u is multiplied by


class Run(NamedTuple):
    memberships: Array  # (n, c)
    history: list[float]  # objective at the start, and after every update
    coefficients: Array  # (c, s) of the centres over the basis


def hard() -> Rule:
    return Rule(naive.hard_memberships)


def fuzzy(m: float) -> Rule:
    return Rule(lambda d2: naive.fuzzy_memberships(d2, m), m)


def entropy(T: float) -> Rule:
    def memberships(d2: Array) -> Array:
        u = np.exp(-(d2 - d2.min(axis=1, keepdims=True)) / T)
        return u / u.sum(axis=1, keepdims=True)

    return Rule(memberships, temperature=T)


def distances(Ks: Array, Kss: Array, diag: Array, alphas: Array) -> Array:
    """d2_ij = k(x_i, x_i) - 2 <phi(x_i), v_j> + 1 to centres v = alpha / |alpha|, combinations of a
    basis with these kernel values."""
    d2 = np.empty((len(Ks), len(alphas)))
    for j, alpha in enumerate(alphas):
        length = np.sqrt(alpha @ Kss @ alpha)
        for i in range(len(Ks)):
            d2[i, j] = diag[i] - 2.0 * (Ks[i] @ alpha) / length + 1.0
    return d2


def cmeans(
    Ks: Array, Kss: Array, diag: Array, rows: Array, rule: Rule, sweeps: int, weights: Array
) -> Run:
    """Sweeps from some rows as centres. The basis spans the centres: `Ks` (n, s) its kernel values
    with the rows, `Kss` (s, s) its own."""

    # the direction of sum_i A_ij phi(x_i), projected onto the basis
    def centres(A: Array) -> Array:
        alphas = np.array([naive.pseudo_solve(Kss, Ks.T @ a, 1e-11) for a in A.T])
        return np.array([alpha / np.sqrt(alpha @ Kss @ alpha) for alpha in alphas])

    def partition(alphas: Array) -> tuple[Array, float]:
        d2 = distances(Ks, Kss, diag, alphas)
        u, objective = rule.memberships(d2), 0.0
        for i in range(len(d2)):
            for j in range(d2.shape[1]):
                log = np.log(u[i, j]) if u[i, j] > 0 else 0.0
                objective += weights[i] * (
                    u[i, j] ** rule.m * d2[i, j] + rule.temperature * u[i, j] * log
                )
        return u, objective

    start = np.zeros((len(Ks), len(rows)))
    start[rows, np.arange(len(rows))] = 1.0
    alphas = centres(start)
    u, objective = partition(alphas)
    history = [objective]
    for _ in range(sweeps):
        alphas = centres(weights[:, None] * u**rule.m)
        u, objective = partition(alphas)
        history.append(objective)
    return Run(u, history, alphas)
