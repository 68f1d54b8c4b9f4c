"""One fit of a line of Tables 1 to 4, scored as the paper scored it.

Three things had to be found for the figures to come out. Every row is scored by its typicalities
without sparsity at the final centres and scales, exp(-d / eta) divided by their sum: its label is
the largest of them, and GRM compares rows of memberships by their Euclidean distance over sqrt(2).
k-means, FCM and PCM saw Iris standardised, the other sets as they are; the adaptive algorithms saw
features in [0, 10], where the first rows of all are chosen. And Iris is Fisher's, without the UCI
file's misprints.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris

from cmeans import (
    AdaptivePossibilisticCMeans,
    FuzzyCMeans,
    KernelKMeans,
    SequentialPossibilisticCMeans,
)
from cmeans.datasets import make_close_gaussians
from cmeans.metrics import rand_measure, success_rate
from cmeans.papers import PrintedAdaptivePossibilisticCMeans

from ...harness import load
from .printed import ADAPTIVE, CLASSES, NAMES, Line, Row

SWEEPS = 1500


@cache
def data(table: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes 0, 1, ..."""
    if table == 1:
        return make_close_gaussians(random_state=seed)
    if table == 3:  # without the two misprints of the UCI file
        return load_iris(return_X_y=True)
    name = NAMES[table].lower()
    return load(name).astype(np.float64), np.unique(load(name, "y"), return_inverse=True)[1]


def uci_iris() -> tuple[np.ndarray, np.ndarray]:
    return load("iris"), np.unique(load("iris", "y"), return_inverse=True)[1]


def to_ten(x: np.ndarray) -> np.ndarray:
    low = x.min(axis=0)
    return 10 * (x - low) / (x.max(axis=0) - low)


def standardised(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=0)) / x.std(axis=0)


def units(method: str, table: int, x: np.ndarray) -> np.ndarray:
    """The rows as an algorithm of the paper has seen them."""
    if method in ADAPTIVE:
        return to_ten(x)
    return standardised(x) if table == 3 else x


def far_row(x: np.ndarray) -> int:
    """The first of two distant rows (Egecioglu, Kalantari 1989), looked for from the first row
    on."""
    return int(cdist(x[:1], x)[0].argmax())


def max_min_rows(x: np.ndarray, first: int, count: int) -> np.ndarray:
    """From a first row on, always the row that is farthest from its nearest row chosen so far."""
    rows, nearest = [first], cdist(x[[first]], x)[0]
    while len(rows) < count:
        rows.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, cdist(x[rows[-1:]], x)[0])
    return np.array(rows)


def euclidean_grm(classes: np.ndarray, u: np.ndarray) -> float:
    """1 - mean |E_P - E_Q| with E_Q(i, k) = 1 - |u_i - u_k| / sqrt(2), which is what reproduces the
    printed GRM."""
    apart = pdist(classes[:, None].astype(float)) > 0
    return 1.0 - float(np.abs(apart - pdist(u) / np.sqrt(2.0)).mean())


def scored(classes: np.ndarray, u: np.ndarray, *, general: bool = True) -> Line:
    labels = u.argmax(axis=1)
    measures = [100 * rand_measure(classes, labels), 100 * success_rate(classes, labels)]
    rand, success = (round(value, 2) for value in measures)
    return Line(
        u.shape[1], rand, round(100 * euclidean_grm(classes, u), 2) if general else None, success
    )


def plain_typicalities(model: Any, x: np.ndarray) -> np.ndarray:
    """exp(-d / eta) at the final centres and scales, without sparsity and divided by their sum."""
    costs = model.transform(x) ** 2 / model.eta_
    u = np.exp(costs.min(axis=1, keepdims=True) - costs)
    return u / u.sum(axis=1, keepdims=True)


def by_nearest(classes: np.ndarray, model: Any, x: np.ndarray) -> tuple[float, float]:
    """RM and SR of the model's own labels, a row that no cluster wants counting in the nearest."""
    nearest = model.transform(x).argmin(axis=1)
    return tuple(
        100 * measure(classes, model.labels_, nearest=nearest)
        for measure in (rand_measure, success_rate)
    )


def fitted(
    row: Row, table: int, x: np.ndarray, first: int | None, **more: Any
) -> tuple[Any, np.ndarray]:
    """The model and the rows it was fitted on. `first` is the first row of Max-Min, None for the
    far one; `more` are further words of the estimator."""
    seen = units(row.method, table, x)
    if row.method == "SeqSAPCM":
        return SequentialPossibilisticCMeans(
            sparsity=row.sparsity,
            sparsity_test="local",
            patience=1,
            scaling=None,
            max_iter=SWEEPS,
            n_jobs=1,
            **more,
        ).fit(seen), seen
    assert row.initial is not None
    ten = to_ten(x)  # footnote 8: one start for all
    init = max_min_rows(ten, far_row(ten) if first is None else first, row.initial)
    words = {"kernel": "linear", "init": init, "max_iter": SWEEPS, "n_jobs": 1, **more}
    if row.method == "k-means":
        return KernelKMeans(row.initial, **words).fit(seen), seen
    if row.method == "FCM":
        return FuzzyCMeans(row.initial, m=2.0, **words).fit(seen), seen
    if row.method == "PCM":
        return PrintedAdaptivePossibilisticCMeans(
            row.initial, sparsity=0, adaptation=None, scaling=None, **words
        ).fit(seen), seen
    words |= {
        "sparsity": row.sparsity,
        "sparsity_test": "local",
        "adaptation": "length",
        "scaling": None,
    }
    assert row.beta is not None
    return PrintedAdaptivePossibilisticCMeans(row.initial, beta=row.beta, **words).fit(seen), seen


def line_of(
    row: Row, table: int, x: np.ndarray, classes: np.ndarray, first: int | None, **more: Any
) -> Line:
    model, seen = fitted(row, table, x, first, **more)
    if row.method == "k-means":
        return scored(classes, np.eye(row.initial or 0)[model.labels_], general=False)
    return scored(
        classes, model.memberships_ if row.method == "FCM" else plain_typicalities(model, seen)
    )


def by_defaults(name: str, table: int, state: int) -> tuple[int, float, float, float]:
    """The library's defaults: clusters found, RM and SR by its own labels, and the per cent of rows
    that no cluster wants."""
    x, classes = data(table, state)
    words: dict[str, Any] = {"random_state": state, "n_jobs": 1}
    if name == "sequential":
        model: Any = SequentialPossibilisticCMeans(**words).fit(x)
    elif name == "alpha":
        model = AdaptivePossibilisticCMeans(alpha=1.0, pilot_m=2.0, **words).fit(x)
    else:
        model = AdaptivePossibilisticCMeans(
            (1, 2 * CLASSES[table] if name == "twice" else 20), **words
        ).fit(x)
    return (
        model.n_clusters_,
        *by_nearest(classes, model, x),
        100 * float(np.mean(model.labels_ < 0)),
    )
