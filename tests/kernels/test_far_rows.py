"""Gaussian kernel values are right however far rows lie from each other, in widths, and from the
origin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from cmeans.kernels import RBF
from contracts.arrays import FORMS, as_form

WIDTHS = [1, 2, 3, 10, 100, 3_000, 10_000, 1_000_000]  # from one group of rows to the next


def groups(distance, columns=2, seed=0):
    """Groups of near rows about four points, two of them near each other, far from the origin."""
    places = np.array([0, 1, distance, distance + 1]) + 7.0
    noise = np.random.default_rng(seed).normal(size=(4, 12, columns)) / np.sqrt(4 * columns)
    return (places[:, None, None] * np.eye(columns)[0] + noise).reshape(-1, columns)


def values(kernel, x, y):
    return np.asarray(kernel(x, y))


@pytest.fixture(params=["native code", "no native code"])
def with_and_without_native_code(request, monkeypatch):
    if request.param == "no native code":
        monkeypatch.setattr("cmeans.native.is_available", lambda: False)


@pytest.mark.usefixtures("with_and_without_native_code")
@pytest.mark.parametrize("form", FORMS)
def test_a_row_thousands_of_widths_away(form):
    x = as_form(np.array([[0, 0], [1_000, 0], [60_000, 0], [60_030, 0]]), form, "float32")
    expected = np.eye(4)
    expected[2, 3] = expected[3, 2] = np.exp(-9.0)
    found = values(RBF(gamma=0.01), x, x)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_array_equal(np.diag(found), 1.0)


@pytest.mark.usefixtures("with_and_without_native_code")
@pytest.mark.parametrize("columns", [1, 2, 17])
@pytest.mark.parametrize("distance", WIDTHS)
def test_single_precision_is_as_right_as_its_digits(distance, columns):
    x = groups(distance, columns).astype(np.float32)
    expected = np.exp(-cdist(np.float64(x), np.float64(x), "sqeuclidean"))
    found = RBF(1.0)(x, x)
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("distance", [3, 100, 1e6])
def test_every_kind_of_array(form, dtype, distance):
    """CSR rows are about the origin, from which all of them are far here."""
    x = (groups(distance) + 50.0).astype(dtype)
    expected = np.exp(-cdist(np.float64(x), np.float64(x), "sqeuclidean"))
    found = values(RBF(1.0), as_form(x, form, dtype), as_form(x, form, dtype))
    np.testing.assert_allclose(found, expected, atol=2e-6 if dtype == "float32" else 1e-10)
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.usefixtures("with_and_without_native_code")
@pytest.mark.parametrize("scale", [1e8, 1e9, 1e100])
def test_one_far_value_among_ordinary_ones(scale):
    x = np.random.default_rng(0).normal(size=(60, 3))
    x[7, 1] = scale
    expected = np.exp(-cdist(x, x, "sqeuclidean"))
    found = RBF(1.0)(x, x)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(found, found.T, atol=1e-10)


@pytest.mark.usefixtures("with_and_without_native_code")
def test_points_of_more_digits_than_the_rows():
    """Points of a fit in double precision, and single precision rows to predict."""
    y = groups(3) + 20_000.0
    x = y.astype(np.float32)
    expected = np.exp(-cdist(np.float64(x), np.float64(x), "sqeuclidean"))
    found = RBF(1.0).prepare(np.float64(x))(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_value_depends_on_its_own_row_alone(dtype):
    x = np.concatenate([groups(1e3, 5), groups(3, 5, seed=1), [[1e7] * 5]]).astype(dtype)
    columns = RBF(1.0).prepare(x[::3])
    whole = columns(x)
    for start, stop in ((0, 1), (5, 9), (40, 97)):
        np.testing.assert_array_equal(columns(x[start:stop]), whole[start:stop])
