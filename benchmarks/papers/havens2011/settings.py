"""The problems of the paper, and the rows that start each run: the same ones for the exact
algorithm and the approximate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cmeans.datasets import make_quadrupeds
from cmeans.kernels import RBF, Kernel, Polynomial

from ...harness import load, unit_interval
from ...template import toml

_PRINTED = toml("papers/havens2011/printed.toml")
SIZES: dict[str, list[int]] = _PRINTED["sizes"]
CLUTO: dict[str, float] = _PRINTED["cluto"]
TABLE = {
    (row["data"], row["kernel"], row["algorithm"]): list(
        zip(row["seconds"], row["purity"], strict=True)
    )
    for row in _PRINTED["table"]
}
KERNELS: dict[str, dict[str, Any]] = {
    "polynomial": {"kernel": Polynomial(degree=2, gamma=1.0, coef0=1.0)},
    "RBF, sigma 1": {"kernel": "rbf", "gamma": 1.0},
    "RBF, sigma 2": {"kernel": "rbf", "gamma": 0.5},
}
M, EPSILON = 2.0, 1e-3  # the paper's fuzzifier and stopping rule: max |u - u'| <= EPSILON
RUNS = 20
MNIST_KERNEL = {"kernel": Polynomial(degree=5, gamma=1.0, coef0=1.0)}  # (x.y + 1)^5 of pixels / 255
A3_KERNEL = {"kernel": "rbf", "gamma": 2.0}  # exp(-|x - y|^2 / .5)


def kernel_of(words: dict[str, Any]) -> Kernel:
    """The object that an estimator makes of the words of a kernel."""
    return RBF(words["gamma"]) if words["kernel"] == "rbf" else words["kernel"]


class Problem(NamedTuple):
    """Rows, classes, clusters sought and the kernel as the estimators take it."""

    x: np.ndarray
    classes: np.ndarray
    clusters: int
    kernel: dict[str, Any]


def first_rows(n: int, run: int, clusters: int) -> np.ndarray:
    """The rows that are the first centres of a run."""
    return np.random.default_rng([2011, n, clusters, run]).choice(n, clusters, replace=False)


def starts(n: int, runs: int, clusters: int) -> list[np.ndarray]:
    """Those of some runs; the first runs are the same however many are asked for."""
    return [first_rows(n, run, clusters) for run in range(runs)]


def a3(n: int | None = None) -> Problem:
    """A3, every feature to [0, 1]; or the rows of its first ten clusters, n of them."""
    x, classes = load("a3"), load("a3", "y")
    clusters = 50
    if n is not None:
        clusters = 10
        few = np.flatnonzero(np.isin(classes, np.unique(classes)[:clusters]))
        few = np.sort(np.random.default_rng(0).choice(few, n, replace=False))
        x, classes = x[few], classes[few]
    return Problem(unit_interval(x, np.float64), classes, clusters, A3_KERNEL)


def mnist(n: int | None = None) -> Problem:
    """MNIST / 255 in single precision: all 70,000 rows in the order stored, or n rows drawn once,
    in that order."""
    x, classes = load("mnist"), load("mnist", "y")
    if n is not None:
        few = np.sort(np.random.default_rng(0).choice(len(x), n, replace=False))
        x, classes = x[few], classes[few]
    x = np.asarray(x, dtype=np.float32)
    x /= 255
    return Problem(x, classes, 10, MNIST_KERNEL)


def very_large(name: str, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Covertype or the mammals, features to [0, 1], single precision, and their classes; n of their
    rows where asked."""
    if name == "mammals":
        x, classes = make_quadrupeds(n or 500_000, random_state=0)
    else:
        x, classes = load("covtype"), load("covtype", "y")
        if n is not None:
            few = np.sort(np.random.default_rng(0).choice(len(x), n, replace=False))
            x, classes = x[few], classes[few]
    return unit_interval(x, np.float32), classes
