"""Centring in feature space: the same distances, and digits kept where a kernel has a large
constant part."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cmeans import FuzzyCMeans
from cmeans.data.blocks import Block
from cmeans.kernels import Linear, Polynomial
from cmeans.papers import GradientLandmarks
from cmeans.spaces import landmark_space

KERNELS = {"linear": Linear(), "polynomial": Polynomial(degree=2, gamma=0.5)}


def distances(kernel, X, A, landmarks, monkeypatch, centred):
    """d2 to the centres that the weights A make, and how many dimensions of the landmarks' span
    were kept."""
    monkeypatch.setattr(type(kernel), "constant_part", centred)
    space = landmark_space(kernel, X[landmarks], None, X.dtype)
    assert (space.centring is not None) == centred
    rows = space.rows(Block(X, np.ones(len(X)), 0))
    moment = np.zeros((A.shape[1], space.moment_width))
    rows.add_moment(A, moment)
    d2 = rows.squared_distances(space.view(space.centres(A.sum(axis=0), moment), rows.kxx))
    return d2, space.whitener.shape[1]


def exact_distances(kernel, X, A):
    """|phi(x_i) - v_j|^2 in fractions: no rounding at all."""
    rows = [[Fraction(float(value)) for value in x] for x in X]
    inner = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]
    K = [[(k / 2 + 1) ** 2 for k in row] for row in inner] if kernel == "polynomial" else inner
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


def problem(n, d):
    rng = np.random.default_rng(1)
    return rng.uniform(size=(n, d)), rng.integers(1, 9, size=(n, 3)) / 8.0


@pytest.mark.parametrize("landmarks", [3, 6, 24])
@pytest.mark.parametrize("kernel", KERNELS)
def test_same_distances_on_good_data(kernel, landmarks, monkeypatch):
    X, A = problem(24, 3)
    centred, _ = distances(KERNELS[kernel], X, A, np.arange(landmarks), monkeypatch, True)
    raw, _ = distances(KERNELS[kernel], X, A, np.arange(landmarks), monkeypatch, False)
    np.testing.assert_allclose(centred, raw, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "offset", "dtype"),
    [("linear", 30, "float32"), ("polynomial", 30, "float32"), ("polynomial", 300, "float64")],
)
def test_data_with_an_offset_keep_dimensions_and_digits(kernel, offset, dtype, monkeypatch):
    """All rows are landmarks, so the truth is the exact distance. (Float32 values of k are rounded
    before anything can centre them.)"""
    X, A = problem(40, 30)
    X = (X + offset).astype(dtype)
    truth = exact_distances(kernel, X, A)
    centred, kept = distances(KERNELS[kernel], X, A, np.arange(40), monkeypatch, True)
    raw, kept_raw = distances(KERNELS[kernel], X, A, np.arange(40), monkeypatch, False)
    assert kept > 1.2 * kept_raw
    assert np.abs(centred - truth).max() < np.abs(raw - truth).max()
    np.testing.assert_allclose(
        centred, truth, rtol=0, atol=(1e-2 if dtype == "float32" else 1e-8) * truth.mean()
    )


@pytest.mark.parametrize("offset", [30, 1e3, 1e4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_without_a_factor_the_ridge_exceeds_the_rounding_of_raw_values(kernel, offset):
    """Else G has negative eigenvalues beyond the ridge, where conjugate gradients stop or complain
    of the kernel."""
    X = problem(120, 2)[0] + offset
    space = landmark_space(KERNELS[kernel], X, None, X.dtype, factor=False)
    assert space.ridge > 2 * -np.linalg.eigvalsh(space.centring.gram(space.gram))[0]


@pytest.mark.filterwarnings("ignore:.*nearly constant:UserWarning")
@pytest.mark.parametrize(
    "words", [{"kernel": Linear()}, {"kernel": Polynomial(degree=2, gamma=1e-8)}], ids=str
)
def test_gradients_bear_an_offset_too(words):
    X = (
        np.repeat(3.0 * np.eye(3, 2), 20, axis=0)
        + np.random.default_rng(0).normal(size=(60, 2))
        + 1e4
    )
    words = {"m": 1.5, "init": [0, 20, 40], **words}
    landmarks = GradientLandmarks(points=np.arange(0, 60, 2))
    factored = FuzzyCMeans(3, landmarks=landmarks.factored(), **words).fit(X)
    model = FuzzyCMeans(3, landmarks=landmarks, **words).fit(X)
    np.testing.assert_allclose(model.memberships_, factored.memberships_, rtol=0, atol=1e-3)
