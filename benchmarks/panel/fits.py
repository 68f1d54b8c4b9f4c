"""Fits of the three main rules: spaces, landmarks, kernels, starts, parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cmeans import (
    FuzzyCMeans,
    KernelKMeans,
    Landmarks,
    PossibilisticCMeans,
    Search,
    ThreadEngine,
    kernels,
    papers,
)

from .cases import Words, add, answers, case, fitted
from .rows import MANY, SMALL, SOME, counts, documents, groups, images, shares, some

RULES: dict[str, tuple[Any, Words]] = {
    "hard": (KernelKMeans, {"n_clusters": 5}),
    "fuzzy": (FuzzyCMeans, {"n_clusters": 5, "m": 1.3}),
    "possibilistic": (
        PossibilisticCMeans,
        {"n_clusters": 5, "m": 1.7, "pilot_m": 1.3, "eta_scale": 0.1},
    ),
}
SPACES: dict[str, Words] = {
    "euclidean": {"kernel": "linear"},
    "landmarks": {"landmarks": 30, "gamma": 0.05},
    "landmarks by gradients": {"landmarks": papers.GradientLandmarks(30), "gamma": 0.05},
    "exact": {"landmarks": None, "gamma": 0.05},
}

for rule, (estimator, words) in RULES.items():
    for space, where in SPACES.items():
        add(f"{rule}, {space}", estimator, SMALL, **words, **where)
add(
    "hard, no clusters to speak of",
    KernelKMeans,
    partial(groups, 300, 3, 1),
    n_clusters=40,
    kernel="linear",
    n_init=2,
)
add("fuzzy, one cluster", FuzzyCMeans, SMALL, n_clusters=1)
add("fuzzy, m=2", FuzzyCMeans, SMALL, n_clusters=3, m=2, landmarks=50)
add("possibilistic, m=2", PossibilisticCMeans, SMALL, n_clusters=3, eta_scale=0.05, landmarks=50)

for scheme in ("rpcholesky", "k-means++", "uniform"):
    add(
        f"landmarks, {scheme}",
        FuzzyCMeans,
        SOME,
        n_clusters=4,
        m=1.3,
        landmarks=Landmarks(40, method=scheme),
        gamma="median",
    )
    add(
        f"landmarks, auto number, {scheme}",
        KernelKMeans,
        SOME,
        n_clusters=5,
        landmarks=Landmarks(method=scheme, tol=0.05),
    )
add("landmarks, auto number, default", FuzzyCMeans, SOME, n_clusters=5)
add("landmarks, rows", FuzzyCMeans, SMALL, n_clusters=4, m=1.3, landmarks=np.arange(0, 600, 20))
add("landmarks, points", KernelKMeans, SMALL, n_clusters=4, landmarks=groups(25, 4, seed=9))
add(
    "landmarks, more than span the rows",
    KernelKMeans,
    SMALL,
    n_clusters=4,
    kernel=kernels.Polynomial(degree=2),
    landmarks=100,
)
add(
    "exact, few rows stand for all",
    FuzzyCMeans,
    partial(groups, 1500, 2),
    n_clusters=4,
    m=1.3,
    landmarks=None,
    gamma=0.01,
)
add(
    "exact, in tiles",
    FuzzyCMeans,
    SOME,
    n_clusters=3,
    m=1.3,
    landmarks=None,
    gamma=0.05,
    max_iter=6,
    engine=ThreadEngine(memory_budget="160MB"),
)


def bump(x: np.ndarray, y: np.ndarray, width: float = 4.0) -> np.ndarray:
    """A kernel of one's own."""
    return np.exp(-np.abs(x[:, None, :] - y[None, :, :]).sum(axis=2) / width)


KERNELS: dict[str, tuple[Callable[[], Any], Words]] = {
    "linear": (SMALL, {"kernel": "linear"}),
    "rbf": (SMALL, {"kernel": "rbf"}),
    "laplacian": (SMALL, {"kernel": "laplacian", "gamma": "median"}),
    "polynomial": (SMALL, {"kernel": kernels.Polynomial(degree=3, gamma=0.05)}),
    "normalized_polynomial": (SMALL, {"kernel": kernels.NormalizedPolynomial(degree=2, coef0=2)}),
    "sigmoid": (SMALL, {"kernel": kernels.Sigmoid(gamma=0.01, coef0=0.5)}),
    "cosine": (SMALL, {"kernel": "cosine"}),
    "histogram_intersection": (counts, {"kernel": "histogram_intersection"}),
    "spatial_pyramid": (counts, {"kernel": papers.SpatialPyramid(2)}),
    "complex_wavelet_ssim": (images, {"kernel": papers.ComplexWaveletSSIM(window=3)}),
    "object": (SMALL, {"kernel": kernels.RBF(gamma=0.1)}),
    "callable": (SMALL, {"kernel": partial(bump, width=20.0)}),
}
for kernel, (rows, words) in KERNELS.items():
    add(
        f"kernel {kernel}, landmarks",
        FuzzyCMeans,
        rows,
        n_clusters=3,
        m=1.15,
        landmarks=25,
        **words,
    )
    if kernel not in ("linear", "rbf", "object"):
        add(
            f"kernel {kernel}, exact",
            KernelKMeans,
            rows,
            n_clusters=3,
            landmarks=None,
            n_init=2,
            **words,
        )


