"""What the page shows beside Table II: widths, starts, single-pass baselines, weights of the past,
order and loss."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from cmeans import StreamingFuzzyCMeans
from cmeans.papers import StreamingKernelFCM

from ... import singlepass
from ..paper import Run
from .runs import (
    ALL_ROWS,
    CASES,
    NORMALISED,
    PRINTED_M,
    Case,
    chunk_rows,
    contestant,
    key_of,
    order_of,
    rows_in_order,
    rows_of,
    trial_of,
)

Array = np.ndarray

TRIALS = 3  # that a run from nothing makes of each cell; those that are stored stay
ORDER_TRIALS = 1
QUICK_ROWS = 1500
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


def case_of(name: str, run: Run) -> Case:
    return CASES[name].reduced(QUICK_ROWS) if run.quick else CASES[name]


def few(things: tuple[Any, ...], run: Run) -> tuple[Any, ...]:
    """All of them, or, where all is to be quick, the first."""
    return things[:1] if run.quick else things


def trials_of(run: Run) -> int:
    return 1 if run.quick else TRIALS


# ------------------------------------------------------------------------------------------- widths


def widths(run: Run) -> None:
    """Whether it matters how "width 1" is read; and a width of a tenth."""
    for name in few(SMALL, run):
        for gamma in GAMMAS.values():
            for method in ("stKFCM", "landmarks"):
                words = {"m": PRINTED_M, "gamma": gamma}
                key = f"width | {name} | {gamma:g} | {method}"
                run.trials(
                    key,
                    trials_of(run),
                    partial(trial_of, method, case_of(name, run), WIDTH_SHARE, words),
                )


# ------------------------------------------------------------------------------------------- starts


def beginnings(run: Run, method: str) -> None:
    """What the start is worth: fewer and more starts, without the rows that are held to begin
    with."""
    for name in few(SMALL, run):
        for share in few(BEGINNING_SHARES, run):
            for way, words in BEGINNINGS.items():
                key = f"starts | {name} | {share:g}% | {method} | {way}"
                trial = partial(
                    trial_of, method, case_of(name, run), share, {"m": PRINTED_M, **words}
                )
                run.trials(key, trials_of(run), trial)


# ------------------------------------------------------------------------------------ single passes


def baselines(run: Run, method: str) -> None:
    """One of spFCM, oFCM, spKFCM, oKFCM."""
    for name in few(SMALL, run):
        for share in few(BASELINE_SHARES, run):
            trial = partial(_single, method, case_of(name, run), share)
            run.trials(f"single pass | {name} | {share:g}% | {method}", trials_of(run), trial)


def _single(method: str, case: Case, share: float, trial: int) -> dict[str, float]:
    x, y = rows_in_order(case, trial)
    labels = singlepass.labels_of(
        method, x, case.clusters, chunk_rows(case, share), PRINTED_M, trial, **case.words
    )
    return {"ari": adjusted_rand_score(y, labels)}


# ------------------------------------------------------------------------------------------ weights


def weights(run: Run) -> None:
    """What all weights of the past add up to, over the rows that they stand for, after each chunk
    of 2D15 at 2%."""
    for weight in few(("|q|", "u^m", "u"), run):
        run.once(f"weights | {weight}", partial(_weighed, case_of("2D15", run), weight))


def _weighed(case: Case, weight: str) -> dict[str, Any]:
    x, y = rows_in_order(case, 0)
    shares, labels = naive_stream(np.array_split(x, 50), case.clusters, weight)
    return {"share": shares, "ari": [adjusted_rand_score(y, labels)]}


def naive_stream(chunks: list[Array], c: int, weight: str) -> tuple[list[float], Array]:
    """Algorithm 1 with matrices as printed, 50 sweeps a chunk, and with three weights of the past;
    labels of all rows at the end."""
    m, before, q, carried, shares, seen = PRINTED_M, None, None, None, [], 0
    for x in chunks:
        k = _width_one(x, x)
        if before is None:  # c rows as the first centres
            q, beta, past = (
                np.eye(len(x))[np.random.default_rng(0).choice(len(x), c, replace=False)],
                np.zeros((0, len(x))),
                np.zeros(0),
            )
        else:
            # (11)
            beta, past = (
                np.linalg.solve(k + 1e-10 * np.eye(len(x)), _width_one(x, before) @ q.T).T,
                carried,
            )
            q = beta
        for _ in range(50):
            norms = np.einsum("ij,ij->i", q @ k, q)
            u = _memberships(1 + norms - 2 * k @ q.T, m)  # (13b)
            gaps = beta[:, None, :] - q[None, :, :]
            u_meta = _memberships(np.einsum("jki,jki->jk", gaps @ k, gaps), m)  # (13a)
            mass = (u**m).sum(axis=0) + past @ u_meta**m
            q = ((u**m).T + (past[:, None] * u_meta**m).T @ beta) / mass[:, None]  # (9)
        sizes = {
            "|q|": mass * np.abs(q).sum(axis=1),
            "u^m": mass,
            "u": u.sum(axis=0) + past @ u_meta,
        }
        carried, before, seen = sizes[weight], x, seen + len(x)
        shares.append(float(carried.sum() / seen))
    every = np.vstack(chunks)
    return shares, (np.einsum("ij,ij->i", q @ k, q) - 2 * _width_one(every, before) @ q.T).argmin(
        axis=1
    )


def _width_one(x: Array, y: Array) -> Array:
    return np.exp(-cdist(x, y, "sqeuclidean") / 2)


def _memberships(d2: Array, m: float) -> Array:
    logs = -np.log(np.maximum(d2, 1e-12)) / (m - 1)
    u = np.exp(logs - logs.max(axis=1, keepdims=True))
    return u / u.sum(axis=1, keepdims=True)


# ----------------------------------------------------------------------------------- order and loss


class Ordered(NamedTuple):
    """Rows on which order is tried."""

    case: Case
    rows: int | None  # at most so many, drawn
    words: dict[str, Any]


ORDERED = {
    "2D15": Ordered(CASES["2D15"], None, {"m": PRINTED_M}),
    "2D15, gamma 50": Ordered(CASES["2D15"], None, {"m": PRINTED_M, "gamma": 50.0}),
    "10,000 of MNIST, normalised, m auto": Ordered(
        CASES["MNIST, normalised"], 10_000, {**NORMALISED, "m": "auto"}
    ),
}
LOSS_SHARES = (10, 5, 2, 1)
ORDERS = ("random", "sorted by class")
WAYS: dict[str, Callable[..., StreamingFuzzyCMeans]] = {
    "stKFCM, update": StreamingKernelFCM,
    "stKFCM, frozen": partial(StreamingKernelFCM, meta_membership="frozen"),
    "stKFCM, decay .8": partial(StreamingKernelFCM, decay=0.8),
    "landmarks": StreamingFuzzyCMeans,
    "landmarks, decay .8": partial(StreamingFuzzyCMeans, decay=0.8),
}


def orders(run: Run, order: str) -> None:
    """ARI, and the worst share of a centre's squared norm lost on the way into a chunk, for rows in
    random order or sorted by class."""
    for name in few(tuple(ORDERED), run):
        for share in few(LOSS_SHARES, run):
            for way, stream in WAYS.items():
                key = f"order | {name} | {order} | {share:g}% | {way}"
                ordered = ORDERED[name]._replace(rows=QUICK_ROWS) if run.quick else ORDERED[name]
                run.trials(key, ORDER_TRIALS, partial(in_order, ordered, order, share, stream))


def in_order(
    ordered: Ordered,
    order: str,
    share: float,
    stream: Callable[..., StreamingFuzzyCMeans],
    trial: int,
) -> dict[str, float]:
    x, y = rows_of(ordered.case.file)
    rows = order_of(ordered.case, trial)[: ordered.rows]
    rows = rows if order == "random" else rows[np.argsort(y[rows], kind="stable")]
    x, y, size = x[rows], y[rows], round(len(rows) * share / 100)
    model = stream(
        ordered.case.clusters,
        random_state=trial,
        search=None,
        **{**ordered.case.words, **ordered.words},
    )
    losses = []
    for chunk in np.array_split(x, -(-len(x) // size)):
        losses.append(float(model.partial_fit(chunk).projection_loss_.max()))
    return {
        "ari": adjusted_rand_score(y, model.predict(x)),
        "loss": max(losses),
        "typical": float(np.median(losses[1:])),
    }


# ------------------------------------------------------------------------------------------- memory


def memory(run: Run) -> None:
    """The most memory that a fit of 2D15 takes at a time, beside its rows."""
    case = case_of("2D15", run)
    contestants = [
        (ALL_ROWS, None),
        *((method, share) for share in case.shares for method in ("stKFCM", "landmarks")),
    ]
    for method, share in contestants:
        run.once(
            "memory | " + key_of("2D15", PRINTED_M, method, share),
            partial(_peak, method, case, share),
        )


def _peak(method: str, case: Case, share: float | None) -> dict[str, float]:
    x, _ = rows_in_order(case, 0)
    model = contestant(method, case, share, 0, m=PRINTED_M)
    tracemalloc.start()
    try:
        model.fit(x)
        return {"megabytes": tracemalloc.get_traced_memory()[1] / 1e6}
    finally:
        tracemalloc.stop()
