"""Orthonormal coordinates by a Cholesky factor, where that is safe, are those that eigenpairs give,
but for a rotation."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cmeans.data.blocks import Block
from cmeans.kernels import RBF, Cosine, Polynomial, Sigmoid
from cmeans.spaces import landmark, landmark_space, whiteners
from cmeans.spaces.spectrum import estimated_largest_eigenvalue
from cmeans.spaces.whiteners import CLEARLY, FEW, MANY, NEARLY, cholesky_whitener, whitener

pytestmark = pytest.mark.slow

CUT = 1e-6


@cache
def directions(n):
    """Orthonormal ones, as columns."""
    return np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]


def with_eigenvalues(values):
    """A symmetric matrix."""
    q = directions(len(values))
    gram = q * values @ q.T
    return (gram + gram.T) / 2


def test_it_whitens():
    gram = with_eigenvalues(np.geomspace(1e-3, 100.0, MANY))
    w = cholesky_whitener(gram, 100.0 * CUT)
    assert (np.tril(w, -1) == 0).all()
    np.testing.assert_allclose(w.T @ gram @ w, np.eye(MANY), atol=1e-9)
    eigen = whitener(gram, CUT)
    np.testing.assert_allclose(w @ w.T, eigen @ eigen.T, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    ("few", "weakest"),
    [
        (1, 1e-12),
        (1, CUT / NEARLY),
        (5, CUT / 100),
        (MANY // FEW - whiteners.SPARE, 1e-12),
        (MANY // FEW - whiteners.SPARE, CUT / NEARLY),
    ],
)
def test_it_cuts_a_few_directions_as_eigenpairs_do(few, weakest):
    values = np.r_[np.geomspace(weakest, CUT / NEARLY, few), np.geomspace(1e-3, 1.0, MANY - few)]
    gram = with_eigenvalues(values)
    w, eigen = cholesky_whitener(gram, CUT), whitener(gram, CUT)
    assert w.shape == eigen.shape == (MANY, MANY - few)
    np.testing.assert_allclose(w.T @ gram @ w, np.eye(MANY - few), atol=1e-6)
    cosines = np.linalg.svd(w.T @ gram @ eigen, compute_uv=False)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_near_the_cut_either_side_is_right(seed):
    """No direction far below the cut is kept, none far above it is lost, and what is kept
    whitens."""
    values = np.geomspace(CUT / 3, 1.0, MANY) * np.random.default_rng(seed).uniform(0.9, 1.1, MANY)
    gram = with_eigenvalues(values)
    w = cholesky_whitener(gram, 30 * CUT)
    if w is not None:
        np.testing.assert_allclose(w.T @ gram @ w, np.eye(w.shape[1]), atol=1e-8)
        assert (values > 30 * CUT).sum() <= w.shape[1] <= (values > 30 * CUT / NEARLY / 1.2).sum()
        assert np.linalg.eigvalsh(w.T @ w)[-1] < 2 * NEARLY / (30 * CUT)


def test_many_directions_to_be_cut_are_left_to_eigenpairs():
    gram = with_eigenvalues(np.geomspace(1e-9, 1.0, MANY))
    assert cholesky_whitener(gram, 1e-4) is None


@pytest.mark.parametrize("smallest", [-1e-3, -1.0])
def test_an_indefinite_matrix_is_left_to_eigenpairs(smallest):
    gram = with_eigenvalues(np.r_[smallest, np.geomspace(1e-3, 1.0, MANY - 1)])
    assert cholesky_whitener(gram, CUT) is None
    assert whitener(gram, CUT).shape[1] == MANY - 1


def test_a_cut_that_rounding_hides_is_left_to_eigenpairs():
    gram = with_eigenvalues(np.r_[1e-13, np.geomspace(1e-3, 1.0, MANY - 1)])
    assert cholesky_whitener(gram, 1e-13) is None


def test_it_takes_what_is_clear():
    """Its estimates are off by less than a factor of two."""
    for seed in range(6):
        values = np.r_[2 * CLEARLY * CUT, np.random.default_rng(seed).uniform(0.1, 1.0, MANY - 1)]
        w = cholesky_whitener(with_eigenvalues(values), CUT)
        assert (np.tril(w, -1) == 0).all()


def test_it_cuts_what_is_below_the_floor():
    gram = with_eigenvalues(np.r_[1e-3, np.geomspace(0.1, 1.0, MANY - 1)])
    for smallest, kept in ((1e-5, MANY), (1e-2, MANY - 1)):
        assert cholesky_whitener(gram, smallest).shape[1] == kept
        assert whitener(gram, CUT, smallest).shape[1] == kept


def test_few_columns_and_numbers_that_are_not_finite():
    assert cholesky_whitener(np.eye(MANY - 1), CUT) is None
    spoiled = np.eye(MANY)
    spoiled[3, 5] = spoiled[5, 3] = np.nan
    assert cholesky_whitener(spoiled, CUT) is None


def test_numbers_so_small_that_their_inverses_overflow_are_left_to_eigenpairs():
    gram = 1e-300 * np.eye(MANY)
    gram[0, 0] = 1e-318
    assert cholesky_whitener(gram, 1e-306) is None
    assert whitener(gram, CUT).shape[1] == MANY - 1


def test_the_largest_eigenvalue_is_known_to_a_factor_of_two():
    for seed in range(10):
        values = np.random.default_rng(seed).uniform(-0.9, 1.0, 200)
        assert (
            0.5
            <= estimated_largest_eigenvalue(with_eigenvalues(values)) / np.abs(values).max()
            <= 1.0 + 1e-12
        )


@pytest.mark.parametrize(
    "kernel",
    [RBF(20.0), Polynomial(3, 2.0, 5.0), Cosine()],
    ids=["rbf", "polynomial, centred", "cosine"],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("twins", [0, 3])
def test_a_space_is_the_same_either_way(kernel, dtype, twins, monkeypatch):
    """Landmarks that are there twice are directions to be cut, by either factor."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 12 if not isinstance(kernel, Cosine) else 100)).astype(dtype)
    x[80 - twins : 80] = x[:twins] * (1 + 1e-7 * rng.normal(size=(twins, x.shape[1])))
    block, both = Block(x[100:], np.ones(300), 0), []
    monkeypatch.setattr(whiteners, "LEAST", 10)
    monkeypatch.setattr(whiteners, "SPARE", 4)
    eigenpairs = []
    monkeypatch.setattr(
        landmark, "whitener", lambda *words: eigenpairs.append(many) or whitener(*words)
    )
    for many in (80, 10**9):
        monkeypatch.setattr(whiteners, "MANY", many)
        space = landmark_space(kernel, x[:80], None, x.dtype)
        centres = space.embed(block)
        own = space.norms(centres)
        inner = space.inner_products(centres[np.arange(5)], block)
        again = space.project(*reversed(space.portable(centres[np.arange(5)])))
        both.append(
            (
                own,
                inner,
                centres.inner(centres),
                again.inner(again),
                np.array([space.whitener.shape[1]]),
            )
        )
        if not twins:
            assert (np.count_nonzero(space.whitener) < 0.6 * space.whitener.size) == (many == 80)
    assert eigenpairs == [10**9]
    size = np.abs(both[1][0]).max()
    for factored, eigen in zip(*both, strict=True):
        np.testing.assert_allclose(
            factored, eigen, atol=(1e-4 if dtype == np.float32 else 1e-9) * size
        )


