"""Clusters of bounded sizes: against loops and linear programs, and what is promised of bounds,
gaps and prices."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import naive
import naive_sizes
from cmeans import CMeans, FuzzyCMeans, KernelKMeans, Sizes, load, save
from cmeans.rules import Entropy, Fuzzy, SizedEntropy, SizedFuzzy
from cmeans.solvers.sizes import SizeBounds
from cmeans.solvers.sizes.flow import Holdings, whole_rows, within_bounds
from limited import limited

pytestmark = pytest.mark.slow

KINDS = ("equal", "least", "most", "both", "own")


@pytest.fixture(params=["native", "generic"])
def either(request, monkeypatch):
    """Native passes, and the generic ones."""
    if request.param == "generic":
        monkeypatch.setattr("cmeans.native.is_available", lambda: False)


def problem(seed, kind, weighted):
    """Rows, weights and bounds as shares; every fourth problem has few different rows."""
    rng = np.random.default_rng(seed)
    n, c, d = int(rng.integers(20, 120)), int(rng.integers(2, 7)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10)
    X = np.round(X) if seed % 4 == 1 and len(np.unique(np.round(X), axis=0)) >= c else X
    shares = rng.dirichlet(np.full(c, 5.0))
    low, high = {
        "equal": (1 / c, 1 / c),
        "least": (0.8 / c, None),
        "most": (None, 1.1 / c),
        "both": (0.5 / c, 1.5 / c),
        "own": (0.9 * shares, np.minimum(1.1 * shares, 0.99)),
    }[kind]
    return X, rng.uniform(0.1, 3, n) if weighted else np.ones(n), c, low, high


def as_weights(low, high, weight, c, rows):
    """Bounds of sums of weights; of whole rows, shares are the next."""
    low, high = (
        np.broadcast_to(value, (c,)) * weight.sum()
        for value in (0.0 if low is None else low, 1.0 if high is None else high)
    )
    return (np.floor(low + 1e-7), np.ceil(high - 1e-7)) if rows else (low, high)


@pytest.mark.parametrize("seed", range(20))
def test_the_cost_is_the_least_to_the_gap_and_bounds_hold(seed, either):
    kind, weighted = KINDS[seed % 5], seed % 3 == 2
    X, weight, c, low, high = problem(seed, kind, weighted)
    model = KernelKMeans(c, kernel="linear", random_state=seed, sizes=Sizes(least=low, most=high))
    missing = weighted and kind == "equal"  # which whole rows of these weights cannot keep
    with (
        pytest.warns(ConvergenceWarning, match="sizes miss their bounds")
        if missing
        else nullcontext()
    ):
        model.fit(X, sample_weight=weight if weighted else None)
    low, high = as_weights(low, high, weight, c, rows=not weighted)
    d2 = naive.point_distances(X, model.cluster_centers_)
    sizes = np.bincount(model.labels_, weights=weight, minlength=c)
    slack = weight.max() * (1 - 1e-9) if missing else 1e-9 * weight.sum() if weighted else 0
    assert (sizes >= low - slack).all()
    assert (sizes <= high + slack).all()
    least, _ = naive_sizes.cheapest(d2, weight, low, high)
    cost = (weight * d2[np.arange(len(X)), model.labels_]).sum()
    assert cost == pytest.approx(model.objective_, rel=1e-9, abs=1e-12)
    assert cost - least <= (model.size_gap_ + 1e-9) * cost
    # as whole rows, which keep the bounds, cost more than divided ones
    assert model.size_gap_ < (0.21 if weighted else 1e-12)
    np.testing.assert_array_equal(model.memberships_, np.eye(c)[model.labels_])
    history = model.objective_history_[:-1]
    assert (np.diff(history) <= 1e-9 * history[0]).all()


@cache
def hard_loops(seed):
    """A problem with a start, and from there the centres and the objective after each step."""
    X, weight, c, low, high = given = problem(seed, KINDS[seed % 5], seed % 3 == 2)
    V = X[np.random.default_rng(seed).permutation(len(X))[:c]]
    return (
        *given,
        V,
        *naive_sizes.hard_fit(X, V, weight, *as_weights(low, high, weight, c, rows=seed % 3 != 2)),
    )


# of weighted rows, a third each
@pytest.mark.filterwarnings(
    "ignore:.*3 sizes miss their bounds:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("seed", [0, 2, 3, 7, 8, 10, 18, 20])
def test_hard_fits_are_those_of_loops(seed, either):
    """From the same start: the same centres, and the same objective after each step."""
    X, weight, c, low, high, V, centres, history = hard_loops(seed)
    model = KernelKMeans(c, kernel="linear", init=V, sizes=Sizes(least=low, most=high))
    model.fit(X, sample_weight=weight if seed % 3 == 2 else None)
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=0, atol=1e-9 * np.abs(X).max())
    np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-9)


@cache
def soft_loops(m, low, high):
    """Rows and weights, and after two steps from the first rows centres and prices; m is None for
    the entropy's rule."""
    rng = np.random.default_rng(3)
    X, weight = rng.normal(size=(12, 2)), rng.uniform(0.5, 2, 12)
    rule = SizedEntropy(0.8) if m is None else SizedFuzzy(m)
    return (
        X,
        weight,
        *naive_sizes.soft_fit(
            rule, X, X[:3], weight, weight.sum() * np.array(low), weight.sum() * np.array(high), 2
        ),
    )


