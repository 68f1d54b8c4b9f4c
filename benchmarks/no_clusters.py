"""`python -m benchmarks.no_clusters`: how often one call finds no clusters where there are none.

Rows of one heap, of many forms, and of tables whose columns are permuted, so that each keeps its
own values and nothing joins them.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, load_wine

import cmeans

Draw = Callable[[Any], Any]


def permuted(X: Any) -> Draw:
    """Return a draw of rows whose columns are those of X, each in an order of its own."""
    return lambda rng: np.stack([rng.permutation(column) for column in X.T], axis=1)


def counts(rng: Any) -> Any:
    """Return counts of which three in five are 0."""
    return rng.poisson(3.0, (400, 3)) * (rng.random((400, 3)) > 0.6) * 1.0


def crescent(rng: Any) -> Any:
    angles = rng.uniform(0, np.pi, 400)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) + rng.normal(scale=0.1, size=(400, 2))


HEAPS: dict[str, Draw] = {
    "uniform": lambda rng: rng.uniform(size=(400, 2)),
    "Gaussian": lambda rng: rng.normal(size=(400, 3)) * rng.uniform(0.3, 1.5, 3),
    "Student's t": lambda rng: rng.standard_t(4, (400, 3)),
    "lognormal": lambda rng: np.exp(rng.normal(size=(400, 3))),
    "exponential, one column": lambda rng: rng.exponential(size=(400, 1)),
    "gamma in tenths": lambda rng: rng.gamma(2.0, size=(400, 3)).round(1),
    "counts, 60% zeros": counts,
    "iris, permuted": permuted(load_iris().data),
    "wine, permuted": permuted(load_wine().data),
    "crescent": crescent,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    for name, draw in HEAPS.items():
        if asked.only not in name:
            continue
        found = []
        for seed in range(asked.draws):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(cmeans.cluster(draw(np.random.default_rng(seed))).n_clusters_)
        print(f"{name:25} one in {found.count(1)} of {len(found)}; numbers {found}", flush=True)


if __name__ == "__main__":
    main()
