"""Mixtures of rows as people bring them: columns of one value, rows that are equal, few or far,
values told in steps, counts as weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cmeans import Covariance, DataWarning, FuzzyCMeans, GaussianMixture, load, save

SHAPES = ("full", "diag", "tied", "spherical")


def quiet(model, X, **more):
    """Fit rows of which warnings are due."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, **more)


def all_finite(model):
    return all(
        np.isfinite(getattr(model, name)).all()
        for name in ("weights_", "means_", "covariances_", "precisions_", "memberships_")
    )


def blobs(n=90, d=2, seed=0):
    kinds = np.arange(n) % 3
    return np.random.default_rng(seed).normal(size=(n, d)) + 8.0 * kinds[:, None], kinds


def heaped(step):
    """Two heaps of ages told in steps."""
    kinds = np.arange(400) % 2
    ages = np.random.default_rng(4).normal(np.array([25, 60])[kinds], 6)
    return (ages / step).round()[:, None] * step, kinds


@pytest.mark.parametrize("shape", SHAPES)
def test_every_kind_of_rows_fits_or_says_why(shape):
    X, _ = blobs()
    line = np.linspace(0, 1, 60)[:, None]
    for rows, c in (
        (np.c_[X, X @ [1.0, 2.0], X[:, 0]], 3),  # collinear columns
        (np.c_[X, np.full(90, 7.0)], 3),
        (line @ [[1.0, 2.0, 3.0]], 3),  # all rows on a line
        (np.repeat(X[:3], 20, axis=0), 3),  # as many rows that differ as components
        (np.repeat(X[:2], 20, axis=0), 2),
        (X[:3], 3),  # c rows
        (np.r_[X, [[1e6, -1e6]]], 3),  # one row far out
        (np.r_[X, [[1e150, 0.0]]], 3),
        (X * [1e-150, 1e100], 3),
        (np.c_[X[:, 0], np.arange(90) % 3 == 0], 3),  # a column that is constant within components
    ):
        model = quiet(GaussianMixture(c, covariance=shape, random_state=0), rows)
        assert all_finite(model)
        assert np.isfinite(model.score_samples(rows)).all()
        assert np.isfinite([model.bic(rows), model.icl(rows)]).all()
        np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="all rows of positive weight are equal"):
        GaussianMixture(2, covariance=shape).fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match=r"Row 90 is the first such one, with 1e\+200"):
        GaussianMixture(3, covariance=shape).fit(np.r_[X, [[1e200, 0.0]]])


def test_far_rows_have_an_answer_or_are_named():
    X, _ = blobs()
    model = GaussianMixture(3, random_state=0).fit(X)
    far = np.array([[10.0**k, 10.0**k] for k in (2, 4, 8, 100, 150)])
    posteriors = model.predict_proba(far)
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
    assert (posteriors[1:] == posteriors[-1]).all()
    with pytest.raises(ValueError, match="Row 1 is the first such one"):
        model.predict_proba([[0.0, 0.0], [1e200, 1e200]])


def test_columns_that_say_nothing_are_told():
    X, kinds = blobs()
    bare = GaussianMixture(3, random_state=0).fit(X)
    with pytest.warns(DataWarning, match="same value in column 1, which says nothing of clusters"):
        model = GaussianMixture(3, random_state=0).fit(np.insert(X, 1, 7.0, axis=1))
    np.testing.assert_allclose(model.memberships_, bare.memberships_, atol=1e-9)
    fuzzy = FuzzyCMeans(3, kernel="linear", covariance="full", random_state=0)
    with pytest.warns(DataWarning, match="column 1"):
        fuzzy.fit(np.insert(X, 1, 7.0, axis=1))
    assert adjusted_rand_score(kinds, fuzzy.labels_) == 1.0


def test_too_little_weight_is_told():
    X, _ = blobs(n=12)
    with pytest.warns(DataWarning, match=r"weigh 8 together, of which 3 clusters would need 9"):
        GaussianMixture(3, random_state=0).fit(X, sample_weight=np.full(12, 8 / 12))
    GaussianMixture(3, random_state=0).fit(X)  # 12
    GaussianMixture(3, covariance="tied", random_state=0).fit(X[:5])


def test_a_column_that_is_constant_in_one_component():
    rng, kinds = np.random.default_rng(3), np.repeat([0, 1], 150)
    X = np.c_[
        rng.normal(size=300) + 6 * kinds,
        np.where(kinds, rng.normal(3, 1, 300), 0),
        np.full(300, 7.0),
    ]
    fits = [quiet(GaussianMixture(c, random_state=0, tol=1e-4), X) for c in (1, 2, 3)]
    bare = [quiet(GaussianMixture(c, random_state=0, tol=1e-4), X[:, :2]) for c in (1, 2, 3)]
    assert adjusted_rand_score(kinds, fits[1].labels_) == 1.0
    np.testing.assert_allclose(
        [model.bic(X) for model in fits], [model.bic(X[:, :2]) for model in bare], rtol=1e-9
    )


