"""Mixtures of Gaussians: against naive loops, against scikit-learn, and what must not matter."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture as Peer

import naive_covariances as naive
from cmeans import Covariance, DataWarning, GaussianMixture, KernelKMeans, load, save

SHAPES = ("full", "diag", "tied", "spherical")


def rows(n=60, seed=0, d=3):
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(3, d))
    stretch = rng.normal(size=(3, d, d))
    kinds = np.arange(n) % 3
    return centres[kinds] + np.einsum("nij,nj->ni", stretch[kinds], rng.normal(size=(n, d)))


def cigars(n=100, seed=0):
    """Three long parallel clusters."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat(np.arange(3), n)
    x = np.c_[rng.normal(scale=10.0, size=3 * n), 2.0 * kinds + rng.normal(scale=0.2, size=3 * n)]
    return x, kinds


def short(model, X, **more):
    """Fit where the number of sweeps is the test's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **more)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_naive_mixture(shape):
    X, w = rows(), np.random.default_rng(1).integers(1, 4, 60).astype(float)
    labels = np.random.default_rng(2).integers(0, 3, 60)
    hard = KernelKMeans(3, kernel="linear", random_state=0).fit(X, sample_weight=w).labels_
    T = naive.pooled(X, w, hard, shape)
    model = GaussianMixture(3, covariance=shape, init=labels, max_iter=4, tol=0, random_state=0)
    short(model, X, sample_weight=w)
    known = naive.mixture(X, w, np.eye(3)[labels], T, shape, 4)
    full = np.array([model.covariances_] * 3) if shape == "tied" else model.covariances_
    if shape in ("diag", "spherical"):
        full = (full if full.ndim == 2 else full[:, None])[:, :, None] * np.eye(3)
    for mine, theirs in (
        (model.means_, known["v"]),
        (full, known["S"]),
        (model.weights_, known["p"]),
        (model.memberships_, known["u"]),
        (model.objective_history_, known["history"]),
        (model.lower_bound_, known["mean"]),
        (model.score(X, sample_weight=w), known["mean"]),
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_rises(shape, seed):
    X = rows(n=90, seed=seed)
    model = GaussianMixture(3, covariance=shape, tol=0, max_iter=40, random_state=seed)
    history = short(model, X).objective_history_
    assert (np.diff(history) <= 1e-9 * np.abs(history[0])).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_without_a_prior_it_is_scikit_learns(shape):
    X = rows(n=150, seed=4)
    rng = np.random.default_rng(0)
    start = Peer(3, covariance_type=shape, reg_covar=0, max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start.fit(X[rng.permutation(150)[:100]])
        peer = Peer(
            3,
            covariance_type=shape,
            reg_covar=0,
            max_iter=7,
            tol=0,
            weights_init=start.weights_,
            means_init=start.means_,
            precisions_init=start.precisions_,
        ).fit(X)
    given = start.weights_, start.means_, start.covariances_
    for init in (given, start):
        model = GaussianMixture(
            3, covariance=Covariance(shape, prior=0), init=init, max_iter=7, tol=0, random_state=0
        )
        short(model, X)
        for name in (
            *("weights_", "means_", "covariances_"),
            *("precisions_cholesky_", "precisions_"),
        ):
            np.testing.assert_allclose(
                getattr(model, name), getattr(peer, name), rtol=1e-8, atol=1e-8
            )
        for method in ("score_samples", "predict_proba", "predict", "score", "bic", "aic"):
            mine, theirs = getattr(model, method)(X), getattr(peer, method)(X)
            np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-8)


def test_weights_are_copies():
    X, w = rows(n=45), np.random.default_rng(0).integers(0, 4, 45)
    weighted = GaussianMixture(3, random_state=0).fit(X, sample_weight=w)
    copies = np.repeat(X, w, axis=0)
    copied = GaussianMixture(3, random_state=0).fit(copies)
    np.testing.assert_allclose(weighted.means_, copied.means_, rtol=1e-10)
    np.testing.assert_allclose(weighted.covariances_, copied.covariances_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weighted.bic(X, w), copied.bic(copies), rtol=1e-10)
    np.testing.assert_allclose(weighted.icl(X, w), copied.icl(copies), rtol=1e-10)
    np.testing.assert_allclose(weighted.objective_, copied.objective_, rtol=1e-10)


def test_heavy_weights_are_counts_of_rows():
    """Weights that are kept in another unit inside: beside them a prior of few rows is nothing."""
    X, w, labels = rows(n=90), np.full(90, 2.0**40), np.arange(90) % 3
    words = {"init": labels, "max_iter": 3, "random_state": 0}
    heavy = short(GaussianMixture(3, **words), X, sample_weight=w)
    bare = short(GaussianMixture(3, covariance=Covariance(prior=0), **words), X)
    np.testing.assert_allclose(heavy.covariances_, bare.covariances_, rtol=1e-9)
    np.testing.assert_allclose(heavy.objective_, bare.objective_ * 2.0**40, rtol=1e-9)


def test_no_constant_carries_a_unit():
    X = rows(n=90)
    one = GaussianMixture(3, random_state=0).fit(X)
    for factor in (1e-8, 1e-4, 1e6):
        other = GaussianMixture(3, random_state=0).fit(X * factor)
        np.testing.assert_allclose(other.memberships_, one.memberships_, atol=1e-9)
        moved = 2 * 90 * 3 * np.log(factor)
        np.testing.assert_allclose(other.bic(X * factor), one.bic(X) + moved, rtol=1e-9)
        np.testing.assert_allclose(
            other.score_samples(X * factor), one.score_samples(X) - 3 * np.log(factor), rtol=1e-8
        )


@pytest.mark.parametrize("ratio", [1.0, 1e8, 1e12])
def test_columns_of_any_size_stand_beside_each_other(ratio):
    kinds = np.arange(160) % 2
    wide, narrow = (np.random.default_rng(seed).normal(size=160) for seed in (1, 2))
    X = np.c_[ratio * wide, 0.05 * narrow + kinds]
    for units in ([1.0, 1.0], [1e-6, 1.0], [1.0, 1e9]):
        model = GaussianMixture(2, random_state=0).fit(X * units)
        assert adjusted_rand_score(kinds, model.labels_) == 1.0


def test_the_order_of_rows_and_numbers_does_not_matter():
    X, rng = rows(n=90), np.random.default_rng(0)
    order = rng.permutation(90)
    one = GaussianMixture(3, random_state=0).fit(X)
    other = GaussianMixture(3, random_state=0).fit(X[order])
    np.testing.assert_array_equal(one.labels_[order], other.labels_)
    np.testing.assert_allclose(one.covariances_, other.covariances_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_threads_change_no_bit(shape):
    X = np.concatenate([rows(n=3000, d=5)] * 2)
    fits = [
        GaussianMixture(3, covariance=shape, random_state=0, n_jobs=jobs, max_iter=20, tol=1e-3)
        for jobs in (1, 2, 5)
    ]
    one, *others = (fit.fit(X) for fit in fits)
    for other in others:
        np.testing.assert_array_equal(one.covariances_, other.covariances_)
        np.testing.assert_array_equal(one.memberships_, other.memberships_)


def test_memory_maps_are_as_arrays(tmp_path):
    X = rows(n=300)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    one = GaussianMixture(3, random_state=0).fit(X)
    for other in (mapped, str(tmp_path / "x.npy")):
        model = GaussianMixture(3, random_state=0).fit(other)
        np.testing.assert_array_equal(one.covariances_, model.covariances_)
        np.testing.assert_array_equal(one.labels_, model.labels_)


def test_single_precision():
    X = rows(n=300)
    one = GaussianMixture(3, random_state=0).fit(X)
    single = GaussianMixture(3, random_state=0).fit(X.astype(np.float32))
    assert single.memberships_.dtype == np.float32
    np.testing.assert_allclose(single.covariances_, one.covariances_, rtol=1e-2, atol=1e-2)
    assert adjusted_rand_score(one.labels_, single.labels_) > 0.97


def test_a_saved_model_says_the_same(tmp_path):
    X = rows(n=90)
    model = GaussianMixture(3, covariance=Covariance("diag"), random_state=0).fit(X)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(model.predict_proba(X), model.memberships_)
    assert again.bic(X) == model.bic(X)
    assert again.lower_bound_ == model.lower_bound_


def test_long_parallel_clusters():
    x, kinds = cigars()
    model = GaussianMixture(3, random_state=0).fit(x)
    assert adjusted_rand_score(kinds, model.labels_) == 1.0
    order = np.argsort(model.means_[:, 1])
    np.testing.assert_allclose(model.means_[order, 1], [0.0, 2.0, 4.0], atol=0.1)
    assert (model.covariances_[:, 1, 1] < 0.2).all()
    assert (model.memberships_[kinds == 0].argmax(axis=1) == order[0]).all()
    others = [GaussianMixture(c, random_state=0).fit(x).bic(x) for c in (2, 4)]
    assert model.bic(x) < min(others)


@pytest.mark.parametrize("words", [{}, {"noise": 0.01}, {"missing": "partial"}])
def test_random_rows_gain_on_a_sample_first(words):
    """Crossing lines as below, of which runs from random rows are followed over few rows first; the
    weights' unit is nothing to them."""
    t, kinds = np.linspace(-1, 1, 4100), np.arange(4100) % 2
    X, weight = np.c_[t, np.where(kinds, -t, t)], np.full(4100, 7.0)
    if "noise" in words:
        X[::500] *= 1e4
    if "missing" in words:
        X[::50, 1] = np.nan
    for w in (None,) if words else (None, weight):
        model = GaussianMixture(2, max_iter=40, random_state=0, **words)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, sample_weight=w)
        assert model.start_ == "random rows"
        assert model.n_starts_ == 8
        assert adjusted_rand_score(kinds, model.labels_) > 0.85
    assert model.row_visits_ / 4100 < 200


