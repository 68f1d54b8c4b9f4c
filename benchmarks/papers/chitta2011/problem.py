"""What all runs on MNIST share: rows, kernels, starts and samples. The exact runs on 70,000 rows
take theirs from here too."""

from __future__ import annotations

from functools import cache

import numpy as np

from cmeans.kernels import Kernel, NormalizedPolynomial, Polynomial, Sigmoid

from ...harness import load

Array = np.ndarray

CLUSTERS = 10
RUNS = 10
KERNELS: dict[str, Kernel] = {
    "neural": Sigmoid(gamma=0.0045, coef0=0.11),
    "polynomial": NormalizedPolynomial(degree=5, gamma=1.0, coef0=1.0),
}
# as the paper prints its "normalized polynomial kernel"
UNDIVIDED = Polynomial(degree=5, gamma=1.0, coef0=1.0)
MOST_SWEEPS = 300


@cache
def rows() -> tuple[Array, Array]:
    """MNIST's 70,000 images, grey values in [0, 1], float32, and their classes."""
    return load("mnist").astype(np.float32) / 255, load("mnist", "y")


def some_rows(n: int | None) -> tuple[Array, Array]:
    """All rows, or n of them drawn once for all."""
    x, y = rows()
    if n is None or n >= len(y):
        return x, y
    chosen = np.sort(np.random.default_rng(2011).choice(len(y), n, replace=False))
    return x[chosen], y[chosen]


def starts(run: int, n: int, clusters: int = CLUSTERS) -> Array:
    """The random memberships that all algorithms begin run `run` from: a cluster drawn for each row
    (n,)."""
    return np.random.default_rng([2011, run]).integers(0, clusters, n)


def sample(run: int, m: int, n: int) -> Array:
    """The rows drawn for run `run`, uniformly and without replacement; the same for both algorithms
    (m,)."""
    return np.sort(np.random.default_rng([2011, run, m]).choice(n, m, replace=False))
