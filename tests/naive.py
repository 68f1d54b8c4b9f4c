"""The naive twin: the formulas as printed, in float64 and loops, with no cleverness. Fast code is
compared with this, never with itself.

n rows, c clusters, s landmarks. `K` (n, n) is a full kernel matrix; `Ks` (n, s), `Kss` (s, s),
`diag` (n,) are the landmark pieces. `d2` (n, c) is always a SQUARED distance with k(x, x) kept; `u`
(n, c) memberships; `A` (n, c) = sample_weight * u**m.

    Havens, Chitta, Jain, Jin 2011, "Speedup of Fuzzy and Possibilistic Kernel c-Means" (H): eq.
    4-11, 19, 20, Algorithms 1-5 Zhang, Havens 2013, "Scalable Approximation of Kernel Fuzzy
    c-Means" (Z): eq. 6, 7 Chitta, Jin, Havens, Jain 2011, "Approximate Kernel k-means" (C):
    Algorithms 1, 2 Dave 1991, "Characterization and detection of noise in clustering" (D):
    memberships and objective with a noise cluster Rose, Gurewitz, Fox 1990, "Statistical mechanics
    and phase transitions in clustering" (R): the memberships and the critical temperature

Five slips of the print are put right here: the exponent of H (6) and (7) is 1 / (m - 1), as the
distances are squared already; the first term of H (10) is over (sum u^m)^2, of Z (7) over the
squared norm; H (19) has a plus sign; C's inverse of K_ss is a pseudo-inverse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Result(NamedTuple):
    d2: Array  # (n, c) after the last update
    memberships: Array  # (n, c) of that d2
    objective: float  # of those two
    history: list[float]  # sweeps + 1 values: at the start's distances, then after every update
    centers: Array | None = None  # (c, d), only where centres are points


# ---------------------------------------------------------------------------------------- distances


def _normalized(a: Array) -> Array:  # a~ of H (10)
    if not a.sum() > 0:
        raise ValueError(
            "a cluster is empty; the naive twin has no rule for that, choose another start"
        )
    return a / a.sum()


def exact_distances(K: Array, A: Array) -> Array:
    """H (10), weighted as Z (7):  d2_ij = K_ii - 2 (K a~_j)_i + a~_j^T K a~_j."""
    n, c = A.shape
    d2 = np.empty((n, c))
    for j in range(c):
        a = _normalized(A[:, j])
        norm = a @ K @ a
        for i in range(n):
            d2[i, j] = K[i, i] - 2 * (K[i] @ a) + norm
    return d2


@lru_cache
def _eigen(matrix: bytes, rows: int) -> tuple[Array, Array]:
    """Of float64 values; tests ask for those of one matrix again and again."""
    return np.linalg.eigh(np.frombuffer(matrix).reshape(rows, rows))


def pseudo_solve(Kss: Array, t: Array, rcond: float) -> Array:
    """K_ss^+ t over the eigenvalues above rcond times the largest. Never formed: the rounded matrix
    would lose half the digits."""
    values, vectors = _eigen(Kss.tobytes(), len(Kss))
    alpha = np.zeros(len(Kss))
    for value, v in zip(values, vectors.T, strict=True):
        if value > rcond * values[-1]:
            alpha += v * (v @ t) / value
    return alpha


def _distances_to_combinations(Ks: Array, Kss: Array, diag: Array, alphas: Array) -> Array:
    """H (20):  d2_ij = alpha_j^T K_ss alpha_j + K_ii - 2 (K_s alpha_j)_i, centres with coefficients
    `alphas` (c, s) over the landmarks."""
    d2 = np.empty((len(Ks), len(alphas)))
    for j, alpha in enumerate(alphas):
        norm = alpha @ Kss @ alpha
        for i in range(len(Ks)):
            d2[i, j] = norm + diag[i] - 2 * (Ks[i] @ alpha)
    return d2


def landmark_distances(Ks: Array, Kss: Array, diag: Array, A: Array, rcond: float) -> Array:
    """akFCM, akPCM and approximate kernel k-means, H (19) and (20):  alpha_j = K_ss^+ K_s^T
    a~_j."""
    alphas = np.array([pseudo_solve(Kss, Ks.T @ _normalized(a), rcond) for a in A.T])
    return _distances_to_combinations(Ks, Kss, diag, alphas)


def point_distances(X: Array, V: Array) -> Array:
    """Between points:  d2_ij = sum_k (x_ik - v_jk)^2."""
    return np.array(
        [
            [sum((X[i, k] - V[j, k]) ** 2 for k in range(X.shape[1])) for j in range(len(V))]
            for i in range(len(X))
        ]
    )


def row_start_distances_exact(K: Array, rows: Array) -> Array:
    """To rows as centres:  |phi(x_i) - phi(x_r)|^2 = K_ii + K_rr - 2 K_ir."""
    return np.array([[K[i, i] + K[r, r] - 2 * K[i, r] for r in rows] for i in range(len(K))])


def row_start_distances_landmark(
    Ks: Array, Kss: Array, diag: Array, rows: Array, rcond: float
) -> Array:
    """To rows as centres, each projected onto the span of the landmarks:  alpha_r = K_ss^+
    k_s(x_r)."""
    return _distances_to_combinations(
        Ks, Kss, diag, np.array([pseudo_solve(Kss, Ks[r], rcond) for r in rows])
    )


# -------------------------------------------------------------------------------------- memberships


def hard_memberships(d2: Array) -> Array:
    """H (5); ties go to the lowest number."""
    u = np.zeros_like(d2)
    for i in range(len(d2)):
        nearest = 0
        for j in range(1, d2.shape[1]):
            if d2[i, j] < d2[i, nearest]:
                nearest = j
        u[i, nearest] = 1
    return u


def fuzzy_memberships(d2: Array, m: float, exponent: float | None = None) -> Array:
    """H (6):  u_ij = 1 / sum_k (d2_ij / d2_ik)^exponent.  A row at distance zero of some centres is
    shared equally among them."""
    power = 1 / (m - 1) if exponent is None else exponent
    n, c = d2.shape
    u = np.zeros((n, c))
    for i in range(n):
        # rounding may leave a zero slightly negative
        zeros = [j for j in range(c) if d2[i, j] <= 0]
        if zeros:
            u[i, zeros] = 1 / len(zeros)
            continue
        for j in range(c):
            # near m = 1 the sum may be infinite, and then u_ij is 0 as it should be
            with np.errstate(over="ignore"):
                u[i, j] = 1 / sum((d2[i, j] / d2[i, k]) ** power for k in range(c))
    return u


def noise_memberships(d2: Array, m: float, delta: float) -> Array:
    """D, distances squared already:  u_ij = 1 / [sum_k (d2_ij / d2_ik)^(1/(m-1)) + (d2_ij /
    delta)^(1/(m-1))], rows at centres shared."""
    u = np.zeros_like(d2)
    for i in range(len(d2)):
        there = [j for j in range(d2.shape[1]) if d2[i, j] == 0]
        for j in range(d2.shape[1]):
            if there:
                u[i, j] = (j in there) / len(there)
            else:
                u[i, j] = 1 / (
                    sum((d2[i, j] / other) ** (1 / (m - 1)) for other in d2[i])
                    + (d2[i, j] / delta) ** (1 / (m - 1))
                )
    return u


def noise_penalty(u: Array, m: float, delta: float, weights: Array | None = None) -> float:
    """D:  delta sum_i w_i u_i0^m,  u_i0 = 1 - sum_j u_ij: what noise adds to the objective."""
    w = np.ones(len(u)) if weights is None else weights
    return float(sum(w[i] * delta * max(1 - u[i].sum(), 0.0) ** m for i in range(len(u))))


def weighted_quantile(values: Array, weights: Array, share: float) -> float:
    """The smallest value that at least a share of the weight does not exceed."""
    for value in sorted(values):
        if weights[values <= value].sum() >= share * weights.sum():
            return float(value)
    raise ValueError("there is always one")


def automatic_noise_distance(nearest: Array, weights: Array, labels: Array) -> float:
    """1.5 times the least width of a cluster such that those no wider have 70% of the weight. A
    width is the larger of q50 + 7 (q50 - q25)  and the cube of  r50 + 2.79 (r50 - r25),  r the cube
    roots, of the rows no farther: from the nearer half outwards, as long as it grows."""
    widths, sizes = [], []
    for j in sorted(set(labels.tolist())):
        own, w = nearest[labels == j], weights[labels == j]
        width = weighted_quantile(own, w, 0.5)
        while True:
            near = own <= width
            q25, q50 = (weighted_quantile(own[near], w[near], share) for share in (0.25, 0.5))
            r25, r50 = q25 ** (1 / 3), q50 ** (1 / 3)
            wider = max(q50 + 7 * (q50 - q25), (r50 + 2.79 * (r50 - r25)) ** 3)
            if wider <= width:
                break
            width = wider
        widths.append(width)
        sizes.append(w.sum())
    return 1.5 * weighted_quantile(np.array(widths), np.array(sizes), 0.7)


def possibilistic_memberships(
    d2: Array, eta: Array, m: float, exponent: float | None = None
) -> Array:
    """H (7):  u_ij = 1 / (1 + (d2_ij / eta_j)^exponent)."""
    power = 1 / (m - 1) if exponent is None else exponent
    u = np.zeros_like(d2)
    for i in range(d2.shape[0]):
        for j in range(d2.shape[1]):
            with np.errstate(over="ignore"):
                u[i, j] = 1 / (1 + (max(d2[i, j], 0.0) / eta[j]) ** power)
    return u


def entropy_memberships(d2: Array, T: float) -> Array:
    """R, at temperature T:  u_ij = exp(-d2_ij / T) / sum_k exp(-d2_ik / T), which is 1 / sum_k
    exp((d2_ij - d2_ik) / T)."""
    u = np.zeros_like(d2)
    for i in range(d2.shape[0]):
        for j in range(d2.shape[1]):
            with np.errstate(over="ignore"):
                u[i, j] = 1 / sum(np.exp((d2[i, j] - d2[i, k]) / T) for k in range(d2.shape[1]))
    return u


def possibilistic_scales(
    d2: Array, u: Array, m: float, weights: Array | None = None, eta_scale: float = 1.0
) -> Array:
    """H (11), weighted:  eta_j = eta_scale * sum_i w_i u_ij^m d2_ij / sum_i w_i u_ij^m."""
    n, c = d2.shape
    w = np.ones(n) if weights is None else weights
    eta = np.empty(c)
    for j in range(c):
        eta[j] = (
            eta_scale
            * sum(w[i] * u[i, j] ** m * d2[i, j] for i in range(n))
            / sum(w[i] * u[i, j] ** m for i in range(n))
        )
    return eta


def objective(
    d2: Array, u: Array, m: float, weights: Array | None = None, eta: Array | None = None
) -> float:
    """H (4) at given distances, weighted as Z (6):  sum_ij w_i u_ij^m d2_ij,  with eta + sum_ij w_i
    eta_j (1 - u_ij)^m."""
    w = np.ones(len(d2)) if weights is None else weights
    total = 0.0
    for i in range(d2.shape[0]):
        for j in range(d2.shape[1]):
            total += w[i] * u[i, j] ** m * d2[i, j]
            if eta is not None:
                total += w[i] * eta[j] * (1 - u[i, j]) ** m
    return float(total)


def entropy_objective(d2: Array, u: Array, T: float, weights: Array | None = None) -> float:
    """R, Li & Mukaidono 1995, at given distances:  sum_i w_i [sum_j u_ij d2_ij + T sum_j u_ij ln
    u_ij],  0 ln 0 = 0."""
    w = np.ones(len(d2)) if weights is None else weights
    total = 0.0
    for i in range(d2.shape[0]):
        for j in range(d2.shape[1]):
            total += w[i] * u[i, j] * d2[i, j]
            if u[i, j] > 0:
                total += w[i] * T * u[i, j] * np.log(u[i, j])
    return float(total)


class Sums(NamedTuple):
    mass: Array  # (c,)
    moment: Array  # (c, d)
    spread: Array  # (c,)
    penalty: float


def sums(X: Array, d2: Array, u: Array, m: float, weights: Array, eta: Array | None = None) -> Sums:
    """The sums behind one update, A_ij = w_i u_ij^m:  sum_i A_ij,  sum_i A_ij x_i,  sum_i A_ij
    d2_ij;  sum_ij w_i eta_j (1 - u_ij)^m."""
    (n, c), d = u.shape, X.shape[1]
    mass, moment, spread, penalty = np.zeros(c), np.zeros((c, d)), np.zeros(c), 0.0
    for i in range(n):
        for j in range(c):
            a = weights[i] * u[i, j] ** m
            mass[j] += a
            moment[j] += a * X[i]
            spread[j] += a * d2[i, j]
            if eta is not None:
                penalty += weights[i] * eta[j] * (1 - u[i, j]) ** m
    return Sums(mass, moment, spread, penalty)


# --------------------------------------------------------------------------------------- algorithms


def cmeans(
    distances: Callable[[Array], Array],  # A -> d2, say `lambda A: exact_distances(K, A)`
    memberships: Callable[[Array], Array],  # d2 -> u
    d2_start: Array,
    sweeps: int,
    m: float,  # 1 for hard memberships
    weights: Array | None = None,
    eta: Array | None = None,  # for the objective alone
) -> Result:
    """H Algorithms 1-5 and C Algorithm 2, one loop for all, from the distances to the first
    centres."""
    w = np.ones(len(d2_start)) if weights is None else weights
    d2 = d2_start
    u = memberships(d2)
    history = [objective(d2, u, m, w, eta)]
    for _ in range(sweeps):
        d2 = distances(w[:, None] * u**m)
        u = memberships(d2)
        history.append(objective(d2, u, m, w, eta))
    return Result(d2, u, history[-1], history)


def two_step(K: Array, sample_rows: Array, start_rows: Array, sweeps: int) -> Result:
    """C Algorithm 1: kernel k-means on the sample (`sweeps` >= 1), then every row to the nearest of
    its centres; history: the sample's."""
    sample = np.asarray(sample_rows)
    K_sample = K[np.ix_(sample, sample)]
    d2_sample = row_start_distances_exact(K, start_rows)[sample]
    history = []
    for _ in range(sweeps):
        u = hard_memberships(d2_sample)
        history.append(objective(d2_sample, u, 1))
        d2_sample = exact_distances(K_sample, u)
    history.append(objective(d2_sample, hard_memberships(d2_sample), 1))
    d2 = np.empty((len(K), u.shape[1]))
    for j in range(u.shape[1]):
        a = _normalized(u[:, j])
        for i in range(len(K)):
            d2[i, j] = K[i, i] - 2 * (K[i, sample] @ a) + a @ K_sample @ a
    final = hard_memberships(d2)
    return Result(d2, final, objective(d2, final, 1), history)


