"""Nearest neighbours of all rows: against all pairs, for any number of threads, in cells."""

from __future__ import annotations

import numpy as np
import pytest

import naive_tree
from cmeans import ThreadEngine
from cmeans.graphs.all_pairs import AllPairs
from cmeans.graphs.near_cells import neighbours_in_cells
from cmeans.graphs.nearest_neighbours import nearest_neighbours


def naive_neighbours(points, k):
    d = naive_tree.distances(points)
    np.fill_diagonal(d, np.inf)
    numbers = np.argsort(d, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(d, numbers, axis=1), numbers


def rows_of(name):
    rng = np.random.default_rng(0)
    return {
        "line": lambda: rng.normal(size=(300, 1)),
        "plane": lambda: rng.normal(size=(700, 2)),
        "float32": lambda: rng.normal(size=(300, 5)).astype(np.float32),
        "far from the origin": lambda: 1e6 + rng.normal(size=(300, 10)),
        "clusters far apart": lambda: (
            rng.normal(size=(300, 3)) + 1e8 * rng.integers(0, 3, (300, 1))
        ),
        "many columns": lambda: rng.normal(size=(150, 90)),
        "equal rows": lambda: rng.integers(0, 2, (400, 4)).astype(np.float64),
        "all equal": lambda: np.ones((70, 3)),
        "columns of unequal scale": lambda: rng.normal(size=(300, 6)) * 10.0 ** np.arange(-6, 6, 2),
    }[name]()


NAMES = [
    *("line", "plane", "float32", "far from the origin", "clusters far apart"),
    *("many columns", "equal rows", "all equal", "columns of unequal scale"),
]


@pytest.mark.parametrize("name", NAMES)
def test_neighbours_are_the_nearest(name):
    points = rows_of(name)
    distances, numbers = naive_neighbours(points.astype(np.float64), 7)
    for jobs in (1, 2, 5):
        found = nearest_neighbours(points, 7, ThreadEngine(jobs))
        assert found.recall == 1
        assert np.array_equal(found.distances, distances)
        assert np.array_equal(found.numbers, numbers)


@pytest.mark.parametrize("n", [1, 2, 33])
def test_few_rows_have_all_others(n):
    points = rows_of("plane")[:n]
    found = nearest_neighbours(points, 50)
    assert found.distances.shape == found.numbers.shape == (n, n - 1)
    assert np.array_equal(found.numbers, naive_neighbours(points, n - 1)[1])


@pytest.mark.parametrize("k", [5, 80])  # 80: more than near cells have
def test_neighbours_in_cells_are_near_and_recall_is_what_it_is(k):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1000, 12)) @ np.diag(0.7 ** np.arange(12))
    numbers = naive_neighbours(points, k)[1]
    found = nearest_neighbours(points, k, ThreadEngine(1), exact=0)
    again = nearest_neighbours(points, k, ThreadEngine(5), exact=0)
    assert np.array_equal(found.numbers, again.numbers)
    assert np.array_equal(found.distances, again.distances)
    assert found.recall == again.recall
    shared = [len(np.intersect1d(*pair)) for pair in zip(found.numbers, numbers, strict=True)]
    assert found.recall == pytest.approx(np.sum(shared) / numbers.size)
    assert 0.7 < found.recall < 1
    assert (np.diff(found.distances, axis=1) >= 0).all()
    rows = np.arange(1000)[:, None]
    true = naive_tree.distances(points)[rows, found.numbers]
    assert np.array_equal(found.distances, true)
    assert not (found.numbers == rows).any()
    assert all(len(set(row)) == k for row in found.numbers.tolist())


def test_all_pairs_search_cells_as_native_code_does(monkeypatch):
    rng = np.random.default_rng(0)
    points = np.round(rng.normal(size=(300, 5)), 1)
    native = neighbours_in_cells(points, 4, ThreadEngine(1))
    monkeypatch.setattr("cmeans.graphs.near_cells.RowTree", AllPairs)
    plain = neighbours_in_cells(points, 4, ThreadEngine(1))
    assert all(np.array_equal(*pair) for pair in zip(native, plain, strict=True))
