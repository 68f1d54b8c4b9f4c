"""The mathematics of evidence, beside plain loops and right answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, mutual_info_score

import naive_evidence as naive
from cmeans.data.chosen_scaling import chosen_scaling
from cmeans.evidence.agreement import agreement, information, shared
from cmeans.evidence.consensus import consensus
from cmeans.evidence.far_rows import far_rows
from cmeans.evidence.gain_drops import gain_drops
from cmeans.evidence.kind import kind_of
from cmeans.evidence.merging import in_order, merged
from cmeans.evidence.near_rows import NearRows, intrinsic_dimension, nearest_shares
from cmeans.evidence.neighbour_score import neighbour_score
from cmeans.evidence.pair_squares import pair_squares
from cmeans.evidence.space_choice import best_partition, judged_partitions
from cmeans.evidence.valleys import Borders, Edges


@pytest.fixture
def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Three blobs of 40 rows, 6 deviations apart."""
    rng, labels = np.random.default_rng(0), np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 2)) + np.array([[0, 0], [6, 0], [3, 5]])[labels], labels


def test_neighbour_score_is_naive(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    rng, (x, labels) = np.random.default_rng(1), blobs
    weights = rng.integers(1, 4, 120).astype(float)
    cut = np.where(x[:, 0] > 1, labels, 3)
    cut[:2], cut[2:9] = 4, -1  # a crumb and noise
    near = NearRows.of(x, weights)
    assert neighbour_score(cut, near) == pytest.approx(naive.neighbour_score(x, cut, weights))
    assert neighbour_score(labels, near) > neighbour_score(cut, near)
    assert neighbour_score(np.zeros(120, int), near) == 0.0


def test_equally_near_rows_count_by_their_share() -> None:
    shares = nearest_shares(np.array([[1.0, 2.0, 2.0, 2.0, 3.0], [1.0, 1.0, 1.0, 2.0, 2.0]]), 2)
    third = 1 / 3
    np.testing.assert_allclose(shares, [[1, third, third, third, 0], [2 * third] * 3 + [0, 0]])
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    halves, one = (grid[:, 0] > 2).astype(int), np.ones(25)
    score = neighbour_score(halves, NearRows.of(grid, one))
    assert score == pytest.approx(naive.neighbour_score(grid, halves, one))


def test_crumbs_do_not_win() -> None:
    """Two far groups of four rows are kept together by any cut; the blobs are what counts."""
    rng, labels = np.random.default_rng(2), np.repeat([0, 1, 2], 200)
    x = rng.normal(size=(600, 2)) + np.array([[0, 0], [5, 0], [2, 4]])[labels]
    x = np.concatenate([x, rng.normal(size=(8, 2)) * 0.1 + np.repeat([[90, 0], [0, 90]], 4, 0)])
    crumbs = np.concatenate([np.zeros(600, int), np.repeat([1, 2], 4)])
    truth = np.concatenate([labels, np.repeat([1, 2], 4)])
    near = NearRows.of(x, np.ones(608))
    assert neighbour_score(crumbs, near) == 0.0
    assert neighbour_score(truth, near) > 0.9


def test_agreement_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    ours, theirs = rng.integers(4, size=3000), rng.integers(3, size=3000)
    theirs = np.where(rng.random(3000) < 0.5, ours % 3, theirs)
    both = shared(ours, theirs, np.ones(3000))
    assert agreement(both) == pytest.approx(adjusted_rand_score(ours, theirs), abs=1e-3)
    entropies = mutual_info_score(ours, ours) + mutual_info_score(theirs, theirs)
    mutual = mutual_info_score(ours, theirs)
    assert information(both) == pytest.approx(mutual - 0.5 * (entropies - 2 * mutual))


def test_drops_say_the_finest_number_that_is_as_clear_as_any() -> None:
    costs = np.cumsum([0.1] * 20 + [2.0, 2.1, 2.2, 2.3] + [40.0])[::-1]
    drops = gain_drops(costs)
    assert drops.number == 6
    assert drops.stable == [2, 6]
    assert drops.ratio_at(6) == pytest.approx(20.0)
    assert drops.within(2, 5).number == 2
    assert gain_drops(np.zeros(1)).number == 1


def test_dimension_is_that_of_the_rows() -> None:
    rng = np.random.default_rng(4)
    flat = np.zeros((2000, 6))
    flat[:, :2] = rng.random((2000, 2))
    assert intrinsic_dimension(NearRows.of(flat, np.ones(2000)).distances) == pytest.approx(2, 0.1)


def test_valleys_are_naive_and_add_as_clusters_join(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    x, labels = blobs
    quarters = 2 * labels + (x[:, 0] > np.array([0, 6, 3])[labels])
    edges = Edges.of(NearRows.of(x, np.ones(120)), 10, 5)
    borders = Borders.of(quarters, edges)
    np.testing.assert_allclose(
        borders.valleys(), naive.valleys(quarters, edges.ends, edges.heights)
    )
    joined = np.where(quarters == 1, 0, quarters)
    after, again = borders.joined(0, 1), Borders.of(joined, edges)
    np.testing.assert_allclose(after.sums, again.sums, atol=1e-12)
    np.testing.assert_array_equal(after.counts, again.counts)


@pytest.mark.parametrize("columns", [3, 61, 200])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_heights_of_edges_are_naive(columns: int, far: float) -> None:
    """In few columns and in many, of equally near rows and of clusters very far apart too."""
    rng = np.random.default_rng(5)
    x = rng.poisson(1.0, (90, columns)) + far * np.repeat(np.eye(3, columns), 30, axis=0)
    x = np.unique(x, axis=0)
    near = NearRows.of(x, rng.integers(1, 4, len(x)).astype(float))
    edges = Edges.of(near, 8, 5)
    reach = naive.reach(x, edges.ends, near.numbers, 5)
    dimension = min(intrinsic_dimension(near.distances), columns)
    heights = dimension * np.log(np.maximum(reach, 1e-3 * np.median(reach)))
    np.testing.assert_allclose(edges.heights, heights, rtol=1e-9)


def test_squares_of_all_pairs_are_naive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows nearer to each other than a product of matrices can tell, in blocks of any size."""
    rng = np.random.default_rng(6)
    scales = np.repeat([1e-9, 1e-4, 1.0], 10)[:, None]
    x = 1e3 * rng.normal(size=(3, 70))[np.arange(30) % 3] + scales * rng.normal(size=(30, 70))
    expected = naive.pair_squares(x)
    for numbers in (1, 100, 10**6):
        monkeypatch.setattr("cmeans.evidence.pair_squares.NUMBERS", numbers)
        found = pair_squares(x)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        np.testing.assert_array_equal(found, found.T)


def test_clusters_join_across_shallow_valleys(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    x, labels = blobs
    near = NearRows.of(x, np.ones(120))
    halves = 2 * labels + (x[:, 0] > np.array([0, 6, 3])[labels])
    for found in merged(halves, near.weights, Edges.of(near, 20, 10), (0.4, 0.7), near.light):
        np.testing.assert_array_equal(found, labels)


def test_consensus_is_what_over_segmentations_end_in(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    x, labels = blobs
    near, rng = NearRows.of(x, np.ones(120)), np.random.default_rng(5)

    def nearest_of_some(space: str, number: int) -> np.ndarray:
        centres = x[rng.choice(120, number, replace=False)] if number != 3 else x[[0, 40, 80]]
        return ((x[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)

    found = consensus(near, ("a", "b"), tuple(range(2, 13)), nearest_of_some)
    assert found is not None
    assert found.number == 3
    assert not found.is_none
    assert adjusted_rand_score(labels, found.labels) > 0.9
    heap = NearRows.of(rng.normal(size=(120, 2)), np.ones(120))
    x = heap.x
    none = consensus(heap, ("a", "b"), tuple(range(2, 13)), nearest_of_some)
    assert none is not None
    assert none.is_none


def test_the_best_partition_divides_the_fewest_near_rows(
    blobs: tuple[np.ndarray, np.ndarray],
) -> None:
    x, labels = blobs
    halves = (x[:, 0] > 3).astype(int)
    near = NearRows.of(x, np.ones(120))
    judged = judged_partitions({"halves": halves, "truth": labels, "again": labels}, near)
    assert best_partition(judged)[-1] == "halves"
    assert judged["truth"][1] == pytest.approx((1 + judged["halves"][1]) / 2, abs=0.3)


def test_labels_in_order_of_their_first_rows() -> None:
    assert in_order(np.array([7, 7, 2, 9, 2])).tolist() == [0, 0, 1, 2, 1]


PIXELS = [
    np.resize(np.arange(17.0), 200) if at > 6 else 1.0 * (np.arange(200) == at) for at in range(80)
]
COUNTS = [np.resize(np.arange(2.0 + at // 3), 200) * (np.arange(200) % 7 == 0) for at in range(80)]
TAIL = np.exp(np.random.default_rng(6).normal(size=200))


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("none", [np.linspace(0, 1, 200), np.linspace(0, 3, 200)]),
        ("unit", [np.linspace(0, 1, 200), np.linspace(0, 300, 200)]),
        ("robust", [np.linspace(0, 1, 200), np.append(np.linspace(0, 1, 199), 300.0)]),
        ("log", [np.exp(np.random.default_rng(6).normal(size=200)) * k for k in (1, 9)]),
        ("log", [TAIL, 1000 * TAIL, np.linspace(0, 1, 200)]),
        ("log", [TAIL, *(np.linspace(0, k, 200) for k in (1, 9, 100))]),
        ("unit", [TAIL, *(np.linspace(0, k, 200) for k in (1, 9, 50, 100))]),
        ("none", [TAIL, np.linspace(0, 40, 200)]),
        ("unit", [1e3 * (np.arange(200) % 9 == 0), np.linspace(0, 1, 200)]),
        ("none", [np.full(200, 4.0), np.full(200, 2.0)]),
        # pictures, of whose pixels a few are rare, in any unit; with a column that outweighs them
        ("none", PIXELS),
        ("none", [column / 16 for column in PIXELS]),
        ("unit", [*PIXELS, np.linspace(0, 3000, 200)]),
        # counts, of which most are rare, and the same in several units
        ("none", COUNTS),
        (
            "unit",
            [column * unit for column, unit in zip(COUNTS, np.logspace(0, 2, 80), strict=True)],
        ),
    ],
)
def test_scaling_by_what_columns_say(name: str, columns: list[np.ndarray]) -> None:
    assert chosen_scaling(np.stack(columns, axis=1)).name == name


def test_far_rows_and_kinds() -> None:
    distances = np.append(np.random.default_rng(7).random(1000), [50.0, 90.0])
    assert far_rows(distances).tolist() == [1001, 1000]
    assert [kind_of(columns) for columns in (2, 13, 784)] == [
        "plane",
        "table",
        "set of many columns",
    ]
