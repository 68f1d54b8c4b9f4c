"""Naive loops for clusters with covariances of their own, from the formulas: mixtures by penalised
likelihood, and Gustafson & Kessel 1979 with the same shrinkage.

x (n, d) rows, w (n,) their weights, v (c, d) means, S (c, d, d) covariances, p (c,) shares, T
(d, d) the covariance towards which they shrink, nu the rows that it counts for.
"""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray


def mahalanobis(x: Array, v: Array, S: Array) -> Array:
    """D_ij = (x_i - v_j)^T S_j^-1 (x_i - v_j)."""
    D = np.empty((len(x), len(v)))
    for j in range(len(v)):
        inverse = np.linalg.inv(S[j])
        for i in range(len(x)):
            D[i, j] = (x[i] - v[j]) @ inverse @ (x[i] - v[j])
    return D


def log_joint(x: Array, v: Array, S: Array, p: Array) -> Array:
    """ln p_j N(x_i; v_j, S_j)."""
    out = np.empty((len(x), len(v)))
    for j in range(len(v)):
        size = len(x[0]) * math.log(2 * math.pi) + np.linalg.slogdet(S[j])[1]
        out[:, j] = math.log(p[j]) - 0.5 * (mahalanobis(x, v[[j]], S[[j]])[:, 0] + size)
    return out


def posteriors(x: Array, v: Array, S: Array, p: Array) -> tuple[Array, Array]:
    """r_ij, and ln sum_j p_j N(x_i; v_j, S_j) of each row."""
    joint = log_joint(x, v, S, p)
    logs = np.array([row.max() + math.log(np.exp(row - row.max()).sum()) for row in joint])
    return np.exp(joint - logs[:, None]), logs


def prior_rows(shape: str, d: int) -> float:
    return {"full": d + 1.0, "tied": d + 1.0, "diag": 2.0, "spherical": 2.0 / d}[shape]


def scatter(x: Array, w: Array, u: Array) -> tuple[Array, Array, Array]:
    """N_j, the means v_j, and W_j = sum_i w_i u_ij (x_i - v_j)(x_i - v_j)^T."""
    N = np.array([(w * u[:, j]).sum() for j in range(u.shape[1])])
    v = np.array([(w * u[:, j]) @ x / N[j] for j in range(u.shape[1])])
    W = np.zeros((u.shape[1], x.shape[1], x.shape[1]))
    for j in range(u.shape[1]):
        for i in range(len(x)):
            W[j] += w[i] * u[i, j] * np.outer(x[i] - v[j], x[i] - v[j])
    return N, v, W


def covariances(N: Array, W: Array, T: Array, nu: float, shape: str) -> Array:
    """S_j of a shape, the maximisers of the penalised likelihood."""
    c, d = W.shape[:2]
    if shape == "tied":
        return np.array([(W.sum(axis=0) + nu * T) / (N.sum() + nu)] * c)
    S = np.empty_like(W)
    for j in range(c):
        if shape == "full":
            S[j] = (W[j] + nu * T) / (N[j] + nu)
        elif shape == "diag":
            S[j] = np.diag((np.diag(W[j]) + nu * np.diag(T)) / (N[j] + nu))
        else:
            S[j] = np.eye(d) * (np.trace(W[j]) + nu * np.trace(T)) / (d * (N[j] + nu))
    return S


def log_prior(S: Array, T: Array, nu: float, shape: str) -> float:
    """(nu / 2) sum_j [ln |S_j| + tr(S_j^-1 T)], once where all are the same."""
    T = np.diag(np.diag(T)) if shape in ("diag", "spherical") else T
    terms = [np.linalg.slogdet(s)[1] + np.trace(np.linalg.inv(s) @ T) for s in S]
    return nu / 2 * (terms[0] if shape == "tied" else sum(terms))


def pooled(x: Array, w: Array, labels: Array, shape: str) -> Array:
    """T: the covariance within the clusters of a partition, as labels (n,) or memberships (n, c),
    with a millionth of the columns' variances added to its diagonal (of "spherical", of their
    mean)."""
    u = labels if labels.ndim == 2 else np.eye(labels.max() + 1)[labels]
    within = scatter(x, w, u)[2].sum(axis=0) / w.sum()
    total = scatter(x, w, np.ones((len(x), 1)))[2][0] / w.sum()
    variances = np.diag(total)
    if shape == "spherical":
        variances = np.full(len(variances), variances.mean())
    return within + 1e-6 * np.diag(variances)