@pytest.mark.slow  # mixtures of up to five components
@pytest.mark.parametrize("step", [5.0, 10.0])
def test_values_told_in_steps_do_not_hide_the_number(step):
    X, kinds = heaped(step)
    fits = [quiet(GaussianMixture(c, tol=1e-4, random_state=0), X) for c in range(1, 6)]
    for criterion in ("bic", "icl"):
        assert int(np.argmin([getattr(model, criterion)(X) for model in fits])) == 1
    assert adjusted_rand_score(kinds, fits[1].labels_) > 0.95
    half = [quiet(GaussianMixture(c, tol=1e-4, random_state=0), X[::2]) for c in (2, 5)]
    assert half[1].score(X[1::2]) < half[0].score(X[1::2]) + 0.05
    np.testing.assert_allclose(fits[1].steps_, [step])


def test_components_narrower_than_a_step_are_told():
    X, _ = heaped(5.0)
    GaussianMixture(2, random_state=0).fit(X)
    said = r"of 6 components are narrower than the steps \(5\) in which values are told of column 0"
    with pytest.warns(DataWarning, match=said):
        GaussianMixture(6, random_state=0).fit(X)


@pytest.mark.parametrize("shape", ["full", "diag"])
def test_likelihoods_of_spread_rows_are_the_naive_ones(shape):
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(0, 9, 80), rng.normal(size=80)].astype(float)
    model = quiet(GaussianMixture(2, covariance=shape, random_state=0), X)
    np.testing.assert_array_equal(model.steps_, [1.0, 0.0])
    half = np.random.default_rng(0).random((8, 2)) - 0.5
    known = np.zeros(80)
    for place in (*half, *-half):
        for i, row in enumerate(X + place * [1.0, 0.0]):
            density = 0.0
            for p, v, S in zip(model.weights_, model.means_, model.covariances_, strict=True):
                S = (np.diag(S) if shape == "diag" else S) + np.diag([1 / 12, 0.0])
                away = row - v
                size = np.sqrt(np.linalg.det(2 * np.pi * S))
                density += p * np.exp(-0.5 * away @ np.linalg.inv(S) @ away) / size
            known[i] += np.log(density) / 16
    np.testing.assert_allclose(model.score_samples(X), known, rtol=1e-9)
    np.testing.assert_allclose(model.score(X), known.mean(), rtol=1e-9)
    free = 2 * (5 if shape == "full" else 4) + 1
    np.testing.assert_allclose(model.bic(X), -2 * known.sum() + free * np.log(80), rtol=1e-9)


def test_units_move_likelihoods_by_the_known_amount():
    """Of columns told in steps too."""
    rng = np.random.default_rng(0)
    kinds = np.arange(300) % 2
    X = np.c_[rng.poisson(np.where(kinds, 3, 15)), rng.normal(size=300) + 3 * kinds].astype(float)
    words = {"init": kinds, "covariance": Covariance(prior=0.0)}
    one = quiet(GaussianMixture(2, **words), X)
    for factor in ([1e-4, 1.0], [1.0, 1e8], [1e-8, 1e-8], [3.0, 7.0]):
        other = quiet(GaussianMixture(2, **words), X * factor)
        np.testing.assert_array_equal(other.labels_, one.labels_)
        moved = np.log(factor).sum()
        np.testing.assert_allclose(
            other.score_samples(X * factor), one.score_samples(X) - moved, rtol=1e-7
        )
        np.testing.assert_allclose(other.bic(X * factor), one.bic(X) + 600 * moved, rtol=1e-9)


def test_counts_are_copies():
    bins = np.arange(0, 100, 0.5)
    counts = np.round(
        4 * (np.exp(-((bins - 30) ** 2) / 72) + np.exp(-((bins - 65) ** 2) / 200))
    ).astype(int)
    X, copies = bins[:, None], np.repeat(bins, counts)[:, None]
    for c in (1, 2):
        weighted = quiet(GaussianMixture(c, random_state=0), X, sample_weight=counts)
        copied = quiet(GaussianMixture(c, random_state=0), copies)
        left_out = quiet(
            GaussianMixture(c, random_state=0), X[counts > 0], sample_weight=counts[counts > 0]
        )
        for other in (copied, left_out):
            np.testing.assert_allclose(weighted.means_, other.means_, rtol=1e-9)
            np.testing.assert_array_equal(weighted.steps_, other.steps_)
        np.testing.assert_allclose(weighted.bic(X, counts), copied.bic(copies), rtol=1e-9)
        np.testing.assert_allclose(
            weighted.score(X, sample_weight=counts), copied.score(copies), rtol=1e-9
        )
    with pytest.raises(ValueError, match="sample_weight"):
        GaussianMixture(2).fit(X, sample_weight=counts[1:])


def test_models_keep_their_steps(tmp_path):
    X, _ = heaped(5.0)
    model = GaussianMixture(2, random_state=0).fit(X)
    save(model, tmp_path / "model.safetensors", rows=False)
    again = load(tmp_path / "model.safetensors")
    assert again.bic(X) == model.bic(X)
    np.testing.assert_array_equal(again.steps_, [5.0])


def test_covariances_of_rows_on_lines_have_inverses():
    t, kinds = np.linspace(-1, 1, 200), np.arange(200) % 2
    X = np.c_[t, np.where(kinds, -t, t)]
    for model in (
        GaussianMixture(2, random_state=0),
        FuzzyCMeans(2, kernel="linear", covariance="full", random_state=0),
        GaussianMixture(2, covariance=Covariance("full", prior=1e-3), random_state=0),
    ):
        assert adjusted_rand_score(kinds, model.fit(X).labels_) >= 0.9