@pytest.mark.parametrize(
    ("rule", "m"), [("fuzzy", 1.5), ("fuzzy", 2.0), ("fuzzy", 3.0), ("entropy", None)]
)
def test_soft_fits_are_those_of_loops(rule, m, either):
    words = {"rule": Entropy(0.8) if rule == "entropy" else Fuzzy(m)}
    low, high = (0.1, 0.3, 0.2), (0.2, 0.6, 0.9)
    X, weight, centres, prices = soft_loops(m, low, high)
    model = CMeans(3, **words, init=X[:3], sizes=Sizes(least=low, most=high), max_iter=2, tol=0)
    with pytest.warns(Warning, match="max_iter"):
        model.fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.prices_, prices, rtol=0, atol=1e-9)
    sizes = weight @ model.memberships_
    assert (sizes >= (np.array(low) - 1e-9) * weight.sum()).all()
    assert (sizes <= (np.array(high) + 1e-9) * weight.sum()).all()
    assert model.size_gap_ < 1e-9


def blobs(n=900, dtype=np.float64):
    rng = np.random.default_rng(0)
    places = 3 * rng.normal(size=(5, 3))
    return (places[rng.choice(5, n, p=[0.5, 0.2, 0.1, 0.1, 0.1])] + rng.normal(size=(n, 3))).astype(
        dtype
    )


SPACES = {
    "linear": {"kernel": "linear"},
    "exact": {"kernel": "rbf", "landmarks": None},
    "landmarks": {"kernel": "rbf", "landmarks": 40},
    "graph": {"kernel": "landmark_graph"},
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans])
def test_every_space(estimator, space, dtype):
    X = blobs(300, dtype)
    model = estimator(
        6, random_state=0, sizes=Sizes(least=0.1, most=60), search=None, **SPACES[space]
    ).fit(X)
    sizes = model.memberships_.sum(axis=0, dtype=np.float64)
    slack = 0 if estimator is KernelKMeans else 0.02 if dtype == "float32" else 1e-6
    assert sizes.min() >= 30 - slack
    assert sizes.max() <= 60 + slack
    assert model.size_gap_ < 1e-6
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert (model.prices_[sizes > 30.5] <= 0).all()
    assert (model.prices_[sizes < 59.5] >= 0).all()


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    limited(monkeypatch, block_rows=64, task_values=1)
    for estimator in (KernelKMeans, FuzzyCMeans):
        models = [
            estimator(6, kernel="linear", random_state=0, sizes=Sizes(least=0.15), n_jobs=jobs).fit(
                blobs(250)
            )
            for jobs in (1, 3)
        ]
        for model in models[1:]:
            np.testing.assert_array_equal(model.cluster_centers_, models[0].cluster_centers_)
            np.testing.assert_array_equal(model.prices_, models[0].prices_)
            np.testing.assert_array_equal(model.labels_, models[0].labels_)


def test_samples_first_lead_to_bounds_of_all_rows(monkeypatch):
    limited(monkeypatch, subsampled_above=500)
    model = KernelKMeans(
        4, kernel="linear", random_state=0, n_init=2, sizes=Sizes(least=1 / 4, most=1 / 4)
    ).fit(blobs(1001))
    assert sorted(np.bincount(model.labels_)) == [250, 250, 250, 251]


