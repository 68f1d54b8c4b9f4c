"""What the page of Zhang & Havens 2013 shows beside Table II: widths, starts, single-pass baselines, weights, order and loss."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from cmeans import StreamingFuzzyCMeans

from .. import singlepass
from .stkfcm_runs import CASES, NORMALISED, PRINTED_M, Case, Store, chunk_rows, order_of, rows_of, trial_of

Array = np.ndarray

TRIALS = 20
SMALL = ("2D15", "2D50")
BASELINE_SHARES = (10, 5, 2)
GAMMAS = {"exp(-|x - y|^2 / 2)": 0.5, "exp(-|x - y|^2)": 1.0, "exp(-|x - y|^2 / 2 (1/10)^2)": 50.0}
WIDTH_SHARE = 5
BEGINNING_SHARES = (10, 5, 2, 1)
BEGINNINGS: dict[str, dict[str, Any]] = {
    "1 start, no warm-up": {"n_init": 1, "warm_up": 0},
    "3 starts, no warm-up": {"warm_up": 0},
    "10 starts, no warm-up": {"n_init": 10, "warm_up": 0},
    "3 starts, warm-up": {},
    "10 starts, warm-up": {"n_init": 10},
}


def widths(store: Store) -> None:
    """Whether it matters how "width 1" is read; and a width of a tenth."""
    for name in SMALL:
        case = CASES[name]
        for gamma in GAMMAS.values():
            for method in ("stKFCM", "landmarks"):
                key = f"width | {name} | {gamma:g} | {method}"
                words = {"m": PRINTED_M, "gamma": gamma}
                store.trials(key, TRIALS, partial(trial_of, method, case, WIDTH_SHARE, words))


# -------------------------------------------------------------------------------------------------------------------------- starts


def beginnings(store: Store) -> None:
    """What the start is worth: fewer and more starts, without the rows that are held to begin with."""
    for name in SMALL:
        for share in BEGINNING_SHARES:
            for method in ("stKFCM", "landmarks"):
                for way, words in BEGINNINGS.items():
                    key = f"starts | {name} | {share:g}% | {method} | {way}"
                    store.trials(key, TRIALS, partial(trial_of, method, CASES[name], share, {"m": PRINTED_M, **words}))


# ----------------------------------------------------------------------------------------------------------------- single passes


def baselines(store: Store) -> None:
    """spFCM, oFCM, spKFCM, oKFCM."""
    for name in SMALL:
        case = CASES[name]
        for share in BASELINE_SHARES:
            for method in singlepass.METHODS:
                store.trials(f"single pass | {name} | {share:g}% | {method}", TRIALS, partial(_single, method, case, share))


def _single(method: str, case: Case, share: float, trial: int) -> dict[str, float]:
    x, y = (part[order_of(case, trial)] for part in rows_of(case.file))
    labels = singlepass.labels_of(method, x, case.clusters, chunk_rows(case, share), PRINTED_M, trial, **case.words)
    return {"ari": adjusted_rand_score(y, labels)}


# ------------------------------------------------------------------------------------------------------------------------- weights


def weights(store: Store) -> None:
    """What all weights of the past add up to, over the rows that they stand for, after each chunk of 2D15 at 2%."""
    if "weights | |q|" in store.read():
        return
    case = CASES["2D15"]
    x, y = (part[order_of(case, 0)] for part in rows_of(case.file))
    chunks = np.array_split(x, 50)
    for weight in ("|q|", "u^m", "u"):
        shares, labels = naive_stream(chunks, case.clusters, weight)
        store.add(f"weights | {weight}", share=[float(f"{share:.4g}") for share in shares], ari=[adjusted_rand_score(y, labels)])


def naive_stream(chunks: list[Array], c: int, weight: str) -> tuple[list[float], Array]:
    """Algorithm 1 with matrices as printed, 50 sweeps a chunk, and with three weights of the past; labels of all rows at the end."""
    m, before, q, carried, shares, seen = PRINTED_M, None, None, None, [], 0
    for x in chunks:
        k = _width_one(x, x)
        if before is None:  # c rows as the first centres
            q, beta, past = np.eye(len(x))[np.random.default_rng(0).choice(len(x), c, replace=False)], np.zeros((0, len(x))), np.zeros(0)
        else:
            beta, past = np.linalg.solve(k + 1e-10 * np.eye(len(x)), _width_one(x, before) @ q.T).T, carried  # (11)
            q = beta
        for _ in range(50):
            norms = np.einsum("ij,ij->i", q @ k, q)
            u = _memberships(1 + norms - 2 * k @ q.T, m)  # (13b)
            gaps = beta[:, None, :] - q[None, :, :]
            u_meta = _memberships(np.einsum("jki,jki->jk", gaps @ k, gaps), m)  # (13a)
            mass = (u**m).sum(axis=0) + past @ u_meta**m
            q = ((u**m).T + (past[:, None] * u_meta**m).T @ beta) / mass[:, None]  # (9)
        sizes = {"|q|": mass * np.abs(q).sum(axis=1), "u^m": mass, "u": u.sum(axis=0) + past @ u_meta}
        carried, before, seen = sizes[weight], x, seen + len(x)
        shares.append(float(carried.sum() / seen))
    every = np.vstack(chunks)
    return shares, (np.einsum("ij,ij->i", q @ k, q) - 2 * _width_one(every, before) @ q.T).argmin(axis=1)


def _width_one(x: Array, y: Array) -> Array:
    return np.exp(-cdist(x, y, "sqeuclidean") / 2)


def _memberships(d2: Array, m: float) -> Array:
    logs = -np.log(np.maximum(d2, 1e-12)) / (m - 1)
    u = np.exp(logs - logs.max(axis=1, keepdims=True))
    return u / u.sum(axis=1, keepdims=True)


# ----------------------------------------------------------------------------------------------------------------- order and loss


class Stage(NamedTuple):
    """Rows on which order is tried."""

    case: Case
    rows: int | None  # at most so many, drawn
    words: dict[str, Any]


STAGES = {
    "2D15": Stage(CASES["2D15"], None, {"m": PRINTED_M}),
    "2D15, gamma 50": Stage(CASES["2D15"], None, {"m": PRINTED_M, "gamma": 50.0}),
    "10,000 of MNIST, normalised, m auto": Stage(CASES["MNIST, normalised"], 10_000, {**NORMALISED, "m": "auto"}),
}
LOSS_SHARES = (10, 5, 2, 1)
ORDERS = ("random", "sorted by class")
WAYS: dict[str, dict[str, Any]] = {
    "stKFCM, update": {"method": "projection"},
    "stKFCM, frozen": {"method": "projection", "meta_membership": "frozen"},
    "stKFCM, decay .8": {"method": "projection", "decay": 0.8},
    "landmarks": {},
    "landmarks, decay .8": {"decay": 0.8},
}


def orders(store: Store, trials: int = 3) -> None:
    """ARI, and the worst share of a centre's squared norm lost on the way into a chunk, for rows in random order and sorted by class."""
    for name in STAGES:
        for order in ORDERS:
            for share in LOSS_SHARES:
                for way, words in WAYS.items():
                    key = f"order | {name} | {order} | {share:g}% | {way}"
                    store.trials(key, trials, partial(_in_order, name, order, share, words))


def _in_order(name: str, order: str, share: float, words: dict[str, Any], trial: int) -> dict[str, float]:
    stage = STAGES[name]
    x, y = rows_of(stage.case.file)
    rows = order_of(stage.case, trial)[: stage.rows]
    rows = rows if order == "random" else rows[np.argsort(y[rows], kind="stable")]
    x, y, size = x[rows], y[rows], round(len(rows) * share / 100)
    model = StreamingFuzzyCMeans(stage.case.clusters, random_state=trial, **{**stage.case.words, **stage.words, **words})
    losses = []
    for chunk in np.array_split(x, -(-len(x) // size)):
        losses.append(float(model.partial_fit(chunk).projection_loss_.max()))
    return {"ari": adjusted_rand_score(y, model.predict(x)), "loss": max(losses), "typical": float(np.median(losses[1:]))}
