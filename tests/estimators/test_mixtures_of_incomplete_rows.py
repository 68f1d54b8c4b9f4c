"""Mixtures of rows with missing values: against naive loops, and what must not matter."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import naive_covariances as naive
from cmeans import Covariance, DataWarning, FuzzyCMeans, GaussianMixture, KernelKMeans, load, save

SHAPES = ("full", "diag", "tied", "spherical")


def holed(n=60, d=3, share=0.2, seed=0, apart=4.0):
    """Three stretched clusters, and holes at random; the last row has none, row 1 one value."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 3
    stretch = rng.normal(size=(3, d, d))
    x = apart * rng.normal(size=(3, d))[kinds]
    x += np.einsum("nij,nj->ni", stretch[kinds], rng.normal(size=(n, d)))
    holes = rng.random((n, d)) < share
    holes[-1], holes[1], holes[1, 0] = False, True, False
    holes[holes.all(axis=1), 0] = False
    return np.where(holes, np.nan, x), kinds, x


def fitted(X, w=None, c=3, **words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GaussianMixture(c, missing="partial", random_state=0, **words)
        return model.fit(X, sample_weight=w)


def whole(model, d=3):
    """Covariances (c, d, d) of a fitted mixture."""
    S = model.covariances_
    if model.covariance.shape == "tied":
        return np.array([S] * len(model.weights_))
    return S if S.ndim == 3 else (S if S.ndim == 2 else S[:, None])[:, :, None] * np.eye(d)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_the_naive_mixture(shape, dtype):
    X, _, _ = holed()
    X = X.astype(dtype).astype(float)
    rng = np.random.default_rng(1)
    w = rng.integers(1, 4, 60).astype(float)
    p, v = np.array([0.2, 0.3, 0.5]), np.nanmean(X, axis=0) + rng.normal(size=(3, 3))
    S = np.array([np.eye(3) * (2.0 if shape in ("spherical", "tied") else 1 + j) for j in range(3)])
    prior = Covariance(shape, prior=0)
    model = fitted(X.astype(dtype), w, covariance=prior, init=(p, v, S), max_iter=4, tol=0)
    known = naive.incomplete_mixture(X, w, (p, v, S), np.zeros((3, 3)), shape, 4, 0.0)
    tight = 1e-9 if dtype is np.float64 else 1e-4
    for mine, theirs in (
        (model.means_, known["v"]),
        (whole(model), known["S"]),
        (model.weights_, known["p"]),
        (model.memberships_, known["u"]),
        (model.objective_history_, known["history"]),
        (model.score_samples(X.astype(dtype)), known["logs"]),
        (model.impute(X.astype(dtype)), known["means"]),
    ):
        np.testing.assert_allclose(mine, theirs, rtol=tight, atol=tight)
    np.testing.assert_array_equal(model.n_missing_, np.isnan(X).sum(axis=0))
    assert model.lower_bound_ == pytest.approx(w @ known["logs"] / w.sum(), rel=tight)


@pytest.mark.parametrize("shape", ["full", "diag"])
def test_the_prior_is_of_rows_completed_by_one_gaussian(shape):
    X, _, _ = holed(apart=20.0)
    w, v, S = np.ones(60), np.nanmean(X, axis=0)[None], np.diag(np.nanvar(X, axis=0))[None]
    nothing = np.zeros((3, 3))
    one = naive.incomplete_mixture(X, w, (np.ones(1), v, S), nothing, shape, 60, 0.0)
    filled = one["means"]
    hard = KernelKMeans(3, kernel="linear", random_state=0).fit(filled).labels_
    within = naive.scatter(filled, w, np.eye(3)[hard])[2].sum(axis=0) / 60
    lacking = one["S"][0] - naive.scatter(filled, w, np.ones((60, 1)))[2][0] / 60
    T = within + lacking + 1e-6 * np.diag(np.diag(one["S"][0]))
    start = np.full(3, 1 / 3), filled[:3], np.array([np.eye(3)] * 3)
    model = fitted(X, init=start, covariance=Covariance(shape), max_iter=3, tol=0)
    nu = naive.prior_rows(shape, 3)
    known = naive.incomplete_mixture(X, w, start, T, shape, 3, nu)
    np.testing.assert_allclose(whole(model), known["S"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.objective_history_, known["history"], rtol=1e-5)


def test_whole_rows_are_as_ever():
    X = holed()[2]
    one, other = GaussianMixture(3, random_state=0).fit(X), fitted(X)
    np.testing.assert_array_equal(one.covariances_, other.covariances_)
    np.testing.assert_array_equal(one.memberships_, other.memberships_)
    np.testing.assert_array_equal(other.impute(X), X)
    assert not other.n_missing_.any()
    X, rest = X.copy(), X[:5].copy()
    rest[0, 1] = rest[1, 2] = np.nan
    made = other.impute(rest)
    np.testing.assert_array_equal(made[~np.isnan(rest)], rest[~np.isnan(rest)])
    density = [
        naive.expected(rest[0], v, S) for v, S in zip(one.means_, one.covariances_, strict=True)
    ]
    share = one.weights_ * np.exp([each[2] for each in density])
    np.testing.assert_allclose(
        made[0, 1], share @ [each[0][1] for each in density] / share.sum(), rtol=1e-9
    )
    np.testing.assert_allclose(other.predict_proba(rest)[0], share / share.sum(), rtol=1e-9)


def test_whole_rows_beside_others_are_measured_alike():
    """One row with a hole: the others have what sweeps without holes say of them."""
    X = holed()[2]
    start = np.full(3, 1 / 3), X[:3], np.array([np.eye(3)] * 3)
    words = {"covariance": Covariance(prior=0), "init": start, "max_iter": 5, "tol": 0}
    blank = np.r_[X, [[np.nan] * 3]]
    with pytest.warns(DataWarning, match="1 of 61 rows of X has no value at all"):
        model = fitted(blank, **words)
    one = fitted(X, **words)
    assert model.labels_[-1] == -1
    np.testing.assert_allclose(model.covariances_, one.covariances_, rtol=1e-10)
    np.testing.assert_allclose(model.memberships_[:-1], one.memberships_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_objective_never_rises(shape):
    X, _, _ = holed(n=90, seed=3)
    history = fitted(X, covariance=Covariance(shape), tol=0, max_iter=25).objective_history_
    assert (np.diff(history) <= 1e-9 * np.abs(history[0])).all()


def test_weights_are_copies_and_units_do_not_matter():
    X, _, _ = holed(n=45)
    w = np.random.default_rng(0).integers(0, 4, 45)
    weighted, copied = fitted(X, w), fitted(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.means_, copied.means_, rtol=1e-8)
    np.testing.assert_allclose(weighted.covariances_, copied.covariances_, rtol=1e-7)
    one = fitted(X)
    for factor in (1e-8, 1e6):
        other = fitted(X * factor)
        np.testing.assert_allclose(other.memberships_, one.memberships_, atol=1e-8)
        np.testing.assert_allclose(other.impute(X * factor), one.impute(X) * factor, rtol=1e-8)
        seen = (~np.isnan(X)).sum(axis=1)
        moved = one.score_samples(X) - seen * np.log(factor)
        np.testing.assert_allclose(other.score_samples(X * factor), moved, rtol=1e-8)


def test_threads_and_blocks_change_no_bit():
    X = np.concatenate([holed(n=1500, d=4)[0]] * 2)
    fits = [
        GaussianMixture(3, missing="partial", random_state=0, n_jobs=jobs, max_iter=5, tol=1e-2)
        for jobs in (1, 3)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, other = (fit.fit(X) for fit in fits)
    np.testing.assert_array_equal(one.covariances_, other.covariances_)
    np.testing.assert_array_equal(one.memberships_, other.memberships_)
    np.testing.assert_array_equal(one.impute(X), other.impute(X))


def test_columns_that_are_never_seen_together():
    X = np.random.default_rng(6).normal(size=(200, 3)) @ [[1, 0.9, 0.8], [0, 0.4, 0], [0, 0, 0.6]]
    X[np.arange(200), np.arange(200) % 2] = np.nan
    X[0] = np.nan
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GaussianMixture(2, missing="partial", random_state=0).fit(X)
    said = [str(each.message) for each in caught]
    assert sum("no row has values in both columns 0 and 1: how" in each for each in said) == 1
    assert sum("1 of 200 rows of X has no value at all" in each for each in said) == 1
    assert (np.linalg.eigvalsh(model.covariances_) > 1e-3).all()
    assert model.labels_[0] == -1
    assert (model.labels_[1:] >= 0).all()


def test_columns_of_one_value_may_have_holes():
    X, kinds, _ = holed(n=90)
    flat = np.where(np.arange(90) % 4 == 0, np.nan, 7.0)
    with pytest.warns(DataWarning, match="same value in column 3"):
        model = fitted(np.c_[X, flat])
    bare = fitted(X)
    np.testing.assert_allclose(model.memberships_, bare.memberships_, atol=1e-8)
    np.testing.assert_allclose(model.impute(np.c_[X, flat])[:, 3], 7.0)
    assert model.bic(np.c_[X, flat]) == pytest.approx(bare.bic(X))
    assert adjusted_rand_score(kinds, bare.labels_) > 0.5


def test_a_saved_model_says_the_same(tmp_path):
    X, _, _ = holed(n=90)
    model = fitted(X)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(model.predict_proba(X), model.memberships_)
    np.testing.assert_array_equal(again.predict_proba(X), model.memberships_)
    np.testing.assert_array_equal(again.impute(X), model.impute(X))
    assert np.isfinite(model.transform(X)).all()
    assert (model.outlier_score(X) >= 0).all()


def test_holes_are_refused_where_they_are_not_asked_for():
    X, _, _ = holed()
    with pytest.raises(ValueError, match="NaN"):
        GaussianMixture(3).fit(X)
    with pytest.raises(ValueError, match="do not go with missing values so far"):
        FuzzyCMeans(3, kernel="linear", covariance="full", missing="partial").fit(X)
