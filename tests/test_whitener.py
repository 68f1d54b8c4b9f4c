"""Orthonormal coordinates by a triangular factor, where that is safe, are those that eigenpairs give, but for a rotation."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans.blocks import Block
from cmeans.kernels import RBF, Polynomial
from cmeans.spaces import landmark_space, linear_solvers
from cmeans.spaces.linear_solvers import CLEARLY, MANY, triangular_whitener, whitener

CUT = 1e-6


def with_eigenvalues(values):
    """A symmetric matrix."""
    q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(len(values),) * 2))
    gram = q * values @ q.T
    return (gram + gram.T) / 2


def test_it_whitens():
    gram = with_eigenvalues(np.geomspace(1e-3, 100.0, MANY))
    w = triangular_whitener(gram, CUT)
    assert (np.tril(w, -1) == 0).all()
    np.testing.assert_allclose(w.T @ gram @ w, np.eye(MANY), atol=1e-9)
    eigen = whitener(gram, CUT)
    np.testing.assert_allclose(w @ w.T, eigen @ eigen.T, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("smallest", [0.0, 1e-12, CUT / 2, CUT, 2 * CUT])
def test_it_leaves_what_may_have_to_be_cut(smallest):
    gram = with_eigenvalues(np.r_[smallest, np.geomspace(1e-3, 1.0, MANY - 1)])
    assert triangular_whitener(gram, CUT) is None


def test_it_takes_what_is_clear():
    """Its estimates are off by less than a factor of two."""
    for seed in range(20):
        values = np.r_[2 * CLEARLY * CUT, np.random.default_rng(seed).uniform(0.1, 1.0, MANY - 1)]
        assert triangular_whitener(with_eigenvalues(values), CUT) is not None


def test_it_leaves_what_is_below_the_floor():
    gram = with_eigenvalues(np.geomspace(1e-3, 1.0, MANY))
    assert triangular_whitener(gram, CUT, 1e-5) is not None
    assert triangular_whitener(gram, CUT, 1e-3) is None


def test_few_columns_and_numbers_that_are_not_finite():
    assert triangular_whitener(np.eye(MANY - 1), CUT) is None
    spoiled = np.eye(MANY)
    spoiled[3, 5] = spoiled[5, 3] = np.nan
    assert triangular_whitener(spoiled, CUT) is None


@pytest.mark.parametrize("kernel", [RBF(20.0), Polynomial(3, 2.0, 5.0)], ids=["rbf", "polynomial, centred"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_space_is_the_same_either_way(kernel, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 12)).astype(dtype)
    block, both = Block(x[100:], np.ones(300), 0), []
    for many in (80, 10**9):
        monkeypatch.setattr(linear_solvers, "MANY", many)
        space = landmark_space(kernel, x[:80], None, x.dtype)
        centres = space.embed(block)
        own = space.norms(centres)
        inner = space.inner_products(centres[np.arange(5)], block)
        again = space.project(*reversed(space.portable(centres[np.arange(5)])))
        both.append((own, inner, centres.inner(centres), again.inner(again), np.array([space.whitener.shape[1]])))
        assert (np.count_nonzero(space.whitener) < 0.6 * space.whitener.size) == (many == 80)
    size = np.abs(both[1][0]).max()
    for triangular, eigen in zip(*both, strict=True):
        np.testing.assert_allclose(triangular, eigen, atol=(1e-4 if dtype == np.float32 else 1e-9) * size)
