"""Kernel values, block by block in every kind of array, against loops over pairs of rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RationalQuadratic

import naive
from cmeans.kernels import (
    RBF,
    CallableKernel,
    Cosine,
    Laplacian,
    Linear,
    NormalizedPolynomial,
    Polynomial,
    Precomputed,
    Sigmoid,
    kernel_of,
    polynomial,
)
from contracts.arrays import DTYPES, FORMS, as_form, on_host

pytestmark = pytest.mark.slow

PAIRS = {
    "linear": (Linear(), naive.linear),
    "rbf": (RBF(gamma=0.3), partial(naive.rbf, gamma=0.3)),
    "laplacian": (Laplacian(gamma=0.2), partial(naive.laplacian, gamma=0.2)),
    "polynomial": (
        Polynomial(degree=3, gamma=0.5, coef0=1.5),
        partial(naive.polynomial, gamma=0.5, coef0=1.5, degree=3),
    ),
    "polynomial-1": (
        Polynomial(degree=1, gamma=1.0, coef0=0.0),
        partial(naive.polynomial, gamma=1.0, coef0=0.0, degree=1),
    ),
    "polynomial-scaled": (
        Polynomial(degree=6, gamma=0.5, coef0=1.0, scale=1e4),
        lambda x, y: naive.polynomial(x, y, gamma=0.5, coef0=1.0, degree=6) / 1e4,
    ),
    "normalized": (
        NormalizedPolynomial(degree=4, gamma=2.0, coef0=0.7),
        partial(naive.normalized_polynomial, gamma=2.0, coef0=0.7, degree=4),
    ),
    "sigmoid": (Sigmoid(gamma=0.05, coef0=0.11), partial(naive.sigmoid, gamma=0.05, coef0=0.11)),
    "cosine": (Cosine(), naive.cosine),
}
ROUNDING = {"float64": 1e-12, "float32": 2e-5}


def rows() -> np.ndarray:
    """(23, 5) with zeros, and one row of nothing else."""
    X = np.random.default_rng(3).normal(size=(23, 5))
    X[np.abs(X) < 0.4] = 0
    X[4] = 0
    return X.astype(np.float32).astype(np.float64)


def assert_values(actual: Any, expected: np.ndarray, dtype: str) -> None:
    actual = on_host(actual)
    assert actual.dtype == dtype
    np.testing.assert_allclose(
        actual, expected, rtol=0, atol=ROUNDING[dtype] * max(np.abs(expected).max(), 1)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", PAIRS)
def test_block(kernel, form, dtype):
    fast, loop = PAIRS[kernel]
    X = rows()
    x, y = as_form(X[:15], form, dtype), as_form(X[10:], form, dtype)
    expected = naive.kernel_matrix(X[:15], X[10:], loop)
    assert_values(fast(x, y), expected, dtype)
    columns = fast.prepare(y)
    assert_values(columns(x[:7, :]), expected[:7], dtype)
    # the points are prepared once for all blocks
    assert_values(columns(x[7:, :]), expected[7:], dtype)
    assert_values(fast.diag(x), np.diag(naive.kernel_matrix(X[:15], X[:15], loop)), dtype)


@pytest.mark.parametrize("form", ["numpy", "csr", "torch"])
@pytest.mark.parametrize("kernel", PAIRS)
def test_rows_are_left_as_they_were(kernel, form):
    x = as_form(rows(), form)
    PAIRS[kernel][0](x, x)
    np.testing.assert_array_equal(on_host(x), rows())


NAMES = {
    "linear": Linear(),
    "rbf": RBF(0.3),
    "laplacian": Laplacian(0.3),
    "polynomial": Polynomial(2, 0.3, 0.4),
    "poly": Polynomial(2, 0.3, 0.4),
    "normalized_polynomial": NormalizedPolynomial(2, 0.3, 0.4),
    "sigmoid": Sigmoid(0.3, 0.4),
    "cosine": Cosine(),
    "precomputed": Precomputed(),
}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_makes_its_kernel(name):
    made = kernel_of(name, "Owner")
    given = {"gamma": 0.3, "degree": 2, "coef0": 0.4}
    assert (
        made.set_params(**{word: given[word] for word in given.keys() & made.get_params().keys()})
        == NAMES[name]
    )


def test_values_of_rows_with_themselves_are_raised_together(monkeypatch):
    """They are no matrix, of which some rows are raised at a time."""
    calls, raised = [], polynomial._raised

    def counted(result, base, degree):
        calls.append(len(result))
        return raised(result, base, degree)

    monkeypatch.setattr(polynomial, "_raised", counted)
    x = np.random.default_rng(0).normal(size=(40_000, 2))
    found = Polynomial(3, 0.5, 1.0).diag(x)
    np.testing.assert_allclose(found, (0.5 * (x**2).sum(axis=1) + 1.0) ** 3)
    assert calls == [32_768, 7_232]


@pytest.mark.parametrize("form", FORMS)
def test_cosine_of_a_row_of_zeros_is_zero(form):
    x = as_form(rows(), form)
    assert not on_host(Cosine()(x, x))[4].any()
    assert not on_host(Cosine()(x, x))[:, 4].any()
    diag = on_host(Cosine().diag(x))
    assert diag[4] == 0
    np.testing.assert_allclose(np.delete(diag, 4), 1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shift", [0, 1000])
def test_rbf_of_rows_far_from_the_origin(form, shift):
    """In float32, |x|^2 - 2 x.y + |y|^2 about the origin would lose every digit."""
    if shift and form.startswith("csr"):
        pytest.skip("CSR rows are never shifted")
    X = (rows() + shift).astype(np.float32).astype(np.float64)
    x = as_form(X, form, "float32")
    np.testing.assert_allclose(
        on_host(RBF(0.3)(x, x)), naive.kernel_matrix(X, X, PAIRS["rbf"][1]), atol=1e-5
    )


@pytest.mark.parametrize("form", ["numpy", "torch", "array_api_strict"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_callable(form, dtype):
    """The diagonal comes from small squares, here three with the last one short."""
    X = np.random.default_rng(0).uniform(size=(37, 3)).astype(np.float32).astype(np.float64)
    x = as_form(X, form, dtype)
    kernel = CallableKernel(lambda a, b, power: (a @ b.T) ** power, {"power": 2})
    expected = naive.kernel_matrix(X, X, lambda a, b: naive.linear(a, b) ** 2)
    assert_values(kernel(x, x[:5, :]), expected[:, :5], dtype)
    assert_values(kernel.diag(x), np.diag(expected), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_callable_with_its_own_diagonal(dtype):
    class Counting(RationalQuadratic):
        calls = 0

        def diag(self, X):
            Counting.calls += 1
            return super().diag(X)

    X = rows()
    function = Counting(length_scale=1.3, alpha=0.8)
    kernel = CallableKernel(function)
    x = as_form(X, "numpy", dtype)
    expected = naive.kernel_matrix(
        X, X, lambda a, b: (1 + ((a - b) ** 2).sum() / (2 * 0.8 * 1.3**2)) ** -0.8
    )
    assert_values(kernel(x, x), expected, dtype)
    assert_values(kernel.diag(x), np.ones(len(X)), dtype)
    assert Counting.calls == 1


@pytest.mark.parametrize("form", ["numpy", "torch", "array_api_strict"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_precomputed_takes_columns(form, dtype):
    K = naive.kernel_matrix(rows(), rows(), naive.linear)
    x = as_form(K, form, dtype)
    assert_values(Precomputed().prepare(np.array([3, 0, 20]))(x), K[:, [3, 0, 20]], dtype)
    assert_values(Precomputed().prepare(np.arange(23))(x), K, dtype)
