"""The naive twin of adaptive and sparse possibilistic c-means: the formulas as printed, in float64
and loops, with no cleverness.

n rows `X` (n, d), c centres `V` (c, d); `d2` (n, c) squared distances, `u` (n, c) memberships,
`eta` (c,) one scale a cluster, `gamma` (c,) the bandwidth made of it, which is what memberships
see; `lam` the strength of sparsity, p in (0, 1) its power. Label -1 is a row that no cluster wants.

    Krishnapuram, Keller 1996, "The Possibilistic C-Means Algorithm: Insights and Recommendations"
    (K): eta fixed, no sparsity Xenaki, Koutroumbas, Rontogiannis 2014, "Sequential Sparse Adaptive
    Possibilistic Clustering" (S): eq. 1-4, SAPCM, SeqSAPCM Xenaki, Koutroumbas, Rontogiannis 2016,
    "A Novel Adaptive Possibilistic Clustering Algorithm" (A): gamma = etahat eta / alpha Xenaki,
    Koutroumbas, Rontogiannis 2016, "Sparsity-Aware Possibilistic Clustering Algorithms" (P): the
    global test, the automatic lambda

Where S prints two forms, or one that cannot run: the centres use the memberships of the same sweep;
initial scales are squared distances over squared units; a cluster whose own rows coincide, so that
its scale would be zero, is eliminated as one of none is, unless they weigh as much as a tenth of an
average cluster's: then it keeps its scale. d_slope is about distances that differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

import naive

Array = np.ndarray

NOISE = -1
FLOOR = 1e-7  # a spread below this share of the scale before is that of rows that coincide
ROUNDING = 1e-9  # a relative difference that is none
LEAST_SHARE = 0.1  # of an average cluster's own weight: less of rows that coincide makes no cluster


@dataclass(frozen=True)
class Recipe:
    lam: float = 0.0  # 0: no sparsity, APCM
    # K of the automatic lambda, which then replaces `lam` in every sweep
    factor: float | None = None
    # lambda is lowered until every cluster's squared radius is that many times its squared scale
    reach: float = 0.0
    p: float = 0.5
    # "local": the largest root, as S; "global": only where it is below u = 0, as P
    test: str = "local"
    # "length" (S), "scale-free" (A), "squared": mean squared deviation, None: eta is fixed (K)
    adaptation: str | None = "length"
    alpha: float = 1.0  # of the scale-free form
    # centres no farther apart than this share of the smallest bandwidth, both squared, are one
    merge_tol: float = 1e-3


class Sweep(NamedTuple):
    centers: Array  # (c, d), those that are left
    eta: Array  # (c,)
    # (n,) by the memberships at the centres and scales before, clusters numbered as they are left
    labels: Array
    memberships: Array  # (n, c)
    lam: float  # behind the memberships
    change: float  # how far the centre that moved most has moved; infinity where a cluster was lost


class Found(NamedTuple):
    centers: Array  # (c, d)
    eta: Array  # (c,)
    memberships: Array  # (n, c) at these centres and scales
    labels: Array  # (n,)
    lam: float
    sweeps: int


# ------------------------------------------------------------------------------- the scalar problem


def cost(u: float, d: float, eta: float, lam: float, p: float) -> float:
    """One term of S (1):  h(u) = u d + eta (u ln u - u) + lambda u^p, with h(0) = 0."""
    return u * d + eta * (u * log(u) - u) + lam * u**p if u > 0 else 0.0


def slope(u: float, d: float, eta: float, lam: float, p: float) -> float:
    """S (3):  f(u) = d / eta + ln u + (lambda / eta) p u^(p - 1) = h'(u) / eta."""
    return d / eta + log(u) + lam / eta * p * u ** (p - 1)


def membership(d: float, eta: float, lam: float, p: float, test: str) -> float:
    """S, propositions 1-3: the largest root of f, which lies between its lowest point and 1, or 0
    where there is none.

    That root is a local minimum of h. The global one over u >= 0 is 0 where h(u) >= h(0) = 0 there
    (P).
    """
    if lam == 0:
        return exp(-d / eta)
    lowest = (lam / eta * p * (1 - p)) ** (1 / (1 - p))  # proposition 2
    if slope(lowest, d, eta, lam, p) > 0:
        return 0.0
    u = float(
        brentq(slope, lowest, 1.0, args=(d, eta, lam, p), xtol=1e-300, rtol=1e-15, maxiter=1000)
    )
    if test == "global" and cost(u, d, eta, lam, p) >= 0:
        return 0.0
    return u


