"""Centring in feature space: the same distances, and digits kept where a kernel has a large constant part."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cmeans.blocks import Block
from cmeans.kernels import Linear, Polynomial
from cmeans.spaces import landmark_space

KERNELS = {"linear": Linear(), "polynomial": Polynomial(degree=2, gamma=0.5)}


def distances(kernel, X, A, landmarks, monkeypatch, centred):
    monkeypatch.setattr(type(kernel), "constant_part", centred)
    space = landmark_space(kernel, X[landmarks], None, X.dtype)
    assert (space.centring is not None) == centred
    rows = space.rows(Block(X, np.ones(len(X)), 0))
    total = np.zeros((A.shape[1], space.moment_width))
    rows.add_moment(A, total)
    return rows.squared_distances(space.view(space.centres(A.sum(axis=0), total), rows.kxx)), space


def exact_distances(X, A):
    """|phi(x_i) - v_j|^2 for (x.y / 2 + 1)^2, in fractions: no rounding at all."""
    rows = [[Fraction(float(value)) for value in x] for x in X]
    K = [[(sum(a * b for a, b in zip(x, y, strict=True)) / 2 + 1) ** 2 for y in rows] for x in rows]
    n = range(len(X))
    d2 = np.empty(A.shape)
    for j, column in enumerate(A.T):
        total = sum(Fraction(float(w)) for w in column)
        a = [Fraction(float(w)) / total for w in column]
        Ka = [sum(K[i][k] * a[k] for k in n) for i in n]
        norm = sum(a[i] * Ka[i] for i in n)
        for i in n:
            d2[i, j] = float(K[i][i] - 2 * Ka[i] + norm)
    return d2


@pytest.fixture
def X():
    return np.random.default_rng(1).uniform(size=(24, 3))


@pytest.fixture
def A():
    return np.random.default_rng(2).dirichlet(np.ones(3), size=24)


@pytest.mark.parametrize("landmarks", [np.arange(3), np.arange(6), np.arange(24)], ids=len)
@pytest.mark.parametrize("kernel", KERNELS)
def test_same_distances_on_good_data(kernel, landmarks, X, A, monkeypatch):
    centred, _ = distances(KERNELS[kernel], X, A, landmarks, monkeypatch, True)
    raw, _ = distances(KERNELS[kernel], X, A, landmarks, monkeypatch, False)
    np.testing.assert_allclose(centred, raw, rtol=0, atol=1e-10)


def test_data_with_an_offset_keep_their_rank_and_their_distances(X, A, monkeypatch):
    """All rows as landmarks, so the truth is the exact distance; (x.y + c)^2 of three features spans ten dimensions."""
    X = X + 30
    truth = exact_distances(X, A)
    everything = np.arange(len(X))
    centred, kept = distances(KERNELS["polynomial"], X, A, everything, monkeypatch, True)
    raw, lost = distances(KERNELS["polynomial"], X, A, everything, monkeypatch, False)
    assert kept.whitener.shape[1] == 10
    assert lost.whitener.shape[1] < 10
    error, raw_error = np.abs(centred - truth).max() / truth.mean(), np.abs(raw - truth).max() / truth.mean()
    assert error < 1e-8
    assert raw_error > 100 * error


def test_float32_rows_with_an_offset_keep_their_distances(X, A, monkeypatch):
    X = (X + 30).astype(np.float32)
    truth = exact_distances(X, A)
    centred, _ = distances(KERNELS["polynomial"], X, A, np.arange(len(X)), monkeypatch, True)
    raw, _ = distances(KERNELS["polynomial"], X, A, np.arange(len(X)), monkeypatch, False)
    assert np.abs(centred - truth).max() < np.abs(raw - truth).max()