def _points(
    memberships: Callable[[Array], Array],
    X: Array,
    V: Array,
    m: float,
    sweeps: int,
    weights: Array | None,
) -> Result:
    """Means and memberships in turn, with centres that are points: no kernel anywhere."""
    w = np.ones(len(X)) if weights is None else weights
    V = np.array(V, dtype=float)

    d2 = point_distances(X, V)
    u = memberships(d2)
    history = [objective(d2, u, m, w)]
    for _ in range(sweeps):
        for j in range(len(V)):
            a = _normalized(w * u[:, j] ** m)
            V[j] = sum(a[i] * X[i] for i in range(len(X)))
        d2 = point_distances(X, V)
        u = memberships(d2)
        history.append(objective(d2, u, m, w))
    return Result(d2, u, history[-1], history, V)


def fcm_points(X: Array, V: Array, m: float, sweeps: int, weights: Array | None = None) -> Result:
    """Euclidean fuzzy c-means (Bezdek 1981) from centres `V` (c, d)."""
    return _points(lambda d2: fuzzy_memberships(d2, m), X, V, m, sweeps, weights)


def kmeans_points(X: Array, V: Array, sweeps: int, weights: Array | None = None) -> Result:
    """Lloyd's k-means from centres `V` (c, d)."""
    return _points(hard_memberships, X, V, 1, sweeps, weights)


