"""The lambda of sparse possibilistic clustering: by hand, as the paper has it, and automatic."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_iris

from cmeans import AdaptivePossibilisticCMeans, SequentialPossibilisticCMeans
from cmeans.metrics import success_rate
from cmeans.papers import PrintedAdaptivePossibilisticCMeans

from ...harness import load
from ..paper import Run

TRIALS = 10
PUBLISHED = {"sparsity_test": "local", "max_iter": 1500}


class Set(NamedTuple):
    """The best line that Tables 2-4 of the paper print of SAPCM and of SeqSAPCM."""

    classes: int
    sparsity: float  # of SAPCM
    beta: float
    initial: int
    sequential: float  # lambda of SeqSAPCM
    printed: dict[str, tuple[int, float]]  # clusters found, success rate


SETS = {
    "S2": Set(15, 0.1, 0.1, 25, 0.1, {"SAPCM": (15, 97.04), "SeqSAPCM": (15, 97.02)}),
    "Iris": Set(3, 0.1, 0.2, 5, 0.15, {"SAPCM": (3, 90.00), "SeqSAPCM": (3, 90.00)}),
    "Wine": Set(3, 0.01, 0.05, 5, 0.08, {"SAPCM": (3, 94.94), "SeqSAPCM": (3, 94.94)}),
}
WAYS = (
    "SAPCM, by hand",
    "SeqSAPCM, by hand",
    "SAPCM, auto, from 20",
    "SAPCM, auto, from twice",
    "SeqSAPCM, auto",
)


def scales(run: Run) -> None:
    for name in ("Iris",) if run.quick else SETS:
        for way in WAYS:
            # SeqSAPCM draws nothing
            count = 1 if way.startswith("Seq") else 2 if run.quick else TRIALS
            run.trials(f"lambda | {name} | {way}", count, partial(scored, name, way))


def estimator(name: str, way: str, seed: int) -> Any:
    of = SETS[name]
    if way == "SeqSAPCM, by hand":
        return SequentialPossibilisticCMeans(sparsity=of.sequential, patience=1, **PUBLISHED)
    if way == "SeqSAPCM, auto":
        return SequentialPossibilisticCMeans()
    if way == "SAPCM, by hand":
        words = {
            "adaptation": "length",
            "beta": of.beta,
            "init": "max-min",
            "random_state": seed,
            **PUBLISHED,
        }
        return PrintedAdaptivePossibilisticCMeans(of.initial, sparsity=of.sparsity, **words)
    return AdaptivePossibilisticCMeans(
        (1, 20 if way.endswith("20") else 2 * of.classes), random_state=seed
    )


def scored(name: str, way: str, trial: int) -> dict[str, float]:
    """Rows that no cluster wants count in the nearest one."""
    x, y = rows_of(name)
    model = estimator(name, way, trial).fit(x)
    success = 100 * success_rate(y, model.labels_, nearest=model.transform(x).argmin(axis=1))
    return {
        "clusters": model.n_clusters_,
        "success": success,
        "unwanted": float(np.mean(model.labels_ < 0)),
    }


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "Iris":  # without the two misprints of the UCI file
        return load_iris(return_X_y=True)
    return load(name.lower()).astype(np.float64), load(name.lower(), "y")