def memberships(d2: Array, gamma: Array, lam: float, p: float = 0.5, test: str = "local") -> Array:
    """Every row with every cluster by itself: the scalar problem at d2_ij and gamma_j."""
    u = np.empty_like(d2)
    for i in range(d2.shape[0]):
        for j in range(d2.shape[1]):
            u[i, j] = membership(d2[i, j], gamma[j], lam, p, test)
    return u


def objective(d2: Array, u: Array, gamma: Array, lam: float, p: float = 0.5) -> float:
    """S (1), with eta inside the sum over rows:  sum_ij u_ij d2_ij + gamma_j (u_ij ln u_ij - u_ij)
    + lambda u_ij^p."""
    n, c = d2.shape
    return sum(cost(u[i, j], d2[i, j], gamma[j], lam, p) for i in range(n) for j in range(c))


def reaching(gamma: float, p: float, reach: float, test: str) -> float:
    """The lambda at which  R^2 = gamma / (1 - p) (ln z at the radius - ln z at distance 0)  of a
    cluster is reach gamma^2, with z = lambda p (1 - p) / gamma at distance 0 and ln z = ln p - p,
    or -1, at the radius."""
    edge = log(p) - p if test == "global" else -1.0
    return gamma / (p * (1 - p)) * exp(edge - (1 - p) * reach * gamma)


def automatic_lambda(gamma: Array, p: float, factor: float) -> float:
    """P:  lambda = K min_j gamma_j / (p (1 - p) e^(2 - p))."""
    return factor * float(min(gamma)) / (p * (1 - p) * exp(2 - p))


# ---------------------------------------------------------------------------------------- one sweep


def owners(u: Array) -> Array:
    """S, possible cluster elimination: the cluster of the largest membership, the lowest number on
    ties, -1 where all are zero."""
    labels = np.full(len(u), NOISE)
    for i in range(len(u)):
        largest = 0.0
        for j in range(u.shape[1]):
            if u[i, j] > largest:
                labels[i], largest = j, u[i, j]
    return labels


def centres(X: Array, u: Array, V: Array) -> Array:
    """S (2):  theta_j = sum_i u_ij x_i / sum_i u_ij; a centre that no row is compatible with stays
    where it is."""
    moved = np.array(V, dtype=float)
    for j in range(len(V)):
        total = sum(u[:, j])
        if total > 0:
            moved[j] = sum(u[i, j] * X[i] for i in range(len(X))) / total
    return moved


def spread(own: Array, squared: bool) -> float:
    """S, adaptation of eta: mean over a cluster's own rows of |x_i - mu|, mu their mean and not the
    centre; or of |x_i - mu|^2."""
    mu = sum(own) / len(own)
    deviations = [float((x - mu) @ (x - mu)) for x in own]
    return sum(deviations if squared else map(sqrt, deviations)) / len(own)


def adapted(X: Array, labels: Array, eta: Array, adaptation: str | None) -> Array:
    """The next scales; one stays where its cluster owns nothing, or rows that coincide."""
    new = np.array(eta, dtype=float)
    if adaptation is None:
        return new
    for j in range(len(eta)):
        own = X[labels == j]
        if len(own):
            value = spread(own, adaptation == "squared")
            if value > FLOOR * eta[j]:
                new[j] = value
    return new


def bandwidths(eta: Array, etahat: float, recipe: Recipe) -> Array:
    """A:  gamma_j = etahat eta_j / alpha, etahat the smallest initial eta; in all other forms eta_j
    itself."""
    return etahat * eta / recipe.alpha if recipe.adaptation == "scale-free" else eta


def supported(X: Array, labels: Array, eta: Array, adaptation: str | None) -> list[int]:
    """Which clusters own rows that differ, or as many that coincide as a tenth of what a cluster
    owns on average."""
    average = sum(labels != NOISE) / len(eta)
    kept = []
    for j in range(len(eta)):
        own = X[labels == j]
        if len(own) and (
            spread(own, adaptation == "squared") > FLOOR * eta[j]
            or len(own) >= LEAST_SHARE * average
        ):
            kept.append(j)
    return kept


def apart(V: Array, tolerance: float) -> list[int]:
    """Which centres are the first of those that coincide, |theta_j - theta_k|^2 <= tolerance."""
    kept: list[int] = []
    for j in range(len(V)):
        if all((V[j] - V[k]) @ (V[j] - V[k]) > tolerance for k in kept):
            kept.append(j)
    return kept


