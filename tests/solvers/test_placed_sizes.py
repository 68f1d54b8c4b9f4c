"""Sizes of many clusters: bounds that hold for placed rows, gaps that are true, the same bits for
any number of threads, and rows that are hard for trainers of vector indexes."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from cmeans import KernelKMeans, Sizes, native
from cmeans.data.blocks import Blocks
from cmeans.native import is_available
from cmeans.solvers.sizes import apportioned, near, placed, prices, solve
from cmeans.spaces import EuclideanSpace
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from cmeans.sweeps.top_k import NativeAbout
from limited import limited
from naive import point_distances
from naive_sizes import cheapest

MANY = solve.EXACT + 8
EQUAL = Sizes(least=1.0, most=1.0, of="mean")
FIFTH = Sizes(most=1.2, of="mean")
of_both = pytest.mark.parametrize("repaired", [0, 1 << 25], ids=["placed", "repaired"])


def heaps(n: int, d: int = 5, seed: int = 0) -> np.ndarray:
    """Heaps of very different numbers of rows."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(MANY, d)) * 3
    return centres[rng.choice(MANY, n, p=rng.dirichlet(np.full(MANY, 0.7)))] + rng.normal(
        size=(n, d)
    )


def fitted(x: np.ndarray, sizes: Sizes, c: int = MANY, jobs: int = 1, **more: Any) -> KernelKMeans:
    model = KernelKMeans(c, kernel="linear", sizes=sizes, search=None, random_state=0, n_jobs=jobs)
    return model.fit(x, **more)


@of_both
@pytest.mark.parametrize("sizes", [EQUAL, FIFTH, Sizes(least=0.5, most=1.5, of="mean")])
def test_bounds_hold_exactly_and_the_gap_is_true(
    monkeypatch: pytest.MonkeyPatch, sizes: Sizes, repaired: int
) -> None:
    monkeypatch.setattr(solve, "REPAIRED", repaired)
    n = 10 * MANY
    model = fitted(heaps(n), sizes)
    counts = np.bincount(model.labels_, minlength=MANY)
    least, most = 10 * (sizes.least or 0), 10 * (sizes.most or n)
    assert counts.min() >= least
    assert counts.max() <= most
    assert counts.max() == most or counts.min() == least  # they bind
    d2 = point_distances(heaps(n), model.cluster_centers_)
    cost = d2[np.arange(n), model.labels_].sum()
    np.testing.assert_allclose(model.objective_, cost, rtol=1e-9)
    # each cluster as many times as it may have rows; where at least some must be, a lower bound
    columns = np.repeat(d2, int(most), axis=1)
    best = columns[linear_sum_assignment(columns)].sum()
    assert best <= cost * (1 + 1e-9)
    if sizes.least not in (None, sizes.most):
        return
    assert cost * (1 - model.size_gap_) <= best * (1 + 1e-9)
    assert model.size_gap_ < (1e-9 if repaired else 0.15)
    assert model.stop_reason_.startswith("converged: costs stand still to tol=0.001")