@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans])
def test_bounds_that_do_not_bind_change_nothing(estimator):
    X = blobs(300)
    free = estimator(5, kernel="linear", init=X[:5], tol=1e-9).fit(X)
    bound = estimator(5, kernel="linear", init=X[:5], tol=1e-9, sizes=Sizes(least=1, most=299)).fit(
        X
    )
    np.testing.assert_allclose(bound.cluster_centers_, free.cluster_centers_, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(bound.prices_, 0)
    assert bound.objective_ == pytest.approx(free.objective_, rel=1e-9)
    assert not hasattr(free, "size_gap_")


def test_a_weight_of_k_counts_k_rows():
    """Of soft sizes exactly; of hard ones where no row is divided in the copies."""
    X, k = blobs(150), np.random.default_rng(1).integers(0, 4, 150)
    copies = np.repeat(X, k, axis=0)
    words = {"kernel": "linear", "init": X[:4], "sizes": Sizes(least=0.2, most=100), "tol": 1e-9}
    one, many = (
        FuzzyCMeans(4, m=1.5, **words).fit(X, sample_weight=k),
        FuzzyCMeans(4, m=1.5, **words).fit(copies),
    )
    np.testing.assert_allclose(one.cluster_centers_, many.cluster_centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(one.prices_, many.prices_, rtol=0, atol=1e-7)
    same = np.full(150, 3.0)
    hard = KernelKMeans(4, **words | {"sizes": Sizes(least=90, most=120)}).fit(
        X, sample_weight=same
    )
    assert set(np.bincount(hard.labels_)) <= set(range(30, 41))


def test_a_row_of_no_weight_changes_nothing():
    X, weight = blobs(200), np.ones(200)
    weight[::5] = 0
    words = {"kernel": "linear", "init": X[1:5], "sizes": Sizes(least=40, most=40)}
    model, less = (
        KernelKMeans(4, **words).fit(X, sample_weight=weight),
        KernelKMeans(4, **words).fit(X[weight > 0]),
    )
    np.testing.assert_allclose(model.cluster_centers_, less.cluster_centers_, rtol=0, atol=1e-10)
    assert (np.bincount(model.labels_, weights=weight) == 40).all()


def test_each_cluster_has_its_own_bounds():
    model = KernelKMeans(
        4,
        kernel="linear",
        random_state=0,
        sizes=Sizes(least=[10, 20, 30, 200], most=[11, 25, 0.4, 0.9]),
    ).fit(blobs(500))
    sizes = np.bincount(model.labels_)
    assert (sizes >= [10, 20, 30, 200]).all()
    assert (sizes <= [11, 25, 200, 450]).all()


def test_equal_rows_are_divided(either):
    X = np.repeat(np.eye(3), [100, 50, 10], axis=0)
    model = KernelKMeans(3, kernel="linear", random_state=0, sizes=Sizes(least=50, most=60)).fit(X)
    assert np.bincount(model.labels_).min() >= 50
    assert model.size_gap_ < 1e-12
    soft = FuzzyCMeans(3, m=2, random_state=0, sizes=Sizes(least=40, most=60)).fit(X)
    assert soft.memberships_.sum(axis=0).max() <= 60 + 1e-5


def test_rows_in_many_equal_copies(either):
    X = np.random.default_rng(0).integers(0, 3, (1000, 2)).astype(float)
    model = KernelKMeans(5, kernel="linear", random_state=0, sizes=Sizes(least=200, most=200)).fit(
        X
    )
    assert (np.bincount(model.labels_) == 200).all()
    least, _ = naive_sizes.cheapest(
        naive.point_distances(X, model.cluster_centers_),
        np.ones(1000),
        np.full(5, 200.0),
        np.full(5, 200.0),
    )
    assert model.objective_ == pytest.approx(least, rel=1e-9)


def test_a_saved_model_predicts_the_same(tmp_path):
    X = blobs(300)
    model = KernelKMeans(
        4, kernel="linear", random_state=0, sizes=Sizes(least=[60, 70, 60, 60], most=0.3)
    ).fit(X)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.prices_, model.prices_)
    assert again.size_gap_ == model.size_gap_


def test_rows_outside_memory(tmp_path, monkeypatch):
    """Sizes are kept for files too, and what is written of their rows is what the bounds say."""
    X = np.random.default_rng(0).integers(0, 3, (900, 2)).astype(float)
    np.save(tmp_path / "rows.npy", X)
    limited(monkeypatch, loaded_bytes=100, task_rows=256)
    model = KernelKMeans(4, kernel="linear", random_state=0, sizes=Sizes(least=225, most=225))
    counts = model.fit_predict_to(str(tmp_path / "rows.npy"), tmp_path / "labels.npy")
    assert counts.tolist() == [225] * 4
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)
    monkeypatch.undo()
    whole = KernelKMeans(4, kernel="linear", random_state=0, sizes=Sizes(least=225, most=225)).fit(
        X
    )
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)