def test_an_indefinite_kernel_is_clipped():
    x = np.random.default_rng(0).normal(size=(MANY, 3))
    kernel = Sigmoid(gamma=1.0, coef0=-0.5)
    space = landmark_space(kernel, x, None, x.dtype)
    values = np.linalg.eigvalsh(kernel(x, x))
    assert values[0] < -1e-3 * values[-1]
    assert space.whitener.shape[1] == (values > 1e-11 * values[-1]).sum()


@pytest.mark.parametrize("few", [1, 10, MANY // FEW - whiteners.SPARE])
@pytest.mark.parametrize("least", [2e-6, 2e-11])
def test_a_few_pairs_of_an_indefinite_matrix_are_those_of_the_whole_spectrum(
    monkeypatch, few, least
):
    """Though others are negative, and the rest is rounding."""
    cut = least / 2
    values = np.r_[1.0, np.geomspace(least, 1.0, few)[: few - 1], -np.geomspace(least, 0.5, 4)]
    gram = with_eigenvalues(np.r_[np.zeros(2 * MANY - len(values)), values])
    found = whitener(gram, cut)
    monkeypatch.setattr(whiteners, "_few_leading_pairs", lambda *_: None)
    wanted = whitener(gram, cut)
    assert found.shape == wanted.shape == (2 * MANY, few)
    np.testing.assert_allclose(
        found.T @ gram @ found, np.eye(few), atol=1e-3 if least < 1e-9 else 1e-8
    )
    np.testing.assert_allclose(
        np.linalg.svd(found.T @ gram @ wanted, compute_uv=False),
        1.0,
        atol=1e-3 if least < 1e-9 else 1e-8,
    )


def test_more_pairs_than_a_few_are_taken_from_the_whole_spectrum():
    gram = with_eigenvalues(
        np.r_[
            np.geomspace(1e-3, 1.0, MANY // 4),
            -np.geomspace(1e-3, 1.0, MANY // 4),
            np.zeros(MANY // 2),
        ]
    )
    assert whiteners._few_leading_pairs(gram, CUT, 0.0) is None
    assert whitener(gram, CUT).shape[1] == MANY // 4


def test_pairs_that_a_sample_of_directions_could_miss_are_seen():
    """A slowly falling spectrum beyond the subspace."""
    gram = with_eigenvalues(np.geomspace(1e-5, 1.0, 2 * MANY))
    assert whiteners._few_leading_pairs(gram, 1e-4, 0.0) is None
