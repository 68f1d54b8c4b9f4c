"""k-means++ where very many rows are drawn: each in proportion to its distance when it is its turn,
though it is proposed ahead."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from cmeans import KernelKMeans
from cmeans.data.blocks import Blocks
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF, Linear
from cmeans.sampling import kmeanspp
from cmeans.sampling.kmeanspp import VERY_MANY, kmeans_plus_plus, seeds
from cmeans.sampling.pairwise import KernelAffinity, Metric, SingleAffinity
from cmeans.solvers.search import BREADTH, MANY, first_breadth


@pytest.fixture(autouse=True)
def as_in_a_fit():
    with ThreadEngine(1).opened():
        yield


def mixture(n, c, seed=0):
    made = np.random.default_rng(seed)
    return made.normal(size=(c, 8))[made.integers(0, c, n)] * 2 + made.normal(size=(n, 8))


def left(x, weights, chosen):
    """The weighted sum of squared distances to the nearest of some rows."""
    d2 = (x**2).sum(axis=1)[:, None] + (x[chosen] ** 2).sum(axis=1) - 2 * x @ x[chosen].T
    return weights @ np.maximum(d2.min(axis=1), 0)


def test_few_are_drawn_as_ever():
    x, weights = mixture(900, 40), np.ones(900)
    affinity = KernelAffinity(Linear(), x)
    expected = kmeans_plus_plus(affinity, weights, VERY_MANY - 1, np.random.RandomState(3))
    np.testing.assert_array_equal(
        seeds(affinity, weights, VERY_MANY - 1, np.random.RandomState(3)), expected
    )


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.02)], ids=["linear", "rbf"])
def test_many_are_as_far_apart(kernel, single):
    x, made = mixture(3000, 300), np.random.default_rng(1)
    weights = made.integers(0, 3, size=3000).astype(float)
    metric = Metric(kernel, Blocks(x.astype(np.float32) if single else x, weights))
    affinity = metric.among(np.arange(3000))
    assert isinstance(affinity.in_given_precision(), SingleAffinity) == single
    found = [seeds(affinity, weights, 300, np.random.RandomState(seed)) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(found[0], found[1])
    assert (weights[found[0]] > 0).all()
    assert len(set(found[0].tolist())) == 300
    greedy = [
        kmeans_plus_plus(affinity, weights, 300, np.random.RandomState(seed)) for seed in (0, 1)
    ]
    assert np.mean([left(x, weights, one) for one in found[1:]]) < 1.05 * np.mean(
        [left(x, weights, one) for one in greedy]
    )


def test_fewer_where_no_further_row_differs():
    x = np.repeat(mixture(260, 20), 3, axis=0)
    for rows in (x, x.astype(np.float32)):
        found = seeds(
            Metric(Linear(), Blocks(rows, np.ones(len(x)))).among(np.arange(len(x))),
            np.ones(len(x)),
            400,
            np.random.RandomState(0),
        )
        assert len(found) == 260
        assert len(set((found // 3).tolist())) == 260


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_of_many_columns_few_directions_are_enough(dtype):
    """And where too few rows differ along these, all columns tell them apart."""
    made = np.random.default_rng(2)
    turned = np.linalg.qr(made.normal(size=(300, 8)))[0]
    x, weights = (
        (mixture(1500, 300) @ turned.T + 0.3 * made.normal(size=(1500, 300))).astype(dtype),
        np.ones(1500),
    )
    affinity = Metric(Linear(), Blocks(x, weights)).among(np.arange(1500))
    some = affinity.in_given_precision().along(kmeanspp.DIRECTIONS)
    assert some.x.shape == (1500, kmeanspp.DIRECTIONS)
    assert some.x.dtype == dtype
    narrow = KernelAffinity(Linear(), x[:, :255])
    assert narrow.along(kmeanspp.DIRECTIONS) is narrow
    found = [seeds(affinity, weights, 300, np.random.RandomState(seed)) for seed in (0, 1)]
    greedy = [
        kmeans_plus_plus(affinity, weights, 300, np.random.RandomState(seed)) for seed in (0, 1)
    ]
    assert np.mean([left(x, weights, one) for one in found]) < 1.05 * np.mean(
        [left(x, weights, one) for one in greedy]
    )
    repeated = np.repeat(x[:260].astype(float), 3, axis=0)
    found = seeds(KernelAffinity(Linear(), repeated), np.ones(780), 400, np.random.RandomState(0))
    assert len(set((found // 3).tolist())) == len(found) == 260


def test_distances_from_what_is_taken():
    x, taken = mixture(2000, 300), np.arange(50)
    affinity = KernelAffinity(Linear(), x)
    nearest = affinity.squared_distances(taken).min(axis=1)
    found = seeds(affinity, np.ones(2000), 260, np.random.RandomState(0), nearest=nearest)
    assert len(found) == 260
    assert not set(found.tolist()) & set(taken.tolist())


def test_each_is_drawn_in_proportion_to_its_distance_then(monkeypatch):
    """The third and fourth of four rows come from one proposal, made when two were taken."""
    for name, value in (("VERY_MANY", 1), ("CANDIDATES", 1), ("AHEAD", 1)):
        monkeypatch.setattr(kmeanspp, name, value)
    x, weights = (
        np.array([[0.0], [0.4], [1.0], [1.1], [3.0], [5.0]]),
        np.array([1.0, 2.0, 1.0, 1.0, 3.0, 0.5]),
    )
    d2 = (x - x.T) ** 2

    def probability(order):
        chance = weights[order[0]] / weights.sum()
        for place in range(1, len(order)):
            mass = weights * d2[list(order[:place])].min(axis=0)
            chance *= mass[order[place]] / mass.sum()
        return chance

    expected = Counter()
    for order in permutations(range(6), 4):
        expected[frozenset(order)] += probability(order)
    rng, times, affinity = np.random.RandomState(0), 4000, KernelAffinity(Linear(), x)
    found = Counter(frozenset(seeds(affinity, weights, 4, rng).tolist()) for _ in range(times))
    likely = [some for some in expected if expected[some] * times > 5]
    rest = times - sum(found[some] for some in likely)
    observed = [*(found[some] for some in likely), rest]
    wanted = [
        *(times * expected[some] for some in likely),
        times * (1 - sum(expected[some] for some in likely)),
    ]
    assert chisquare(observed, wanted).pvalue > 1e-3


def test_search_by_a_share_of_very_many():
    assert first_breadth(3) == 3
    assert first_breadth(VERY_MANY - 1) == BREADTH
    assert first_breadth(1000) == 1000 // MANY
    x = mixture(3000, 300)
    alone = KernelKMeans(280, kernel="linear", search=None, random_state=0).fit(x)
    searched = KernelKMeans(280, kernel="linear", random_state=0).fit(x)
    assert searched.objective_ < 0.99 * alone.objective_
    assert searched.row_visits_ < 6 * (alone.row_visits_ + 3 * 3000)


@pytest.mark.parametrize("d", [300, 1000, 4000])
def test_equal_rows_in_single_precision_are_drawn_once(d):
    made = np.random.default_rng(0)
    x = made.random((VERY_MANY + 4, d)).astype(np.float32)[made.integers(VERY_MANY + 4, size=1200)]
    affinity = SingleAffinity(Linear(), x - x.mean(axis=0))
    chosen = kmeans_plus_plus(affinity, np.ones(len(x)), VERY_MANY + 9, np.random.RandomState(0))
    assert len(chosen) == len(np.unique(x[chosen], axis=0)) == len(np.unique(x, axis=0))
    some = np.arange(20)
    np.testing.assert_array_equal(
        affinity.squared_distances(some) == 0, (x[:, None, :3] == x[some, :3]).all(axis=2)
    )