def sweep(X: Array, V: Array, eta: Array, etahat: float, recipe: Recipe) -> Sweep:
    """S, the body of SAPCM's loop: memberships, centres, clusters eliminated, coincident ones
    merged, scales."""
    gamma = bandwidths(eta, etahat, recipe)
    lam, u = _at(X, V, gamma, recipe)
    moved = centres(X, u, V)
    change = max(sqrt((a - b) @ (a - b)) for a, b in zip(moved, V, strict=True))

    kept = supported(X, owners(u), eta, recipe.adaptation)
    kept = [kept[j] for j in apart(moved[kept], recipe.merge_tol * min(gamma))]
    if len(kept) < len(V):  # rows of a lost cluster go to the next best of theirs that is left
        moved, eta, change = moved[kept], eta[kept], inf
        lam, u = _at(X, V[kept], gamma[kept], recipe)
    labels = owners(u)
    return Sweep(moved, adapted(X, labels, eta, recipe.adaptation), labels, u, lam, change)


def adaptive(
    X: Array,
    V: Array,
    eta: Array,
    recipe: Recipe,
    *,
    tol: float = 1e-4,
    max_sweeps: int = 1000,
    etahat: float | None = None,
) -> Found:
    """S, SAPCM (APCM without sparsity) from given centres and scales, until no centre moves by
    `tol` and no cluster goes."""
    etahat = float(min(eta)) if etahat is None else etahat
    done, before = 0, None
    while done < max_sweeps and len(V):
        step = sweep(X, V, eta, etahat, recipe)
        # no cluster wants any row: the sweep before was the last
        if len(step.centers) == 0 and before is not None:
            V, eta = before
            own = owners(_at(X, V, bandwidths(eta, etahat, recipe), recipe)[1])
            owned = [j for j in range(len(V)) if any(own == j)]
            V, eta = V[owned], eta[owned]
            break
        before = V, eta
        V, eta, _, _, _, change = step
        done += 1
        if change < tol:
            break
    lam, u = _at(X, V, bandwidths(eta, etahat, recipe), recipe)
    return Found(V, eta, u, owners(u), lam, done)


def _at(X: Array, V: Array, gamma: Array, recipe: Recipe) -> tuple[float, Array]:
    """Lambda and the memberships (n, c), which are none where no cluster is left."""
    if len(V) == 0:
        return recipe.lam, np.empty((len(X), 0))
    lam, factor = recipe.lam, recipe.factor
    if factor is not None:
        lam = automatic_lambda(gamma, recipe.p, factor)
        if recipe.reach:
            lam = min(
                lam, *(reaching(float(g), recipe.p, recipe.reach, recipe.test) for g in gamma)
            )
    return lam, memberships(naive.point_distances(X, V), gamma, lam, recipe.p, recipe.test)


# ------------------------------------------------------------------------------------------- starts


def to_ten(X: Array) -> Array:
    """S, SeqSAPCM's first step: features one by one to [0, 10]."""
    return np.array([10 * (x - min(x)) / (max(x) - min(x)) for x in X.T]).T


def max_min_rows(X: Array, first: int, c: int) -> list[int]:
    """Max-Min of S, initialization: from a first row on, always the row that is farthest from its
    nearest row chosen so far."""
    rows = [first]
    while len(rows) < c:
        rows.append(farthest_row(X, X[rows]))
    return rows


def farthest_row(X: Array, V: Array) -> int:
    """S, SeqSAPCM (A):  argmax_i min_j d(x_i, theta_j), the first of equals."""
    return int(np.argmax(naive.point_distances(X, V).min(axis=1)))


def beta_scales(V: Array, beta: float) -> Array:
    """S, initialization of eta:  eta_j = (min_s |theta_j - theta_s|^2 / 2) / -ln(beta), so that u =
    beta halfway, in squared units."""
    eta = np.empty(len(V))
    for j in range(len(V)):
        eta[j] = (
            min((V[j] - V[s]) @ (V[j] - V[s]) for s in range(len(V)) if s != j) / 2 / -log(beta)
        )
    return eta


def diametral_rows(X: Array) -> tuple[int, int]:
    """Two rows far apart (Egecioglu, Kalantari 1989): the one farthest from the mean, and the one
    farthest from that."""
    one = farthest_row(X, X.mean(axis=0)[None])
    return one, farthest_row(X, X[one][None])


def largest_gap(X: Array) -> float:
    """S, d_max: the largest distance of a row to the nearest row that differs from it."""
    nearest = []
    for x in X:
        distances = [sqrt((x - y) @ (x - y)) for y in X]
        nearest.append(min((d for d in distances if d > 0), default=0.0))
    return max(nearest)


def slope_distance(X: Array, row: int, q: int = 10) -> float:
    """S, d_slope: of the q smallest distances of a row to others, zero and repeated ones left out,
    the one behind the largest step."""
    distances: list[float] = []
    for distance in sorted(sqrt((X[row] - x) @ (X[row] - x)) for x in X):
        if distance > (1 + ROUNDING) * (distances[-1] if distances else 0.0):
            distances.append(distance)
    distances = distances[:q]
    if len(distances) < 2:
        return sum(distances)
    steps = [after - before for before, after in pairwise(distances)]
    return distances[1 + steps.index(max(steps))]


