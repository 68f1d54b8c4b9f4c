"""Asking a model about the rows it was fitted on gives what the fit stored, to the last bit."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from cmeans import (
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    TwoStepKernelKMeans,
)
from cmeans.kernels import Polynomial, Precomputed
from cmeans.papers import GradientLandmarks, PrintedFuzzy
from contracts.arrays import as_form, cut_raggedly, on_host
from sweep_choices import often, pairs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning"
    ),
]

SWEEPS = ("generic", "native")
N, C = 83, 3
FEW = np.arange(1, N, 5)
ESTIMATORS = {
    "hard": KernelKMeans,
    "two-step": TwoStepKernelKMeans,
    "fuzzy": partial(FuzzyCMeans, m=1.3),
    "possibilistic": partial(PossibilisticCMeans, m=1.5, pilot_m=1.3, eta_scale=0.5),
    "own": partial(CMeans, rule=PrintedFuzzy(1.5, exponent=3.0)),
}
SPACES = {
    "euclidean": {"kernel": "linear"},
    "exact": {"kernel": "rbf", "gamma": 0.15, "landmarks": None},
    "exact-polynomial": {"kernel": Polynomial(degree=2, gamma=0.2), "landmarks": None},
    "landmark": {"kernel": "rbf", "gamma": 0.15, "landmarks": FEW},
    "landmark-polynomial": {"kernel": Polynomial(degree=2, gamma=0.2), "landmarks": FEW},
    "gradient": {
        "kernel": "rbf",
        "gamma": 0.15,
        "landmarks": GradientLandmarks(points=FEW),
    },
    "precomputed": {"kernel": "precomputed", "landmarks": None},
    "precomputed-landmarks": {"kernel": "precomputed", "landmarks": FEW},
}


@pytest.fixture(scope="module")
def rows():
    X = np.eye(3, 5)[np.arange(N) % C] * 4 + np.random.default_rng(2).normal(scale=0.8, size=(N, 5))
    X[np.abs(X) < 0.2] = 0
    return X


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(3).uniform(0.1, 2, size=N)


def assert_equal(a, b):
    assert type(a) is type(b)
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(on_host(a), on_host(b))


def given(rows, space, form, dtype):
    if not space.startswith("precomputed"):
        return as_form(rows, form, dtype)
    K = (rows @ rows.T + 1.0) ** 2
    return as_form(K, form, dtype)


def has_solver(estimator, space, *_):
    return not (estimator == "two-step" and space == "gradient")  # its sample has none


def given_so(estimator, space, kind, _):
    return has_solver(estimator, space) and not (
        space.startswith("precomputed") and kind[0] == "csr"
    )


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("estimator", "space", "kind", "sweeps"),
    pairs(
        ESTIMATORS,
        SPACES,
        [("numpy", "float64"), ("numpy", "float32"), ("csr", "float64")],
        SWEEPS,
        allowed=given_so,
    ),
    indirect=["sweeps"],
)
def test_answers_are_what_the_fit_stored_to_the_last_bit(
    estimator, space, kind, rows, weights, monkeypatch
):
    form, dtype = kind
    cut_raggedly(monkeypatch)
    assert_bit_for_bit(estimator, space, form, dtype, rows, weights)


@pytest.mark.parametrize(("estimator", "space"), often(2, ESTIMATORS, SPACES, allowed=has_solver))
def test_answers_in_another_array_library_are_what_the_fit_stored(
    estimator, space, rows, weights, monkeypatch
):
    cut_raggedly(monkeypatch)
    assert_bit_for_bit(estimator, space, "torch", "float32", rows, weights)


def assert_bit_for_bit(estimator, space, form, dtype, rows, weights):
    X = given(rows, space, form, dtype)
    model = ESTIMATORS[estimator](C, **SPACES[space], init=FEW[:C], max_iter=7, n_jobs=2).fit(
        X, sample_weight=weights
    )
    assert_equal(model.memberships(X), model.memberships_)
    assert_equal(model.predict(X), model.labels_)
    assert -model.score(X, sample_weight=weights) == model.objective_
    distances, labels = on_host(model.transform(X)), on_host(model.labels_)
    assert distances.dtype == dtype
    if estimator == "possibilistic":
        assert_equal(model.typicality(X), model.memberships_)
    else:
        assert_equal(model.predict_proba(X), model.memberships_)
        np.testing.assert_array_equal(distances.argmin(axis=1), labels)
        np.testing.assert_allclose(
            on_host(model.outlier_score(X)), distances.min(axis=1), rtol=1e-6
        )
    if estimator in ("hard", "two-step"):
        objective = (weights * distances.min(axis=1).astype(np.float64) ** 2).sum()
        assert model.objective_ == pytest.approx(
            objective, rel=1e-5 if dtype == "float32" else 1e-12
        )


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("estimator", "space", "sweeps"),
    often(2, ESTIMATORS, SPACES, SWEEPS, allowed=has_solver),
    indirect=["sweeps"],
)
def test_fit_predict_is_fit_and_predict(estimator, space, rows):
    X = given(rows, space, "numpy", "float64")
    make = partial(ESTIMATORS[estimator], C, **SPACES[space], random_state=4)
    labels, model = make().fit_predict(X), make().fit(X)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_array_equal(labels, model.labels_)


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("estimator", "space", "sweeps"),
    pairs(
        ESTIMATORS,
        [name for name in SPACES if not name.startswith("precomputed")],
        SWEEPS,
        allowed=has_solver,
    ),
    indirect=["sweeps"],
)
def test_a_row_does_not_care_about_its_neighbours(estimator, space, rows):
    """New rows, one by one or all together."""
    model = ESTIMATORS[estimator](C, **SPACES[space], init=FEW[:C], max_iter=7).fit(rows)
    new = rows[::-1] + 0.1
    u = model.memberships(new)
    np.testing.assert_allclose(
        np.concatenate([model.memberships(new[i : i + 1]) for i in range(20)]),
        u[:20],
        rtol=0,
        atol=1e-10,
    )
    np.testing.assert_array_equal(model.predict(new[:20]), model.predict(new)[:20])


@pytest.mark.usefixtures("sweeps")
def test_precomputed_rows_bring_their_diagonal(rows):
    K = (rows @ rows.T + 1.0) ** 2
    model = FuzzyCMeans(
        C, m=1.3, kernel=Precomputed(diagonal=np.diag(K)), landmarks=FEW, init=FEW[:C]
    ).fit(K[:, FEW])
    np.testing.assert_array_equal(model.memberships(K[:, FEW], diag=np.diag(K)), model.memberships_)
    np.testing.assert_array_equal(
        model.memberships(K[3:9][:, FEW], diag=np.diag(K)[3:9]), model.memberships_[3:9]
    )
    # the nearest centre is the same whatever k(x, x) is
    np.testing.assert_array_equal(model.predict(K[:, FEW]), model.labels_)
    with pytest.raises(ValueError, match="diag"):
        model.memberships(K[:, FEW])