def mixture(
    x: Array, w: Array, u: Array, T: Array, shape: str, sweeps: int, nu: float | None = None
) -> dict[str, Array | list[float]]:
    """EM from memberships: the parameters after so many sweeps, and the penalised objective at
    those that each started from."""
    nu = prior_rows(shape, x.shape[1]) if nu is None else nu
    history = []
    for sweep in range(sweeps + 1):
        N, v, W = scatter(x, w, u)
        S, p = covariances(N, W, T, nu, shape), N / w.sum()
        if sweep < sweeps:
            u, logs = posteriors(x, v, S, p)
            history.append(-(w @ logs) + log_prior(S, T, nu, shape))
    u, logs = posteriors(x, v, S, p)
    history.append(-(w @ logs) + log_prior(S, T, nu, shape))
    return {"v": v, "S": S, "p": p, "u": u, "history": history, "mean": w @ logs / w.sum()}


def unit_metrics(S: Array) -> Array:
    """A_j = |S_j|^(1/d) S_j^-1, of determinant 1."""
    return np.array([np.linalg.det(s) ** (1 / len(s)) * np.linalg.inv(s) for s in S])


def gustafson_kessel(
    x: Array, w: Array, u: Array, T: Array, m: float, sweeps: int, shape: str = "full"
) -> dict[str, Array | list[float]]:
    """Fuzzy clusters in metrics of determinant 1, from hard memberships: minimises sum_ij w_i
    u_ij^m d_ij + nu sum_j tr(A_j T)."""
    nu, history = prior_rows(shape, x.shape[1]), []
    weights = u
    for _ in range(sweeps + 1):
        N, v, W = scatter(x, w, weights)
        A = unit_metrics(covariances(N, W, T, nu, shape))
        d2 = np.array([[(a - b) @ M @ (a - b) for b, M in zip(v, A, strict=True)] for a in x])
        u = d2 ** (-1 / (m - 1))
        u /= u.sum(axis=1, keepdims=True)
        weights = u**m
        penalty = nu * sum(np.trace(M @ T) for M in (A[:1] if shape == "tied" else A))
        history.append((w[:, None] * weights * d2).sum() + penalty)
    return {"v": v, "A": A, "u": u, "history": history}


def gustafson_kessel_stream(
    chunks: list[Array], u: Array, T: Array, m: float, sweeps: int, decay: float, shape: str
) -> dict[str, Array | list[float]]:
    """The same of chunks of rows, from hard memberships of the first: rows that have gone by keep
    the weights u_ij^m that they had in the last sweep of their chunk, times `decay` for each chunk
    since; `history` is that of the last chunk."""
    nu, past, kept = prior_rows(shape, chunks[0].shape[1]), chunks[0][:0], u[:0]
    state = None
    for x in chunks:
        kept, history = kept * decay, []
        every = np.concatenate([past, x])
        for sweep in range(sweeps + 1):
            if sweep == 0:  # of the first chunk its start, else the clusters of the past
                rows, weights = (x, u) if state is None else (past, kept)
            else:
                v, A = state
                d2 = np.array(
                    [[(a - b) @ M @ (a - b) for b, M in zip(v, A, strict=True)] for a in every]
                )
                u = d2[len(past) :] ** (-1 / (m - 1))
                u /= u.sum(axis=1, keepdims=True)
                rows, weights = every, np.concatenate([kept, u**m])
                penalty = nu * sum(np.trace(M @ T) for M in (A[:1] if shape == "tied" else A))
                history.append((weights * d2).sum() + penalty)
            # weights differ by cluster: as memberships of rows of weight one
            N, v, W = scatter(rows, np.ones(len(rows)), weights)
            state = v, unit_metrics(covariances(N, W, T, nu, shape))
        past, kept = every, weights
    return {"v": state[0], "A": state[1], "N": N, "history": history}


def mixture_stream(
    chunks: list[Array], u: Array, T: Array, sweeps: int, decay: float, shape: str
) -> dict[str, Array]:
    """EM of chunks of rows, from hard memberships of the first: rows that have gone by keep the
    posteriors that they had in the last sweep of their chunk, times `decay` for each chunk
    since."""
    nu, past, kept = prior_rows(shape, chunks[0].shape[1]), chunks[0][:0], u[:0]
    rows, weights, found = chunks[0], u, ()
    for number, x in enumerate(chunks):
        kept = kept * decay
        if number:
            rows, weights = past, kept
        for sweep in range(sweeps + 1):
            if sweep:
                rows = np.concatenate([past, x])
                weights = np.concatenate([kept, posteriors(x, *found)[0]])
            N, v, W = scatter(rows, np.ones(len(rows)), weights)
            found = v, covariances(N, W, T, nu, shape), N / N.sum()
        past, kept = rows, weights
    u = posteriors(chunks[-1], *found)[0]
    return {"v": found[0], "S": found[1], "p": found[2], "u": u}


