"""Rows without clusters have the mean and covariance of the rows that they stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from cmeans.selection.null import SHAPES, categories, null_of_products, null_of_rows

RNG = np.random.default_rng(0)
TALL = RNG.standard_normal((40, 3)) @ RNG.standard_normal((3, 3)) + 5
WIDE = RNG.standard_normal((5, 9))
WEIGHTS = RNG.integers(1, 4, 40).astype(float)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("x", [TALL, WIDE, sparse.csr_matrix(TALL)], ids=["tall", "wide", "sparse"])
def test_mean_and_covariance(x, shape):
    weights = WEIGHTS[: x.shape[0]]
    dense = x.toarray() if sparse.issparse(x) else x
    null = null_of_rows(x, weights)
    covariance = np.cov(dense.T, aweights=weights, ddof=0)
    np.testing.assert_allclose(
        null.axes.T @ null.axes, covariance, atol=1e-12 * np.trace(covariance)
    )
    drawn = replace(null, n_rows=200_000).draw(shape, np.random.default_rng(1))
    np.testing.assert_allclose(
        drawn.mean(axis=0), np.average(dense, axis=0, weights=weights), atol=0.03
    )
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.02 * np.trace(covariance))


def test_kernel_matrices():
    """Inner products alone tell as much, but for where the mean lies."""
    null = null_of_products(TALL @ TALL.T, WEIGHTS)
    rows = null_of_rows(TALL, WEIGHTS)
    np.testing.assert_allclose(
        np.sort(np.linalg.norm(null.axes, axis=1)),
        np.sort(np.linalg.norm(rows.axes, axis=1)),
        rtol=1e-9,
    )
    gram = null.draw("normal", np.random.default_rng(2))
    assert gram.shape == (40, 40)
    assert np.linalg.eigvalsh(gram).min() > -1e-9 * np.trace(gram)


def test_dtype_is_kept():
    assert null_of_rows(TALL.astype(np.float32), WEIGHTS).draw("normal", RNG).dtype == np.float32


def table(k: int, seed: int = 0) -> np.ndarray:
    """Five questions of three answers each, as zeros and ones; most rows of one of k kinds answer
    alike."""
    rng = np.random.default_rng(seed)
    kinds, alike = rng.integers(k, size=300), rng.random((300, 5)) < 0.8
    answers = np.where(alike, kinds[:, None], rng.integers(3, size=(300, 5)))
    return np.eye(3)[answers].reshape(300, 15)


def test_categories_are_found():
    X = np.column_stack([TALL[:, 0], table(2)[:40, :6], TALL[:, 1] > 5, np.ones(40)])
    assert [group.tolist() for group in categories(X)] == [[1, 2, 3], [4, 5, 6], [7]]


def test_draws_keep_categories_steps_and_skew():
    rng = np.random.default_rng(0)
    X = np.column_stack([table(2), rng.exponential(size=300), rng.poisson(2, 300)])
    weights = rng.integers(1, 3, 300).astype(float)
    null = null_of_rows(X, weights)
    for shape in SHAPES:
        drawn = np.concatenate([null.draw(shape, np.random.default_rng(s)) for s in range(30)])
        ones = drawn[:, :15].reshape(-1, 5, 3)
        assert set(np.unique(ones)) == {0.0, 1.0}
        np.testing.assert_array_equal(ones.sum(axis=2), 1)
        expected = np.average(X[:, :15], axis=0, weights=weights)
        np.testing.assert_allclose(drawn[:, :15].mean(axis=0), expected, atol=0.03)
        assert abs(np.corrcoef(drawn[:, 0], drawn[:, 3])[0, 1]) < 0.05
        assert abs(np.corrcoef(X[:, 0], X[:, 3])[0, 1]) > 0.3
        assert set(np.unique(drawn[:, 16])) <= set(np.arange(X[:, 16].max() + 1))
    normal = null.draw("normal", np.random.default_rng(0))[:, 15]
    assert (normal < X[:, 15].mean()).mean() > 0.58  # as of exponential values, not of normal ones
