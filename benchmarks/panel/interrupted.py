"""Fits that are broken off and go on, and models that are saved and loaded."""

from __future__ import annotations

import contextlib
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.base import clone

import cmeans
from cmeans import (
    AdaptivePossibilisticCMeans,
    Checkpoint,
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    KernelPatchClustering,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    Search,
    SequentialPossibilisticCMeans,
    StreamingFuzzyCMeans,
    TwoStepKernelKMeans,
    papers,
)

from .cases import Words, answers, case, fitted
from .rows import MORE, SMALL, SOME, some

BROKEN = {
    "hard": (KernelKMeans, {"n_clusters": 5, "landmarks": 30, "n_init": 3}, 8),
    "fuzzy": (
        FuzzyCMeans,
        {"n_clusters": 5, "m": 1.5, "kernel": "rbf", "landmarks": 30, "n_init": 2},
        5,
    ),
    "fuzzy, plain": (
        FuzzyCMeans,
        {"n_clusters": 5, "kernel": "linear", "search": Search(acceleration=None)},
        4,
    ),
    "fuzzy, exact": (
        FuzzyCMeans,
        {"n_clusters": 4, "landmarks": None, "kernel": "laplacian", "gamma": 0.1, "max_iter": 12},
        3,
    ),
    "possibilistic": (
        PossibilisticCMeans,
        {"n_clusters": 5, "eta_scale": 0.1, "kernel": "rbf", "landmarks": 30},
        4,
    ),
    "memberships": (
        cmeans.papers.PrintedCMeans,
        {"n_clusters": 5, "rule": "fuzzy", "tol": 1e-3, "kernel": "rbf", "landmarks": 30},
        4,
    ),
    "adaptive": (AdaptivePossibilisticCMeans, {"n_clusters": (1, 9)}, 6),
    "sequential": (SequentialPossibilisticCMeans, {"n_clusters": (1, 7)}, 20),
    "growing samples": (FuzzyCMeans, {"n_clusters": 5, "m": 1.3, "kernel": "linear"}, 2),
}


class Interrupt:
    """A callback of scikit-learn that is Ctrl-C after so many sweeps."""

    def __init__(self, sweeps: int) -> None:
        self.left = sweeps

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.left -= context.parent is not None
        if not self.left:
            raise KeyboardInterrupt
        return False


def broken_off(estimator: Any, words: Words, sweeps: int, rows: Any) -> Words:
    x = rows()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "fit.checkpoint"
        model = estimator(
            **words,
            random_state=3,
            engine=cmeans.ThreadEngine(checkpoint=Checkpoint(file, sweeps=1)),
        ).set_callbacks(Interrupt(sweeps))
        with contextlib.suppress(KeyboardInterrupt):
            model.fit(x)
        first = {"broken off": model.converged_, **fitted(model), **answers(model, some(x))}
        again = estimator(
            **words,
            random_state=99,
            engine=cmeans.ThreadEngine(checkpoint=Checkpoint(file, resume=True)),
        ).fit(x)
    return {"first": first, "again": fitted(again) | answers(again, some(x))}


for name, (estimator, words, sweeps) in BROKEN.items():
    rows = MORE if name == "growing samples" else SMALL if name == "fuzzy, exact" else SOME
    case(f"broken off, {name}", "sklearn.callback")(
        partial(broken_off, estimator, words, sweeps, rows)
    )

SAVED = [
    KernelKMeans(4, landmarks=30),
    TwoStepKernelKMeans(4, landmarks=100),
    FuzzyCMeans(4, m=1.3, landmarks=None, kernel="laplacian"),
    PossibilisticCMeans(4, eta_scale=0.1, kernel="rbf", landmarks=papers.GradientLandmarks(30)),
    ProbabilisticKMeans(4, kernel="linear", solver="batched"),
    AdaptivePossibilisticCMeans((1, 8), kernel="rbf", landmarks=30),
    SequentialPossibilisticCMeans((1, 8)),
    StreamingFuzzyCMeans(4, m=1.3),
    KernelPatchClustering(4, m=1.3),
    CMeans(4, rule=cmeans.papers.PrintedFuzzy(2.0), kernel="cosine", landmarks=30),
]


def saved(model: Any) -> Words:
    x = SMALL()
    with tempfile.TemporaryDirectory() as folder:
        said = {}
        model = clone(model).set_params(random_state=5).fit(x)
        for rows in (True, False):
            cmeans.save(model, Path(folder) / "model", rows=rows)
            again = cmeans.load(Path(folder) / "model")
            said[f"rows={rows}"] = fitted(again) | answers(again, some(x))
        if hasattr(again, "partial_fit"):
            said["goes on"] = fitted(again.partial_fit(some(x)))
    return said


for model in SAVED:
    case(f"saved, {type(model).__name__}")(partial(saved, model))
