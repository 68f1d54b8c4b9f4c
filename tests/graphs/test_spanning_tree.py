"""Minimum spanning trees: against loops over all pairs, single linkage, copies for weights."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import naive_tree
from cmeans import ThreadEngine, native
from cmeans.graphs.all_pairs import AllPairs
from cmeans.graphs.spanning_tree import spanning_tree, spanning_tree_of_graph


def different_rows(points):
    return np.unique(np.asarray(points, np.float64), axis=0)


def lattice(side, columns):
    return np.stack(np.meshgrid(*[np.arange(float(side))] * columns), -1).reshape(-1, columns)


def rows_of(name):
    rng = np.random.default_rng(0)
    return different_rows(
        {
            "one": lambda: rng.normal(size=(1, 2)),
            "two": lambda: rng.normal(size=(2, 3)),
            "line": lambda: rng.normal(size=(100, 1)),
            "plane": lambda: rng.normal(size=(120, 2)),
            "30 columns": lambda: rng.normal(size=(100, 30)),
            "300 columns": lambda: rng.normal(size=(90, 300)),
            "lattice": lambda: lattice(5, 3),
            "zeros and ones": lambda: rng.integers(0, 2, (100, 12)),
            "far apart": lambda: rng.normal(size=(100, 2)) + 1e8 * rng.integers(0, 3, (100, 1)),
            "huge": lambda: 1e200 * rng.normal(size=(40, 2)),
            "tiny": lambda: 1e-200 * rng.normal(size=(40, 2)),
            "small": lambda: 1e-25 * rng.normal(size=(100, 2)),
            "small beside one": lambda: 1 + 1e-12 * rng.normal(size=(100, 2)),
            "uneven columns": lambda: rng.normal(size=(100, 3)) * [1e5, 1e-30, 1e-3],
        }[name]()
    )


NAMES = [
    *("one", "two", "line", "plane", "lattice", "huge", "tiny"),
    *("small", "small beside one", "uneven columns"),
    *("30 columns", "300 columns", "zeros and ones", "far apart"),
]


@pytest.mark.parametrize("min_samples", [1, 2, 5])
@pytest.mark.parametrize("name", NAMES)
def test_the_tree_is_the_one_of_all_pairs(name, min_samples):
    points = rows_of(name)
    weights = np.ones(len(points))
    if min_samples > len(points):
        with pytest.raises(ValueError, match=f"min_samples={min_samples}"):
            spanning_tree(points, weights, min_samples)
        return
    scale = np.abs(points).max() if name in ("huge", "tiny") else 1.0
    d = naive_tree.distances(points / scale) * scale
    same = np.array_equal if scale == 1 else np.allclose
    core = naive_tree.core_distances(d, weights, min_samples)
    edges, lengths = naive_tree.tree(d, core)
    found = spanning_tree(points, weights, min_samples)
    assert same(found.core, core)
    assert np.array_equal(found.edges, edges)
    assert same(found.lengths, lengths)
    if scale == 1:
        for given in (d, sparse.csr_array(d)):
            before = given.copy()
            told = spanning_tree_of_graph(given, weights, min_samples)
            assert np.array_equal(told.edges, edges)
            assert np.array_equal(told.lengths, lengths)
            assert np.array_equal(told.core, core)
            assert (given != before).sum() == 0


@pytest.mark.parametrize("name", ["plane", "lattice", "30 columns", "far apart"])
def test_lengths_are_those_of_single_linkage(name):
    points = rows_of(name)
    merged = linkage(squareform(naive_tree.distances(points), checks=False), "single")
    assert np.array_equal(spanning_tree(points, np.ones(len(points))).lengths, merged[:, 2])


@pytest.mark.parametrize("min_samples", [1, 2, 3, 7.5])
@pytest.mark.parametrize("name", ["plane", "lattice"])
def test_weights_are_copies(name, min_samples):
    points = rows_of(name)
    weights = np.random.default_rng(1).integers(1, 5, len(points))
    d = naive_tree.distances(np.repeat(points, weights, axis=0))
    core = naive_tree.core_distances(d, np.ones(len(d)), min_samples)
    lengths = naive_tree.tree(d, core)[1]
    found = spanning_tree(points, weights.astype(np.float64), min_samples)
    first = np.cumsum(weights) - weights
    assert np.array_equal(found.core, core[first])
    # within a row's copies edges are as long as its core distance
    own = np.repeat(found.core, weights - 1)
    assert np.array_equal(np.sort(np.concatenate([found.lengths, own])), lengths)


def test_weights_below_one_need_more_neighbours():
    points = rows_of("plane")
    weights = np.random.default_rng(1).uniform(0.01, 0.2, len(points))
    d = naive_tree.distances(points)
    found = spanning_tree(points, weights, 3)
    assert np.array_equal(found.core, naive_tree.core_distances(d, weights, 3))


def test_a_graph_of_several_parts():
    points = rows_of("plane")
    d = naive_tree.distances(points)
    stored = (d < 0.15) & (d > 0)
    some = sparse.csr_array(np.where(stored, d, 0))
    absent = np.where(stored, d, np.inf)
    np.fill_diagonal(absent, 0)
    weights = np.ones(len(points))
    for min_samples in (1, 3):
        core = naive_tree.core_distances(absent, weights, min_samples)
        edges, lengths = naive_tree.tree(absent, core)
        assert 0 < len(edges) < len(points) - 1
        for given in (some, absent):
            found = spanning_tree_of_graph(given, weights, min_samples)
            assert np.array_equal(found.edges, edges)
            assert np.array_equal(found.lengths, lengths)
            assert np.array_equal(found.core, core)


def test_stored_zeros_join_and_the_shorter_way_counts():
    given = sparse.csr_array(([0.0, 5.0, 2.0, 7.0], ([0, 1, 2, 0], [1, 2, 1, 0])), shape=(4, 4))
    found = spanning_tree_of_graph(given, np.ones(4))
    assert found.edges.tolist() == [[0, 1], [1, 2]]
    assert found.lengths.tolist() == [0, 2]
    assert given.nnz == 4


def many_rows(name):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, 5))
    labels = rng.integers(0, 6, 1000)
    return different_rows(
        {
            "line": lambda: rng.normal(size=(1000, 1)),
            "plane": lambda: rng.normal(size=(1000, 2)),
            "clusters": lambda: rng.normal(size=(1000, 5)) + 20 * centres[labels],
            "clusters far apart": lambda: rng.normal(size=(1000, 5)) + 1e8 * centres[labels],
            "unequal density": lambda: rng.normal(size=(1000, 2)) * 10.0 ** (labels[:, None] - 3),
            "heavy tails": lambda: rng.standard_cauchy((1000, 3)),
            "many columns": lambda: rng.normal(size=(700, 60)) + 3 * np.eye(60)[labels[:700]],
            "lattice": lambda: lattice(11, 3),
            "zeros and ones": lambda: rng.integers(0, 2, (1000, 16)),
            "float32": lambda: rng.normal(size=(1000, 2)).astype(np.float32),
        }[name]()
    )


@pytest.mark.slow  # searches leave out pairs of many rows alone
@pytest.mark.parametrize("min_samples", [1, 4, 20])
@pytest.mark.parametrize(
    "name",
    [
        *("line", "plane", "clusters", "clusters far apart", "unequal density", "heavy tails"),
        *("many columns", "lattice", "zeros and ones", "float32"),
    ],
)
def test_many_rows_join_as_all_pairs_do_for_any_number_of_threads(name, min_samples, monkeypatch):
    points = many_rows(name)
    weights = np.random.default_rng(1).integers(1, 4, len(points)).astype(np.float64)
    found = [spanning_tree(points, weights, min_samples, ThreadEngine(jobs)) for jobs in (1, 2, 5)]
    monkeypatch.setattr("cmeans.graphs.nearest_neighbours.RowTree", AllPairs)
    expected = spanning_tree(points, weights, min_samples)
    assert len(expected.lengths) == len(points) - 1
    for tree in found:
        assert np.array_equal(tree.core, expected.core)
        assert np.array_equal(tree.lengths, expected.lengths)
        assert np.array_equal(tree.edges, expected.edges)


@pytest.mark.skipif(not native.is_available(), reason="compares blocks of all pairs")
def test_no_matrix_of_all_pairs_is_made():
    points = different_rows(np.random.default_rng(0).normal(size=(10_000, 2)))
    tracemalloc.start()
    spanning_tree(points, np.ones(len(points)), 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e3 * len(points)


def test_min_samples_beyond_all_rows_are_refused():
    with pytest.raises(ValueError, match="min_samples=4: all rows together weigh 3"):
        spanning_tree(rows_of("two"), np.array([1.0, 2.0]), 4)
    with pytest.raises(ValueError, match="min_samples=4"):
        spanning_tree_of_graph(np.zeros((2, 2)), np.array([1.0, 2.0]), 4)
