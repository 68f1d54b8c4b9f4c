"""Projected gradients (KPKM) on data sets of the other papers, beside k-means++ starts at the same
landmarks."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans, ProbabilisticKMeans
from cmeans.kernels import NormalizedPolynomial

from ...harness import load, unit_interval
from ..paper import Run


class Large(NamedTuple):
    """A data set with a kernel."""

    file: str
    rows: int
    clusters: int
    words: dict[str, Any]  # of the kernel


LANDMARKS = 300
SETS = {
    "MNIST": Large(
        "mnist", 70_000, 10, {"kernel": NormalizedPolynomial(degree=5, gamma=1.0, coef0=1.0)}
    ),
    "Forest": Large("covtype", 581_012, 7, {"kernel": "rbf", "gamma": 1.0}),
}
WAYS: dict[str, dict[str, Any]] = {
    "k-means++, best of 3": {},
    "gradients": {"solver": "batched", "polish": None},
    "gradients, polished": {"solver": "batched", "polish": "hartigan"},
}


def gradients(run: Run) -> None:
    for name in ("MNIST",) if run.quick else SETS:
        for way in WAYS:
            run.trials(
                f"gradients | {name} | {way}",
                1,
                partial(searched, name, way, 1000 if run.quick else None),
            )


def searched(name: str, way: str, most: int | None, trial: int) -> dict[str, float]:
    of = SETS[name]
    x, y = load(of.file)[:most], load(of.file, "y")[:most]
    x = x.astype(np.float32) / 255 if of.file == "mnist" else unit_interval(x, np.float32)
    rows = np.random.default_rng(trial).choice(
        len(x), LANDMARKS if most is None else 50, replace=False
    )
    words = {**of.words, "landmarks": np.sort(rows), "random_state": trial, **WAYS[way]}
    model = (
        ProbabilisticKMeans(of.clusters, **words)
        if "solver" in words
        else KernelKMeans(of.clusters, n_init=3, search=None, **words)
    )
    started, busy = time.perf_counter(), time.process_time()
    model.fit(x)
    return {
        "objective": float(model.objective_),
        "seconds": time.perf_counter() - started,
        "busy": time.process_time() - busy,
        "visits": model.row_visits_ / len(x),
        "ari": adjusted_rand_score(y, model.labels_),
    }
