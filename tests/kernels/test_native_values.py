"""Kernel values that are made in registers are those of the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cmeans.kernels import (
    RBF,
    Cosine,
    HistogramIntersection,
    Laplacian,
    NormalizedPolynomial,
    Polynomial,
    native_values,
)
from contracts.arrays import as_form
from sweep_choices import pairs

DEPTH = 128  # columns that native code sums together

KERNELS = {
    "rbf": RBF(0.3),
    "rbf, narrow": RBF(30.0),
    "polynomial": Polynomial(5, 0.2, 1.0),
    "polynomial, scaled": Polynomial(2, 1.0, 0.5, scale=7.0),
    "polynomial of degree 1": Polynomial(1, 1.0, 0.0),
    "polynomial, odd and negative": Polynomial(3, 1.0, -2.0),
    "normalized polynomial": NormalizedPolynomial(4, 2.0, 1.0),
    "cosine": Cosine(),
    "laplacian": Laplacian(0.2),
    "histogram intersection": HistogramIntersection(),
}
COLUMNS = [1, 2, 7, 54, DEPTH - 2, DEPTH, DEPTH + 1, 3 * DEPTH + 5]
SHAPES = pairs(
    list(KERNELS), [1, 3, 4, 37, 130], COLUMNS, [1, 5, 16, 64, 65, 130, 582], ["float32", "float64"]
)


@pytest.mark.parametrize(("name", "rows", "columns", "landmarks", "dtype"), SHAPES)
def test_values_are_those_of_the_formula(name, rows, columns, landmarks, dtype):
    rng = np.random.default_rng(0)
    x, y = (
        (rng.uniform(size=(n, columns)) / np.sqrt(columns)).astype(dtype) for n in (rows, landmarks)
    )
    kernel = KERNELS[name]
    room = np.full((len(x), len(y)), np.nan, x.dtype)
    values = kernel.prepare(y)(x, room)
    assert np.shares_memory(values, room) or name == "histogram intersection"
    exact = formula(kernel, np.float64(x), np.float64(y))
    eps = np.finfo(dtype).eps
    size = np.abs(exact).max()
    np.testing.assert_allclose(values, exact, atol=100 * eps * size)
    np.testing.assert_array_equal(kernel.prepare(y)(x), values)
    np.testing.assert_allclose(
        kernel.prepare(np.asfortranarray(y))(np.asfortranarray(x)), values, atol=100 * eps * size
    )


def formula(kernel, x, y):
    """One value at a time."""
    values = np.empty((len(x), len(y)))
    for i, row in enumerate(x):
        for j, point in enumerate(y):
            product = float(row @ point)
            match kernel:
                case RBF():
                    values[i, j] = np.exp(-kernel.gamma * ((row - point) ** 2).sum())
                case Laplacian():
                    values[i, j] = np.exp(-kernel.gamma * np.abs(row - point).sum())
                case HistogramIntersection():
                    values[i, j] = np.minimum(row, point).sum()
                case Cosine():
                    values[i, j] = product / np.sqrt((row @ row) * (point @ point))
                case NormalizedPolynomial():
                    own = [kernel.gamma * v @ v + kernel.coef0 for v in (row, point)]
                    values[i, j] = (
                        (kernel.gamma * product + kernel.coef0) / np.sqrt(own[0] * own[1])
                    ) ** kernel.degree
                case Polynomial():
                    scale = 1.0 if kernel.scale == "auto" else kernel.scale
                    values[i, j] = (kernel.gamma * product + kernel.coef0) ** kernel.degree / scale
    return values


@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(3)], ids=["rbf", "polynomial"])
def test_room_may_be_wider(kernel):
    """As where a further column is kept beside the values."""
    rng = np.random.default_rng(0)
    x, y, room = rng.uniform(size=(9, 3)), rng.uniform(size=(21, 3)), np.full((9, 22), 7.0)
    values = kernel.prepare(y)(x, room)
    assert values.shape == (9, 21)
    assert np.shares_memory(values, room)
    np.testing.assert_allclose(values, formula(kernel, x, y), rtol=1e-12)
    np.testing.assert_array_equal(room[:, 21], 7.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exponentials_are_right_to_the_last_digits(dtype):
    """Of numbers that the product gives exactly: one column of multiples of powers of two."""
    x = np.linspace(0, 30, 4097)[:, None].astype(dtype)
    values = RBF(1.0).prepare(np.zeros((3, 1), dtype))(x)[:, 1]
    exact = np.exp(-(np.float64(x[:, 0]) ** 2))
    error_of_argument = np.float64(x[:, 0]) ** 2 * np.finfo(dtype).eps
    tiny = np.finfo(dtype).tiny
    assert (
        np.abs(values - exact)
        <= (2 * np.finfo(dtype).eps + 2 * error_of_argument) * exact + 2 * tiny
    ).all()
    assert values[0] == 1.0
    assert values[-1] == 0.0 or dtype == "float64"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "kernel", [RBF(1.0), Polynomial(3), Cosine()], ids=["rbf", "polynomial", "cosine"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_not_finite_stays_so(kernel, dtype, monkeypatch):
    y, x = np.full((2, 2), 0.5, dtype), np.full((4, 2), 0.5, dtype)
    x[0, 0], x[1, 0], x[2, 0] = np.nan, np.inf, np.finfo(dtype).max
    fast = kernel.prepare(y)(x)
    monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    slow = kernel.prepare(y)(x)
    np.testing.assert_array_equal(np.isnan(fast), np.isnan(slow))
    np.testing.assert_array_equal(np.isinf(fast), np.isinf(slow))
    np.testing.assert_allclose(fast[3], slow[3], rtol=1e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_rows_that_native_code_does_not_read(name, monkeypatch):
    """CSR rows and other libraries have the same values by other ways."""
    rng = np.random.default_rng(1)
    x, y = rng.uniform(size=(12, 5)), rng.uniform(size=(7, 5))
    kernel, asked = KERNELS[name], []
    monkeypatch.setattr(native_values.native, "function", lambda *words: asked.append(words))
    expected = formula(kernel, x, y)
    np.testing.assert_allclose(
        kernel(sparse.csr_array(x), sparse.csr_array(y)), expected, rtol=1e-10
    )
    np.testing.assert_allclose(
        np.asarray(kernel(as_form(x, "array_api_strict"), as_form(y, "array_api_strict"))),
        expected,
        rtol=1e-10,
    )
    assert not asked


@pytest.mark.parametrize("name", KERNELS)
def test_rows_in_any_order_in_memory(name):
    """Column by column, every other row of more, or for reading only."""
    x, y = np.random.default_rng(2).uniform(size=(2, 11, 6))
    columns, frozen = KERNELS[name].prepare(y), x.copy()
    frozen.setflags(write=False)
    for array in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], frozen):
        np.testing.assert_allclose(columns(array), columns(x), rtol=1e-14)