# ------------------------------------------------------------------------------ automatic fuzzifier


def critical_fuzzifier(K: Array, weights: Array | None = None) -> tuple[float, float]:
    """(lambda_max, m_star): above m_star = 1 / (1 - 2 lambda_max) the solution of equal centres
    attracts fuzzy c-means.

    lambda_max is the largest eigenvalue of C = sum_i p_i y_i y_i^T / |y_i|^2, where y_i = phi(x_i)
    - sum_l p_l phi(x_l) and p = w / sum w; C shares it with the Gram matrix of its terms, sqrt(p_i
    p_k) y_i.y_k / (|y_i| |y_k|). Rows at the mean have no direction: no term. m_star is infinite
    where lambda_max >= 1/2.
    """
    n = len(K)
    w = np.ones(n) if weights is None else weights
    p = w / w.sum()
    mean = K @ p  # phi(x_i).mean
    centred = np.array(
        [[K[i, k] - mean[i] - mean[k] + p @ mean for k in range(n)] for i in range(n)]
    )
    noise = 1e-12 * max(abs(K[i, i]) for i in range(n))  # what rounding may leave of |y_i|^2 = 0
    gram = np.zeros((n, n))
    for i in range(n):
        for k in range(n):
            if centred[i, i] > noise and centred[k, k] > noise:
                gram[i, k] = (
                    np.sqrt(p[i] * p[k]) * centred[i, k] / np.sqrt(centred[i, i] * centred[k, k])
                )
    largest = float(np.linalg.eigvalsh(gram)[-1])
    return largest, np.inf if largest >= 0.5 else 1 / (1 - 2 * largest)


