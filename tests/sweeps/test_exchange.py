"""Points that change clusters one by one: against objectives computed anew, and against all
partitions of few points."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cmeans import native
from cmeans.sweeps.exchange import exchanged

pytestmark = pytest.mark.skipif(not native.is_available(), reason="native code alone does it")
NOTHING = np.empty((0, 2))


def objective(X, weight, labels):
    """sum_i w_i |x_i - mean of its cluster|^2, in loops."""
    total = 0.0
    for cluster in set(labels):
        rows = [i for i in range(len(X)) if labels[i] == cluster]
        mass = sum(weight[i] for i in rows)
        mean = sum(weight[i] * X[i] for i in rows) / mass
        total += sum(weight[i] * ((X[i] - mean) ** 2).sum() for i in rows)
    return total


@pytest.mark.parametrize("seed", range(12))
def test_no_point_is_left_whose_change_helps(seed):
    rng = np.random.default_rng(seed)
    n, d, c = int(rng.integers(12, 30)), int(rng.integers(1, 12)), int(rng.integers(2, 12))
    X, weight, labels = rng.normal(size=(n, d)), rng.uniform(0.2, 3, n), rng.permutation(n) % c
    for draws in (NOTHING, rng.uniform(size=(9, 2))):
        found = exchanged(X, weight, labels, c, draws)
        reached = objective(X, weight, found.labels.tolist())
        assert found.objective == pytest.approx(reached, rel=1e-9)
        assert reached <= objective(X, weight, labels.tolist()) * (1 + 1e-12)
        assert len(set(found.labels.tolist())) == c
        for i, cluster in product(range(n), range(c)):
            changed = found.labels.tolist()
            changed[i] = cluster
            if len(set(changed)) == c:
                assert objective(X, weight, changed) >= reached * (1 - 1e-8)


def test_clusters_that_begin_anew_lead_to_the_best_of_all_partitions():
    rng = np.random.default_rng(0)
    for c in (2, 3):
        X, weight = rng.normal(size=(8, 2)), rng.uniform(0.5, 2, 8)
        best = min(
            objective(X, weight, labels)
            for labels in product(range(c), repeat=8)
            if len(set(labels)) == c
        )
        found = exchanged(X, weight, np.arange(8) % c, c, rng.uniform(size=(100, 2)))
        assert found.objective == pytest.approx(best, rel=1e-9)


def test_degenerate_points():
    # a cluster has no point
    assert exchanged(np.zeros((4, 2)), np.ones(4), np.array([0, 0, 1, 1]), 3, NOTHING) is None
    same = exchanged(np.ones((4, 2)), np.ones(4), np.array([0, 0, 1, 1]), 2, np.full((5, 2), 0.99))
    assert same.objective == 0
    alone = exchanged(np.arange(3.0)[:, None], np.ones(3), np.array([2, 0, 1]), 3, np.zeros((2, 2)))
    assert alone.labels.tolist() == [2, 0, 1]
