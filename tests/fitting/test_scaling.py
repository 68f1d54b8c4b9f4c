"""Features brought to one range inside a fit: whose units come in and go out, and what a model
keeps of it."""

from __future__ import annotations

import pickle
import warnings
from functools import cache, partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from cmeans import (
    AdaptivePossibilisticCMeans,
    FuzzyCMeans,
    KernelKMeans,
    SequentialPossibilisticCMeans,
    load,
    save,
)
from cmeans.data.blocks import Blocks
from cmeans.data.scaling import FeatureUnits
from cmeans.datasets import make_s_set
from cmeans.engines import ThreadEngine
from cmeans.papers import GradientLandmarks, PrintedAdaptivePossibilisticCMeans
from cmeans.persistence.model_file import read_metadata
from cmeans.tuning.feature_ranges import factors_to_ten
from sweep_choices import pairs

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*belong nowhere:UserWarning")]

ESTIMATORS = {
    # the default looks at several
    "adaptive": partial(
        AdaptivePossibilisticCMeans, (1, 6), pilot_m="auto", alpha=1.0, random_state=0
    ),
    "sequential": partial(SequentialPossibilisticCMeans, (1, 6), patience=1, random_state=0),
}
SPACES = {
    "euclidean": {},
    "exact": {"kernel": "rbf", "gamma": 0.05, "landmarks": None, "sparsity": 0},
    "landmarks": {"kernel": "rbf", "gamma": 0.05, "landmarks": 25, "sparsity": 0},
    "gradient": {
        "kernel": "rbf",
        "gamma": 0.1,
        "landmarks": GradientLandmarks(12),
        "sparsity": 0,
    },
}
FORMS = {"dense": np.asarray, "csr": sparse.csr_array, "float32": np.float32}
UNITS = np.array([1e-3, 1e4])
over_estimators = pytest.mark.parametrize("name", ESTIMATORS)
over_spaces = pytest.mark.parametrize("space", SPACES)
over_forms = pytest.mark.parametrize("form", FORMS)


@cache
def scattered():
    X = make_s_set(4, 200, random_state=2)[0]
    return np.where(X < 0.1, 0.0, X) * UNITS


@pytest.fixture
def X():
    return scattered()


@cache
def fitted(name, space="euclidean", form="dense"):
    """A fit that tests share and none may change."""
    return ESTIMATORS[name](**SPACES[space]).fit(FORMS[form](scattered()))


# ------------------------------------------------------------------------------------------ factors


def factors_of(x, weight):
    with ThreadEngine(1).opened() as engine:
        return factors_to_ten(Blocks(x, weight), engine, "Mine")


@over_forms
def test_factors_bring_every_feature_to_a_range_of_ten(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3)) * [1.0, 1e-4, 1e4]
    X[:, 2] = np.where(X[:, 2] < 0, 0, X[:, 2])
    rows = FORMS[form](X)
    factors = factors_of(rows, np.ones(9000))
    np.testing.assert_allclose(np.ptp(X, axis=0) * factors, 10, rtol=1e-6)
    scaled = FeatureUnits(factors)(rows)
    np.testing.assert_allclose(
        np.ptp(scaled.toarray() if form == "csr" else scaled, axis=0), 10, rtol=1e-5
    )