def automatic_fuzzifier(K: Array, labels: Array, weights: Array | None = None) -> float:
    """The m that keeps the clusters of a hard partition apart, the least of four.

    2; halfway from 1 to m_star of all rows; halfway from 1 to the median of the clusters' m_star,
    infinite where all rows are the same; and the m at which two centres in the cluster of the
    largest cost E, (1 - 2^(1 - m)) E cheaper than one, pay for half the least use U of a cluster,
    which is what the fuzzy objective at that m would rise by without it.
    """
    n, c = len(K), int(labels.max()) + 1
    w = np.ones(n) if weights is None else weights
    cost, distances = np.zeros(c), np.zeros((n, c))
    for i in range(n):
        for j in range(c):
            p = np.where(labels == j, w, 0.0) / w[labels == j].sum()
            square = (
                K[i, i]
                - 2 * sum(p[k] * K[i, k] for k in range(n))
                + sum(p[k] * p @ K[k] for k in range(n))
            )
            distances[i, j] = max(square, 0.0)
        cost[labels[i]] += w[i] * distances[i, labels[i]]
    bounds = [2.0, 1 + (critical_fuzzifier(K, w)[1] - 1) / 2]
    if c > 1:
        own = []
        for j in range(c):
            rows = np.flatnonzero(labels == j)
            alike = all(
                abs(K[i, i] - 2 * K[i, k] + K[k, k]) <= 1e-12 * K[i, i] for i in rows for k in rows
            )
            own.append(np.inf if alike else critical_fuzzifier(K[np.ix_(rows, rows)], w[rows])[1])
        bounds.append(1 + (np.median(own) - 1) / 2)
        low, m, high = 1.0, min(bounds), min(bounds)
        while high - low > 1e-12:  # until (1 - 2^(1 - m)) max E = min U / 2
            low, high = (
                (m, high)
                if (1 - 2 ** (1 - m)) * cost.max() <= cluster_costs(distances, w, m)[1].min() / 2
                else (low, m)
            )
            m = (low + high) / 2
        bounds.append(high)
    return float(min(bounds))