def test_crossing_lines():
    """Exact lines: partitions do not find them, and one from random rows does."""
    t, kinds = np.linspace(-1, 1, 200), np.arange(200) % 2
    X = np.c_[t, np.where(kinds, -t, t)]
    model = GaussianMixture(2, random_state=0).fit(X)
    assert model.start_ == "random rows"
    assert adjusted_rand_score(kinds, model.labels_) >= 0.9
    assert model.n_starts_ == 8
    assert "the best of 8 starts: random rows" in model.stop_reason_


def test_a_column_of_one_value_says_nothing():
    x, kinds = cigars()
    with pytest.warns(DataWarning, match="all rows have the same value in column 1, which says"):
        model = GaussianMixture(3, random_state=0).fit(
            np.c_[x[:, :1], np.full(len(x), 7.3), x[:, 1:]]
        )
    bare = GaussianMixture(3, random_state=0).fit(x)
    assert adjusted_rand_score(kinds, model.labels_) == 1.0
    np.testing.assert_allclose(model.means_[:, 1], 7.3)
    assert not model.covariances_[:, 1].any()
    np.testing.assert_allclose(model.covariances_[:, ::2, ::2], bare.covariances_, rtol=1e-9)
    drawn, _ = model.sample(5)
    np.testing.assert_allclose(drawn[:, 1], 7.3)
    assert model.bic(np.c_[x[:, :1], np.full(len(x), 7.3), x[:, 1:]]) == pytest.approx(bare.bic(x))


