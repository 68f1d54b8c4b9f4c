"""The runs behind Table II: data, kernels, contestants, and one trial of one of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from cmeans import FuzzyCMeans, KernelPatchClustering, StreamingFuzzyCMeans
from cmeans.kernels import NormalizedPolynomial, Polynomial
from cmeans.metrics import purity
from cmeans.papers import StreamingKernelFCM

from ...harness import load, unit_interval

Array = np.ndarray

PRINTED_M = 1.7
POINTS = 10  # rows that stand for a cluster in KPC; the paper does not say
RAW = {"kernel": Polynomial(degree=5, gamma=1.0, coef0=1.0)}
NORMALISED = {"kernel": NormalizedPolynomial(degree=5, gamma=1.0, coef0=1.0)}
STARTS = 3  # of all contestants: the default of the streams
STREAMS = ("KPC", "stKFCM", "landmarks")
ALL_ROWS = "KFCM, exact"
PUBLISHED = {"init": "random", "n_init": 1}  # as the paper began


@dataclass(frozen=True)
class Case:
    """A data set of the paper with its kernel."""

    title: str  # the paper's
    file: str
    size: tuple[int, int]  # rows and features
    clusters: int
    words: dict[str, Any]  # of the kernel
    shares: tuple[float, ...]  # of the rows in a chunk, per cent
    most: int | None = None  # of the rows that runs see; chunks have as many as ever

    @property
    def small(self) -> bool:
        return self.file in ("s2", "a3")

    def reduced(self, most: int) -> Case:
        """The same on few rows, in two sizes of chunks that these can be cut into."""
        shares = tuple(
            share for share in self.shares if most / 40 <= chunk_rows(self, share) <= most / 4
        )
        return replace(self, most=most, shares=shares[:2])


WIDTH = {"kernel": "rbf", "gamma": 0.5}  # exp(-|x - y|^2 / (2 width^2)), width 1
CASES = {
    "2D15": Case("2D15", "s2", (5_000, 2), 15, WIDTH, (50, 25, 10, 5, 2, 1)),
    "2D50": Case("2D50", "a3", (7_500, 2), 50, WIDTH, (50, 25, 10, 5, 2, 1)),
    "MNIST": Case(
        "MNIST", "mnist", (70_000, 784), 10, RAW, (10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02)
    ),
    "MNIST, normalised": Case(
        "MNIST", "mnist", (70_000, 784), 10, NORMALISED, (10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02)
    ),
    "Forest": Case("Forest", "covtype", (581_012, 54), 7, WIDTH, (0.2, 0.1, 0.05, 0.02, 0.01)),
}


AUTOMATIC = ("2D15", "2D50", "MNIST, normalised", "Forest")  # measured with m = "auto"


def key_of(
    name: str, m: str | float, method: str, share: float | None, *, published: bool = False
) -> str:
    parts = [name, f"m {m:g}" if isinstance(m, float) else f"m {m}", method]
    parts += [] if share is None else [f"{share:g}%"]
    return " | ".join(parts + (["as published"] if published else []))


# of MNIST: chunks of 7,000 rows, each exactly, take as long as all others together
LARGEST_SHARE = 10
LARGEST = (("MNIST", PRINTED_M), ("MNIST, normalised", "auto"))
ONLY_EXACT = {key_of("MNIST", PRINTED_M, "KFCM", None)} | {
    key_of(name, m, method, LARGEST_SHARE) for name, m in LARGEST for method in STREAMS
}  # what --exact measures


@cache
def rows_of(file: str) -> tuple[Array, Array]:
    """Features in [0, 1], and classes."""
    x, y = load(file), load(file, "y")
    if file == "mnist":
        return x.astype(np.float32) / 255, y
    return unit_interval(x, np.float64 if file in ("s2", "a3") else np.float32), y


def spanning_rows(case: Case) -> Array:
    """A few hundred rows in whose span all others lie, to rounding: with the wide kernels of 2D15
    and 2D50 KFCM on them is exact."""
    return np.sort(np.random.default_rng(0).choice(case.most or case.size[0], 400, replace=False))


def chunk_rows(case: Case, share: float) -> int:
    return round(case.size[0] * share / 100)


def contestant(method: str, case: Case, share: float | None, seed: int, **words: Any) -> Any:
    """An estimator; KFCM sees all rows at once, the others chunks of so many per cent."""
    words = {**case.words, "random_state": seed, "n_init": STARTS, **words}
    if method == "KFCM" and case.small:
        return FuzzyCMeans(case.clusters, landmarks=spanning_rows(case), search=None, **words)
    if method in ("KFCM", ALL_ROWS):
        return FuzzyCMeans(case.clusters, landmarks=None, search=None, **words)
    if method == "akFCM":
        return FuzzyCMeans(case.clusters, landmarks=1000, search=None, **words)
    assert share is not None
    size = chunk_rows(case, share)
    if method == "KPC":
        return KernelPatchClustering(case.clusters, patch_size=size, n_points=POINTS, **words)
    if method == "spKFCM":
        return KernelPatchClustering(case.clusters, patch_size=size, n_points=1, **words)
    if method == "oKFCM":
        return KernelPatchClustering(
            case.clusters, patch_size=size, n_points=1, merge="tree", **words
        )
    stream = StreamingKernelFCM if method == "stKFCM" else StreamingFuzzyCMeans
    return stream(case.clusters, chunk_size=size, search=None, **words)


def order_of(case: Case, trial: int) -> Array:
    """The order of the rows in a trial, the same for all contestants."""
    return np.random.default_rng(trial).permutation(case.size[0])[: case.most]


def rows_in_order(case: Case, trial: int) -> tuple[Array, Array]:
    """The rows of a trial, and their classes."""
    x, y = rows_of(case.file)
    order = order_of(case, trial)
    return x[order], y[order]


def trial_of(
    method: str, case: Case, share: float | None, words: dict[str, Any], trial: int
) -> dict[str, float]:
    """One run on the rows in a random order."""
    x, y = rows_in_order(case, trial)
    model = contestant(method, case, share, trial, **words)
    started, busy = time.perf_counter(), time.process_time()
    model.fit(x)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    loss = getattr(model, "projection_loss_", None)
    return {
        "purity": purity(y, model.labels_),
        "ari": adjusted_rand_score(y, model.labels_),
        "seconds": seconds,
        "busy": busy,
        "objective": float(model.objective_),
        "visits": model.row_visits_ / len(y),
        "loss": 0.0 if loss is None else float(np.max(loss)),
        "separation": float(model.separation_),
        "filled": len(np.unique(model.labels_)),
        "m": float(model.m_),
        "sweeps": int(model.n_iter_),
    }