def expected(row: Array, v: Array, S: Array) -> tuple[Array, Array, float]:
    """A row with NaN as a Gaussian expects it: with E[x_m | x_o], the covariance of what is missing
    (0 elsewhere), and ln N(x_o; v_o, S_oo)."""
    o, m = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
    inverse = np.linalg.inv(S[np.ix_(o, o)])
    away = row[o] - v[o]
    full, C = row.copy(), np.zeros_like(S)
    full[m] = v[m] + S[np.ix_(m, o)] @ inverse @ away
    C[np.ix_(m, m)] = S[np.ix_(m, m)] - S[np.ix_(m, o)] @ inverse @ S[np.ix_(o, m)]
    size = len(o) * math.log(2 * math.pi) + np.linalg.slogdet(S[np.ix_(o, o)])[1]
    return full, C, -0.5 * (away @ inverse @ away + size)


def incomplete_mixture(
    x: Array,
    w: Array,
    start: tuple[Array, Array, Array],
    T: Array,
    shape: str,
    sweeps: int,
    nu: float,
    noise: tuple[float, Array] | None = None,
) -> dict[str, Array | list[float]]:
    """EM from shares, means and covariances (p, v, S) of rows some of whose values are NaN
    (Ghahramani & Jordan 1994): the parameters after so many sweeps, posteriors, the objective at
    those that each sweep started from, and the rows' means. `noise`: a share that is held, and the
    ranges (d,) over which it spreads in each column."""
    p, v, S = start
    p0, ranges = (0.0, np.ones(x.shape[1])) if noise is None else noise
    p = p * (1 - p0)
    V = np.array([np.prod(ranges[~np.isnan(row)]) for row in x])
    n, c, history = len(x), len(p), []
    for sweep in range(sweeps + 1):
        seen = [[expected(x[i], v[j], S[j]) for j in range(c)] for i in range(n)]
        joint = np.array([[math.log(p[j]) + seen[i][j][2] for j in range(c)] for i in range(n)])
        logs = np.array([row.max() + math.log(np.exp(row - row.max()).sum()) for row in joint])
        logs = np.log(np.exp(logs) + p0 / V)
        u = np.exp(joint - logs[:, None])
        history.append(-(w @ logs) + log_prior(S, T, nu, shape))
        if sweep == sweeps:
            break
        N = w @ u
        v = np.array(
            [sum(w[i] * u[i, j] * seen[i][j][0] for i in range(n)) / N[j] for j in range(c)]
        )
        W = np.zeros_like(S)
        for j in range(c):
            for i in range(n):
                away = seen[i][j][0] - v[j]
                W[j] += w[i] * u[i, j] * (np.outer(away, away) + seen[i][j][1])
        S, p = covariances(N, W, T, nu, shape), N / N.sum() * (1 - p0)
    near = u / u.sum(axis=1, keepdims=True)
    means = np.array([sum(near[i, j] * seen[i][j][0] for j in range(c)) for i in range(n)])
    return {"v": v, "S": S, "p": p, "u": u, "history": history, "logs": logs, "means": means}


def noise_volume(x: Array, w: Array) -> float:
    """V: the product of the columns' ranges without the least and largest values that 1% of the
    weight has, or one row, stretched by a tenth; w are whole numbers of copies."""
    beyond, volume = max(0.01 * w.sum(), 1.0), 1.0
    for column in x.T:
        copies = sorted(value for value, k in zip(column, w, strict=True) for _ in range(int(k)))
        volume *= 1.1 * (copies[-1 - math.floor(beyond)] - copies[math.floor(beyond)])
    return volume


def noisy_mixture(
    x: Array,
    w: Array,
    start: tuple[Array, Array, Array],
    share: float | None,
    V: float,
    shape: str,
    sweeps: int,
) -> dict[str, Array | list[float] | float]:
    """EM without a prior from shares, means and covariances (p, v, S) beside noise of the density
    1 / V, whose share is given, or is found from a tenth on (None)."""
    p, v, S = start
    p0 = 0.1 if share is None else share
    p, history = p * (1 - p0) / p.sum(), []
    for sweep in range(sweeps + 1):
        joint = np.exp(log_joint(x, v, S, p))
        density = joint.sum(axis=1) + p0 / V
        u = joint / density[:, None]
        history.append(-(w @ np.log(density)))
        if sweep < sweeps:
            N, v, W = scatter(x, w, u)
            S = covariances(N, W, np.zeros_like(S[0]), 0.0, shape)
            p0 = 1 - N.sum() / w.sum() if share is None else share
            p = N / N.sum() * (1 - p0)
    return {"v": v, "S": S, "p": p, "p0": p0, "u": u, "history": history, "logs": np.log(density)}
