"""What mixtures have for tables: tails of Student's t, columns of few values, and powers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import PowerTransformer

import cmeans
from cmeans import Covariance, FuzzyCMeans, GaussianMixture, native

SHAPES = ("full", "diag", "tied", "spherical")


def rows(n: int = 120) -> np.ndarray:
    X = make_blobs(n, centers=[[0, 0, 0], [6, 0, 2], [0, 6, -2]], random_state=0)[0]
    return X * [1.0, 2.0, 0.5]


def mixture(covariance: Covariance, **words: object) -> GaussianMixture:
    return GaussianMixture(3, covariance=covariance, random_state=0, **words)


def whole(model: GaussianMixture) -> np.ndarray:
    """The covariances (c, d, d) of a model."""
    found, eye = model.covariances_, np.eye(len(model.means_[0]))
    shape = model.covariance.shape
    if shape == "tied":
        return np.repeat(found[None], 3, axis=0)
    return found if shape == "full" else found.reshape(3, -1)[:, :, None] * eye


@pytest.mark.parametrize("shape", SHAPES)
def test_tails_are_those_of_student(shape) -> None:
    X = rows()
    model = mixture(Covariance(shape, df=5.0)).fit(X)
    densities = np.stack(
        [
            weight * multivariate_t(mean, covariance, df=5.0).pdf(X)
            for weight, mean, covariance in zip(
                model.weights_, model.means_, whole(model), strict=True
            )
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.score_samples(X), np.log(densities.sum(axis=1)), rtol=1e-9)
    expected = densities / densities.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.memberships_, expected, atol=1e-9)
    assert (np.diff(model.objective_history_) <= 1e-9 * abs(model.objective_)).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("dtype", "rounding"), [(np.float64, None), (np.float32, "auto")])
def test_tails_in_native_code_are_those_of_the_formulas(
    shape, dtype, rounding, monkeypatch
) -> None:
    """With weights, some of them zero, and, where columns are rounded, the errors of these."""
    X, weight = rows(300), np.random.default_rng(0).uniform(0, 2, 300)
    weight[::9] = 0.0
    X = (np.rint(2 * X) / 2 if rounding else X).astype(dtype)
    covariance = Covariance(shape, df=5.0, rounding=rounding)
    fits = []
    for is_native in (True, False):
        monkeypatch.setattr(native, "is_available", lambda is_native=is_native: is_native)
        model = mixture(covariance, init=X[:3], search=None, max_iter=4, tol=1e-2)
        fits.append(model.fit(X, sample_weight=weight))
    exact = {"rtol": 1e-9, "atol": 1e-9} if dtype is np.float64 else {"rtol": 1e-3, "atol": 1e-3}
    for name in ("means_", "covariances_", "weights_", "memberships_", "objective_"):
        np.testing.assert_allclose(*(getattr(model, name) for model in fits), **exact)
    assert fits[0].n_iter_ == fits[1].n_iter_


def test_tails_without_a_prior_end_where_their_equations_hold() -> None:
    X = rows()
    model = mixture(Covariance(df=4.0, prior=0.0), tol=1e-13, max_iter=3000).fit(X)
    u, count = model.memberships_, model.memberships_.sum(axis=0)
    for j, (mean, covariance) in enumerate(zip(model.means_, model.covariances_, strict=True)):
        away = X - mean
        pull = 7.0 / (4.0 + np.sum(away @ np.linalg.inv(covariance) * away, axis=1)) * u[:, j]
        np.testing.assert_allclose(pull @ X / pull.sum(), mean, atol=1e-5)
        np.testing.assert_allclose((away.T * pull) @ away / count[j], covariance, atol=1e-4)


def test_rows_far_out_do_not_widen_a_cluster_with_tails() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 3)), rng.normal(0, 40, (8, 3))])
    plain, tailed = (
        GaussianMixture(1, covariance=Covariance(df=df)).fit(X).covariances_[0]
        for df in (None, 3.0)
    )
    assert np.linalg.det(tailed) < 0.01 * np.linalg.det(plain)


@pytest.mark.parametrize("words", [{}, {"df": 5.0}])
def test_rounding_is_part_of_the_model(words) -> None:
    X = rows().round()
    X[:, 2] = rows()[:, 2]
    model = mixture(Covariance(rounding="auto", **words)).fit(X)
    share = np.array(
        [1.0 / (np.bincount(np.unique(x, return_inverse=True)[1]) ** 2).sum() for x in X.T]
    )
    u = 120**2 * share
    errors = X.var(axis=0) / np.maximum(u * u - 1, 0.05)
    lost = [np.trace(np.linalg.inv(covariance) * errors) for covariance in model.covariances_]
    assert (np.linalg.eigvalsh(model.covariances_ - np.diag(errors)) > 0).all()
    assert (np.diff(model.objective_history_) <= 1e-9 * abs(model.objective_)).all()
    assert model.weights_.sum() == pytest.approx(1)
    if not words:
        densities = np.stack(
            [
                weight * multivariate_normal(mean, covariance).pdf(X) * np.exp(-one / 2)
                for weight, mean, covariance, one in zip(
                    model.weights_, model.means_, model.covariances_, lost, strict=True
                )
            ],
            axis=1,
        )
        expected = densities / densities.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.memberships_, expected, atol=1e-9)


def test_rounding_says_nothing_of_columns_of_many_values() -> None:
    X = rows()
    plain, rounded = (mixture(Covariance(rounding=word)).fit(X) for word in (None, "auto"))
    np.testing.assert_array_equal(plain.memberships_, rounded.memberships_)


@pytest.mark.parametrize("words", [{"df": 5.0}, {"rounding": "auto"}, {"df": 5.0, "prior": 4.0}])
def test_weights_are_copies(words) -> None:
    X, weight = rows().round(), np.random.default_rng(0).integers(1, 4, 120)
    covariance = Covariance(**words)
    one = mixture(covariance, powers="auto").fit(X, sample_weight=weight)
    other = mixture(covariance, powers="auto").fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(one.means_, other.means_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.covariances_, other.covariances_, rtol=1e-6)


def test_powers_are_those_of_yeo_and_johnson() -> None:
    X = np.exp(rows() / [2.0, 4.0, 1.0])
    model = mixture(Covariance(), powers="auto").fit(X)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    known = PowerTransformer("yeo-johnson")
    expected = known.fit_transform(standard)
    np.testing.assert_allclose(model._powers.powers, known.lambdas_, atol=1e-4)
    np.testing.assert_allclose(model._powers(X), expected, atol=1e-3)
    np.testing.assert_allclose(model._powers.inverse(model._powers(X)), X, rtol=1e-9)
    np.testing.assert_allclose(model._powers.inverse(model.means_), model.cluster_centers_)
    same = mixture(Covariance()).fit(model._powers(X))
    np.testing.assert_array_equal(same.predict(model._powers(X)), model.predict(X))
    assert np.isfinite(model.predict_proba(np.full((1, 3), 1e150))).all()


def test_files_and_draws_of_such_mixtures(tmp_path) -> None:
    X = np.exp(rows().round(1))
    model = mixture(Covariance(df=5.0, rounding="auto"), powers="auto").fit(X)
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_proba(X), model.memberships_)
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    drawn, labels = model.sample(300)
    assert adjusted_rand_score(model.predict(drawn), labels) > 0.8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"covariance": Covariance(df=5.0), "noise": 0.1}, "tails and rounding go with neither"),
        ({"covariance": Covariance(rounding="auto"), "missing": "partial"}, "missing values"),
        ({"powers": 2.0}, 'powers must be None or "auto"'),
    ],
)
def test_what_does_not_go_together(words, message) -> None:
    with pytest.raises(ValueError, match=message):
        GaussianMixture(3, **words).fit(rows())


def test_tails_are_of_mixtures_alone() -> None:
    with pytest.raises(ValueError, match="df and rounding are of mixtures"):
        FuzzyCMeans(3, covariance=Covariance(df=5.0)).fit(rows())
    with pytest.raises(ValueError, match="df must be None or"):
        Covariance(df=-1.0)
    with pytest.raises(ValueError, match='rounding must be None or "auto"'):
        Covariance(rounding=0.5)
