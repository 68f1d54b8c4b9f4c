"""Maximum entropy: against SciPy and the naive loops, on both sides of its critical temperature,
and where its objective is below zero."""

from __future__ import annotations

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

import naive
from cmeans import (
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    Search,
    StreamingFuzzyCMeans,
    load,
    save,
)
from cmeans.rules import Entropy, Fuzzy, NoiseFuzzy
from cmeans.sampling.sampled_rows import GramRows
from cmeans.solvers.annealing import parted
from cmeans.spaces.centres import Centres
from cmeans.sweeps.statistics import Statistics
from cmeans.tuning.softness import automatic_temperature, best_partition, critical_temperature
from limited import limited

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 3)) + 3 * np.repeat([[0, 0, 0], [1, 0, 1], [0, 2, 0]], 20, axis=0)
W = rng.integers(1, 4, size=60).astype(float)
# two thirds of T* make the objective negative
LONG = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [5, 0], [10, 0]], 20, axis=0)
START = np.array([0, 20, 40])
BAD = (-1, 0, 0.0, np.nan, np.inf, "warm", "", True, [1.0], np.ones(2), b"auto", {})
K = rbf_kernel(X, gamma=0.1)
LINEAR, EXACT = {"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.1, "landmarks": None}


def fitted(T, rows=X, weights=None, **words):
    words = {"kernel": "linear", "init": START, "max_iter": 1000, **words}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(have collapsed|centres coincide)")
        return CMeans(3, rule=Entropy(T=T), **words).fit(rows, sample_weight=weights)


def covariance(rows, weights):
    return np.cov(rows.T, bias=True, aweights=weights)


@pytest.mark.parametrize("T", [1e-3, 0.7, 40.0])
def test_memberships_are_scipys_softmax(T):
    d2 = rng.exponential(size=(50, 4))
    np.testing.assert_allclose(
        Entropy(T).memberships(d2, None), softmax(-d2 / T, axis=1), rtol=1e-12, atol=1e-300
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_limits_of_temperature(dtype):
    """From hard to equal, also where the number is none of the rows' type."""
    d2 = np.array([[1.0, 1.0000001e-3, 2.0], [0.0, 0.0, 1.0]], dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(
            Entropy(1e-300).memberships(d2, None), [[0, 1, 0], [0.5, 0.5, 0]]
        )
    u = Entropy(1e300).memberships(d2, None)
    assert u.dtype == dtype
    np.testing.assert_allclose(u, 1 / 3, rtol=1e-6)


@pytest.mark.parametrize("T", [0, -1.0, np.nan, np.inf, "warm", None, True, *BAD])
def test_a_temperature_that_is_none(T):
    with pytest.raises(
        ValueError, match=r"Entropy\(T=.*T must be \"auto\" or a number greater than 0"
    ):
        Entropy(T)


@pytest.mark.parametrize("words", [LINEAR, EXACT], ids=["linear", "exact"])
@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize("T", [0.3, 0.02])
def test_fits_are_naive(T, weights, words):
    gram, T = (X @ X.T, 10 * T) if words is LINEAR else (K, T)
    expected = naive.cmeans(
        lambda A: naive.exact_distances(gram, A),
        lambda d2: naive.entropy_memberships(d2, T),
        naive.row_start_distances_exact(gram, START),
        7,
        1,
        weights,
    )
    with pytest.warns(UserWarning, match="max_iter"):
        model = CMeans(
            3,
            rule=Entropy(T=T),
            **words,
            init=START,
            max_iter=7,
            tol=0.0,
            search=Search(acceleration=None),
        ).fit(X, sample_weight=weights)
    np.testing.assert_allclose(model.memberships_, expected.memberships, rtol=0, atol=1e-10)
    assert model.objective_ == pytest.approx(
        naive.entropy_objective(expected.d2, expected.memberships, T, weights), rel=1e-10
    )


@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
def test_centres_are_weighted_means_and_the_objective_never_rises(weights):
    model = fitted(4.0, weights=weights, tol=1e-9, search=Search(acceleration=None))
    pull = model.memberships_ * (1 if weights is None else weights[:, None])
    np.testing.assert_allclose(
        model.cluster_centers_, pull.T @ X / pull.sum(axis=0)[:, None], rtol=1e-6
    )
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)
    history = model.objective_history_
    assert (np.diff(history) <= 1e-11 * np.abs(history[0])).all()
    assert history[-1] < history[0]


@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
def test_centres_fall_together_from_the_critical_temperature_on(weights):
    critical = 2 * np.linalg.eigvalsh(covariance(X, weights))[-1]
    words = {"weights": weights, "tol": 1e-8}
    assert fitted(1.03 * critical, **words).separation_ < 1e-6
    assert fitted(0.97 * critical, **words).separation_ > 1e-2
    assert critical_temperature(
        X @ X.T, np.ones(60) if weights is None else weights
    ) == pytest.approx(critical, rel=1e-10)


def test_the_critical_temperature_of_a_kernel():
    """That of its explicit features: it decides whether centres that are nearly the mean stay
    there."""
    values, vectors = np.linalg.eigh(K)
    features = vectors * np.sqrt(np.maximum(values, 0))
    critical = 2 * np.linalg.eigvalsh(covariance(features, W))[-1]
    assert critical_temperature(K, W) == pytest.approx(critical, rel=1e-9)
    start = np.random.default_rng(0).dirichlet(np.full(3, 1e5), size=60)
    words = {"weights": W, "init": start, "tol": 1e-8, "search": Search(acceleration=None), **EXACT}
    assert fitted(1.03 * critical, **words).separation_ < 1e-6
    assert fitted(0.97 * critical, **words).separation_ > 1e-2


def test_advice_names_the_critical_temperature():
    critical = 2 * np.linalg.eigvalsh(covariance(X, None))[-1]
    with pytest.warns(
        UserWarning,
        match=rf"have collapsed.*T=100 is beyond T\*={critical:.4g}, .*take a smaller T",
    ):
        CMeans(3, rule=Entropy(T=100.0), kernel="linear", init=START).fit(X)
    assert (
        Entropy(1.0).advice_on_coincidence(SimpleNamespace(critical_temperature=1.0))
        == "Take fewer clusters or a smaller T."
    )


def zero_objective_temperature():
    """Where the fit's objective is nearly nothing, between rows that are near and a high
    temperature."""
    low, high = 1.0, 25.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if fitted(middle, LONG, tol=1e-9).objective_ > 0 else (low, middle)
        )
    return low


@pytest.mark.parametrize("acceleration", [None, "anderson"])
@pytest.mark.parametrize("where", ["below zero", "near zero"])
def test_fits_stop_where_the_objective_is_no_measure(where, acceleration):
    """Movements are compared with distances. The objective, which is negative or nearly zero, would
    never let a fit stop."""
    T = 25.0 if where == "below zero" else zero_objective_temperature()
    model, end = (
        fitted(T, LONG, tol=tol, search=Search(acceleration=acceleration)) for tol in (1e-4, 1e-9)
    )
    assert model.objective_ < (0 if where == "below zero" else 1e-3)
    assert abs(end.objective_) < 1e-3 or where == "below zero"
    assert model.stop_reason_.startswith("converged: centres stand still to tol=0.0001")
    assert 1 < model.n_iter_ < end.n_iter_ < 400
    typical = np.sqrt((end.memberships_ * end.transform(LONG) ** 2).sum(axis=1).mean())
    assert np.abs(model.cluster_centers_ - end.cluster_centers_).max() < 1e-2 * typical


def test_the_scale_is_the_objective_where_penalties_cost():
    sums = Statistics(3.0, np.ones(2), np.ones((2, 1)), np.array([0.1, 0.7]), 1.3)
    assert sums.scale == sums.objective == sums.magnitude
    rewarded = replace(sums, penalty=-0.5)
    assert (rewarded.scale, rewarded.magnitude) == (sums.spread.sum(), sums.spread.sum() + 0.5)


def test_the_certificate_holds_where_the_objective_is_negative():
    model = fitted(1.0, gamma=0.1, kernel="rbf", landmarks=8)
    assert model.objective_ < 0
    u = model.memberships_
    true = naive.entropy_objective(naive.exact_distances(K, u), u, 1.0)
    low, high = model.approximation_.cost_bounds
    assert low - 1e-9 <= true <= high + 1e-9
    assert low < high
    assert model.approximation_.comparison_error > 0


def test_a_saved_model_has_its_temperature(tmp_path):
    named = fitted(2.0)
    save(named, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again._rule == Entropy(2.0)
    assert again.rule == Entropy(2.0)
    np.testing.assert_array_equal(again.memberships(X), named.memberships(X))


# ---- the automatic temperature, and annealing


@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize("words", [LINEAR, EXACT], ids=["linear", "exact"])
def test_the_automatic_temperature_is_naive(words, weights):
    gram = X @ X.T if words is LINEAR else K
    rows, share = GramRows(gram), np.ones(60) if weights is None else weights
    labels, _ = best_partition(rows, share, 3)
    expected = naive.automatic_temperature(gram, labels, weights)
    assert automatic_temperature(rows, share, 3) == pytest.approx(expected, rel=1e-9)
    model = CMeans(3, rule="entropy", random_state=0, **words).fit(X, sample_weight=weights)
    assert pytest.approx(expected, rel=1e-9) == model.rule_.T
    assert critical_temperature(gram, share) >= 2 * model.rule_.T
    asked = CMeans(3, rule=Entropy(T="auto"), random_state=0, **words).fit(X, sample_weight=weights)
    assert asked.rule_ == model.rule_


def test_the_automatic_temperature_of_one_cluster_or_one_row():
    """Half the critical one; 1 where there is no distance, and something above zero where two
    centres have one row between them."""
    assert (
        pytest.approx(np.linalg.eigvalsh(covariance(X, None))[-1], rel=1e-9)
        == CMeans(1, rule="entropy").fit(X).rule_.T
    )
    assert CMeans(1, rule="entropy").fit(np.ones((9, 2))).rule_.T == 1.0
    with pytest.warns(UserWarning, match="coincide|distinct|collapsed"):
        assert (
            CMeans(3, rule="entropy", random_state=0).fit(np.repeat(X[:2], 9, axis=0)).rule_.T > 0
        )


def test_at_the_automatic_temperature_clusters_of_unequal_size_stay_apart():
    rows, kinds = unequal()
    model = CMeans(5, rule="entropy", random_state=0).fit(rows)
    assert adjusted_rand_score(kinds, model.labels_) > 0.99


def unequal(seed=0):
    rng = np.random.default_rng(seed)
    kinds = np.repeat(np.arange(5), [500, 300, 120, 50, 30])
    return 6 * np.eye(5)[kinds] + rng.normal(size=(1000, 5)), kinds


def equal():
    kinds = np.arange(1000) % 5
    return 6 * np.eye(5)[kinds] + np.random.default_rng(0).normal(size=(1000, 5)), kinds


def test_annealing_does_not_depend_on_the_start():
    """Clusters divide as the temperature falls: from a start of rows of one cluster alone it finds
    what no sweep from there finds."""
    rows, kinds = equal()
    words = {"rule": "entropy", "init": np.arange(0, 25, 5), "random_state": 0}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*centres coincide")
        plain = CMeans(5, search=None, **words).fit(rows)
    annealed = CMeans(5, search="annealing", **words).fit(rows)
    assert adjusted_rand_score(kinds, annealed.labels_) > 0.99
    assert annealed.objective_ < plain.objective_ - 1
    assert annealed.row_visits_ > plain.row_visits_
    np.testing.assert_array_equal(
        CMeans(5, search="annealing", **words).fit(rows).memberships_, annealed.memberships_
    )


@pytest.mark.parametrize("n_landmarks", [60, None])
def test_annealing_in_kernel_space(n_landmarks):
    rows, kinds = equal()
    words = {"kernel": "rbf", "gamma": 0.05, "landmarks": n_landmarks}
    model = CMeans(5, rule="entropy", search="annealing", random_state=0, **words).fit(rows)
    assert adjusted_rand_score(kinds, model.labels_) > 0.95


def test_annealing_many_rows_on_a_sample(monkeypatch):
    limited(monkeypatch, subsampled_above=500, last_sample_rows=400)
    rows, kinds = equal()
    model = CMeans(5, rule="entropy", search="annealing", random_state=0).fit(rows)
    assert adjusted_rand_score(kinds, model.labels_) > 0.99


@pytest.mark.parametrize("T", [1e-6, "auto", 1.99, 40.0])
def test_annealing_is_no_worse_than_the_start(T):
    """Above the critical temperature there is nothing to find."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for clusters in (1, 2, 7):
            plain, annealed = (
                CMeans(clusters, rule=Entropy(T=T), search=s, random_state=0).fit(X)
                for s in (None, "annealing")
            )
            assert annealed.objective_ <= plain.objective_ + 1e-6 * abs(plain.objective_)


@pytest.mark.parametrize("rows", [X[:1], X[:3], np.repeat(X[:2], 50, axis=0), np.zeros((9, 2))])
def test_annealing_few_rows(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for clusters in range(1, min(len(rows), 3) + 1):
            assert (
                CMeans(clusters, rule="entropy", search="annealing", random_state=0)
                .fit(rows)
                .converged_
            )


def test_pairs_that_have_parted():
    pairs = Centres.orthonormal(np.array([[0.0], [5.0], [9.0], [0.1], [7.0], [12.0]]))
    np.testing.assert_array_equal(parted(pairs, 1.0, 6).coordinates[:, 0], [0, 5, 9, 12, 7])
    np.testing.assert_array_equal(parted(pairs, 1.0, 4).coordinates[:, 0], [0, 5, 9, 12])
    np.testing.assert_array_equal(parted(pairs, 1e-3, 9).coordinates[:, 0], [0, 5, 9, 12, 7, 0.1])
    assert len(parted(pairs, 1e3, 6)) == 3


@pytest.mark.parametrize(
    "made",
    [
        lambda: CMeans(3, rule="fuzzy", search="annealing"),
        lambda: CMeans(3, rule="hard", search="annealing"),
        lambda: CMeans(3, rule="possibilistic", search="annealing"),
        lambda: CMeans(3, rule=Fuzzy(2.0), search="annealing"),
        lambda: CMeans(3, rule=NoiseFuzzy(2.0, delta=1.0), search="annealing"),
        lambda: FuzzyCMeans(3, search="annealing"),
        lambda: FuzzyCMeans(3, noise="auto", search="annealing"),
        lambda: KernelKMeans(3, search="annealing"),
        lambda: PossibilisticCMeans(3, search="annealing"),
        lambda: StreamingFuzzyCMeans(3, search="annealing"),
    ],
)
def test_rules_without_a_temperature_are_not_annealed(made):
    with pytest.raises(
        ValueError,
        match=r'search="annealing"\): only a rule with a temperature.*take search="breathing"',
    ):
        made().fit(X)


def test_rules_without_a_temperature_have_none():
    with pytest.raises(NotImplementedError, match="can_be_annealed is False"):
        _ = Fuzzy(2.0).temperature
    with pytest.raises(NotImplementedError, match="can_be_annealed is False"):
        Fuzzy(2.0).at_temperature(1.0)
    assert Entropy(2.0).at_temperature(1.0) == Entropy(1.0)