def test_factors_of_odd_features():
    """Constant ones stay, rows without weight do not count, and what CSR rows leave out is zero."""
    X = np.array([[0.0, 3.0, 5.0], [2.0, 3.0, 0.0], [1e9, 4.0, 0.0]])
    weight = np.array([1.0, 0.5, 0.0])
    for form in (np.asarray, sparse.csr_array):
        np.testing.assert_allclose(factors_of(form(X), weight), [5, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(
            factors_of(np.array([[0.0, 1.0], [1e-320, 1.0]]), np.ones(2)), [1, 1]
        )
        np.testing.assert_array_equal(
            factors_of(np.array([[0.0], [1e-38]], dtype=np.float32), np.ones(2)), [1]
        )
        with pytest.raises(ValueError, match=r"Mine.*(finite|scale)"):
            factors_of(np.array([[-1.7e308], [1.7e308]]), np.ones(2))


@over_forms
def test_a_few_rows_decide_no_range(form):
    """With one far row in a hundred, in one column or in all, factors are those of the others,
    nearly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) + 8.0 * rng.integers(0, 2, size=(400, 3))
    X[:, 2] = np.where(X[:, 2] < 0, 0, X[:, 2])
    alone = factors_of(FORMS[form](X), np.ones(400))
    for far in (np.full(3, 1e2), np.array([0.0, 1e6, 0.0]), np.array([1e3, -1e5, 1e4])):
        rows = np.vstack([X, far * [[1.0], [-1.2], [1.5], [2.0]]])
        factors = factors_of(FORMS[form](rows), np.ones(404))
        assert (np.abs(np.log(factors / alone)) < 0.1).all()


def test_a_column_of_a_few_values_keeps_its_range():
    """Where nearly all values are one, the others are what the column tells."""
    X = np.column_stack([np.repeat([0.0, 1.0], [97, 3]), np.random.default_rng(0).normal(size=100)])
    assert factors_of(X, np.ones(100))[0] == 10


def test_scaled_and_back():
    X = np.array([[1.0, 0.0, 3.0], [0.0, 7.0, -2.0]])
    factors = np.array([2.0, 0.25, 3.0])
    for form in (np.asarray, sparse.csr_array):
        scaled = FeatureUnits(factors)(form(X))
        np.testing.assert_allclose(
            scaled.toarray() if form is sparse.csr_array else scaled, X * factors
        )
        back = FeatureUnits(factors).inverse(scaled)
        np.testing.assert_allclose(back.toarray() if form is sparse.csr_array else back, X)
    np.testing.assert_array_equal(X, [[1.0, 0.0, 3.0], [0.0, 7.0, -2.0]])


# --------------------------------------------------------------------------------- units in and out


def by_hand(X):
    """The rows scaled before the fit instead."""
    return X * (10 / np.ptp(X, axis=0))


@over_estimators
@over_spaces
def test_it_is_the_fit_of_scaled_rows_in_the_users_units(name, space, X):
    inside = fitted(name, space)
    outside = ESTIMATORS[name](**SPACES[space], scaling=None).fit(by_hand(X))
    np.testing.assert_array_equal(inside.labels_, outside.labels_)
    np.testing.assert_allclose(inside.memberships_, outside.memberships_, atol=1e-7)
    np.testing.assert_allclose(inside.eta_, outside.eta_, rtol=1e-6)
    assert inside.objective_ == pytest.approx(outside.objective_, rel=1e-6)
    np.testing.assert_allclose(
        inside.transform(X[:9]), outside.transform(by_hand(X)[:9]), atol=1e-6
    )
    np.testing.assert_array_equal(
        inside.predict(X[:50] * 1.01), outside.predict(by_hand(X)[:50] * 1.01)
    )
    if space == "euclidean":
        np.testing.assert_allclose(
            inside.cluster_centers_ * (10 / np.ptp(X, axis=0)), outside.cluster_centers_, rtol=1e-7
        )
    else:
        np.testing.assert_allclose(inside.landmarks_, X[inside.landmark_indices_], rtol=1e-12)


@over_estimators
def test_centres_lie_amid_their_own_rows(name, X):
    model = fitted(name)
    for j, centre in enumerate(model.cluster_centers_):
        own = X[model.labels_ == j]
        slack = 0.05 * np.ptp(X, axis=0)  # rows of its neighbours pull too
        assert (own.min(axis=0) - slack <= centre).all()
        assert (centre <= own.max(axis=0) + slack).all()
        assert model.predict(centre[None])[0] == j


@over_estimators
def test_landmarks_given_as_points_are_in_the_users_units(name, X):
    words = {"kernel": "rbf", "gamma": 0.05, "sparsity": 0}
    rows = np.arange(0, 200, 8)
    by_number = ESTIMATORS[name](**words, landmarks=rows).fit(X)
    by_point = ESTIMATORS[name](**words, landmarks=X[rows]).fit(X)
    np.testing.assert_array_equal(by_point.labels_, by_number.labels_)
    np.testing.assert_allclose(by_point.memberships_, by_number.memberships_, atol=1e-6)
    np.testing.assert_allclose(by_point.landmarks_, X[rows], rtol=1e-12)


@over_estimators
def test_rows_come_back_untouched(name, X):
    for form in (np.asarray, sparse.csr_array):
        rows = form(X.copy())
        model = ESTIMATORS[name]().fit(rows)
        model.transform(rows)
        np.testing.assert_array_equal(rows.toarray() if form is sparse.csr_array else rows, X)


@over_estimators
@over_forms
def test_new_rows_are_measured_like_those_of_the_fit(name, form, X):
    """One by one or together, by what the fit knew of the ranges."""
    rows = FORMS[form](X)
    model = fitted(name, form=form)
    np.testing.assert_array_equal(model.predict(rows[:7]), model.labels_[:7])
    np.testing.assert_allclose(model.typicality(rows[:1]), model.memberships_[:1], atol=1e-6)
    dense = fitted(name)
    np.testing.assert_array_equal(dense.predict(sparse.csr_array(X)), dense.labels_)


@over_estimators
def test_a_precomputed_kernel_has_no_features(name, X):
    scaled = by_hand(X)[::2]
    K = np.exp(-0.05 * ((scaled[:, None] - scaled) ** 2).sum(axis=2))
    models = [
        ESTIMATORS[name](kernel="precomputed", sparsity=0, scaling=scaling).fit(K)
        for scaling in ("range", None)
    ]
    np.testing.assert_array_equal(models[0].memberships_, models[1].memberships_)
    exact = ESTIMATORS[name](
        kernel="rbf", gamma=0.05, landmarks=None, sparsity=0, scaling=None
    ).fit(scaled)
    assert adjusted_rand_score(models[0].labels_, exact.labels_) > 0.9


@over_estimators
def test_ranges_that_no_number_holds(name):
    X = np.array([[-1.7e308], [1.7e308], [0.0]])
    with pytest.raises(ValueError, match=r"PossibilisticCMeans.*(finite|[Ss]cale)"):
        ESTIMATORS[name]().fit(X)


# ------------------------------------------------------------------------------- what a model keeps


@pytest.mark.parametrize(("name", "space", "form"), pairs(ESTIMATORS, SPACES, FORMS))
def test_there_and_back(name, space, form, X, tmp_path):
    new, model = FORMS[form](X[::7] * 1.02), fitted(name, space, form)
    save(model, tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        for question in ("predict", "typicality", "transform", "outlier_score"):
            np.testing.assert_array_equal(
                getattr(again, question)(new), getattr(model, question)(new)
            )
        assert again.score(new) == model.score(new)
        np.testing.assert_array_equal(again.labels_, model.labels_)
        np.testing.assert_array_equal(again.eta_, model.eta_)
        assert again.get_params() == model.get_params()
        assert set(vars(again)) == set(vars(model))
    assert read_metadata(tmp_path / "model")["estimator"] == type(model).__name__


@over_estimators
def test_a_refit_without_scaling_leaves_no_factors_behind(name, X):
    rows = by_hand(X)
    model = ESTIMATORS[name]().fit(X)
    model.set_params(scaling=None).fit(rows)
    fresh = ESTIMATORS[name](scaling=None).fit(rows)
    np.testing.assert_array_equal(model.labels_, fresh.labels_)
    np.testing.assert_array_equal(model.predict(rows), fresh.predict(rows))
    np.testing.assert_array_equal(model.transform(rows), fresh.transform(rows))
    np.testing.assert_array_equal(model.cluster_centers_, fresh.cluster_centers_)
    assert set(vars(model)) == set(vars(fresh))


@over_estimators
def test_a_refit_with_other_ranges(name, X):
    model = ESTIMATORS[name]().fit(X)
    again = clone(model).fit(X)
    model.fit(X * 1e5)
    rounding = 1e-12 * np.ptp(X, axis=0)  # of a coordinate that is zero
    assert (
        np.abs(model.cluster_centers_ / 1e5 - again.cluster_centers_)
        <= 1e-6 * np.abs(again.cluster_centers_) + rounding
    ).all()
    np.testing.assert_array_equal(model.predict(X * 1e5), again.predict(X))


@over_estimators
def test_words_changed_after_a_fit_wait_for_the_next(name, X):
    model = ESTIMATORS[name]().fit(X)
    before = model.transform(X)
    np.testing.assert_array_equal(model.set_params(scaling=None).transform(X), before)


def test_a_fit_goes_on_from_a_scaled_model(X):
    """In the same units; by a model of no scaling it is told how the points are meant."""
    first = AdaptivePossibilisticCMeans((1, 8), random_state=0, tol=1e-7).fit(X)
    again = PrintedAdaptivePossibilisticCMeans(
        (1, first.n_clusters_), init=first, adaptation="length", random_state=0
    ).fit(X)
    assert again.n_clusters_ <= first.n_clusters_
    points = PrintedAdaptivePossibilisticCMeans(
        (1, first.n_clusters_), init=first.cluster_centers_, adaptation="length", random_state=0
    ).fit(X)
    np.testing.assert_allclose(again.memberships_, points.memberships_, atol=1e-6)


def test_centres_of_a_scaled_model_start_others_in_the_users_units(X):
    """Models with and without scaling measure differently; centres carry over as the points they
    are."""
    first = AdaptivePossibilisticCMeans((1, 8), random_state=0).fit(X)
    k = first.n_clusters_
    from_model = KernelKMeans(k, kernel="linear", init=first, max_iter=300).fit(X)
    from_points = KernelKMeans(k, kernel="linear", init=first.cluster_centers_, max_iter=300).fit(X)
    np.testing.assert_array_equal(from_model.labels_, from_points.labels_)
    assert from_model.objective_history_[0] == pytest.approx(
        from_points.objective_history_[0], rel=1e-6
    )
    plain = FuzzyCMeans(4, kernel="linear", m=1.5, random_state=0).fit(X)
    words = {"adaptation": "length", "random_state": 0}
    model = PrintedAdaptivePossibilisticCMeans((1, 4), init=plain, **words).fit(X)
    points = PrintedAdaptivePossibilisticCMeans((1, 4), init=plain.cluster_centers_, **words).fit(X)
    np.testing.assert_allclose(model.memberships_, points.memberships_, atol=1e-6)
