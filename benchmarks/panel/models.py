"""The rest of the family: adaptive, sequential, probabilistic, two-step, and rules of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from cmeans import (
    AdaptivePossibilisticCMeans,
    CMeans,
    Landmarks,
    ProbabilisticKMeans,
    SequentialPossibilisticCMeans,
    TwoStepKernelKMeans,
    datasets,
    papers,
    rules,
)

from .cases import Words, add, case
from .rows import MANY, SMALL, SOME, groups, shares, weights


def close() -> np.ndarray:
    return datasets.make_close_gaussians((150, 100, 100), random_state=0)[0]


def ring() -> np.ndarray:
    return datasets.make_ring_and_disc(random_state=0)[0]


def noisy() -> np.ndarray:
    return datasets.make_s_set(7, 2000, noise=0.05, random_state=3)[0]


ADAPTIVE: dict[str, Words] = {
    "scale-free": {},
    "without sparsity": {"sparsity": 0},
    "sparsity given": {"sparsity": 0.02, "p": 0.4},
    "local": {"sparsity_test": "local"},
    "length": {"adaptation": "length", "init": "max-min"},
    "squared": {"adaptation": "squared", "beta": 0.2},
    "scales stay": {"adaptation": None, "sparsity": 0},
    "alpha auto": {"alpha": "auto"},
    "alpha given, features as they are": {"alpha": 0.7, "scaling": None},
    "rbf on landmarks": {"kernel": "rbf", "gamma": "median", "landmarks": 60},
    "exact": {"kernel": "rbf", "gamma": "median", "landmarks": None, "n_clusters": (1, 8)},
    "several pilots": {"n_init": 3, "pilot_m": "auto", "init": "random"},
}
for name, words in ADAPTIVE.items():
    rows = close if name == "exact" else noisy
    form = (
        papers.PrintedAdaptivePossibilisticCMeans
        if {"adaptation", "sparsity_test"} & set(words)
        else AdaptivePossibilisticCMeans
    )
    add(f"adaptive, {name}", form, rows, **{"n_clusters": (1, 14), **words})
add(
    "adaptive, weights",
    AdaptivePossibilisticCMeans,
    noisy,
    n_clusters=(1, 14),
    weight=weights(2000),
)
add("adaptive, many rows", AdaptivePossibilisticCMeans, MANY, n_clusters=(1, 10))
add(
    "adaptive, many rows, landmarks, float32",
    AdaptivePossibilisticCMeans,
    partial(MANY, dtype="float32"),
    n_clusters=(1, 9),
    kernel="rbf",
    gamma=0.02,
    landmarks=30,
)

SEQUENTIAL: dict[str, Words] = {
    "length": {},
    "squared": {"adaptation": "squared", "p": 0.3},
    "several seeds": {"n_new": 2, "seed_quantile": 0.95, "patience": 2, "n_neighbors": 5},
    "without sparsity": {"sparsity": 0, "n_clusters": (1, 10)},
    "rbf on landmarks": {
        "kernel": "rbf",
        "gamma": "median",
        "landmarks": 60,
        "n_clusters": (1, 10),
        "scaling": None,
    },
}
for name, words in SEQUENTIAL.items():
    add(f"sequential, {name}", SequentialPossibilisticCMeans, noisy, **words)
add("sequential, many rows", SequentialPossibilisticCMeans, MANY, n_clusters=(1, 7), patience=1)

for solver in ("auto", "fagp", "agp", "batched", "lloyd"):
    words = {"step": 0.05} if solver == "agp" else {}
    add(
        f"probabilistic, {solver}",
        ProbabilisticKMeans,
        ring,
        n_clusters=2,
        gamma=1.0,
        landmarks=None,
        solver=solver,
        **words,
    )
    if solver != "agp":
        add(
            f"probabilistic, {solver}, landmarks",
            ProbabilisticKMeans,
            close,
            n_clusters=3,
            landmarks=40,
            solver=solver,
            polish=None,
        )
add("probabilistic, euclidean", ProbabilisticKMeans, close, n_clusters=3, kernel="linear", n_init=2)
add(
    "probabilistic, cut short",
    ProbabilisticKMeans,
    SMALL,
    n_clusters=4,
    landmarks=40,
    solver="batched",
    quantile=0.3,
    max_iter=5,
)
add(
    "probabilistic, memberships",
    ProbabilisticKMeans,
    close,
    n_clusters=4,
    landmarks=40,
    init=shares(350, 4),
)
add(
    "probabilistic, k-means++",
    ProbabilisticKMeans,
    SOME,
    n_clusters=4,
    landmarks=40,
    init="k-means++",
    weight=weights(3000),
)
add(
    "probabilistic, many rows",
    ProbabilisticKMeans,
    MANY,
    n_clusters=4,
    kernel="linear",
    quantile=0.5,
    max_iter=20,
)

add("two-step", TwoStepKernelKMeans, SOME, n_clusters=5)
add("two-step, all rows", TwoStepKernelKMeans, SMALL, n_clusters=5, landmarks=None, n_init=3)
add(
    "two-step, rpcholesky",
    TwoStepKernelKMeans,
    SOME,
    n_clusters=5,
    landmarks=Landmarks(100, method="rpcholesky"),
    init="max-min",
)
add(
    "two-step, labels",
    TwoStepKernelKMeans,
    SOME,
    n_clusters=5,
    landmarks=200,
    init=np.arange(3000) % 5,
    weight=weights(3000),
)
add(
    "two-step, many rows",
    TwoStepKernelKMeans,
    MANY,
    n_clusters=5,
    landmarks=200,
    kernel="laplacian",
)


@dataclass(frozen=True)
class Softened(rules.Rule):
    """Shares that fall with the square root of the distance; no native code knows it."""

    m: float = 1.0

    def memberships(self, d2: np.ndarray, scales: np.ndarray | None) -> np.ndarray:
        u = np.exp(-2.0 * np.sqrt(d2))
        return u / u.sum(axis=1, keepdims=True)

    def weights(self, u: np.ndarray) -> np.ndarray:
        return u * u


for rule in ("hard", "fuzzy", "possibilistic"):
    made = rules.Possibilistic(eta_scale=0.1) if rule == "possibilistic" else rule
    add(f"any rule, {rule}", CMeans, SMALL, n_clusters=4, rule=made, landmarks=40)
add(
    "any rule, printed exponent",
    CMeans,
    SMALL,
    n_clusters=4,
    rule=papers.PrintedFuzzy(2.0),
    kernel="linear",
)
add(
    "any rule, one's own",
    CMeans,
    SMALL,
    n_clusters=4,
    rule=Softened(),
    kernel="linear",
    max_iter=60,
)
add(
    "any rule, one's own, many rows",
    CMeans,
    MANY,
    n_clusters=4,
    rule=Softened(),
    landmarks=30,
    max_iter=5,
)
add(
    "any rule, memberships stand still",
    papers.PrintedCMeans,
    SMALL,
    n_clusters=4,
    rule=rules.Fuzzy(1.3),
    landmarks=40,
    tol=1e-3,
)
add(
    "any rule, sparse",
    CMeans,
    SMALL,
    n_clusters=4,
    rule=rules.SparsePossibilistic(share=0.2),
    landmarks=40,
)
add(
    "any rule, printed exponent, many rows",
    CMeans,
    MANY,
    n_clusters=4,
    rule=papers.PrintedFuzzy(2.0),
    kernel="linear",
    max_iter=20,
)


@case("rules themselves")
def _rules() -> Words:
    d2 = groups(50, 6) ** 2
    d2[3, 2] = d2[5, 1] = d2[5, 4] = 0.0
    scales = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 0.1])
    every = [
        rules.Hard(),
        rules.Fuzzy(2.0),
        rules.Fuzzy(1.05),
        papers.PrintedFuzzy(1.5, exponent=3.0),
        rules.Possibilistic(),
        rules.Possibilistic(1.5),
    ]
    every += [
        rules.SparsePossibilistic(),
        rules.SparsePossibilistic(0.0),
        papers.LocallySparse(0.05, p=0.3),
    ]
    said: Words = {}
    for number, rule in enumerate(every):
        for dtype in ("float64", "float32"):
            u = rule.memberships(d2.astype(dtype), scales)
            said[f"{number}, {dtype}"] = [u, rule.weights(u), rule.penalty(u, scales)]
    sparse = rules.SparsePossibilistic(share=0.3, p=0.4)
    return said | {
        "sparse": [
            sparse.radii(scales),
            sparse.strength(scales),
            sparse.largest_share,
            sparse.largest_strength(scales),
        ]
    }