def test_whole_rows_change_no_size_by_more_than_a_row():
    rng = np.random.default_rng(0)
    for _ in range(200):
        q, c = int(rng.integers(1, 12)), int(rng.integers(2, 6))
        shares = rng.dirichlet(np.full(c, 0.3), size=q)
        shares[shares < 0.1] = 0
        shares /= shares.sum(axis=1, keepdims=True)
        weight = rng.uniform(0.1, 2, q)
        rows, clusters = np.nonzero(shares)
        held = Holdings(rows, clusters, (shares * weight[:, None])[rows, clusters])
        labels = whole_rows(held, shares.argmax(axis=1), weight, c)
        before, after = weight @ shares, np.bincount(labels, weights=weight, minlength=c)
        assert np.abs(after - before).max() < weight.max()
        assert (shares[np.arange(q), labels] > 0).all()


BAD_TOO = [np.nan, np.inf, [], [[1, 2, 3]], [1, 2], ["a", "b", "c"], 1j, {"a": 1}]
BAD = {
    "least": ["many", True, -1, -0.5, [1, np.nan, 2], 21, [0.5, 0.4, 0.2], *BAD_TOO],
    "most": ["few", False, 0, -3, [9, 0, 60], 19, [0.2, 0.2, 0.3], *BAD_TOO],
}


@pytest.mark.parametrize(
    ("word", "value"), [(word, value) for word, values in BAD.items() for value in values], ids=str
)
@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans, CMeans])
def test_bad_bounds_are_refused_in_words(estimator, word, value):
    with pytest.raises(ValueError, match=rf"Sizes\(.*{word}.*\): "):
        estimator(3, sizes=Sizes(**{word: value})).fit(blobs(60))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"sizes": Sizes(least=21)}, "at least 63 rows together, and there are 60"),
        ({"sizes": Sizes(most=19)}, "at most 57 rows together, and there are 60"),
        (
            {"sizes": Sizes(least=30, most=0.4)},
            "cluster 0 would hold at least 30 rows and at most 24",
        ),
    ],
)
def test_impossible_bounds_say_why(words, said):
    with pytest.raises(ValueError, match=said):
        KernelKMeans(3, kernel="linear", **words).fit(blobs(60))


@pytest.mark.parametrize(("least", "most"), [(10, 5), (0.3, 0.2), ([1, 2, 30], [60, 60, 20])])
def test_bounds_that_exclude_each_other(least, most):
    with pytest.raises(ValueError, match="least must not be above most"):
        Sizes(least, most)


@pytest.mark.parametrize("value", [5, "many", (1, 2), Sizes])
def test_what_is_no_bound(value):
    with pytest.raises(
        ValueError, match=r"KernelKMeans\(sizes=.*\): give Sizes\(least=..., most=...\), or None"
    ):
        KernelKMeans(3, sizes=value).fit(blobs(60))


def test_what_cannot_have_sizes_says_so():
    with pytest.raises(ValueError, match=r'does not bound the sizes.*"fuzzy"'):
        CMeans(3, rule="possibilistic", sizes=Sizes(least=2)).fit(blobs(60))


def test_light_rows_move_until_bounds_hold():
    X, weight = np.random.default_rng(5).random((40, 2)), np.r_[19.0, np.ones(39)]
    for seed in range(3):
        model = KernelKMeans(4, kernel="linear", sizes=Sizes(most=20), random_state=seed).fit(
            X, sample_weight=weight
        )
        sizes = np.bincount(model.labels_, weights=weight, minlength=4)
        assert sizes.max() <= 20
        d2 = naive.point_distances(X, model.cluster_centers_)
        least, _ = naive_sizes.cheapest(d2, weight, np.zeros(4), np.full(4, 20.0))
        assert (weight * d2[np.arange(40), model.labels_]).sum() <= 1.05 * least


def test_a_bound_that_no_row_is_light_enough_for_is_missed_aloud():
    X, weight = blobs(30), np.r_[25.0, np.ones(29)]
    said = (
        r"KernelKMeans\(sizes=Sizes\(most=20\)\): 1 of 4 sizes miss.* by 5 in all: cluster 0 "
        r"holds 25.*at most 20.*wider bounds"
    )
    with pytest.warns(ConvergenceWarning, match=said):
        model = KernelKMeans(4, kernel="linear", sizes=Sizes(most=20), random_state=0).fit(
            X, sample_weight=weight
        )
    assert np.bincount(model.labels_, weights=weight)[0] == 25


