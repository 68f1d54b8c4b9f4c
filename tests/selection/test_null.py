"""Rows without clusters have the mean and covariance of the rows that they stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from cmeans.selection.null import SHAPES, null_of_products, null_of_rows

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
