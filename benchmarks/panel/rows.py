"""Rows of the panel, from fixed seeds."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse


def groups(n: int, d: int, c: int = 5, dtype: str = "float64", seed: int = 0) -> np.ndarray:
    """Rows in c groups that touch, in no order."""
    rng = np.random.default_rng(seed)
    return (
        2.5 * rng.normal(size=(c, d))[rng.integers(c, size=n)] + rng.normal(size=(n, d))
    ).astype(dtype)


SMALL = partial(groups, 600, 4)
SOME = partial(groups, 3000, 4)  # too many for the exact kernel, unless it is asked for
MANY = partial(groups, 42_000, 6)  # all rows in every sweep
MORE = partial(groups, 60_000, 5)  # swept in growing samples first
# more bytes than are simply read: they stay in their files, or on workers
STORED = partial(groups, 42_000, 52)


def some(x: Any) -> Any:
    """Rows that a fit to x has not seen: every seventh, a little shorter."""
    return x[::7] * 0.9


def counts(n: int = 300, d: int = 16) -> np.ndarray:
    """Histograms of four kinds."""
    rng = np.random.default_rng(1)
    return rng.poisson(rng.gamma(1.0, 3.0, size=(4, d))[rng.integers(4, size=n)]).astype(float)


def images(n: int = 60) -> np.ndarray:
    """Bars of 8 x 8 pixels, across or upright."""
    rng = np.random.default_rng(2)
    pictures = 0.1 * rng.random((n, 8, 8))
    for number, (place, upright) in enumerate(
        zip(rng.integers(2, 6, n), rng.integers(0, 2, n), strict=True)
    ):
        (pictures[number].T if upright else pictures[number])[place] += 1.0
    return pictures.reshape(n, 64)


def documents(n: int = 800, d: int = 60, dtype: str = "float64") -> sparse.csr_array:
    """Rows that are mostly zeros."""
    rng = np.random.default_rng(5)
    topics = rng.gamma(0.2, 2.0, size=(4, d))[rng.integers(4, size=n)]
    return sparse.csr_array(np.log1p(rng.poisson(topics)).astype(dtype))


def shares(n: int, c: int) -> np.ndarray:
    """Memberships that sum to one."""
    return np.random.default_rng(3).dirichlet(np.ones(c), n)


def weights(n: int) -> np.ndarray:
    """Whole numbers, fractions and zeros."""
    rng = np.random.default_rng(4)
    return np.where(rng.random(n) < 0.2, 0.0, np.round(4 * rng.random(n), 1))
