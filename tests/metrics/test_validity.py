"""Measures without a truth: against loops, the full kernel, and what holds for any memberships."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

import naive
from cmeans import (
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    Landmarks,
    PossibilisticCMeans,
    TwoStepKernelKMeans,
)
from cmeans.kernels import RBF, Linear
from cmeans.papers import GradientLandmarks, PrintedFuzzy
from cmeans.validity import indices, partition_coefficient, partition_entropy, xie_beni
from contracts.arrays import DENSE, as_form

over_indices = pytest.mark.parametrize("index", [partition_coefficient, partition_entropy])
CENTRES = np.array([[0.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 4.0]])
X = CENTRES[np.arange(61) % 3] + np.random.default_rng(0).normal(scale=0.7, size=(61, 3))
WEIGHT = np.random.default_rng(1).integers(0, 4, size=61)


@st.composite
def memberships(draw):
    """Rows that sum to one, with zeros."""
    shape = (draw(st.integers(1, 12)), draw(st.integers(2, 5)))
    raw = draw(
        arrays(float, shape, elements=st.sampled_from([0.0, 1e-300, 1e-3, 0.1, 1.0, 2.0, 5.0]))
    )
    raw[np.arange(shape[0]), np.arange(shape[0]) % shape[1]] += 0.5
    return raw / raw.sum(axis=1, keepdims=True)


# ------------------------------------------------------------------- partition coefficient, entropy


def naive_coefficient(u, w):
    return sum(w[i] * u[i, j] ** 2 for i in range(len(u)) for j in range(u.shape[1])) / sum(w)


def naive_entropy(u, w):
    total = 0.0
    for i in range(len(u)):
        for j in range(u.shape[1]):
            if u[i, j] > 0:
                total -= w[i] * u[i, j] * np.log(u[i, j])
    return total / sum(w)


NAIVE = {partition_coefficient: naive_coefficient, partition_entropy: naive_entropy}


@over_indices
@given(u=memberships(), seed=st.integers(0, 1000))
def test_against_loops(index, u, seed):
    w = np.random.default_rng(seed).integers(0, 4, len(u)).astype(float)
    w[0] += 1
    assert index(u, sample_weight=w) == pytest.approx(NAIVE[index](u, w), rel=1e-13, abs=1e-15)
    assert index(u) == pytest.approx(NAIVE[index](u, np.ones(len(u))), rel=1e-13, abs=1e-15)


def test_by_hand():
    u = [[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]]
    assert partition_coefficient(u) == (1 + 3 / 8) / 2
    assert partition_coefficient(u, sample_weight=[1, 3]) == (1 + 9 / 8) / 4
    assert partition_coefficient(u, normalized=True) == pytest.approx((3 * 11 / 16 - 1) / 2)
    assert partition_entropy(u) == pytest.approx(1.5 * np.log(2) / 2)
    assert partition_entropy(u, sample_weight=[3, 1]) == pytest.approx(1.5 * np.log(2) / 4)


@given(u=memberships(), seed=st.integers(0, 1000))
def test_range_and_order(u, seed):
    c = u.shape[1]
    assert 1 / c - 1e-12 <= partition_coefficient(u) <= 1 + 1e-12
    assert -1e-12 <= partition_coefficient(u, normalized=True) <= 1 + 1e-12
    assert 0 <= partition_entropy(u) <= np.log(c) + 1e-12
    rng = np.random.default_rng(seed)
    shuffled = u[rng.permutation(len(u))][:, rng.permutation(c)]
    assert partition_coefficient(shuffled) == pytest.approx(partition_coefficient(u), rel=1e-12)
    assert partition_entropy(shuffled) == pytest.approx(partition_entropy(u), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("c", [1, 2, 7])
def test_crisp_and_even(c):
    crisp, even = np.eye(c)[np.arange(20) % c], np.full((20, c), 1 / c)
    assert partition_coefficient(crisp) == 1.0
    assert partition_entropy(crisp) == 0.0
    assert not np.signbit(partition_entropy(crisp))
    assert partition_coefficient(even) == pytest.approx(1 / c)
    assert partition_entropy(even) == pytest.approx(np.log(c))
    if c > 1:
        assert partition_coefficient(crisp, normalized=True) == 1.0
        assert partition_coefficient(even, normalized=True) == pytest.approx(0.0, abs=1e-15)


@over_indices
@given(u=memberships(), seed=st.integers(0, 1000))
def test_a_weight_is_a_number_of_copies(index, u, seed):
    w = np.random.default_rng(seed).integers(0, 4, len(u))
    w[-1] += 1
    copies = np.repeat(u, w, axis=0)
    assert index(u, sample_weight=w) == pytest.approx(index(copies), rel=1e-12, abs=1e-14)
    assert index(u, sample_weight=w * 1e300) == pytest.approx(index(copies), rel=1e-12, abs=1e-14)


@over_indices
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("form", DENSE)
def test_memberships_of_any_library(index, form, dtype):
    u = FuzzyCMeans(3, m=1.7, random_state=0).fit(as_form(X, form, dtype)).memberships_
    own = FuzzyCMeans(3, m=1.7, random_state=0).fit(X).memberships_
    assert index(u) == pytest.approx(index(own), rel=1e-9 if dtype == "float64" else 1e-2)
    assert index(u) == index(as_form(np.asarray(u).astype(float), "numpy"))
    assert isinstance(index(u), float)


@over_indices
def test_memberships_as_tables(index):
    u = FuzzyCMeans(3, random_state=0).fit(X).memberships_
    assert index(pd.DataFrame(u)) == index(pl.DataFrame(u)) == index(u.tolist()) == index(u)


def test_typicalities_are_taken_as_they_are():
    u = PossibilisticCMeans(3, kernel="linear", eta_scale=0.3, random_state=0).fit(X).memberships_
    assert partition_coefficient(u) == pytest.approx(float((u**2).sum() / len(u)))
    assert partition_entropy(np.full((5, 3), 1 / np.e)) == pytest.approx(3 / np.e)


@over_indices
def test_bad_memberships_are_named(index):
    name = index.__name__
    for given_, message in (
        (np.ones(5), rf"{name}: memberships have shape \(5,\); a 2-D array"),
        (np.ones((2, 2, 2)), rf"{name}: memberships have shape \(2, 2, 2\)"),
        (np.ones((0, 3)), rf"{name}: memberships have shape \(0, 3\); at least one row"),
        (np.ones((3, 0)), rf"{name}: memberships have shape \(3, 0\)"),
        (
            [[0.5, 0.5], [1.1, -0.1]],
            rf"{name}: memberships\[1, 0\] is 1.1; memberships lie between 0 and 1",
        ),
        ([[0.5, 0.5], [0.5, -0.1]], rf"{name}: memberships\[1, 1\] is -0.1"),
        ([[0.5, np.nan]], rf"{name}: memberships\[0, 1\] is nan"),
        ([["a", "b"]], rf"{name}: memberships must be a table of numbers"),
        ([[1.0], [0.5, 0.5]], rf"{name}: memberships must be a table of numbers"),
        (None, rf"{name}: memberships"),
    ):
        with pytest.raises(ValueError, match=message):
            index(given_)
    for weight, message in (
        ([1, 2, 3], rf"{name}: sample_weight has shape \(3,\)"),
        ([1, -1], rf"{name}: sample_weight\[1\] is -1"),
        ([0, 0], rf"{name}: every sample weight is zero"),
        ([np.nan, 1], rf"{name}: sample_weight\[0\] is nan"),
    ):
        with pytest.raises(ValueError, match=message):
            index([[0.5, 0.5], [1.0, 0.0]], sample_weight=weight)


def test_one_cluster_cannot_be_normalized():
    assert partition_coefficient([[1.0], [1.0]]) == 1.0
    with pytest.raises(
        ValueError, match=r"partition_coefficient\(normalized=True\): there is one cluster"
    ):
        partition_coefficient([[1.0], [1.0]], normalized=True)


# ----------------------------------------------------------------------------------------- Xie-Beni


def naive_xie_beni(d2, u, m, apart, weights=None):
    """`apart` (c, c): squared distances of the centres."""
    n, c = d2.shape
    w = np.ones(n) if weights is None else weights
    least = min(apart[j, k] for j in range(c) for k in range(c) if j != k)
    return sum(w[i] * u[i, j] ** m * d2[i, j] for i in range(n) for j in range(c)) / (
        sum(w) * least
    )


def from_combinations(A, K_points, K_rows, diag):
    """Squared distances of rows to centres v_j = sum_p A[j, p] phi(p), and of the centres, from
    kernel values alone."""
    c = len(A)
    inner = np.array([[A[j] @ K_points @ A[k] for k in range(c)] for j in range(c)])
    d2 = np.array(
        [[diag[i] - 2 * K_rows[i] @ A[j] + inner[j, j] for j in range(c)] for i in range(len(diag))]
    )
    return d2, np.array(
        [[inner[j, j] + inner[k, k] - 2 * inner[j, k] for k in range(c)] for j in range(c)]
    )


MODELS = {
    "hard": (KernelKMeans(3, random_state=0), 1),
    "two-step": (TwoStepKernelKMeans(3, random_state=0), 1),
    "fuzzy": (FuzzyCMeans(3, m=1.6, random_state=0), 1.6),
    "fuzzy at 2": (FuzzyCMeans(3, m=2, random_state=0), 2),
    "possibilistic": (PossibilisticCMeans(3, m=1.8, eta_scale=0.3, random_state=0), 1.8),
    "printed": (CMeans(3, rule=PrintedFuzzy(2.0), random_state=0), 2),
}
over_models = pytest.mark.parametrize(("model", "m"), MODELS.values(), ids=MODELS)


def memberships_at(d2, model):
    if isinstance(model, KernelKMeans | TwoStepKernelKMeans):
        return naive.hard_memberships(d2)
    if isinstance(model, PossibilisticCMeans):
        return naive.possibilistic_memberships(d2, model.eta_, model.m)
    return (
        naive.fuzzy_memberships(d2, model.rule.m, model.rule.power)
        if isinstance(model, CMeans)
        else naive.fuzzy_memberships(d2, model.m)
    )


@over_models
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
def test_in_the_space_of_the_rows(model, m, weight):
    model = clone(model).set_params(kernel="linear").fit(X, sample_weight=weight)
    # a sample's
    V = (
        model.cluster_centers_
        if hasattr(model, "cluster_centers_")
        else model.dual_coef_ @ model.landmarks_
    )
    d2 = ((X[:, None, :] - V[None, :, :]) ** 2).sum(axis=2)
    apart = ((V[:, None, :] - V[None, :, :]) ** 2).sum(axis=2)
    expected = naive_xie_beni(d2, memberships_at(d2, model), m, apart, weight)
    assert xie_beni(model, X, sample_weight=weight) == pytest.approx(expected, rel=1e-9)


@over_models
@pytest.mark.parametrize(
    "words",
    [
        {"kernel": "rbf", "landmarks": None},
        {"kernel": "rbf", "landmarks": 20},
        {"kernel": "rbf", "landmarks": GradientLandmarks(20)},
    ],
    ids=["exact", "landmarks", "gradient"],
)
def test_against_the_full_kernel(model, m, words):
    if isinstance(model, TwoStepKernelKMeans) and isinstance(words["landmarks"], Landmarks):
        words = {"kernel": "rbf", "landmarks": 25}
    model = clone(model).set_params(gamma=0.05, **words).fit(X)
    points = model.landmarks_
    d2, apart = from_combinations(
        model.dual_coef_,
        rbf_kernel(points, gamma=0.05),
        rbf_kernel(X, points, gamma=0.05),
        np.ones(len(X)),
    )
    expected = naive_xie_beni(d2, memberships_at(d2, model), m, apart)
    assert xie_beni(model, X) == pytest.approx(expected, rel=1e-6)


def test_of_the_exact_fixed_point():
    """Centres that are the means of their rows in kernel space, straight from the memberships and
    K."""
    K = rbf_kernel(X, gamma=0.05)
    model = FuzzyCMeans(
        3, m=1.6, kernel="rbf", gamma=0.05, landmarks=None, tol=1e-10, max_iter=2000, random_state=0
    ).fit(X)
    A = model.memberships_**1.6
    d2, apart = from_combinations((A / A.sum(axis=0)).T, K, K, np.diag(K))
    assert xie_beni(model, X) == pytest.approx(
        naive_xie_beni(d2, model.memberships_, 1.6, apart), rel=1e-6
    )
    assert xie_beni(model, X) == pytest.approx(
        model.objective_ / len(X) / apart[np.triu_indices(3, 1)].min(), rel=1e-6
    )


def test_precomputed_kernels_with_a_diagonal():
    K = X @ X.T
    exact = FuzzyCMeans(
        3, m=1.6, kernel=Linear(), landmarks=None, tol=1e-8, random_state=0, init=X[:3]
    ).fit(X)
    model = FuzzyCMeans(
        3, m=1.6, kernel="precomputed", landmarks=None, tol=1e-8, random_state=0, init=np.arange(3)
    ).fit(K)
    assert xie_beni(model, K) == pytest.approx(xie_beni(exact, X), rel=1e-5)
    rows = X[:20] + 0.3
    expected = xie_beni(exact, rows)
    assert xie_beni(model, rows @ X.T, diag=(rows**2).sum(axis=1)) == pytest.approx(
        expected, rel=1e-5
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_weight_is_a_number_of_copies_of_a_row(kernel):
    model = FuzzyCMeans(3, kernel=kernel, m=1.6, random_state=0).fit(X)
    assert xie_beni(model, X, sample_weight=WEIGHT) == pytest.approx(
        xie_beni(model, np.repeat(X, WEIGHT, axis=0)), rel=1e-10
    )
    assert xie_beni(model, X, sample_weight=WEIGHT * 1e200) == pytest.approx(
        xie_beni(model, X, sample_weight=WEIGHT), rel=1e-10
    )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_units_do_not_matter(scale):
    expected = xie_beni(
        FuzzyCMeans(3, kernel="linear", m=1.6, random_state=0, init=CENTRES).fit(X), X
    )
    model = FuzzyCMeans(3, kernel="linear", m=1.6, random_state=0, init=CENTRES * scale).fit(
        X * scale
    )
    assert xie_beni(model, X * scale) == pytest.approx(expected, rel=1e-6)


def test_the_true_number_of_clusters_has_the_smallest():
    indices = {
        c: xie_beni(FuzzyCMeans(c, kernel="linear", m=1.5, n_init=3, random_state=0).fit(X), X)
        for c in range(2, 7)
    }
    assert min(indices, key=indices.get) == 3


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", ["linear", RBF(0.05)], ids=["linear", "rbf"])
@pytest.mark.parametrize("form", [*DENSE, "csr"])
def test_rows_of_any_library(form, kernel, dtype):
    rows = as_form(X, form, dtype)
    words = {"n_clusters": 3, "kernel": kernel, "m": 1.6, "init": np.arange(3)}
    value = xie_beni(FuzzyCMeans(**words).fit(rows), rows)
    assert isinstance(value, float)
    assert value == pytest.approx(
        xie_beni(FuzzyCMeans(**words).fit(X), X), rel=1e-7 if dtype == "float64" else 1e-3
    )


def test_tables_in_and_out():
    names = ["a", "b", "c"]
    model = (
        FuzzyCMeans(3, kernel="linear", random_state=0)
        .set_output(transform="pandas")
        .fit(pd.DataFrame(X, columns=names))
    )
    plain = FuzzyCMeans(3, kernel="linear", random_state=0).fit(X)
    assert xie_beni(model, pd.DataFrame(X, columns=names)) == pytest.approx(
        xie_beni(plain, X), rel=1e-12
    )


@pytest.mark.filterwarnings(
    "ignore:.*(collapsed|coincide|distinct row|nearly constant):UserWarning"
)
@pytest.mark.parametrize(
    "words",
    [
        {"kernel": "linear"},
        {"kernel": RBF(0.05), "landmarks": None},
        {"kernel": RBF(0.05), "landmarks": 20},
    ],
)
def test_infinite_where_centres_coincide(words):
    model = FuzzyCMeans(3, m=1.6, init=X[[0, 0, 1]], max_iter=3, tol=0.5, **words)
    assert xie_beni(model.fit(X), X) == np.inf


def test_bad_models_are_named():
    for model, message in (
        (KMeans(3), r"xie_beni\(model=KMeans\(.*\)\): pass a fitted estimator of this library"),
        (FuzzyCMeans, "pass a fitted estimator"),
        (None, r"xie_beni\(model=None\)"),
        (KernelKMeans(1).fit(X), "the model has one cluster"),
    ):
        with pytest.raises(ValueError, match=message):
            xie_beni(model, X)
    with pytest.raises(NotFittedError, match="FuzzyCMeans"):
        xie_beni(FuzzyCMeans(3), X)


def test_bad_rows_and_weights_are_named():
    model = FuzzyCMeans(3, kernel="linear", random_state=0).fit(X)
    for rows, weight, message in (
        (X[:, :2], None, "X has 2 features, but FuzzyCMeans is expecting 3"),
        (X, np.ones(5), r"xie_beni: sample_weight has shape \(5,\)"),
        (X, -np.ones(61), r"xie_beni: sample_weight\[0\] is -1"),
        (X, np.zeros(61), "xie_beni: every sample weight is zero"),
    ):
        with pytest.raises(ValueError, match=message):
            xie_beni(model, rows, sample_weight=weight)


def test_clusters_with_metrics_compare_with_their_rows():
    """Centres lie as far apart as rows do, in the metric: the same as of plain clusters of rows in
    which it is the plain one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) + np.repeat([[0, 0, 0], [6, 0, 0], [0, 6, 2]], 30, axis=0)
    X = X @ [[1.0, 0, 0], [3.0, 1.0, 0], [0, 0, 20.0]]
    model = FuzzyCMeans(3, m=2.0, covariance="tied", random_state=0).fit(X)
    factor = model._state.metrics.factors[0]
    turned = X @ factor.T
    init = model.cluster_centers_ @ factor.T
    plain = FuzzyCMeans(3, m=2.0, init=init, tol=1e-7, random_state=0).fit(turned)
    known, found = indices(plain, turned), indices(model, X)
    for name, value in known.items():
        assert found[name] == pytest.approx(value, rel=1e-3), name
