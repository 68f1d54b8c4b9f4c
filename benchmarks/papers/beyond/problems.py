"""Kernel clustering problems small enough that all kernel values are at hand: what a partition
truly costs is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from cmeans import KernelKMeans
from cmeans.kernels import RBF, Kernel, NormalizedPolynomial

from ...harness import load, unit_interval
from ..seconds import timed

Array = np.ndarray


@dataclass(frozen=True)
class Problem:
    """Some rows of a data set, and a kernel."""

    title: str
    file: str
    rows: int
    clusters: int
    gamma: float | None  # of an RBF kernel; None: the normalised polynomial of degree 5
    sizes: tuple[int, ...]  # numbers of landmarks

    def reduced(self, rows: int) -> Problem:
        return replace(self, rows=rows, sizes=self.sizes[:2])

    @property
    def kernel(self) -> Kernel:
        return (
            NormalizedPolynomial(degree=5, gamma=1.0, coef0=1.0)
            if self.gamma is None
            else RBF(self.gamma)
        )


MEDIAN = 1 / 105.0  # 1 / (squared median distance of MNIST's digits, in [0, 1])
PROBLEMS = {
    problem.title: problem
    for problem in (
        Problem("MNIST, RBF", "mnist", 10_000, 10, MEDIAN, (50, 100, 200, 400)),
        Problem("MNIST, polynomial", "mnist", 10_000, 10, None, (50, 100, 200, 400)),
        Problem("A3, RBF", "a3", 7_500, 50, 2.0, (5, 10, 20, 40)),
        Problem("Forest, RBF", "covtype", 10_000, 7, 1.0, (50, 100, 200, 400)),
    )
}


@lru_cache(maxsize=1)
def rows_of(problem: Problem) -> Array:
    """Features in [0, 1], a random choice of rows."""
    x = load(problem.file)
    some = np.sort(np.random.default_rng(0).permutation(len(x))[: problem.rows])
    if problem.file == "mnist":
        return x[some].astype(np.float32) / 255
    return unit_interval(x, np.float64 if problem.file == "a3" else np.float32)[some]


@lru_cache(maxsize=1)
def gram_of(problem: Problem) -> Array:
    """All kernel values."""
    x, kernel = rows_of(problem), problem.kernel
    gram = np.empty((len(x), len(x)), dtype=x.dtype)
    for start in range(0, len(x), 1000):
        gram[start : start + 1000] = kernel(x[start : start + 1000], x)
    return gram


def cost(problem: Problem, labels: Array) -> float:
    """The kernel k-means objective of a partition: sum_i k(x_i, x_i) - sum_j (sum of the kernel
    values in cluster j) / its rows."""
    gram = gram_of(problem)
    members = np.eye(problem.clusters, dtype=gram.dtype)[labels]
    within = np.einsum("ij,ij->j", members, gram @ members, dtype=np.float64)
    sizes = members.sum(axis=0, dtype=np.float64)
    return float(np.trace(gram, dtype=np.float64)) - float((within / np.maximum(sizes, 1)).sum())


def seeds(problem: Problem, trial: int) -> Array:
    """Rows by k-means++ in feature space."""
    gram, rng = gram_of(problem), np.random.default_rng(trial)
    diagonal = np.diag(gram).astype(np.float64)
    rows, nearest = [int(rng.integers(len(gram)))], np.full(len(gram), np.inf)
    while len(rows) < problem.clusters:
        nearest = np.minimum(
            nearest, np.maximum(diagonal + diagonal[rows[-1]] - 2.0 * gram[rows[-1]], 0.0)
        )
        rows.append(int(rng.choice(len(gram), p=nearest / nearest.sum())))
    return np.array(rows)


@lru_cache(maxsize=8)
def solved(problem: Problem, trial: int) -> tuple[Array, float]:
    """The partition that kernel k-means with all kernel values finds, and processor seconds."""
    gram, init = gram_of(problem), seeds(problem, trial)
    model, busy = timed(
        lambda: KernelKMeans(problem.clusters, kernel="precomputed", landmarks=None, init=init).fit(
            gram
        )
    )
    return model.labels_, busy


def exact(problem: Problem, trial: int) -> dict[str, float]:
    labels, busy = solved(problem, trial)
    return {"cost": cost(problem, labels), "busy": busy}


def start(problem: Problem, trial: int) -> Array:
    """Memberships of the exact partition, where all fits of a trial start: how far they leave it is
    the landmarks' doing alone, where from other starts the next of many minima would be."""
    return np.eye(problem.clusters)[solved(problem, trial)[0]]


def fitted(problem: Problem, trial: int, seed: int, **words: Any) -> tuple[KernelKMeans, float]:
    """Kernel k-means on landmarks, and processor seconds."""
    model = KernelKMeans(
        problem.clusters,
        kernel=problem.kernel,
        init=start(problem, trial),
        random_state=seed,
        **words,
    )
    return timed(lambda: model.fit(rows_of(problem)))