# ------------------------------------------------------------------------------------------ kernels


def kernel_matrix(X: Array, Y: Array, function: Callable[[Array, Array], float]) -> Array:
    return np.array([[function(x, y) for y in Y] for x in X], dtype=float)


def linear(x: Array, y: Array) -> float:
    return float(sum(a * b for a, b in zip(x, y, strict=True)))


def rbf(x: Array, y: Array, gamma: float) -> float:
    return float(np.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, y, strict=True))))


def laplacian(x: Array, y: Array, gamma: float) -> float:
    return float(np.exp(-gamma * sum(abs(a - b) for a, b in zip(x, y, strict=True))))


def polynomial(x: Array, y: Array, gamma: float, coef0: float, degree: float) -> float:
    return (gamma * linear(x, y) + coef0) ** degree


def normalized_polynomial(x: Array, y: Array, gamma: float, coef0: float, degree: float) -> float:
    """Zhang, Rudnicky 2002: the polynomial kernel over the root of its diagonals, so that k(x, x) =
    1."""
    diagonals = polynomial(x, x, gamma, coef0, degree) * polynomial(y, y, gamma, coef0, degree)
    return polynomial(x, y, gamma, coef0, degree) / float(np.sqrt(diagonals))


def sigmoid(x: Array, y: Array, gamma: float, coef0: float) -> float:
    return float(np.tanh(gamma * linear(x, y) + coef0))


