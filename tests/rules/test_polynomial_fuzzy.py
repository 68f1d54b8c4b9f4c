"""The polynomial fuzzifier: against the paper's loops, at both ends of its parameter, and in every
place where rows may lie."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

import naive
import naive_polynomial
from cmeans import CMeans, KernelKMeans, Search, Sizes, load, save
from cmeans.rules import Fuzzy, PolynomialFuzzy
from contracts.rule import distances
from limited import limited

rng = np.random.default_rng(5)
X = rng.normal(size=(90, 3)) + 2.5 * np.repeat([[0, 0, 0], [1, 0, 1], [0, 2, 0]], 30, axis=0)
W = rng.integers(1, 4, size=90).astype(float)
START = np.array([0, 30, 60])
LINEAR, EXACT = {"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.1, "landmarks": None}
LANDMARKS = {"kernel": "rbf", "gamma": 0.1, "landmarks": 30}
BETAS = [0.0, 0.2, 0.5, 0.9, 0.999]
quiet = pytest.mark.filterwarnings("ignore:.*stopped at max_iter")


@pytest.fixture(params=["native", "generic"])
def kind(request, monkeypatch):
    if request.param == "generic":
        monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    return request.param


def fitted(rows=X, weights=None, **words):
    words = {"init": START, "tol": 1e-9, "max_iter": 1000, "random_state": 0, **words}
    return CMeans(3, rule=PolynomialFuzzy(words.pop("beta", 0.5)), **words).fit(
        rows, sample_weight=weights
    )


# ---- the formula


@pytest.mark.parametrize("beta", BETAS)
def test_memberships_and_weights_are_naive(beta):
    rule, d2 = PolynomialFuzzy(beta), distances()
    u = rule.memberships(d2, None)
    expected = naive_polynomial.memberships(d2, beta)
    np.testing.assert_allclose(u, expected, rtol=0, atol=1e-12 if beta < 0.99 else 1e-9)
    np.testing.assert_array_equal(u == 0, expected == 0)
    np.testing.assert_allclose(
        rule.weights(u), naive_polynomial.fuzzified(u, beta), rtol=1e-12, atol=1e-15
    )
    assert rule.penalty(u, None) is None


@quiet
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize("words", [LINEAR, EXACT], ids=["linear", "exact"])
def test_fits_are_naive(kind, words, weights, beta):
    gram = X @ X.T if words is LINEAR else rbf_kernel(X, gamma=0.1)
    expected = naive.cmeans(
        lambda A: naive.exact_distances(gram, A),
        lambda d2: naive_polynomial.fuzzified(naive_polynomial.memberships(d2, beta), beta),
        naive.row_start_distances_exact(gram, START),
        7,
        1,
        weights,
    )
    model = fitted(
        weights=weights, beta=beta, **words, max_iter=7, tol=0.0, search=Search(acceleration=None)
    )
    np.testing.assert_allclose(
        model.memberships_, naive_polynomial.memberships(expected.d2, beta), rtol=0, atol=1e-9
    )
    assert model.objective_ == pytest.approx(expected.objective, rel=1e-9)
    np.testing.assert_allclose(
        model.objective_history_[:-1],
        expected.history[: len(model.objective_history_) - 1],
        rtol=1e-9,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_beta_zero_is_fuzzy_c_means(kind, dtype):
    words = {"init": START, "tol": 1e-6, "search": Search(None, acceleration=None)}
    fuzzy, polynomial = (
        CMeans(3, rule=rule, **words).fit(X.astype(dtype))
        for rule in (Fuzzy(2.0), PolynomialFuzzy(0.0))
    )
    eps = np.finfo(dtype).eps
    assert abs(polynomial.n_iter_ - fuzzy.n_iter_) <= (1 if dtype == np.float32 else 0)
    np.testing.assert_allclose(polynomial.memberships_, fuzzy.memberships_, rtol=0, atol=100 * eps)
    np.testing.assert_allclose(
        polynomial.cluster_centers_, fuzzy.cluster_centers_, rtol=0, atol=300 * eps
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("beta", [1 - 1e-6, np.nextafter(1, 0)])
def test_beta_near_one_is_hard(kind, beta, dtype):
    """Also where 1 - beta is less than the rows' type can tell from nothing."""
    hard = KernelKMeans(3, kernel="linear", init=START, tol=1e-9, search=None).fit(X.astype(dtype))
    model = fitted(X.astype(dtype), beta=beta, tol=1e-6)
    np.testing.assert_array_equal(model.labels_, hard.labels_)
    assert ((model.memberships_ == 0) | (model.memberships_ == 1)).all()
    assert model.objective_ == pytest.approx(hard.objective_, rel=1e-5)