def test_hard_cases_fit_or_say_why():
    x = rows(n=30)
    GaussianMixture(3, random_state=0).fit(np.c_[x, x @ np.ones(3)])  # collinear
    GaussianMixture(3, random_state=0).fit(np.r_[x, [[1e4, 0, 0]]])  # one far row
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        GaussianMixture(3, random_state=0).fit(x[:3])
    with pytest.raises(ValueError, match="all rows of positive weight are equal"):
        GaussianMixture(1).fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match=r"without an inverse.*prior=0"):
        GaussianMixture(5, covariance=Covariance(prior=0), random_state=0).fit(x[:7])


def test_far_rows_have_probabilities():
    X = rows(n=90)
    model = GaussianMixture(3, random_state=0).fit(X)
    far = np.array([[1e10, 0, 0], [1e100, 1e100, 0], [0, 0, 1e150]])
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1.0)


def test_samples_are_of_the_mixture():
    x, _ = cigars()
    model = GaussianMixture(3, random_state=0).fit(x)
    drawn, kinds = model.sample(6000)
    for j in range(3):
        np.testing.assert_allclose(drawn[kinds == j].mean(axis=0), model.means_[j], atol=1.0)
        np.testing.assert_allclose(
            np.cov(drawn[kinds == j].T, bias=True), model.covariances_[j], rtol=0.2, atol=0.2
        )
    np.testing.assert_allclose(np.bincount(kinds) / 6000, model.weights_, atol=0.03)


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("n_components", "n_clusters"),
        ("covariance_type", "covariance"),
        ("reg_covar", r"covariance=Covariance\(prior=...\)"),
        ("means_init", "init"),
        ("weights_init", "init"),
        ("precisions_init", r"init=\(weights, means, covariances\)"),
        ("init_params", "init"),
        ("warm_start", "init=..., a fitted model"),
    ],
)
def test_words_of_scikit_learn_name_ours(word, place):
    with pytest.raises(TypeError, match=f"{word} is {place} here"):
        GaussianMixture(**{word: 1})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"covariance": "round"}, "covariance must be one of"),
        ({"covariance": 3}, "covariance must be one of"),
        ({"init": (1, 2)}, "init must be a name"),
        ({"init": ([1.0], [[0.0]], [[1.0]])}, "for 8 clusters of 3 columns"),
    ],
)
def test_bad_words_say_what_to_give(words, said):
    with pytest.raises(ValueError, match=said):
        GaussianMixture(**words).fit(rows())


