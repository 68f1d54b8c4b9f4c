"""The numbers of clusters of known sets, of clouds without clusters, and of mixtures made anew: how
often select is right."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons

from cmeans import KernelKMeans, select

pytestmark = pytest.mark.minutes

PLAIN = KernelKMeans(kernel="linear", random_state=0)
SETS = {
    **{name: {15} for name in ("s1", "s2", "s3", "s4", "r15")},
    "a1": {20},
    "a2": {35},
    "a3": {50},
    "d31": {31},
    "unbalance": {8},
    "wine": {3},
    "iris": {2, 3},
    "seeds": {2, 3},
}
OF_SEVERAL_UNITS = {"wine", "iris", "seeds"}


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def found(X, most=20, estimator=PLAIN):
    return select(
        estimator, X, range(2, most + 1), n_bootstrap=0, random_state=0, refit=False
    ).n_clusters


def test_known_sets(data_folder):
    """Twelve of thirteen at least."""
    answers = {}
    for name, right in SETS.items():
        X = np.load(data_folder / f"{name}.npz")["X"].astype(float)
        answers[name] = found(
            scaled(X) if name in OF_SEVERAL_UNITS else X, max(20, max(right) + 10)
        )
    print(answers)
    assert sum(answers[name] in right for name, right in SETS.items()) >= 12, answers


def test_clouds_without_clusters():
    """One, in 28 of 30 draws at least."""
    answers = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        normal = rng.standard_normal((1000, 4))
        answers += [found(X) for X in (rng.uniform(size=(1000, 4)), normal, normal * [8, 1, 1, 1])]
    print(answers)
    assert sum(answer == 1 for answer in answers) >= 28, answers


def mixture(seed):
    """Clusters of unequal size and spread, whose centres are at least five spreads apart."""
    rng = np.random.default_rng(seed)
    c, d, n = int(rng.integers(3, 13)), int(rng.integers(5, 21)), int(10 ** rng.uniform(3, 5))
    spreads, shares, centres = (
        rng.uniform(0.5, 1.5, c),
        rng.dirichlet(np.full(c, 3.0)) + 0.3 / c,
        [],
    )
    while len(centres) < c:
        new = rng.uniform(0, 10, d)
        if all(
            np.linalg.norm(new - centre) > 5 * max(spreads[len(centres)], spreads[j])
            for j, centre in enumerate(centres)
        ):
            centres.append(new)
    labels = rng.choice(c, n, p=shares / shares.sum())
    return np.array(centres)[labels] + spreads[labels][:, None] * rng.standard_normal((n, d)), c


def test_mixtures():
    """Ten of twelve at least."""
    answers = [(c, found(X)) for X, c in (mixture(seed) for seed in range(12))]
    print(answers)
    assert sum(c == answer for c, answer in answers) >= 10, answers


def test_shapes_in_their_graph():
    graph = KernelKMeans(kernel="landmark_graph", random_state=0)
    for X, _ in (
        make_moons(1000, noise=0.05, random_state=0),
        make_circles(1000, factor=0.4, noise=0.05, random_state=0),
    ):
        assert found(X, 10, graph) == 2
