"""Mixtures beside noise of one density everywhere: against naive loops, and what must come out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import naive_covariances as naive
from cmeans import Covariance, GaussianMixture, load, save

SHAPES = ("full", "diag", "tied", "spherical")


def noisy(n=600, d=2, seed=0, share=0.1):
    """Four stretched clusters, of which a share of the rows is spread evenly; which rows these are,
    and what the Bayes rule with the true parameters says of them."""
    rng = np.random.default_rng([d, seed])
    kinds = rng.integers(0, 4, n)
    stretch, means = rng.normal(size=(4, d, d)) / np.sqrt(d), 3 * rng.normal(size=(4, d))
    x = means[kinds] + np.einsum("nij,nj->ni", stretch[kinds], rng.normal(size=(n, d)))
    ends, is_noise = (x.min(axis=0), x.max(axis=0)), np.arange(n) < share * n
    x[is_noise] = rng.uniform(*ends, size=(is_noise.sum(), d))
    S = stretch @ np.swapaxes(stretch, 1, 2)
    logs = naive.log_joint(x, means, S, np.full(4, (1 - share) / 4))
    said = share / np.prod(ends[1] - ends[0]) > np.exp(logs.max(axis=1))
    return x, is_noise, said


def recall_and_precision(said, is_noise):
    return np.array(
        [(said & is_noise).sum() / is_noise.sum(), (said & is_noise).sum() / said.sum()]
    )


def whole(model, d):
    S = model.covariances_
    if model.covariance.shape == "tied":
        return np.array([S] * len(model.weights_))
    return S if S.ndim == 3 else (S if S.ndim == 2 else S[:, None])[:, :, None] * np.eye(d)


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [None, 0.2])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_the_naive_mixture(shape, share, dtype):
    X = noisy(n=80)[0].astype(dtype)
    tight = 1e-9 if dtype is np.float64 else 2e-4
    w = np.random.default_rng(1).integers(1, 4, 80).astype(float)
    start = np.array([0.2, 0.3, 0.5]), X[:3], np.array([np.eye(2)] * 3)
    model = GaussianMixture(
        3,
        covariance=Covariance(shape, prior=0),
        noise="auto" if share is None else share,
        init=start,
        max_iter=4,
        tol=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, sample_weight=w)
    X = X.astype(float)
    known = naive.noisy_mixture(X, w, start, share, naive.noise_volume(X, w), shape, 4)
    for mine, theirs in (
        (model.means_, known["v"]),
        (whole(model, 2), known["S"]),
        (model.weights_, known["p"]),
        (model.noise_weight_, known["p0"]),
        (model.memberships_, known["u"]),
        (model.noise_membership_, 1 - known["u"].sum(axis=1)),
        (model.objective_history_, known["history"]),
        (model.score_samples(X), known["logs"]),
        (model.lower_bound_, w @ known["logs"] / w.sum()),
    ):
        np.testing.assert_allclose(mine, theirs, rtol=tight, atol=tight)
    noise = known["u"].sum(axis=1) < 1 - known["u"].max(axis=1)
    np.testing.assert_array_equal(model.labels_ < 0, noise)
    free = {"full": 9, "diag": 6, "tied": 3, "spherical": 3}[shape] + 6 + 2 + (share is None)
    deviance = -2 * w @ known["logs"]
    np.testing.assert_allclose(model.bic(X, w), deviance + free * np.log(w.sum()), rtol=tight)
    assert hasattr(model, "noise_distance_") is False


@pytest.mark.parametrize(("d", "seed"), [(2, 1), (5, 2), (10, 0)])
def test_noise_is_found_as_the_bayes_rule_would(d, seed):
    X, is_noise, bayes = noisy(n=1500, d=d, seed=seed)
    model = GaussianMixture(4, noise="auto", random_state=0).fit(X)
    found = recall_and_precision(model.labels_ < 0, is_noise)
    assert (found > recall_and_precision(bayes, is_noise) - 0.05).all()
    assert model.noise_weight_ == pytest.approx(0.1, abs=0.02)
    assert model.weights_.sum() + model.noise_weight_ == pytest.approx(1.0)
    far = np.r_[X, [X.mean(axis=0) + 1e4 * np.ptp(X, axis=0)]]
    other = GaussianMixture(4, noise="auto", random_state=0).fit(far)
    again = recall_and_precision(other.labels_[:-1] < 0, is_noise)
    assert (again > found - 0.02).all()
    assert other.labels_[-1] == -1
    np.testing.assert_allclose(other.means_, model.means_, atol=0.05)


def test_the_objective_never_rises_and_units_do_not_matter():
    X, _, _ = noisy(n=300)
    words = {"noise": "auto", "random_state": 0}
    one = GaussianMixture(4, **words).fit(X)
    assert (np.diff(one.objective_history_) <= 1e-9 * abs(one.objective_)).all()
    for factor in (1e-8, 1e6):
        other = GaussianMixture(4, **words).fit(X * factor)
        np.testing.assert_allclose(other.memberships_, one.memberships_, atol=1e-8)
        moved = one.score_samples(X) - 2 * np.log(factor)
        np.testing.assert_allclose(other.score_samples(X * factor), moved, rtol=1e-7)


def test_weights_are_copies():
    X, _, _ = noisy(n=150)
    w = np.random.default_rng(0).integers(0, 4, 150)
    weighted = GaussianMixture(3, noise="auto", random_state=0).fit(X, sample_weight=w)
    copied = GaussianMixture(3, noise="auto", random_state=0).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(weighted.means_, copied.means_, rtol=1e-8)
    assert weighted.noise_weight_ == pytest.approx(copied.noise_weight_)


def test_rows_without_noise_have_none():
    X, _, _ = noisy(n=400, share=0.0)
    bare = GaussianMixture(4, random_state=0).fit(X)
    model = GaussianMixture(4, noise="auto", random_state=0).fit(X)
    assert model.noise_weight_ < 0.03
    same = model.labels_ == bare.labels_
    assert same.mean() > 0.95


def test_models_and_predictions_know_noise(tmp_path):
    X, _, _ = noisy(n=300)
    model = GaussianMixture(4, noise=0.1, random_state=0).fit(X)
    assert model.noise_weight_ == pytest.approx(0.1)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba(X), model.memberships_)
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    np.testing.assert_allclose(again.outlier_score(X), model.noise_membership_, atol=1e-12)
    far = np.array([[1e6, 0.0], [1e150, 1e150]])
    np.testing.assert_array_equal(model.predict(far), [-1, -1])
    np.testing.assert_allclose(model.predict_proba(far), 0.0)
    drawn, kinds = model.sample(50)
    assert drawn.shape == (50, 2)
    assert (kinds >= 0).all()
    assert np.isfinite(model.icl(X))


def test_one_far_row_is_noise():
    rng = np.random.default_rng(8)
    X = np.r_[rng.normal(size=(60, 3)), [[1e8, -1e8, 1e8]]]
    model = GaussianMixture(1, noise="auto", random_state=0).fit(X)
    assert model.labels_[-1] == -1
    assert (np.diagonal(model.covariances_[0]) < 3.0).all()


@pytest.mark.parametrize("share", [0.0, 1.0, -1, "many", np.nan])
def test_bad_shares_are_named(share):
    with pytest.raises(ValueError, match="noise"):
        GaussianMixture(2, noise=share).fit(noisy(n=50)[0])


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_beside_incomplete_rows_is_naive(shape):
    """Noise has a row's density in the columns that it has values in."""
    X = noisy(n=80, d=3)[0]
    X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    w = np.ones(len(X))
    start = np.array([0.2, 0.3, 0.5]), np.nan_to_num(X[:3]), np.array([np.eye(3)] * 3)
    words = {"covariance": Covariance(shape, prior=0), "noise": 0.2, "missing": "partial"}
    model = GaussianMixture(3, **words, init=start, max_iter=4, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    seen = [column[~np.isnan(column)] for column in X.T]
    ranges = [naive.noise_volume(column[:, None], np.ones(len(column))) for column in seen]
    nothing = np.zeros((3, 3))
    known = naive.incomplete_mixture(X, w, start, nothing, shape, 4, 0.0, (0.2, np.array(ranges)))
    for mine, theirs in (
        (model.means_, known["v"]),
        (whole(model, 3), known["S"]),
        (model.weights_, known["p"]),
        (model.memberships_, known["u"]),
        (model.objective_history_, known["history"]),
        (model.score_samples(X), known["logs"]),
        (model.lower_bound_, known["logs"].mean()),
        (model.impute(X), known["means"]),
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    noise = known["u"].sum(axis=1) < 1 - known["u"].max(axis=1)
    np.testing.assert_array_equal(model.labels_ < 0, noise)


def test_incomplete_rows_of_noise_are_found(tmp_path):
    x, is_noise, said = noisy(d=5)
    holed = np.where(np.random.default_rng(0).random(x.shape) < 0.15, np.nan, x)
    words = {"noise": "auto", "missing": "partial", "random_state": 0}
    model = GaussianMixture(4, **words).fit(holed)
    assert (np.diff(model.objective_history_) <= 1e-7).all()
    bayes = recall_and_precision(said, is_noise)
    assert (
        recall_and_precision(model.labels_ < 0, is_noise) > bayes - 0.2
    ).all()  # of complete rows
    assert 0.05 < model.noise_weight_ < 0.15
    # of rows that had no holes when it was fitted, too
    whole = GaussianMixture(4, **words).fit(x)
    save(whole, tmp_path / "model")
    for each in (whole, load(tmp_path / "model")):
        assert np.mean(each.predict(holed) == whole.labels_) > 0.9
    np.testing.assert_array_equal(whole.labels_, GaussianMixture(4, **words).fit(x).labels_)