def test_moves_never_miss_bounds_by_more():
    rng = np.random.default_rng(0)
    for q, c in rng.integers([2, 2], [40, 6], (100, 2)):
        weight, d2, labels = rng.uniform(0.1, 2, q), rng.random((q, c)), rng.integers(0, c, q)
        mass, share = np.bincount(labels, weights=weight, minlength=c), weight.sum() / c
        bounds = SizeBounds(
            np.full(c, rng.uniform(0, 1) * share),
            np.full(c, rng.uniform(1, 2) * share),
            weight.sum(),
            None,
            weight.max(),
        )
        found = within_bounds(labels, d2, weight, mass, bounds)
        after = np.bincount(found, weights=weight, minlength=c)
        assert bounds.excess(after).sum() <= bounds.excess(mass).sum()
        single = [
            bounds.excess(after - weight[i] * np.eye(c)[found[i]] + weight[i] * np.eye(c)[k]).sum()
            for i in range(q)
            for k in range(c)
        ]
        # no move is left that brings them nearer
        assert min(single) >= bounds.excess(after).sum() - 1e-9 * weight.sum()


@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans])
@pytest.mark.parametrize("places", [[20, 20], [30, 10], [40]])
def test_clusters_share_a_place_where_rows_are_at_fewer(estimator, places):
    X = np.repeat(np.eye(2)[: len(places)], places, axis=0)
    with (
        pytest.warns(UserWarning, match="coincide|collapsed")
        if estimator is FuzzyCMeans
        else nullcontext()
    ):
        model = estimator(4, kernel="linear", sizes=Sizes(least=10, most=10), random_state=0).fit(X)
    np.testing.assert_allclose(model.memberships_.sum(axis=0), 10, rtol=1e-9)
    assert model.objective_ == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans])
def test_one_cluster_of_equal_rows(estimator):
    model = estimator(1, kernel="linear", sizes=Sizes(least=1)).fit(np.ones((10, 2)))
    assert model.labels_.tolist() == [0] * 10


def test_bounds_hold_of_rows_with_missing_values():
    X, weight = blobs(60), np.random.default_rng(1).integers(0, 4, 60)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    X[:, 0] = np.nan_to_num(X[:, 0])
    model = KernelKMeans(
        3, kernel="linear", missing="partial", sizes=Sizes(least=0.3, most=0.36), random_state=0
    ).fit(X, sample_weight=weight)
    sizes = np.bincount(model.labels_, weights=weight)
    assert sizes.min() >= 0.3 * weight.sum()
    assert sizes.max() <= 0.36 * weight.sum()


@pytest.mark.parametrize(
    "bounds",
    [
        {"sizes": Sizes(least=75, most=75)},
        {"sizes": Sizes(least=[60, 60, 90, 90], most=[60, 60, 90, 90])},
    ],
)
def test_clusters_of_the_same_bounds_are_numbered_alike(bounds):
    X = np.concatenate(
        [
            place + 0.1 * np.random.default_rng(0).normal(size=(75, 2))
            for place in ([0, 0], [4, 0], [0, 5], [6, 6])
        ]
    )
    first, *others = (
        KernelKMeans(4, kernel="linear", random_state=seed, **bounds).fit(X) for seed in range(4)
    )
    for other in others:
        if other.objective_ == pytest.approx(first.objective_):
            np.testing.assert_array_equal(other.labels_, first.labels_)
    np.testing.assert_array_equal(
        np.bincount(first.labels_), np.broadcast_to(bounds["sizes"].least, 4)
    )


def test_multiples_of_the_mean_size_bound_every_cluster():
    X = blobs(203)
    model = KernelKMeans(5, kernel="linear", random_state=0, sizes=Sizes(most=1.2, of="mean"))
    told = KernelKMeans(5, kernel="linear", random_state=0, sizes=Sizes(most=49)).fit(X)
    assert np.bincount(model.fit(X).labels_).max() == 49  # 1.2 * 203 / 5 = 48.72
    np.testing.assert_array_equal(model.labels_, told.labels_)
    with pytest.raises(ValueError, match="most at least that"):
        Sizes(most=0.9, of="mean")
    with pytest.raises(ValueError, match="least must not be above most"):
        Sizes(least=[0.5, 1.5], most=1.2, of="mean")