def row_scale(X: Array, row: int, q: int = 10) -> float:
    """S:  eta_ini = max(d_max, d_slope), squared, as bandwidths have squared units."""
    return max(largest_gap(X), slope_distance(X, row, q)) ** 2


def pilot_scales(d2: Array, u: Array) -> Array:
    """A, initialization of eta:  eta_j = sum_i u_ij |x_i - theta_j| / sum_i u_ij, after fuzzy
    c-means; neither squared, nor u^m."""
    eta = np.empty(d2.shape[1])
    for j in range(d2.shape[1]):
        eta[j] = sum(u[i, j] * sqrt(d2[i, j]) for i in range(len(d2))) / sum(u[:, j])
    return eta


def fuzzy_pilot(
    X: Array, V: Array, *, m: float = 2.0, sweeps: int = 500, merge_tol: float = 1e-3
) -> tuple[Array, Array]:
    """A's start: fuzzy c-means from V, the scales it gives, and of coincident centres the first:
    centres and scales."""
    pilot = naive.fcm_points(X, V, m, sweeps)
    eta = pilot_scales(pilot.d2, pilot.memberships)
    kept = apart(pilot.centers, merge_tol * float(min(eta)) ** 2)
    return pilot.centers[kept], eta[kept]


# ----------------------------------------------------------------------- from narrow to wide scales


def concentration(X: Array, labels: Array) -> float:
    """Mean distance of rows from the mean of their cluster, over twice the standard deviation;
    squares are averaged over all rows."""
    mean_square = variance = 0.0
    for j in set(labels.tolist()):
        own = X[labels == j]
        distances = [sqrt((x - sum(own) / len(own)) @ (x - sum(own) / len(own))) for x in own]
        mean = sum(distances) / len(own)
        mean_square += len(own) * mean**2
        variance += sum((distance - mean) ** 2 for distance in distances)
    return sqrt(mean_square / variance) / 2


def silhouette(X: Array, V: Array, gamma: Array) -> float:
    """Mean of (b - a) / max(a, b), squared distances to the centre of the largest exp(-d2 / gamma)
    and to the nearest other one."""
    if len(V) == 1:
        return 0.0
    total = 0.0
    for row in naive.point_distances(X, V):
        own = min(range(len(V)), key=lambda j: row[j] / gamma[j])
        a, b = row[own], min(row[j] for j in range(len(V)) if j != own)
        total += (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return total / len(X)


def best_separated(
    X: Array, V: Array, eta: Array, spread: float, recipe: Recipe, *, tol: float = 1e-4
) -> tuple[Found, float]:
    """The stage of the largest silhouette, the last if that is below 0.2, and its alpha: alpha
    falls from twice the concentration `spread` by sqrt(2) eight times, or until one cluster is
    left; a radius is 2.5 standard deviations beyond the mean distance, or more."""
    etahat, alpha, stages = float(min(eta)), 2 * max(1.0, spread), []
    for _ in range(9):
        radius = max((1 + 2.5 / (2 * max(spread, 0.5))) ** 2, 3.0)
        stage = replace(
            recipe, adaptation="scale-free", alpha=alpha, reach=radius / (etahat / alpha) ** 2
        )
        found = adaptive(X, V, eta, stage, tol=tol, etahat=etahat)
        V, eta = found.centers, found.eta
        stages.append((silhouette(X, V, bandwidths(eta, etahat, stage)), found, alpha))
        if len(V) == 1:
            break
        alpha /= sqrt(2)
    largest = max(value for value, _, _ in stages)
    _, found, alpha = (
        stages[-1] if largest < 0.2 else next(stage for stage in stages if stage[0] == largest)
    )
    return found, alpha


# --------------------------------------------------------------------------------------- sequential


def sequential(X: Array, recipe: Recipe, *, q: int = 10, tol: float = 1e-4) -> Found:
    """S, SeqSAPCM: SAPCM from two diametral rows, then from what it found and the farthest row,
    until the number no longer grows."""
    rows = diametral_rows(X)
    found = adaptive(
        X, X[list(rows)], np.array([row_scale(X, row, q) for row in rows]), recipe, tol=tol
    )
    while True:
        row = farthest_row(X, found.centers)
        V = np.vstack([found.centers, X[row]])
        eta = np.append(found.eta, row_scale(X, row, q))
        grown = adaptive(X, V, eta, recipe, tol=tol)
        if len(grown.centers) <= len(found.centers):
            return found
        found = grown