@pytest.mark.parametrize("about", [20, near.ABOUT])  # fewer than the clusters, and more
def test_the_gap_is_true_where_rows_know_clusters_about_their_nearest(
    monkeypatch: pytest.MonkeyPatch, about: int
) -> None:
    for module, name, value in ((near, "FOUND", 0), (near, "ABOUT", about), (solve, "REPAIRED", 0)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr("cmeans.sweeps.choice.searches", lambda *_: True)
    n = 10 * MANY
    model = fitted(heaps(n), EQUAL)
    assert (np.bincount(model.labels_, minlength=MANY) == 10).all()
    d2 = point_distances(heaps(n), model.cluster_centers_)
    cost, columns = d2[np.arange(n), model.labels_].sum(), np.repeat(d2, 10, axis=1)
    best = columns[linear_sum_assignment(columns)].sum()
    assert cost * (1 - model.size_gap_) <= best * (1 + 1e-9)
    assert model.size_gap_ < 0.15


def test_clusters_that_few_rows_know_are_cheap_to_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nearly all rows went to one of them in `predict`, and the gap was .35."""
    monkeypatch.setattr(solve, "REPAIRED", 0)
    rng = np.random.default_rng(2)
    heaps, c = rng.normal(size=(24, 8)) * 3, 96
    x = heaps[rng.choice(24, 10 * c, p=rng.dirichlet(np.full(24, 0.7)))]
    x += rng.normal(size=x.shape)
    model = KernelKMeans(c, kernel="linear", sizes=EQUAL, random_state=0).fit(x)
    assert model.size_gap_ < 0.05
    assert np.bincount(model.predict(x), minlength=c).max() < 20


@pytest.mark.filterwarnings("ignore:.*stopped at max_iter")
def test_native_and_generic_passes_place_rows_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_available()
    x = np.rint(4 * heaps(900))  # sums of whole numbers are exact
    once = KernelKMeans(
        MANY, kernel="linear", sizes=FIFTH, init=np.arange(MANY) * (900 // MANY), max_iter=1
    )
    by_native, step = fitted(x, FIFTH), once.fit(x)
    monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    generic, again = fitted(x, FIFTH), clone(once).fit(x)
    np.testing.assert_allclose(again.objective_, step.objective_, rtol=1e-3)
    assert (again.labels_ != step.labels_).mean() < 0.02
    # from there rows in balance lead to optima of their own
    np.testing.assert_allclose(generic.objective_, by_native.objective_, rtol=0.05)
    counts = np.bincount(generic.labels_, minlength=MANY)
    assert counts.max() <= np.ceil(1.2 * 900 / MANY)


def test_rooms_are_filled_in_the_order_of_what_rows_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    clusters = np.array([rng.permutation(20)[: near.NEAR] for _ in range(90)], np.int32)
    rows = near.NearestClusters(clusters, rng.integers(0, 9, (90, near.NEAR)) * 1.0, np.ones(90))
    prices, order = rng.integers(0, 3, 20) * 1.0, rng.permutation(90)

    def filled() -> tuple[np.ndarray, placed._Room]:
        room = placed._Room(np.full(20, 2), np.full(20, 5), np.array([50]))
        return room.place(rows, order, prices), room

    ranks, room = filled()
    labels = clusters[np.arange(90), ranks][ranks >= 0]
    assert (np.bincount(labels, minlength=20) <= 5).all()
    assert room.spare[0] == 50 - (np.maximum(np.bincount(labels, minlength=20) - 2, 0)).sum()
    monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    np.testing.assert_array_equal(filled()[0], ranks)


def test_rows_settle_at_least_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, n, c = np.random.default_rng(2), 60, 20
    clusters = np.array([rng.permutation(c)[: near.NEAR] for _ in range(n)], np.int32)
    rows = near.NearestClusters(clusters, rng.random((n, near.NEAR)), np.ones(n))
    d2 = np.full((n, c), 9.0)
    np.put_along_axis(d2, clusters, rows.d2, axis=1)
    for least, most in ((3, 3), (2, 4), (0, 4), (0, n)):
        bounds = prices.SizeBounds(np.full(c, least * 1.0), np.full(c, most * 1.0), n, 1.0, 1.0)
        cost, _ = cheapest(d2, np.ones(n), bounds.low, bounds.high)
        for by_native in (True, False):
            monkeypatch.setattr("cmeans.native.is_available", lambda here=by_native: here)
            for start in (np.zeros(c), rng.normal(size=c)):
                settled = rows.settled(bounds, start)
                assert settled is not None
                ranks, g = settled
                own = rows.d2[np.arange(n), ranks]
                sizes = np.bincount(clusters[np.arange(n), ranks], minlength=c)
                assert least <= sizes.min()
                assert sizes.max() <= most
                np.testing.assert_allclose(own.sum(), cost, rtol=1e-9)
                dual = rows.net(g).min(axis=1).sum() + bounds.dual_part(g)
                np.testing.assert_allclose(dual, cost, rtol=1e-9)
                assert bounds.missed(np.where(np.abs(g) < 1e-12, 0.0, g), sizes).max() == 0


@pytest.mark.parametrize("slacks", [near.SWEPT, near.LAST])
def test_a_slack_is_what_rows_cost_more_at_most(slacks: tuple[float, ...]) -> None:
    rng, n, c = np.random.default_rng(6), 800, 40
    x, v = rng.normal(size=(n, 3)), rng.normal(size=(c, 3)) * 1.5
    d2 = point_distances(x, v)
    clusters = np.argsort(d2, axis=1)[:, : near.NEAR].astype(np.int32)
    known = np.take_along_axis(d2, clusters.astype(np.intp), axis=1)
    rows = near.NearestClusters(clusters, known, np.ones(n))
    for least, most in ((20.0, 20.0), (0.0, 24.0)):
        bounds = prices.SizeBounds(np.full(c, least), np.full(c, most), n, 1.0, 1.0)
        cheapest, roughly = (rows.settled(bounds, np.zeros(c), k) for k in (near.CHEAPEST, slacks))
        assert cheapest is not None
        assert roughly is not None
        (ranks, _), (others, g) = cheapest, roughly
        own = known[np.arange(n), others]
        sizes = np.bincount(clusters[np.arange(n), others], minlength=c)
        assert least <= sizes.min()
        assert sizes.max() <= most
        slack = slacks[-1] * rows.margin(np.zeros(c))
        net = rows.net(g)
        assert (net[np.arange(n), others] - net.min(axis=1)).max() <= 1.5 * slack * (1 + 1e-9)
        least_cost = known[np.arange(n), ranks].sum()
        assert least_cost * (1 - 1e-12) <= own.sum() <= least_cost + 3.0 * n * slack


def test_settling_hears_signals_as_it_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, n, c = np.random.default_rng(3), 400, 20
    clusters = np.array([rng.permutation(c)[: near.NEAR] for _ in range(n)], np.int32)
    rows = near.NearestClusters(clusters, rng.random((n, near.NEAR)), np.ones(n))
    bounds = prices.SizeBounds(np.full(c, 20.0), np.full(c, 20.0), n, 1.0, 1.0)
    whole = rows.settled(bounds, np.zeros(c))
    function, calls = native.function, []

    def counted(*words: Any) -> Any:
        settle = function(*words)

        def call(*given: Any) -> Any:
            calls.append(given)
            if len(calls) == interrupts_at:
                signal.raise_signal(signal.SIGINT)
            return settle(*given)

        return call

    monkeypatch.setattr(near, "WORK", 1)
    monkeypatch.setattr(native, "function", counted)
    interrupts_at = 0
    paused = rows.settled(bounds, np.zeros(c))
    assert whole is not None
    assert paused is not None
    assert len(calls) > 10
    own = [rows.d2[np.arange(n), ranks].sum() for ranks, _ in (whole, paused)]
    np.testing.assert_allclose(own[0], own[1], rtol=1e-12)
    interrupts_at = len(calls) + 3
    with pytest.raises(KeyboardInterrupt):
        rows.settled(bounds, np.zeros(c))
    assert len(calls) == interrupts_at


def test_rows_that_know_one_cluster_stay_there() -> None:
    rows = near.NearestClusters(np.zeros((9, 1), np.int32), np.arange(9.0)[:, None], np.ones(9))
    bounds = prices.SizeBounds(np.zeros(1), np.full(1, 9.0), 9.0, 1.0, 1.0)
    settled = rows.settled(bounds, np.zeros(1), near.LAST)
    assert settled is not None
    assert (settled[0] == 0).all()


def test_rows_of_one_place_are_left_where_clusters_are_full() -> None:
    clusters = np.tile(np.arange(16, dtype=np.int32), (50, 1))
    rows = near.NearestClusters(clusters, np.ones((50, 16)), np.ones(50))
    bounds = prices.SizeBounds(np.ones(20), np.full(20, 4.0), 50, 1.0, 1.0)
    settled = rows.settled(bounds, np.zeros(20))
    assert settled is not None
    assert (np.bincount(settled[0] + 1, minlength=17)[1:] <= 4).all()
    assert (settled[0] < 0).sum() == 4  # which the other four clusters are to have


def test_rows_know_the_cheapest_about_their_nearest() -> None:
    rng, n, c = np.random.default_rng(4), 130, 40
    x, v, g = rng.normal(size=(n, 9)), rng.normal(size=(c, 9)), rng.normal(size=c)
    space = EuclideanSpace(np.zeros(9))
    rows, state = RepresentedRows(space, Blocks(x, np.ones(n)), 10**8), State(space.at(v), g)
    about = np.argsort(point_distances(v, v), axis=1)[:, :20].astype(np.int32)
    parts = [NativeAbout(np.float64)(rows, state, about, 16, k) for k in range(rows.n_tasks)]
    clusters, found = (np.concatenate(part) for part in zip(*parts, strict=True))
    for i, d2 in enumerate(point_distances(x, v)):
        near_it = about[np.argmin(d2)]
        np.testing.assert_array_equal(clusters[i], near_it[np.argsort((d2 - g)[near_it])][:16])
        np.testing.assert_allclose(found[i], d2[clusters[i]], rtol=1e-9)


def test_the_same_bits_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, block_rows=64, task_values=1)
    monkeypatch.setattr(solve, "REPAIRED", 0)
    one, *others = (fitted(heaps(600), FIFTH, jobs=jobs) for jobs in (1, 2, 5))
    for other in others:
        np.testing.assert_array_equal(other.cluster_centers_, one.cluster_centers_)
        np.testing.assert_array_equal(other.prices_, one.prices_)
        np.testing.assert_array_equal(other.labels_, one.labels_)


def test_a_row_of_no_weight_takes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "REPAIRED", 0)
    x, weight = heaps(12 * MANY), np.ones(12 * MANY)
    weight[::6] = 0
    labels = fitted(x, EQUAL, sample_weight=weight).labels_
    assert (np.bincount(labels, weight, MANY) == 10).all()


def test_heavy_clusters_have_centres_of_light_ones() -> None:
    sizes = np.array([90.0, 4, 3, 41, 20, 2])
    np.testing.assert_array_equal(apportioned.seats(sizes, 27), [4, 0, 0, 2, 0, 0])
    np.testing.assert_array_equal(apportioned.seats(sizes, 30), [3, 0, 0, 2, 1, 0])
    np.testing.assert_array_equal(apportioned.seats(sizes, 60), [2, 1, 1, 1, 1, 0])
    np.testing.assert_array_equal(apportioned.seats(np.full(4, 9.0), 5), np.ones(4))
    np.testing.assert_array_equal(apportioned.seats(np.array([50.0, 40]), 45), np.ones(2))


def test_corners_of_a_cube_are_found() -> None:
    rng, y = np.random.default_rng(23), np.arange(256 * 20) % 256
    corners = (y[:, None] >> np.arange(8)) % 2 * 234.0 - 117
    x = (corners + rng.normal(0, 2, (len(y), 8))).astype(np.float32)
    model = KernelKMeans(256, kernel="linear", sizes=EQUAL, random_state=0).fit(x)
    assert model.objective_ <= 1.05 * len(y) * 32
    assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.parametrize("search", [None, "hierarchical"])
@pytest.mark.parametrize("copies", [6, 12])  # sorted first, or as they come
def test_fewer_different_rows_make_so_many_clusters(search: str | None, copies: int) -> None:
    rows = np.random.default_rng(24).normal(size=(239, 32)).astype(np.float32)
    x = rows[np.arange(copies * 239) % 239]
    with pytest.warns(ConvergenceWarning, match="only 239 distinct rows") as said:
        model = KernelKMeans(472, kernel="linear", sizes=FIFTH, search=search, random_state=0).fit(
            x
        )
    assert len(said) == 1
    assert model.n_clusters_ == len(np.unique(model.cluster_centers_, axis=0)) == 239
    assert (np.bincount(model.labels_, minlength=239) == copies).all()


def test_few_bounded_clusters_are_as_many_as_rows_differ() -> None:
    x = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 3 distinct rows"):
        model = KernelKMeans(5, kernel="linear", sizes=EQUAL, random_state=0).fit(x)
    assert np.bincount(model.labels_).tolist() == [4, 4, 4]


def test_sorted_rows_keep_their_bounds() -> None:
    y = np.repeat(np.arange(20), 200)
    places = np.array([[i % 5, i // 5] for i in range(20)])
    x = np.random.default_rng(1).normal(0, 0.2, (len(y), 2)) + places[y] * 3
    labels = fitted(x, FIFTH).labels_
    assert np.bincount(labels, minlength=MANY).max() <= 1.2 * len(y) / MANY
