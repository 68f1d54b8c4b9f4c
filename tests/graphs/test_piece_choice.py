"""How many connected pieces, which come last, which points are noise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests import naive_pieces

from cmeans.graphs.piece_choice import crumb_weight, gaps, least_weight
from cmeans.graphs.piece_tree import piece_tree
from cmeans.graphs.pieces import Pieces, pieces
from cmeans.graphs.spanning_tree import spanning_tree

rng_of = np.random.default_rng


def pieces_of(X: np.ndarray, weight: np.ndarray | None = None) -> tuple[Pieces, np.ndarray]:
    """The pieces of rows, and the point of each row."""
    points, point = np.unique(np.asarray(X, np.float64), axis=0, return_inverse=True)
    weights = np.bincount(point.ravel(), weight).astype(float)
    found = spanning_tree(points, weights)
    tree = piece_tree(found.edges, found.lengths, weights)
    return pieces(tree), point.ravel()


def number_of(X: np.ndarray) -> int:
    return gaps(pieces_of(X)[0]).number()


def blobs(count: int, columns: int, rows: int = 40, seed: int = 0) -> np.ndarray:
    rng = rng_of(seed)
    centres = 12 * math.sqrt(columns) * rng.permutation(count * 3)[:count, None]
    return (centres + rng.normal(size=(rows, count, columns))).reshape(-1, columns)


def naive_evidence(gain: list[float]) -> dict[int, float]:
    """The evidence of each number of pieces, from falling gains of all but the first."""
    distinct: list[list[float]] = []  # gain, and how many are this large or larger
    for rank, g in enumerate(gain, 1):
        if distinct and distinct[-1][0] <= g * (1 + 1e-9):
            distinct[-1] = [g, rank]
        else:
            distinct.append([g, rank])
    falls = [math.log(a[0] / b[0]) for a, b in itertools.pairwise(distinct)]
    scaled = [i * f for i, f in enumerate(falls, 1)]
    largest = scaled[: math.isqrt(4 * len(falls)) + 1]
    mean = sum(largest) / max(len(largest), 1) * (1 + 3 / math.sqrt(max(len(largest), 1)))
    upper = range((len(falls) + 1) // 2)
    return {int(distinct[i][1]) + 1: falls[i] * scaled[i] / mean for i in upper}


@pytest.mark.parametrize("seed", range(20))
def test_evidence_is_that_of_the_loops(seed: int) -> None:
    rng = rng_of(seed)
    n = int(rng.integers(2, 60))
    X = rng.integers(0, 12, (n, 2)) if seed % 2 else rng.normal(size=(n, 2))
    found, _ = pieces_of(X)
    most = gaps(found, min_weight=0.0)  # nothing is a crumb
    expected = naive_evidence(found.gain[1:].tolist())
    assert most.numbers.tolist() == list(expected)
    np.testing.assert_allclose(most.evidence, list(expected.values()), rtol=1e-9)


@pytest.mark.parametrize("columns", [1, 2, 10, 50])
@pytest.mark.parametrize("count", [2, 5, 12])
def test_pieces_that_stand_apart_are_counted(count: int, columns: int) -> None:
    assert number_of(blobs(count, columns)) == count


def test_forty_pieces_are_counted() -> None:
    places = np.array([[i % 8, i // 8] for i in range(40)])
    X = places[np.arange(1200) % 40] + rng_of(0).normal(0, 0.05, (1200, 2))
    assert number_of(X) == 40


@pytest.mark.slow  # a rate takes many draws
@pytest.mark.parametrize("columns", [2, 10])
def test_one_heap_is_one_piece(columns: int) -> None:
    for draw in ("uniform", "normal"):
        found = [number_of(getattr(rng_of(seed), draw)(size=(200, columns))) for seed in range(20)]
        assert sum(number > 1 for number in found) <= 3


def test_rows_that_say_nothing_are_one_piece() -> None:
    same = np.ones((30, 2))
    for X in (same, same[:1], np.eye(2), np.eye(3), np.arange(50)[:, None]):
        assert number_of(X) == 1


@pytest.mark.parametrize("seed", range(3))
def test_ties_are_no_evidence(seed: int) -> None:
    rng = rng_of(seed)
    assert number_of(rng.random((60, 6)) < 0.4) == 1
    assert number_of(rng.integers(0, 20, (600, 2))) == 1
    assert number_of(rng.integers(1, 6, (300, 4))) == 1
    assert number_of(0.1 * rng.integers(0, 20, (600, 2))) == 1  # equal but for rounding


def test_a_far_row_is_no_piece() -> None:
    X = np.r_[rng_of(8).normal(0, 0.01, (40, 4)), [[0.5, 0.6, 0.7, 0.8]]]
    found, _ = pieces_of(X)
    assert gaps(found).number() == 1
    assert gaps(found, min_weight=0.0).number() == 2


def test_the_number_is_between_two() -> None:
    found = gaps(pieces_of(blobs(3, 2))[0])
    assert [found.number(2, 5), found.number(1, 2), found.number(1, 1)] == [3, 1, 1]
    assert 4 <= found.number(4, 9) <= 9
    assert gaps(pieces_of(np.eye(3))[0]).number(2) == 2


def test_few_rows_among_many_are_a_piece() -> None:
    X = np.r_[blobs(2, 3, rows=200), 900 + rng_of(1).normal(size=(8, 3))]
    found, point = pieces_of(X)
    assert gaps(found).number() == 3
    assert gaps(found, min_weight=9.0).number() == 2
    assert sorted(np.bincount(found.labels(found.first(3))[point])) == [8, 200, 200]


def test_weights_are_copies_and_nothing_has_a_unit() -> None:
    rng = rng_of(3)
    X, w = np.unique(blobs(6, 2, rows=15), axis=0), rng.integers(1, 6, 90)
    weighted, copied = pieces_of(X, w)[0], pieces_of(rng.permutation(np.repeat(X, w, axis=0)))[0]
    other_units = pieces_of(X * 2.0**-30, w * 16)[0]
    assert gaps(weighted).number() == 6
    for same in (copied, other_units):
        np.testing.assert_array_equal(gaps(same).numbers, gaps(weighted).numbers)
        np.testing.assert_array_equal(gaps(same).evidence, gaps(weighted).evidence)


def test_parts_that_nothing_joins_are_the_fewest_pieces() -> None:
    joined, _ = pieces_of(blobs(4, 2))
    points, tree = 160, joined.tree
    assert gaps(joined).number() == 4
    edges, lengths = naive_pieces.spanning_forest(
        np.where((d := tree.distances(np.arange(points))) < tree.height[-1], d, np.inf)
    )
    parted = pieces(piece_tree(edges, lengths, np.ones(points)))
    assert len(parted.tree.roots) == 2
    assert gaps(parted).number() == 4
    lone = pieces(piece_tree(np.empty((0, 2), int), np.empty(0), np.ones(3)))
    assert gaps(lone).number() == 3
    assert least_weight(lone, 3) == 1.0


def test_crumbs_among_the_best_make_pieces_weigh_more() -> None:
    X = np.r_[blobs(2, 2, rows=30), [[1e5, 0.0]], [[0.0, 1e5]]]
    found, point = pieces_of(X, np.full(62, 0.5))
    assert gaps(found).number() == 2
    assert least_weight(found, 2) == 1.0  # two points; a fiftieth of an equal share is 0.31
    cut = pieces(found.tree, min_weight=1.0)
    assert sorted(np.bincount(cut.labels(cut.first(2))[point])) == [30, 32]
    assert least_weight(pieces_of(X[:60])[0], 2) == 1.0  # one point
    large = pieces_of(np.r_[blobs(2, 2, rows=300), 1e6 + rng_of(0).normal(size=(3, 2))])[0]
    assert gaps(large).number() == 2
    assert least_weight(large, 2) == crumb_weight(large.tree, 2) == 6.03


def test_layers_are_the_levels_of_a_hierarchy() -> None:
    rng, places = rng_of(0), np.zeros((1, 10))
    for spread, count in ((20, 4), (6, 5), (2, 4), (0.3, 12)):
        places = (places[:, None] + rng.normal(0, spread, (len(places), count, 10))).reshape(-1, 10)
    found = gaps(pieces_of(places)[0])
    assert found.layers(found.number()).tolist() == [80, 20, 4]
    one = gaps(pieces_of(rng.normal(size=(200, 3)))[0])
    assert one.layers(one.number()).tolist() == [1]
