"""The naive twin of clustering in chunks: the formulas as printed, in float64 and loops, with no
cleverness.

`kernel(X, Y)` is the kernel matrix between rows X (n, d) and Y (n', d). Centres are known by
coefficients `q` (c, n) over the rows of one chunk (Z's q~),  v_k = sum_i q_ki phi(x_i);
meta-vectors a_j, what a chunk is told of the past, by coefficients `beta` (c, n) over the same rows
and weights `past` (c,). Memberships of rows are `u` (n, c), of meta-vectors `u_meta` (c, c), one
row for each; `d2` are squared distances; `w` weights of rows. m is the fuzzifier; None or "hard":
every row to its nearest centre, ties to the lowest number.

    Zhang, Havens 2013, "Scalable Approximation of Kernel Fuzzy c-Means" (Z): eq. 8-13, Algorithm 1,
    stKFCM Havens 2012, "Approximation of Kernel k Means for Streaming Data": the same with hard
    memberships Fausser, Schwenker 2012, "Clustering Large Datasets with Kernel Methods" (F): kernel
    patch clustering

Two slips of Z's Algorithm 1 are put right here: the first centres are made of u^m, not of u; and
the weight of a_k (line 2) is W_k, the denominator of (9b), as the 1-norm of q_k explodes once beta
has both signs. With u = 0 and u_meta one-hot a chunk starts at v_k = a_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

import naive

Array = np.ndarray
Kernel = Callable[[Array, Array], Array]
Fuzzifier = float | str | None

HARD = (None, "hard")
RCOND = 1e-11  # eigenvalues of K_t below this share of the largest are none


class Meta(NamedTuple):
    beta: Array  # (p, n): p = c, or 0 where there is no past
    past: Array  # (p,)
    frozen: bool  # a_k stays with cluster k


class View(NamedTuple):
    d2: Array  # (n, c)
    memberships: Array  # (n, c)
    meta_memberships: Array  # (p, c)
    objective: float  # sum_ik w_i u_ik^m d2_ik
    meta_objective: float  # the same over meta-vectors


class Fit(NamedTuple):
    coefficients: Array  # (c, n)
    mass: Array  # (c,) W_k, the denominator of (9b), with the memberships that made these centres
    counts: Array  # (c,) the same with u for u^m
    view: View  # from these centres
    sweeps: int


class Chunk(NamedTuple):
    coefficients: Array  # (c, n) over the rows of this chunk
    mass: Array  # (c,) W_k
    carried: Array  # (c,) what the next chunk, but for decay, takes for the weight of a_k
    # (c,) rho_k = |a_k|^2 / |v_k|^2, v_k the centre of the chunk before; ones in the first
    kept: Array
    memberships: Array  # (n, c) of this chunk's rows at its centres
    objective: float
    meta_objective: float
    sweeps: int


class Patch(NamedTuple):
    points: Array  # (p, d) carried on, in the order of B
    # (c, p) the next centres, averages of the points closest to each of these: 1 over their number,
    # else 0
    shares: Array
    weights: Array  # (p,)
    numbers: Array  # (p,) which rows of B, the patch and behind it the points carried to it
    coefficients: Array  # (c, rows of B)
    memberships: Array  # (rows of B, c)
    objective: float
    sweeps: int


# ---------------------------------------------------------------------------------------- distances


def row_distances(Kxt: Array, K: Array, kxx: Array, q: Array) -> Array:
    """Z (13b), (13c):  |phi(x_i) - v_k|^2 = k(x_i, x_i) + q_k^T K q_k - 2 k(x_i, X_t) q_k."""
    d2 = np.empty((len(kxx), len(q)))
    for k in range(len(q)):
        norm = q[k] @ K @ q[k]
        for i in range(len(kxx)):
            d2[i, k] = kxx[i] + norm - 2 * (Kxt[i] @ q[k])
    return d2


def combination_distances(beta: Array, K: Array, q: Array) -> Array:
    """Z (13a):  |a_j - v_k|^2 = (beta_j - q_k)^T K (beta_j - q_k); taken apart as printed, it is no
    longer zero at v_j = a_j."""
    d2 = np.empty((len(beta), len(q)))
    for j in range(len(beta)):
        for k in range(len(q)):
            d2[j, k] = (beta[j] - q[k]) @ K @ (beta[j] - q[k])
    return d2


def memberships(d2: Array, m: Fuzzifier) -> Array:
    """Z (2), or hard."""
    return naive.hard_memberships(d2) if m in HARD else naive.fuzzy_memberships(d2, m)


def power(m: Fuzzifier) -> float:
    return 1.0 if m in HARD else m


def assign(x: Array, chunk: Array, q: Array, kernel: Kernel, m: Fuzzifier) -> tuple[Array, Array]:
    """Z, Algorithm 1, line 7: (13c) to centres over the rows of `chunk`, and memberships, of any
    rows."""
    kxx = np.array([kernel(row[None], row[None])[0, 0] for row in x])
    d2 = row_distances(kernel(x, chunk), kernel(chunk, chunk), kxx, q)
    return d2, memberships(d2, m)


# ------------------------------------------------------------------------------------------ centres


def meta_partition(
    w: Array, u: Array, m: Fuzzifier, meta: Meta, u_meta: Array
) -> tuple[Array, Array]:
    """Z (9a), (9b):  q_k = w o u_k^m + sum_j beta_j past_j u_meta_jk^m  over  W_k = sum_i w_i
    u_ik^m + sum_j past_j u_meta_jk^m,  and W."""
    n, c = u.shape
    q, mass = np.zeros((c, n)), np.zeros(c)
    for k in range(c):
        for i in range(n):
            q[k, i] = w[i] * u[i, k] ** power(m)
            mass[k] += w[i] * u[i, k] ** power(m)
        for j in range(len(meta.past)):
            q[k] += meta.beta[j] * meta.past[j] * u_meta[j, k] ** power(m)
            mass[k] += meta.past[j] * u_meta[j, k] ** power(m)
        if not mass[k] > 0:
            raise ValueError(
                "a cluster is empty; the naive twin has no rule for that, choose another start"
            )
    return q / mass[:, None], mass


def project(K: Array, K_before: Array, q: Array, rcond: float = RCOND) -> Array:
    """Z (11):  beta_k = K_t^+ K_{t,t-1} q_k, so that a_k is the point of the span of the chunk's
    rows closest to v_k."""
    return np.array([naive.pseudo_solve(K, K_before @ row, rcond) for row in q])


def squared_norms(K: Array, q: Array) -> Array:
    """|v_k|^2 = q_k^T K q_k."""
    return np.array([row @ K @ row for row in q])


# ---------------------------------------------------------------------------------------- one chunk


def look(K: Array, w: Array, m: Fuzzifier, meta: Meta, q: Array) -> View:
    """Z (13a), (13b), (2) and both parts of the objective at the centres q."""
    d2, d2_meta = row_distances(K, K, np.diag(K), q), combination_distances(meta.beta, K, q)
    u = memberships(d2, m)
    u_meta = np.eye(*d2_meta.shape) if meta.frozen else memberships(d2_meta, m)
    return View(
        d2,
        u,
        u_meta,
        naive.objective(d2, u, power(m), w),
        naive.objective(d2_meta, u_meta, power(m), meta.past),
    )


def fit(K: Array, w: Array, m: Fuzzifier, meta: Meta, q: Array, n_iter: int, tol: float) -> Fit:
    """Z, Algorithm 1, lines 4-6, from the centres q: memberships and then the centres they make, at
    least once and at most n_iter times.

    The end is  max_k |v_k - v_k'|^2 <= tol^2 * cost,  cost the sum of both objectives at v' over
    the sum of all weights.
    """
    sweeps, done = 0, False
    while not done:
        view = look(K, w, m, meta, q)
        cost = (view.objective + view.meta_objective) / (w.sum() + meta.past.sum())
        before, (q, mass) = q, meta_partition(w, view.memberships, m, meta, view.meta_memberships)
        counts = w @ view.memberships + meta.past @ view.meta_memberships
        sweeps += 1
        done = sweeps >= n_iter or max(squared_norms(K, q - before)) <= tol**2 * cost
    return Fit(q, mass, counts, look(K, w, m, meta, q), sweeps)


def _no_past(n: int) -> Meta:
    return Meta(np.zeros((0, n)), np.zeros(0), frozen=True)


# ------------------------------------------------------------------------------------------- stKFCM


def stkfcm(
    chunks: Sequence[Array],  # (n_t, d) each
    kernel: Kernel,
    c: int,
    m: Fuzzifier,
    # (c, n_0) coefficients of the first centres over the first chunk; later ones start at v_k = a_k
    start: Array,
    *,
    weights: Sequence[Array] | None = None,  # (n_t,) each
    meta_membership: str = "update",  # as printed, or "frozen": a_k stays with cluster k
    # W_k, or "u": the same with u for u^m, which conserves weight; "|q|": the 1-norm of q_k, as
    # printed
    past_weight: str = "u^m",
    decay: float = 1.0,  # of the past, from chunk to chunk
    projection: str = "exact",  # (11); there is no other
    rcond: float = RCOND,
    n_iter: int = 300,
    tol: float = 1e-4,
) -> list[Chunk]:
    """Z, Algorithm 1: the record of each chunk."""
    if start.shape != (c, len(chunks[0])) or projection != "exact":
        raise ValueError(
            f"start is {start.shape} for {(c, len(chunks[0]))}, projection is {projection!r} for "
            "'exact'"
        )
    q, carried, kept, meta = start, np.zeros(c), np.ones(c), _no_past(len(chunks[0]))
    records = []
    for t, X in enumerate(chunks):
        K = kernel(X, X)
        if t > 0:
            norms = squared_norms(kernel(chunks[t - 1], chunks[t - 1]), q)
            q = project(K, kernel(X, chunks[t - 1]), q, rcond)
            kept = np.array(
                [a / v if v > 0 else 1.0 for a, v in zip(squared_norms(K, q), norms, strict=True)]
            )
            meta = Meta(q, decay * carried, {"update": False, "frozen": True}[meta_membership])
        w = np.ones(len(X)) if weights is None else weights[t]
        found = fit(K, w, m, meta, q, n_iter, tol)
        q = found.coefficients
        carried = {"u^m": found.mass, "u": found.counts, "|q|": found.mass * np.abs(q).sum(axis=1)}[
            past_weight
        ]
        view = found.view
        records.append(
            Chunk(
                q,
                found.mass,
                carried,
                kept,
                view.memberships,
                view.objective,
                view.meta_objective,
                found.sweeps,
            )
        )
    return records


def stream_sums(
    u: Sequence[Array], m: Fuzzifier, weights: Sequence[Array] | None = None, decay: float = 1.0
) -> tuple[Array, Array]:
    """What a stream carries if nothing is lost, for given memberships (n_t, c) of each chunk:
    coefficients (c, n) over all rows seen of sum_i w_i u_ik^m phi(x_i),  and the masses (c,)  sum_i
    w_i u_ik^m,  the rows of s chunks ago times decay^s.
    """
    coefficients, mass = np.zeros((u[0].shape[1], 0)), np.zeros(u[0].shape[1])
    for t, chunk in enumerate(u):
        w = np.ones(len(chunk)) if weights is None else weights[t]
        new = np.array(
            [
                [w[i] * chunk[i, k] ** power(m) for i in range(len(chunk))]
                for k in range(chunk.shape[1])
            ]
        )
        coefficients = np.hstack([decay * coefficients, new])
        mass = decay * mass + new.sum(axis=1)
    return coefficients, mass


# -------------------------------------------------------------------------- kernel patch clustering


def closest_rows(B: Array, d2: Array, w: Array, n_points: int) -> list[int]:
    """The `n_points` rows closest to a centre, the closest first, ties to the lowest number; all if
    there are fewer.

    They differ in value: of equal rows the first stands for all, if any of them has weight.
    """
    rows = []
    for i in range(len(B)):
        equal = [j for j in range(len(B)) if (B[i] == B[j]).all()]
        if i == equal[0] and sum(w[equal]) > 0:
            rows.append(i)
    return sorted(rows, key=lambda i: d2[i])[:n_points]


def patch(
    B: Array,
    w: Array,
    kernel: Kernel,
    m: Fuzzifier,
    q: Array,
    n_points: int,
    n_iter: int,
    tol: float,
) -> Patch:
    """F: weighted kernel fuzzy c-means on B, then for each cluster the rows closest to its centre,
    which share  sum_i w_i u_ik  evenly.

    F does not say what becomes of a row close to two centres: it goes on once, with the weight of
    its share in either cluster.
    """
    found = fit(kernel(B, B), w, m, _no_past(len(B)), q, n_iter, tol)
    d2, u = found.view.d2, found.view.memberships
    closest = [closest_rows(B, d2[:, k], w, n_points) for k in range(len(q))]
    numbers = sorted({i for rows in closest for i in rows})
    shares, weights = np.zeros((len(q), len(numbers))), np.zeros(len(numbers))
    for k in range(len(q)):
        mass = sum(w[i] * u[i, k] for i in range(len(B)))
        for i in closest[k]:
            shares[k, numbers.index(i)] = 1 / len(closest[k])
            weights[numbers.index(i)] += mass / len(closest[k])
    return Patch(
        B[numbers],
        shares,
        weights,
        np.array(numbers),
        found.coefficients,
        u,
        found.view.objective,
        found.sweeps,
    )


def kernel_patches(
    patches: Sequence[Array],  # (n_t, d) each
    kernel: Kernel,
    c: int,
    n_points: int,
    m: Fuzzifier,
    start: Array,  # (c, n_0) coefficients of the first centres over the first patch
    *,
    weights: Sequence[Array] | None = None,  # (n_t,) each
    n_iter: int = 300,
    tol: float = 1e-4,
) -> list[Patch]:
    """F, one patch after the other, each with the points carried from the one before behind its
    rows, and from their averages."""
    records: list[Patch] = []
    for t, X in enumerate(patches):
        B, q = X, start
        w = np.ones(len(X)) if weights is None else weights[t]
        if records:
            last = records[-1]
            B, w = np.vstack([X, last.points]), np.concatenate([w, last.weights])
            q = np.hstack([np.zeros((c, len(X))), last.shares])
        records.append(patch(B, w, kernel, m, q, n_points, n_iter, tol))
    return records


def kernel_patches_tree(
    patches: Sequence[Array],
    kernel: Kernel,
    c: int,
    n_points: int,
    m: Fuzzifier,
    starts: Sequence[Array],  # (c, n_t) for each patch
    group: int,  # at least 2
    *,
    weights: Sequence[Array] | None = None,
    n_iter: int = 300,
    tol: float = 1e-4,
) -> list[list[Patch]]:
    """F in parallel: every patch alone, then the points of `group` patches in a row as one patch,
    from the averages of the first's, until one is left: the patches of each level. A group of one
    goes up as it is.
    """
    if group < 2:
        raise ValueError(f"groups of {group} never come to one patch")
    level = []
    for t, X in enumerate(patches):
        w = np.ones(len(X)) if weights is None else weights[t]
        level.append(patch(X, w, kernel, m, starts[t], n_points, n_iter, tol))
    levels = [level]
    while len(level) > 1:
        groups = [level[i : i + group] for i in range(0, len(level), group)]
        level = [
            _merged(members, kernel, n_points, m, n_iter, tol) if len(members) > 1 else members[0]
            for members in groups
        ]
        levels.append(level)
    return levels


def _merged(
    members: list[Patch], kernel: Kernel, n_points: int, m: Fuzzifier, n_iter: int, tol: float
) -> Patch:
    points, w = (
        np.vstack([one.points for one in members]),
        np.concatenate([one.weights for one in members]),
    )
    first = members[0].shares
    q = np.hstack([first, np.zeros((len(first), len(points) - first.shape[1]))])
    return patch(points, w, kernel, m, q, n_points, n_iter, tol)