def test_objects_of_covariance_check_themselves():
    with pytest.raises(ValueError, match="prior must be"):
        Covariance(prior=-1)
    with pytest.raises(ValueError, match="df must be"):
        Covariance(df=-1)
    model = GaussianMixture(covariance="diag").set_params(covariance__prior=3.0)
    assert model.covariance == Covariance("diag", prior=3.0)


@pytest.mark.parametrize("shape", ["full", "tied"])
def test_words_that_are_set_after_a_fit_change_no_answer(shape):
    """What a fit had is in its attributes."""
    X = rows()[:, :2]  # as many columns as clusters, so that no shape of an array tells the kind
    model = GaussianMixture(2, covariance=shape, noise="auto", random_state=0).fit(X)
    asked = [method(X) for method in (model.bic, model.aic, model.icl)]
    again = GaussianMixture(2, init=model, max_iter=2, tol=1e9, random_state=0)
    begun = again.fit(X).objective_history_[0]
    model.set_params(covariance="diag", noise=None)
    assert [method(X) for method in (model.bic, model.aic, model.icl)] == asked
    assert again.fit(X).objective_history_[0] == begun


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_columns_whose_inverse_squares_are_no_numbers(covariance: str) -> None:
    """Deviations of 1e-160 have metrics beyond what floats hold; labels need none of these."""
    X, y = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = GaussianMixture(3, covariance=covariance, random_state=0).fit(X * [1e107, 1e-160])
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert np.isinf(model.metrics_).any()
