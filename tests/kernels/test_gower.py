"""Gower's kernel against loops, in estimators, saved and loaded."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import cmeans
import naive
from cmeans.kernels import Gower
from contracts.arrays import DTYPES, as_form, on_host

CATEGORICAL = [1, 3]


def table(n=60, seed=0):
    """Two numbers of other units and two categories, in three groups."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    numbers = np.column_stack(
        [20 + 25 * group + rng.normal(0, 3, n), 1e4 * (group == 1) + rng.normal(0, 500, n)]
    )
    codes = np.column_stack(
        [np.where(rng.random(n) < 0.9, group, rng.integers(3, size=n)), (group == 2).astype(int)]
    )
    return np.column_stack([numbers[:, 0], codes[:, 0], numbers[:, 1], codes[:, 1]]), group


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["numpy", "array_api_strict", "torch"])
def test_values(form, dtype):
    X, _ = table()
    kernel = Gower.of(X, CATEGORICAL)
    rows, points = X[:23].astype(dtype), X[30:37].astype(dtype)
    # beyond the ranges, and a category that is not known
    rows[0, 0], rows[1, 2], rows[2, 1] = 500, -1e6, 9
    expected = [
        [naive.gower(x, y, kernel.low, kernel.span, CATEGORICAL) for y in points] for x in rows
    ]
    tolerance = 1e-6 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(
        on_host(kernel(as_form(rows, form), as_form(points, form))), expected, atol=tolerance
    )
    np.testing.assert_array_equal(on_host(kernel.diag(as_form(rows, form))), 1)


@pytest.mark.parametrize("categorical", [[], [0, 1, 2, 3]])
def test_columns_of_one_kind(categorical):
    X, _ = table()
    kernel = Gower.of(X, categorical)
    expected = [
        [naive.gower(x, y, kernel.low, kernel.span, categorical) for y in X[:9]] for x in X[:9]
    ]
    np.testing.assert_allclose(kernel(X[:9], X[:9]), expected, atol=1e-12)


def test_it_is_positive_semidefinite():
    X, _ = table(200)
    X[:, 2] += np.random.default_rng(1).normal(0, 1e5, 200)
    values = np.linalg.eigvalsh(Gower.of(X[:50], CATEGORICAL)(X, X))
    assert values.min() > -1e-10 * values.max()


def test_a_category_costs_what_a_range_does():
    kernel = Gower.of(np.array([[0.0, 5.0], [10.0, 7.0]]), [1])
    assert kernel(np.array([[0.0, 5.0]]), np.array([[10.0, 5.0], [0.0, 7.0]])).tolist() == [
        [0.5, 0.5]
    ]


@pytest.mark.parametrize(
    "words", [{"landmarks": None}, {"landmarks": 30}], ids=["exact", "landmarks"]
)
def test_clusters_of_a_mixed_table(words, tmp_path):
    X, group = table(300)
    model = cmeans.FuzzyCMeans(3, kernel=Gower.of(X, CATEGORICAL), random_state=0, **words).fit(X)
    assert adjusted_rand_score(group, model.labels_) > 0.95
    cmeans.save(model, tmp_path / "model.safetensors")
    other = cmeans.load(tmp_path / "model.safetensors")
    assert other.kernel_ == model.kernel_
    np.testing.assert_array_equal(other.memberships(X), model.memberships_)


def test_weights_are_copies():
    X, _ = table(60)
    copies = np.arange(60) % 3 + 1
    kernel = Gower.of(X, CATEGORICAL)
    one = cmeans.KernelKMeans(3, kernel=kernel, random_state=0).fit(X, sample_weight=copies)
    other = cmeans.KernelKMeans(3, kernel=kernel, random_state=0).fit(np.repeat(X, copies, axis=0))
    assert one.objective_ == pytest.approx(other.objective_)
    np.testing.assert_array_equal(np.repeat(one.labels_, copies), other.labels_)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gower.of([1.0, 2.0]), "shape"),
        (lambda: Gower.of([[np.nan]]), "finite"),
        (lambda: Gower.of(np.zeros((0, 3))), "finite numbers"),
        (lambda: Gower.of([[1.0, 2.0]], [2]), "column numbers from 0 to 1"),
        (lambda: Gower.of([[1.0, 2.0]], [-1]), "column numbers from 0 to 1"),
        (lambda: Gower.of([[1.0, 2.0]], [0, 0]), "different"),
        (lambda: Gower.of([[1.0, 2.0]], ["a"]), "column numbers"),
        (lambda: Gower.of([[1.0, 2.0]], [0.5]), "column numbers"),
        (lambda: Gower(np.zeros(2), -np.ones(2), np.zeros(0, int)), "span below 0"),
        (lambda: Gower(np.zeros(2), np.ones(3), np.zeros(0, int)), "finite numbers"),
        (lambda: Gower.of(np.eye(2))(np.eye(3), np.eye(3)), "3 columns"),
        (lambda: Gower.of(np.eye(2))(sp.csr_array(np.eye(2)), np.eye(2)), "dense"),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(ValueError, match=words):
        make()