def test_a_row_is_certain_up_to_a_ratio_of_distances(kind):
    """Of two clusters, the nearer one has all of it where d_1 <= beta d_2."""
    rule = PolynomialFuzzy(0.4)
    u = rule.memberships(np.array([[0.39, 1.0], [0.41, 1.0]]), None)[:, 1]
    assert u.tolist() == pytest.approx([0.0, (1.4 / 1.41 * 0.41 - 0.4) / 0.6])
    model = fitted(beta=0.4)
    d2 = np.sort(model.transform(X) ** 2, axis=1)
    certain = d2[:, 0] <= 0.4 * d2[:, 1]
    assert 0.2 < certain.mean() < 0.95
    np.testing.assert_array_equal(model.memberships_.max(axis=1) == 1, certain)


# ---- fits


@pytest.mark.parametrize("words", [LINEAR, EXACT, LANDMARKS], ids=["linear", "exact", "landmarks"])
@pytest.mark.parametrize("beta", [0.2, 0.5, 0.9])
def test_the_objective_never_rises(kind, words, beta):
    for acceleration in (None, "anderson"):
        model = fitted(beta=beta, search=Search(acceleration=acceleration), **words)
        assert model.converged_
        assert (np.diff(model.objective_history_) <= 1e-12 * model.objective_).all()
    w = PolynomialFuzzy(beta).weights(model.memberships_)
    assert model.objective_ == pytest.approx((w * model.transform(X) ** 2).sum(), rel=1e-7)


@pytest.mark.parametrize("words", [LINEAR, EXACT], ids=["linear", "exact"])
def test_weights_are_copies(kind, words):
    weighted, copied = (
        fitted(weights=W, **words),
        fitted(np.repeat(X, W.astype(int), axis=0), **{**words, "init": X[START]}),
    )
    assert copied.objective_ == pytest.approx(weighted.objective_, rel=1e-9)
    np.testing.assert_allclose(copied.memberships(X), weighted.memberships(X), rtol=0, atol=1e-6)


def test_rows_in_files_and_other_forms_give_the_same(tmp_path, monkeypatch):
    limited(monkeypatch, block_rows=32, loaded_bytes=0)
    plain = fitted()
    np.save(tmp_path / "rows.npy", X)
    for rows in (tmp_path / "rows.npy", scipy.sparse.csr_array(X), X.astype(np.float32)):
        other = fitted(rows, init=X[START])
        rounding = 1e-4 if isinstance(rows, np.ndarray) else 1e-8
        assert other.objective_ == pytest.approx(plain.objective_, rel=rounding)
        np.testing.assert_allclose(
            other.cluster_centers_, plain.cluster_centers_, rtol=0, atol=rounding
        )


def test_rows_of_dask(monkeypatch):
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    limited(monkeypatch, loaded_bytes=0)
    plain, parts = fitted(init=X[START]), da.from_array(X, chunks=(40, 3))
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=False
    )
    with cluster, distributed.Client(cluster):
        model = fitted(parts, init=X[START])
        shares = model.predict_proba(parts).compute()
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_allclose(shares, plain.memberships_, rtol=0, atol=1e-7)


def test_threads_give_the_same_bits(kind, monkeypatch):
    limited(monkeypatch, block_rows=16, tasks=6, task_values=1)
    one, two, five = (fitted(n_jobs=jobs, **LANDMARKS) for jobs in (1, 2, 5))
    for other in (two, five):
        np.testing.assert_array_equal(other.memberships_, one.memberships_)
        assert other.objective_ == one.objective_


def test_saved_and_asked_about_new_rows(tmp_path):
    words = {"init": START, "tol": 1e-9, "max_iter": 1000, "random_state": 0, **LANDMARKS}
    model, given = fitted(**LANDMARKS), CMeans(3, rule=PolynomialFuzzy(0.5), **words).fit(X)
    np.testing.assert_array_equal(given.memberships_, model.memberships_)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert (again._rule, again.rule) == (PolynomialFuzzy(0.5), PolynomialFuzzy(0.5))
    np.testing.assert_array_equal(again.predict_proba(X + 0.1), model.predict_proba(X + 0.1))
    np.testing.assert_array_equal(again.predict(X), model.labels_)


# ---- what is refused


@pytest.mark.parametrize(
    "beta",
    [
        1,
        1.0,
        -0.1,
        2,
        np.nan,
        np.inf,
        -np.inf,
        "soft",
        True,
        [0.5],
        np.full(2, 0.5),
        b"auto",
        {},
        0.5j,
    ],
)
def test_a_beta_that_is_none(beta):
    with pytest.raises(
        ValueError,
        match=r"PolynomialFuzzy\(beta=.*: beta must be (a number of at least 0|less than 1)",
    ):
        PolynomialFuzzy(beta)


def test_what_the_rule_cannot_do():
    for words, told in (
        ({"sizes": Sizes(least=5)}, "does not bound the sizes"),
        ({"search": "annealing"}, "can be annealed"),
    ):
        with pytest.raises(ValueError, match=told):
            CMeans(3, rule="polynomial_fuzzy", **words).fit(X)


def test_it_is_half_by_default():
    assert CMeans(3, rule="polynomial_fuzzy", random_state=0).fit(X).rule_ == PolynomialFuzzy(0.5)
