"""The tree of connected pieces, and its clusters for every number of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests import naive_pieces

from cmeans.graphs.piece_tree import PieceTree, piece_tree
from cmeans.graphs.pieces import Pieces, pieces

SEEDS = range(80)


def small(seed: int, largest: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Distinct points and weights, half of them on lattices, which are full of ties."""
    rng = np.random.default_rng(seed)
    n = rng.integers(2, largest + 1)
    X = rng.integers(0, 4, (n, 2)) * 1.0 if seed % 2 else rng.normal(size=(n, 2))
    X, counts = np.unique(X, axis=0, return_counts=True)
    return X, counts * rng.integers(1, 3, len(X)).astype(float)


def tree_of(X: np.ndarray, w: np.ndarray, min_samples: int = 1) -> tuple[PieceTree, np.ndarray]:
    r = naive_pieces.reachability(X, w, min_samples)
    return piece_tree(*naive_pieces.spanning_forest(r), w), naive_pieces.longest_steps(r)


def assert_is_best(found: Pieces, m: np.ndarray, w: np.ndarray, k: int, z: float) -> None:
    chosen, to_centres = found.first(k), m[:, found.centre[:k]]
    best = naive_pieces.least_cost(m, w, k, z)
    np.testing.assert_allclose(found.cost[k - 1], best, atol=1e-12)
    np.testing.assert_allclose((w * to_centres.min(axis=1) ** z).sum(), best, atol=1e-12)
    np.testing.assert_array_equal(found.labels(chosen), to_centres.argmin(axis=1))
    np.testing.assert_array_equal(found.distances(chosen), to_centres.min(axis=1))


@pytest.mark.slow  # all sets of centres
@pytest.mark.parametrize("z", [1, 2])
@pytest.mark.parametrize("min_samples", [1, 2, 3])
def test_no_set_of_centres_costs_less(min_samples: int, z: float) -> None:
    for seed in SEEDS:
        X, w = small(seed)
        tree, m = tree_of(X, w, min_samples)
        np.testing.assert_array_equal(tree.distances(np.arange(len(X))), m)
        found = pieces(tree, z)
        for k in range(1, len(X) + 1):
            assert_is_best(found, m, w, k, z)


def test_of_centres_in_pieces_that_weigh_enough_none_cost_less() -> None:
    for seed in range(60):
        X, w = small(seed)
        tree, m = tree_of(X, w)
        least = 1.5 * w.max()
        found, above = pieces(tree, 1.0, least), tree.parent
        heavy = np.flatnonzero(tree.weight >= least)
        lowest = [v for v in heavy if not (above[heavy] == v).any()] or [len(above) - 1]
        below = [tree.order[tree.start[v] : tree.stop[v]] for v in lowest]
        assert found.most == len(lowest)
        for k in range(1, found.most + 1):
            sets = [
                C for chosen in itertools.combinations(below, k) for C in itertools.product(*chosen)
            ]
            best = naive_pieces.least_cost(m, w, k, 1.0, sets)
            np.testing.assert_allclose(found.cost[k - 1], best, atol=1e-12)
            own = m[:, found.centre[:k]].min(axis=1)
            np.testing.assert_allclose((w * own).sum(), best, atol=1e-12)


def test_partitions_are_nested_and_keep_their_numbers() -> None:
    X, w = small(4, 40)
    tree, _ = tree_of(X, w)
    found = pieces(tree)
    for k in range(1, found.most):
        before, after = found.labels(found.first(k)), found.labels(found.first(k + 1))
        stay = after < k
        np.testing.assert_array_equal(before[stay], after[stay])
        assert len(np.unique(before[~stay])) == 1


def test_apart_are_pieces_that_no_short_step_connects() -> None:
    for seed in range(40):
        X, w = small(seed)
        tree, m = tree_of(X, w)
        found = pieces(tree)
        for distance in [0.0, *np.unique(m)]:
            labels = found.labels(found.apart(distance))
            np.testing.assert_array_equal(labels[:, None] == labels, m <= distance)


def test_the_tree_is_the_same_for_every_spanning_tree_among_ties() -> None:
    X = np.array(list(itertools.product(range(4), range(3))), dtype=float)
    r = naive_pieces.reachability(X, np.ones(12), 1)
    for seed in range(10):
        shuffled = np.random.default_rng(seed).permutation(12)
        edges, lengths = naive_pieces.spanning_forest(r[np.ix_(shuffled, shuffled)])
        tree = piece_tree(shuffled[edges], lengths, np.ones(12))
        assert tree.parent.tolist() == [12] * 12 + [-1]
        assert pieces(tree).cost.tolist() == list(range(11, -1, -1))
        assert pieces(tree).centre.tolist() == list(range(12))


def test_parts_that_nothing_joins_cost_without_bound_as_one() -> None:
    edges, lengths, w = np.array([[0, 1], [3, 4], [1, 2]]), np.array([1.0, 2, 3]), np.ones(5)
    found = pieces(piece_tree(edges, lengths, w), min_weight=9)  # roots are clusters at any weight
    assert found.cost.tolist() == [np.inf, 1 + 3 + 2]
    assert found.labels(found.first(2)).tolist() == [0, 0, 0, 1, 1]
    assert np.isinf(found.tree.distances(np.array([0]))[3:]).all()


def test_a_chain_needs_no_recursion() -> None:
    n = 20_000
    edges = np.c_[np.arange(n - 1), np.arange(1, n)]
    tree = piece_tree(edges, np.arange(1.0, n), np.ones(n))
    found = pieces(tree)
    assert len(tree.parent) == 2 * n - 1
    np.testing.assert_array_equal(np.bincount(found.labels(found.first(3))), [n - 2, 1, 1])