@case("kernels themselves")
def _() -> Words:
    plain = [
        kernels.RBF(0.1),
        kernels.Linear(),
        kernels.Laplacian(0.2),
        kernels.Polynomial(3, 0.1, 1.0),
        kernels.Cosine(),
    ]
    plain += [kernels.NormalizedPolynomial(), kernels.Sigmoid(0.1, 0.2)]
    of = {type(kernel).__name__: (kernel, SMALL()) for kernel in plain}
    of |= {
        "HistogramIntersection": (kernels.HistogramIntersection(), counts()),
        "SpatialPyramid": (papers.SpatialPyramid(2), counts()),
    }
    of["ComplexWaveletSSIM"] = papers.ComplexWaveletSSIM(window=4, step=1), images()
    return {
        f"{name}, {part}": values
        for name, (k, x) in of.items()
        for part, values in (("k", k(x, x[:20])), ("diag", k.diag(x)))
    }


@case("kernels of float32 and of CSR")
def _() -> Words:
    said: Words = {}
    for kernel in (
        kernels.RBF(0.1),
        kernels.Laplacian(0.2),
        kernels.Polynomial(3, 0.1, 1.0),
        kernels.Cosine(),
    ):
        for form, x in (("float32", SMALL().astype(np.float32)), ("CSR", documents(100))):
            said[f"{type(kernel).__name__}, {form}"] = [kernel(x, x[:20]), kernel.diag(x)]
    return said


def gram(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A kernel whose diagonal is not constant."""
    return (1.0 + x @ y.T / 20.0) ** 2


@case("precomputed, square")
def _() -> Words:
    x = SMALL()
    said = {}
    for name, (estimator, words) in RULES.items():
        model = estimator(**words, kernel="precomputed", landmarks=None, random_state=1).fit(
            gram(x, x)
        )
        said[name] = fitted(model) | answers(
            model, gram(some(x), x), diag=np.diag(gram(some(x), some(x)))
        )
    return said


@case("precomputed, square, landmarks")
def _() -> Words:
    x = SMALL()
    model = FuzzyCMeans(4, m=1.3, kernel="precomputed", landmarks=30, random_state=1).fit(
        gram(x, x)
    )
    return fitted(model) | answers(model, gram(some(x), x), diag=np.diag(gram(some(x), some(x))))


@case("precomputed, columns")
def _() -> Words:
    x, listed = SMALL(), np.arange(5, 600, 20)
    said = {}
    for solver, choice in (("eigh", Landmarks), ("gradient", papers.GradientLandmarks)):
        words = {
            "landmarks": choice(points=listed),
            "kernel": kernels.Precomputed(diagonal=np.diag(gram(x, x))),
        }
        model = FuzzyCMeans(4, m=1.3, random_state=1, **words).fit(gram(x, x[listed]))
        said[solver] = fitted(model) | answers(
            model, gram(some(x), x[listed]), diag=np.diag(gram(some(x), some(x)))
        )
    return said


for init in ("k-means++", "k-means||", "max-min", "random", "random-partition"):
    add(f"init {init}", KernelKMeans, SMALL, n_clusters=5, landmarks=30, init=init, n_init=3)
    add(f"init {init}, exact", FuzzyCMeans, SMALL, n_clusters=4, m=1.3, landmarks=None, init=init)
STARTS = {
    "rows": np.array([3, 77, 140, 201, 555]),
    "labels": np.arange(600) % 5,
    "points": groups(5, 4, seed=8),
    "memberships": shares(600, 5),
}
for name, start in STARTS.items():
    add(f"init {name}", FuzzyCMeans, SMALL, n_clusters=5, m=1.3, landmarks=30, init=start)
    add(f"init {name}, euclidean", KernelKMeans, SMALL, n_clusters=5, kernel="linear", init=start)
add(
    "init k-means||, many rows",
    KernelKMeans,
    MANY,
    n_clusters=5,
    landmarks=30,
    init="k-means||",
    max_iter=10,
)
add(
    "init max-min, many rows",
    FuzzyCMeans,
    MANY,
    n_clusters=5,
    kernel="linear",
    init="max-min",
    max_iter=10,
)
add(
    "init random-partition, many rows",
    KernelKMeans,
    MANY,
    n_clusters=5,
    kernel="linear",
    init="random-partition",
    max_iter=10,
)


@case("init fitted")
def _() -> Words:
    x = SMALL()
    words = {"kernel": "rbf", "gamma": 0.05, "random_state": 2}
    first = KernelKMeans(5, max_iter=2, landmarks=30, **words).fit(x)
    second = FuzzyCMeans(
        5, m=1.3, init=first, landmarks=Landmarks(30, method="uniform"), **words
    ).fit(x)
    return {"first": fitted(first), "second": fitted(second)}


for gamma in ("scale", "median"):
    add(f"gamma {gamma}", KernelKMeans, SOME, n_clusters=5, gamma=gamma, landmarks=40)
    add(
        f"gamma {gamma}, laplacian",
        FuzzyCMeans,
        SMALL,
        n_clusters=3,
        gamma=gamma,
        kernel="laplacian",
        landmarks=40,
    )
add("m auto", FuzzyCMeans, SMALL, n_clusters=4, gamma="median", landmarks=40)
add("m auto, exact", FuzzyCMeans, SMALL, n_clusters=4, gamma="median")
add(
    "m auto, pilot",
    PossibilisticCMeans,
    SMALL,
    n_clusters=4,
    m="auto",
    eta_scale=0.05,
    landmarks=40,
)
for rule in ("fuzzy", "possibilistic"):
    estimator, words = RULES[rule]
    add(
        f"{rule}, no acceleration",
        estimator,
        SMALL,
        **words,
        **SPACES["landmarks"],
        search=Search(acceleration=None),
    )
add(
    "fuzzy, several starts",
    FuzzyCMeans,
    SMALL,
    n_clusters=5,
    m=1.3,
    landmarks=30,
    n_init=4,
    init="random",
)
add("hard, cut short", KernelKMeans, SMALL, n_clusters=5, landmarks=30, max_iter=2, tol=0.0)
add("hard, to the last bit", KernelKMeans, SMALL, n_clusters=5, landmarks=30, tol=0.0)
