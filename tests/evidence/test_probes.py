"""How many cells of an index must be looked through."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans import KernelKMeans
from cmeans.evidence import probes
from cmeans.evidence.probes import ProbeCurve, Queries, held_out


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_curve_is_that_of_loops(metric, monkeypatch):
    monkeypatch.setattr(probes, "PRODUCTS", 400)  # several blocks of rows and of queries
    x = np.random.default_rng(0).normal(size=(150, 5))
    model = KernelKMeans(9, kernel="linear", metric=metric, random_state=0).fit(x)
    rows, queries = model._known_table(x, None), np.linspace(0, 149, 20).astype(int)
    curve = ProbeCurve.of(rows, model._state.centres, model.labels_, Queries.of(rows, queries))
    points = x / np.linalg.norm(x, axis=1, keepdims=True) if metric == "cosine" else x
    found, scanned = np.zeros(9), np.zeros(9)
    for query in queries:
        apart = ((points - points[query]) ** 2).sum(axis=1)
        apart[query] = np.inf
        nearest = np.argsort(apart)[:10]
        order = np.argsort(((model.cluster_centers_ - points[query]) ** 2).sum(axis=1))
        for count in range(9):
            inside = np.isin(model.labels_, order[: count + 1])
            found[count] += inside[nearest].sum() / 200
            scanned[count] += inside.sum() / 20
    np.testing.assert_allclose(curve.recall, found)
    np.testing.assert_allclose(curve.scanned, scanned)
    assert curve.probes(1.0) == 1 + np.flatnonzero(found > 1 - 1e-9)[0]
    assert curve.recall[curve.probes(0.8) - 1] >= 0.8
    assert curve.probes(0.01) == 1


def test_rows_in_no_cell_are_not_found():
    x = np.random.default_rng(1).normal(size=(60, 3))
    labels = np.arange(60) % 4 - 1
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(x)
    rows = model._known_table(x, None)
    curve = ProbeCurve.of(rows, model._state.centres, labels, Queries.of(rows, np.arange(60)))
    assert 0.5 < curve.recall[-1] < 0.9
    assert curve.scanned[-1] == 45
    assert curve.probes(1.0) == 3


def test_no_cell_misses_rows_that_are_held_out():
    assert [len(held_out(n, 9)) for n in (20_000, 600, 15, 9)] == [500, 60, 1, 0]
    np.testing.assert_array_equal(held_out(41, 38), [0, 20, 40])
