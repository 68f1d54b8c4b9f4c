"""Nearest points, weights at landmarks and the features of a graph, against loops."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import naive_graph
from cmeans import native
from cmeans.data.blocks import Blocks
from cmeans.engines import ThreadEngine
from cmeans.graphs.landmark_graph import Sought, landmark_graph
from cmeans.kernels import LandmarkGraphKernel
from cmeans.kernels import nearest_points as module
from cmeans.kernels.base import suggested_clusters
from cmeans.kernels.landmark_graph import LandmarkWeights
from cmeans.kernels.nearest_points import NearestPoints
from contracts.arrays import FORMS, as_form
from sweep_choices import pairs


@pytest.fixture(params=["native", "numpy"])
def search(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(module, "serves", lambda _: False)
    elif not native.is_available():
        pytest.skip("no native code")
    return request.param


def nearest(X, points, count):
    d2 = ((X[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    numbers = np.argsort(d2, axis=1, kind="stable")[:, :count]
    return numbers, np.take_along_axis(d2, numbers, axis=1)


@pytest.mark.parametrize(
    ("n", "d", "s", "count", "dtype"),
    pairs(
        [1, 3, 64, 65, 130],
        [1, 2, 17, 130],
        [1, 7, 16, 33, 100],
        [1, 5, "all"],
        ["float64", "float32"],
    ),
)
def test_nearest_points(search, n, d, s, count, dtype):
    rng = np.random.default_rng(n * d + s)
    X, points = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(s, d))
    count = s if count == "all" else min(count, s)
    numbers, d2 = NearestPoints(points, count)(X)
    expected, distances = nearest(X.astype(float), points, count)
    assert d2.dtype == dtype
    np.testing.assert_allclose(d2, distances, rtol=0, atol=1e-10 if dtype == "float64" else 1e-3)
    if dtype == "float64":
        np.testing.assert_array_equal(numbers, expected)


@pytest.mark.parametrize("form", FORMS)
def test_nearest_points_to_rows_of_any_form(search, form):
    rng = np.random.default_rng(0)
    X, points = (
        rng.normal(size=(40, 6)) * (rng.uniform(size=(40, 6)) < 0.6),
        rng.normal(size=(30, 6)),
    )
    numbers, d2 = NearestPoints(points, 4)(as_form(X, form))
    expected, distances = nearest(X, points, 4)
    np.testing.assert_array_equal(numbers, expected)
    np.testing.assert_allclose(d2, distances, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_lower_number_of_equally_near_points_comes_first(search, dtype):
    """On a grid of whole numbers, products are exact."""
    points = np.array([[x, y] for x in range(-4, 5) for y in range(-4, 5)] * 2, dtype=float)
    X = np.array([[0, 0], [1, 2], [-3, 3]], dtype=dtype)
    numbers, d2 = NearestPoints(points, 12)(X)
    expected, distances = nearest(X.astype(float), points, 12)
    np.testing.assert_array_equal(numbers, expected)
    np.testing.assert_array_equal(d2, distances)


def test_rows_far_from_the_origin_and_slices_of_wider_rows(search):
    rng = np.random.default_rng(1)
    X, points = rng.normal(size=(50, 9)) + 1e6, rng.normal(size=(20, 5)) + 1e6
    for rows in (X[:, 2:7], X[::2, ::2], np.asfortranarray(X)[:, :5]):
        numbers, d2 = NearestPoints(points, 3)(rows)
        expected, distances = nearest(rows, points, 3)
        np.testing.assert_array_equal(numbers, expected)
        np.testing.assert_allclose(d2, distances, rtol=1e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("dtype", "away"), [("float32", 1e3), ("float64", 1e9)])
def test_groups_of_near_rows_and_points_far_from_each_other(search, form, dtype, away):
    """Where products about any one point leave distances within a group no digits."""
    rng = np.random.default_rng(2)
    groups = [away * np.array([1, 0]), away * np.array([0, 1]), away * np.array([-1, 2])]
    X = np.concatenate([rng.normal(size=(20, 2)) + group for group in groups]).astype(dtype)
    points = np.concatenate([rng.normal(size=(10, 2)) + group for group in groups])
    numbers, d2 = NearestPoints(points, 3)(as_form(X, form, dtype))
    expected, distances = nearest(X.astype(float), points, 3)
    np.testing.assert_array_equal(numbers, expected)
    np.testing.assert_allclose(d2, distances, rtol=1e-5, atol=1e-5)


# ------------------------------------------------------------------------------------------ weights


@pytest.mark.parametrize("width", [None, 0.3, 40.0])
@pytest.mark.parametrize("r", [1, 5, 12])
def test_weights_of_rows_at_landmarks(r, width):
    rng = np.random.default_rng(2)
    X, landmarks = rng.normal(size=(30, 3)), rng.normal(size=(12, 3))
    z = LandmarkWeights(landmarks, r, width)(X)
    assert z.nnz <= 30 * r
    np.testing.assert_allclose(
        z.toarray(), naive_graph.landmark_weights(X, landmarks, r, width), atol=1e-12
    )
    np.testing.assert_allclose(z.sum(axis=1), 1)


def test_weights_where_all_distances_are_zero_or_far_beyond_the_width():
    landmarks = np.zeros((4, 2))
    np.testing.assert_array_equal(
        LandmarkWeights(landmarks, 4, None)(np.zeros((1, 2))).toarray(), np.full((1, 4), 0.25)
    )
    z = LandmarkWeights(np.array([[1.0], [2.0]]), 2, 1e-200)(np.zeros((1, 1), np.float32))
    np.testing.assert_array_equal(z.toarray(), [[1, 0]])


# ---------------------------------------------------------------------------------------- the graph


SOUGHT = Sought(2, "clusters", "Test")


def made(X, w, landmarks, k, engine=None, **params):
    with (engine or ThreadEngine(1)).opened() as running:
        graph, features = landmark_graph(
            landmarks, LandmarkGraphKernel(n_components=k, **params), SOUGHT, Blocks(X, w), running
        )
    np.testing.assert_array_equal(features, graph.features(X))
    return graph


def example(d=3):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(70, d)) + 3 * rng.integers(2, size=70)[:, None]
    return (
        X,
        rng.uniform(0.2, 3, size=70),
        X[rng.permutation(70)[:25]] + 0.05,
        rng.normal(size=(9, d)) + 1.5,
    )


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize(
    ("r", "width", "k", "falloff"),
    [(5, None, 4, 4.0), (25, 2.0, 3, 0.5), (3, 0.5, 5, 2), (8, 1.0, 1, 4.0), (5, None, 2, 0)],
)
def test_features_are_the_leading_eigenvectors_of_the_dense_graph(r, width, k, falloff, normalized):
    X, w, landmarks, new = example()
    params = {
        "n_neighbors": r,
        "width": "local mean" if width is None else width,
        "falloff": falloff,
        "normalized": normalized,
    }
    graph = made(X, w, landmarks, k, **params)
    Z, other = (naive_graph.landmark_weights(rows, landmarks, r, width) for rows in (X, new))
    values, e, at_new = naive_graph.features(
        Z, naive_graph.graph_weights(X, landmarks, r, w, falloff), w, k, other
    )
    assert values[k - 1] - values[k] > 1e-6, "the example cuts no tie"
    if normalized:
        e, at_new = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (e, at_new))
    np.testing.assert_allclose(graph.eigenvalues, values[: len(graph.eigenvalues)], atol=1e-12)
    mine, mine_new = graph.features(X), graph.features(new)
    signs = np.sign((mine * e).sum(axis=0))
    np.testing.assert_allclose(mine, e * signs, atol=1e-9)
    np.testing.assert_allclose(mine_new, at_new * signs, atol=1e-9)
    np.testing.assert_allclose(graph(new, X), at_new @ e.T, atol=1e-9)
    np.testing.assert_allclose(graph.diag(X), (e**2).sum(axis=1), atol=1e-9)


def test_rows_of_the_graph_sum_to_one_and_features_are_orthonormal():
    X, w, landmarks, _ = example()
    Z = naive_graph.landmark_weights(X, landmarks, 5)
    v = naive_graph.graph_weights(X, landmarks, 5, w)
    np.testing.assert_allclose(naive_graph.graph(Z, v) @ v, 1)
    e = made(X, w, landmarks, 6, n_neighbors=5).features(X)
    np.testing.assert_allclose((e * w[:, None]).T @ e / w.sum(), np.eye(6), atol=1e-10)
    np.testing.assert_allclose(np.abs(e[:, 0]), 1, atol=1e-10)


def test_a_weight_counts_copies_and_scale_does_not_matter():
    X, _, landmarks, new = example()
    copies = np.random.default_rng(5).integers(0, 4, size=len(X))
    weighted, repeated = made(X, copies.astype(float), landmarks, 4), np.repeat(X, copies, axis=0)
    expected = weighted(new, new)
    np.testing.assert_allclose(
        made(repeated, np.ones(len(repeated)), landmarks, 4)(new, new), expected, atol=1e-9
    )
    np.testing.assert_allclose(made(X, 7.5 * copies, landmarks, 4)(new, new), expected, atol=1e-9)


def test_with_all_landmarks_and_a_wide_width_it_is_nearly_the_normalised_gaussian():
    """z is then the Gaussian kernel with the landmarks, divided by its sums, whatever the order of
    distances."""
    _, _, landmarks, new = example()
    z = np.exp(-((new[:, None] - landmarks[None]) ** 2).sum(axis=2) / (2 * 9.0))
    np.testing.assert_allclose(
        LandmarkWeights(landmarks, len(landmarks), 3.0)(new).toarray(),
        z / z.sum(axis=1, keepdims=True),
        atol=1e-12,
    )


@pytest.mark.parametrize("threads", [2, 5])
def test_the_same_bits_for_any_number_of_threads(threads):
    X = np.random.default_rng(6).normal(size=(30_000, 2))
    one, many = (
        made(X, np.ones(len(X)), X[:200], 4, ThreadEngine(count)) for count in (1, threads)
    )
    assert one == many
    assert one != made(X, np.ones(len(X)), X[:200], 5)


def test_tied_eigenvalues_are_kept_whole_and_numbers_that_cut_through_them_are_told():
    rng = np.random.default_rng(7)
    X = np.concatenate([rng.normal(size=(40, 2)) + 100 * part for part in range(4)])
    w, landmarks = np.ones(160), X[::4]
    with pytest.warns(UserWarning, match="falls into 4 parts"):
        graph = made(X, w, landmarks, "auto", n_neighbors=4)
    assert graph.n_components == 4
    assert suggested_clusters(graph.eigenvalues) == 4
    square = np.array([[x, y] for x in np.linspace(0, 1, 9) for y in np.linspace(0, 1, 9)])
    with pytest.warns(UserWarning, match="eigenvalues number 2 and 3 of the graph are equal"):
        graph = made(
            np.concatenate([square, square]),
            np.ones(162),
            square,
            "auto",
            n_neighbors=81,
            width=0.5,
        )
    assert graph.n_components == 3


def test_a_graph_travels():
    X, w, landmarks, new = example()
    graph = made(X, w, landmarks, 4)
    graph.features(new)
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    np.testing.assert_array_equal(again.features(new), graph.features(new))


def test_a_graph_checks_its_parts():
    with pytest.raises(ValueError, match="do not fit"):
        LandmarkGraphKernel(np.zeros((3, 2)), np.zeros((4, 2)), np.ones(2))