def cosine(x: Array, y: Array) -> float:
    """A row of zeros has no direction: 0 with every row, itself included."""
    norms = linear(x, x) * linear(y, y)
    return linear(x, y) / float(np.sqrt(norms)) if norms > 0 else 0.0


# ------------------------------------------------------------------------------------------- search


def cluster_costs(d2: Array, weight: Array, m: float = 1.0) -> tuple[Array, Array]:
    """Errors  E_j = sum_i w_i u_ij^m d2_ij  and utilities U_j, the rise of the objective if cluster
    j went: all rows are shared anew among the others. m = 1: hard. (Fritzke 2020, of hard
    clusters.)"""

    def parts(distances: Array) -> Array:
        u = hard_memberships(distances) if m == 1.0 else fuzzy_memberships(distances, m)
        return u**m * distances

    errors, utilities = weight @ parts(d2), np.zeros(d2.shape[1])
    before = errors.sum()
    for j in range(d2.shape[1]):
        utilities[j] = (parts(np.delete(d2, j, axis=1)).sum(axis=1) * weight).sum() - before
    return errors, utilities


def automatic_temperature(K: Array, labels: Array, weights: Array | None = None) -> float:
    """The least of half the critical temperature (R), min_j U_j / (2 ln 2 max_j W_j), and the
    median over the clusters of half their own critical temperatures, from a hard partition; W_j the
    clusters' weights, U_j what their rows would cost more at the next mean."""
    w = np.ones(len(K)) if weights is None else weights
    d2 = exact_distances(K, w[:, None] * np.eye(labels.max() + 1)[labels])

    def half_critical(rows: Array) -> float:
        share = w[rows] / w[rows].sum()
        centred = np.eye(len(rows)) - np.outer(np.ones(len(rows)), share)
        root = np.diag(np.sqrt(share))
        return float(
            np.linalg.eigvalsh(root @ centred @ K[np.ix_(rows, rows)] @ centred.T @ root)[-1]
        )

    useful, mass, own = [], [], []
    for j in range(labels.max() + 1):
        rows = np.flatnonzero(labels == j)
        useful.append(
            sum(
                w[i] * (min(d2[i, k] for k in range(d2.shape[1]) if k != j) - d2[i, j])
                for i in rows
            )
        )
        mass.append(w[rows].sum())
        own.append(half_critical(rows))
    return float(
        min(
            half_critical(np.arange(len(K))),
            np.median(own),
            min(useful) / (2 * np.log(2) * max(mass)),
        )
    )


# ----------------------------------------------------------------------------- tables of both kinds


def gower(x: Array, y: Array, low: Array, span: Array, categorical: list[int]) -> float:
    """Gower 1971: one less the mean, over the columns, of how far two values lie apart."""
    total = 0.0
    for f in range(len(x)):
        if f in categorical:
            total += float(x[f] != y[f])
        elif span[f] > 0:
            ends = [min(max((value - low[f]) / span[f], 0.0), 1.0) for value in (x[f], y[f])]
            total += abs(ends[0] - ends[1])
    return 1.0 - total / len(x)
