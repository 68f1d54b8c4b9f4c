"""Sizes between bounds, by loops and by a linear program: what the fast code is compared with."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from cmeans.rules import Rule, SizedEntropy, SizedFuzzy, SizedHard
from naive import point_distances


def row_memberships(rule: Rule, d2: np.ndarray, prices: np.ndarray) -> np.ndarray:
    """u (c,) of one row: the least of  sum_j weight(u_j) d2_j + penalty - sum_j g_j u_j  over the
    simplex."""
    c = len(d2)
    if isinstance(rule, SizedHard):
        best = 0
        for j in range(c):
            if d2[j] - prices[j] < d2[best] - prices[best]:
                best = j
        return np.eye(c)[best]
    if isinstance(rule, SizedEntropy):
        least = min(d2[j] - prices[j] for j in range(c))
        powers = [math.exp((least - (d2[j] - prices[j])) / rule.T) for j in range(c)]
        return np.array(powers) / sum(powers)
    assert isinstance(rule, SizedFuzzy)
    m, p = rule.m, 1 / (rule.m - 1)

    def at(nu: float) -> list[float]:
        return [
            (max(nu + prices[j], 0.0) / (m * d2[j])) ** p if d2[j] > 0 else 0.0 for j in range(c)
        ]

    free = [j for j in range(c) if d2[j] == 0]
    # the row is at a centre: the price of the row is at most minus that of the centre, which has
    # what is left
    if free:
        nu = -max(prices[j] for j in free)
        u = at(nu)
        if sum(u) <= 1:
            dearest = [j for j in free if prices[j] == -nu]
            for j in dearest:
                u[j] = (1 - sum(at(nu))) / len(dearest)
            return np.array(u)
    low, high = -max(prices), min(m * d2[j] - prices[j] for j in range(c) if d2[j] > 0)
    for _ in range(300):
        nu = (low + high) / 2
        if nu in (low, high):  # no number is between them
            break
        low, high = (nu, high) if sum(at(nu)) < 1 else (low, nu)
    u = at(high)
    return np.array(u) / sum(u)


def memberships(rule: Rule, d2: np.ndarray, prices: np.ndarray) -> np.ndarray:
    """u (n, c)."""
    return np.array([row_memberships(rule, row, prices) for row in d2])


def cheapest(
    d2: np.ndarray, weight: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[float, np.ndarray]:
    """The least cost of any assignment (rows may be divided) with sizes between bounds, and the
    shares (n, c): a linear program."""
    n, c = d2.shape
    of_rows = sparse.kron(sparse.eye(n), np.ones((1, c)))
    of_clusters = sparse.csr_matrix(sparse.kron(weight[None, :], sparse.eye(c)))
    found = linprog(
        (d2 * weight[:, None]).ravel(),
        A_ub=sparse.vstack([of_clusters, -of_clusters]),
        b_ub=np.concatenate([high, -low]),
        A_eq=of_rows,
        b_eq=np.ones(n),
        bounds=(0, None),
        method="highs-ds",
    )
    assert found.status == 0
    return found.fun, found.x.reshape(n, c)


def hard_fit(
    X: np.ndarray,
    V: np.ndarray,
    weight: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    tol: float = 1e-4,
) -> tuple[np.ndarray, list[float]]:
    """Centres and the objective before each step: the cheapest assignment, then weighted means,
    until no centre moves any more."""
    history = []
    for _ in range(300):
        cost, u = cheapest(point_distances(X, V), weight, low, high)
        history.append(cost)
        new = np.empty_like(V)
        for j in range(len(V)):
            total, mass = np.zeros(X.shape[1]), 0.0
            for i in range(len(X)):
                total += weight[i] * u[i, j] * X[i]
                mass += weight[i] * u[i, j]
            new[j] = total / mass
        moved = max(((new[j] - V[j]) ** 2).sum() for j in range(len(V)))
        V = new
        if moved <= tol**2 * cost / weight.sum():
            break
    return V, history


def soft_prices(
    rule: Rule, d2: np.ndarray, weight: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Prices under which sizes lie between bounds, and are at one where the price is not zero: one
    after the other, by halving."""
    prices, c = np.zeros(d2.shape[1]), d2.shape[1]

    def size(j: int, price: float) -> float:
        trial = prices.copy()
        trial[j] = price
        return float(weight @ memberships(rule, d2, trial)[:, j])

    for _ in range(200):
        before = prices.copy()
        for j in range(c):
            now = size(j, 0.0)
            if low[j] <= now <= high[j]:
                prices[j] = 0.0
                continue
            wanted, sign, reach = (low[j], 1.0, 1.0) if now < low[j] else (high[j], -1.0, 1.0)
            while sign * (size(j, sign * reach) - wanted) < 0:
                reach *= 2
            near, far = 0.0, reach
            for _ in range(60):
                middle = (near + far) / 2
                near, far = (
                    (middle, far)
                    if sign * (size(j, sign * middle) - wanted) < 0
                    else (near, middle)
                )
            prices[j] = sign * far
        if np.abs(prices - before).max() <= 1e-13 * max(np.abs(prices).max(), 1.0):
            break
    return prices


def soft_fit(
    rule: Rule,
    X: np.ndarray,
    V: np.ndarray,
    weight: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    sweeps: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Centres and prices of a soft rule after so many sweeps."""
    prices = soft_prices(rule, point_distances(X, V), weight, low, high)
    for _ in range(sweeps):
        u = memberships(rule, point_distances(X, V), prices)
        w = (u**rule.m if isinstance(rule, SizedFuzzy) else u) * weight[:, None]
        V = (w.T @ X) / w.sum(axis=0)[:, None]
        prices = soft_prices(rule, point_distances(X, V), weight, low, high)
    return V, prices
