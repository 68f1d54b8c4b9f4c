"""What rows may come as, and how many: types, forms, weights, long sweeps, samples, threads."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cmeans import (
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    Search,
    ThreadEngine,
    TwoStepKernelKMeans,
)

from .cases import Words, add, answers, case, fit, fitted
from .fits import RULES
from .rows import MANY, MORE, SMALL, SOME, documents, groups, some, weights

for name, (estimator, words) in RULES.items():
    add(
        f"float32, {name}, euclidean",
        estimator,
        partial(SMALL, dtype="float32"),
        **words,
        kernel="linear",
    )
    add(
        f"float32, {name}, landmarks",
        estimator,
        partial(SMALL, dtype="float32"),
        **words,
        landmarks=30,
    )
    add(
        f"float32, {name}, exact",
        estimator,
        partial(SMALL, dtype="float32"),
        **words,
        landmarks=None,
    )
    add(f"CSR, {name}, euclidean", estimator, documents, **words, kernel="linear")
    add(f"CSR, {name}, landmarks", estimator, documents, **words, landmarks=30, gamma="median")
    add(
        f"weights, {name}, euclidean",
        estimator,
        SMALL,
        **words,
        kernel="linear",
        weight=weights(600),
    )
    add(f"weights, {name}, landmarks", estimator, SMALL, **words, landmarks=30, weight=weights(600))
    add(
        f"weights, {name}, exact",
        estimator,
        SMALL,
        **words,
        landmarks=None,
        weight=weights(600) * 1e15,
    )
add("CSR, exact", FuzzyCMeans, documents, n_clusters=4, m=1.2, landmarks=None, kernel="cosine")
add(
    "CSR, float32, many rows",
    KernelKMeans,
    partial(documents, 42_000, 30, "float32"),
    n_clusters=4,
    landmarks=30,
    max_iter=10,
)
add("CSR, two-step", TwoStepKernelKMeans, documents, n_clusters=4, landmarks=100)
add(
    "columns first",
    FuzzyCMeans,
    lambda: np.asfortranarray(SOME()),
    n_clusters=4,
    m=1.3,
    landmarks=30,
)
add(
    "every other column",
    KernelKMeans,
    lambda: groups(3000, 8)[:, ::2],
    n_clusters=4,
    kernel="linear",
)
add(
    "whole numbers", KernelKMeans, lambda: (10 * SMALL()).astype(int), n_clusters=4, kernel="linear"
)
add(
    "equal rows",
    FuzzyCMeans,
    lambda: np.repeat(groups(100, 3), 5, axis=0),
    n_clusters=4,
    landmarks=30,
)
add("far from the origin", KernelKMeans, lambda: SMALL() + 1e5, n_clusters=4, kernel="linear")

# Dictionaries of up to 128 columns are swept in one way, wider ones in another; hard sweeps of
# those keep bounds.
WIDTHS: dict[str, Words] = {
    "euclidean": {"kernel": "linear"},
    "narrow": {"landmarks": 40},
    "wide": {"landmarks": 160},
}
for name, (estimator, words) in RULES.items():
    for width, where in WIDTHS.items():
        for dtype in ("float64", "float32"):
            add(
                f"many rows, {name}, {width}, {dtype}",
                estimator,
                partial(MANY, dtype=dtype),
                **words,
                **where,
                max_iter=12,
            )
add(
    "many rows, hard, wide, to the end",
    KernelKMeans,
    MANY,
    n_clusters=8,
    landmarks=140,
    gamma="median",
)
add("many rows, fuzzy, m=2", FuzzyCMeans, MANY, n_clusters=3, m=2, landmarks=40, max_iter=12)
add(
    "many rows, possibilistic, m=2",
    PossibilisticCMeans,
    MANY,
    n_clusters=3,
    m=2,
    eta_scale=0.1,
    kernel="linear",
    max_iter=12,
)
add(
    "many rows, laplacian",
    FuzzyCMeans,
    MANY,
    n_clusters=3,
    m=1.2,
    landmarks=40,
    kernel="laplacian",
    max_iter=8,
)
add(
    "many rows, polynomial",
    KernelKMeans,
    MANY,
    n_clusters=3,
    landmarks=40,
    kernel="polynomial",
    max_iter=8,
)
add(
    "many rows, weights",
    FuzzyCMeans,
    MANY,
    n_clusters=5,
    m=1.2,
    landmarks=40,
    max_iter=8,
    weight=weights(42_000),
)
add(
    "many rows, weights, hard, wide",
    KernelKMeans,
    MANY,
    n_clusters=5,
    landmarks=140,
    max_iter=8,
    weight=weights(42_000),
)
add(
    "many rows, little memory",
    FuzzyCMeans,
    MANY,
    n_clusters=5,
    m=1.2,
    landmarks=140,
    max_iter=6,
    engine=ThreadEngine(memory_budget="120MB"),
)
add("many rows, median", FuzzyCMeans, MANY, n_clusters=5, kernel="rbf", gamma="median", max_iter=10)

for name, (estimator, words) in RULES.items():
    add(f"growing samples, {name}", estimator, MORE, **words, landmarks=30)
    add(
        f"growing samples, {name}, euclidean",
        estimator,
        partial(MORE, dtype="float32"),
        **words,
        kernel="linear",
        n_init=2,
    )
    add(
        f"all rows at once, {name}",
        estimator,
        MORE,
        **words,
        kernel="linear",
        search=Search(progressive=False),
        max_iter=15,
    )
add(
    "growing samples, weights",
    FuzzyCMeans,
    MORE,
    n_clusters=5,
    m=1.2,
    landmarks=30,
    weight=weights(60_000),
)

for threads in (1, 2):
    add(
        f"{threads} threads, hard",
        KernelKMeans,
        MANY,
        n_clusters=5,
        landmarks=140,
        n_jobs=threads,
        max_iter=10,
    )
    add(
        f"{threads} threads, fuzzy",
        FuzzyCMeans,
        MANY,
        n_clusters=5,
        m=1.3,
        kernel="linear",
        n_jobs=threads,
        max_iter=10,
    )
    add(
        f"{threads} threads, exact",
        FuzzyCMeans,
        SMALL,
        n_clusters=5,
        m=1.3,
        landmarks=None,
        n_jobs=threads,
    )


@case("torch", "torch")
def _torch() -> Words:
    import torch

    def rows(dtype: str) -> Any:
        return torch.from_numpy(SMALL().astype(dtype))

    spaces = {
        "hard": {"landmarks": None},
        "fuzzy": {"landmarks": 30},
        "possibilistic": {"kernel": "linear"},
    }
    return {
        f"{name}, {dtype}": fit(
            estimator, partial(rows, dtype), **words, **spaces[name], max_iter=10
        )
        for name, (estimator, words) in RULES.items()
        for dtype in ("float64", "float32")
    }


@case("data frames", "pandas")
def _frames() -> Words:
    import pandas as pd

    x = pd.DataFrame(SMALL(), columns=list("abcd"))
    model = FuzzyCMeans(4, m=1.3, kernel="rbf", landmarks=30, random_state=0).fit(x)
    return fitted(model) | answers(model, some(x))
