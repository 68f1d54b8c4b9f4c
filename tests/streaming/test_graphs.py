"""Streams with kernel="landmark_graph"."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import adjusted_rand_score

import cmeans
from blob_streams import stream as stream_of
from cmeans.spaces import FeatureSpace
from file_formats import npy

pytestmark = pytest.mark.slow

GRAPH = {"kernel": "landmark_graph", "landmarks": 1000, "random_state": 0}
FEW = {**GRAPH, "landmarks": 200}
MOONS, HALF = make_moons(10000, noise=0.06, random_state=0)
# of the graph of the first hundred rows
young = pytest.mark.filterwarnings("ignore:.*parts that nothing joins")


def fed(
    stream: cmeans.StreamingFuzzyCMeans, X: np.ndarray, step: int
) -> cmeans.StreamingFuzzyCMeans:
    for start in range(0, len(X), step):
        stream.partial_fit(X[start : start + step])
    return stream


@young
def test_moons_in_a_hundred_chunks():
    batch = cmeans.KernelKMeans(2, **GRAPH).fit(MOONS)
    stream = fed(cmeans.StreamingFuzzyCMeans(2, rule="hard", **GRAPH), MOONS, 100)
    assert (
        adjusted_rand_score(HALF, stream.predict(MOONS))
        > adjusted_rand_score(HALF, batch.labels_) - 0.03
    )
    assert stream.n_chunks_ == 100
    assert stream.n_landmarks_ == 1000
    assert stream.mass_.sum() == pytest.approx(10000)
    np.testing.assert_array_equal(stream.projection_loss_, 0)
    np.testing.assert_array_equal(stream.predict(MOONS[-100:]), stream.labels_)


@pytest.mark.minutes
@young
def test_digits_in_a_hundred_chunks():
    """By default all of them are held, so that the last graph is one of all rows."""
    X, y = load_digits(return_X_y=True)
    batch, streamed = [], []
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(X))
        rows, words = (
            X[order] / 16,
            {"kernel": "landmark_graph", "landmarks": "auto", "n_init": 3, "random_state": seed},
        )
        stream = fed(cmeans.StreamingFuzzyCMeans(10, rule="hard", **words), rows, 18)
        batch.append(
            adjusted_rand_score(y[order], cmeans.KernelKMeans(10, **words).fit(rows).labels_)
        )
        streamed.append(adjusted_rand_score(y[order], stream.predict(rows)))
    assert np.mean(streamed) > np.mean(batch) - 0.03


def test_the_graph_is_that_of_the_rows_held():
    """It has at most as many landmarks as asked for, and half as many as rows; no features of rows
    are kept."""
    stream = cmeans.StreamingFuzzyCMeans(2, rule="hard", **FEW)
    for start, landmarks in ((0, 125), (250, 200), (500, 200)):
        stream.partial_fit(MOONS[start : start + 250])
        assert stream.n_landmarks_ == landmarks
        assert isinstance(stream._stream.past.space, FeatureSpace)
        assert stream._stream.past.space.known is None
        assert stream._space.known is None
    assert stream._stream.held is None


def test_the_graph_stands_once_rows_are_released():
    words = {**FEW, "landmarks": MOONS[::50]}
    stream = fed(cmeans.StreamingFuzzyCMeans(2, rule="hard", **words), MOONS[:1500], 250)
    graph = cmeans.KernelKMeans(2, **words).fit(MOONS[:500]).kernel_
    np.testing.assert_allclose(stream.eigenvalues_, graph.eigenvalues, atol=1e-12)
    np.testing.assert_allclose(
        stream.kernel_(MOONS[-9:], MOONS[:9]), graph(MOONS[-9:], MOONS[:9]), atol=1e-9
    )


def test_centres_are_means_of_all_features():
    """By a frozen graph: hard labels that do not change between chunks give each cluster the mean
    of its rows."""
    stream = fed(cmeans.StreamingFuzzyCMeans(2, rule="hard", **FEW), MOONS[:3000], 500)
    e, labels = stream.kernel_.features(MOONS[:3000]), stream.predict(MOONS[:3000])
    means = np.array([e[labels == j].mean(axis=0) for j in range(2)])
    np.testing.assert_array_equal(stream.mass_, np.bincount(labels))
    np.testing.assert_allclose(stream._state.centres.coordinates, means, atol=1e-9)


@pytest.mark.parametrize("rule", ["hard", "fuzzy"])
def test_a_saved_stream_goes_on(rule, tmp_path):
    m = {} if rule == "hard" else {"m": 1.5}
    whole = fed(cmeans.StreamingFuzzyCMeans(2, rule=rule, **m, **FEW), MOONS[:1500], 250)
    for rows in (250, 750):  # while rows are held, and after
        cmeans.save(
            fed(cmeans.StreamingFuzzyCMeans(2, rule=rule, **m, **FEW), MOONS[:rows], 250),
            tmp_path / "model.safetensors",
        )
        again = fed(cmeans.load(tmp_path / "model.safetensors"), MOONS[rows:1500], 250)
        assert again.kernel_ == whole.kernel_
        np.testing.assert_array_equal(again.memberships(MOONS), whole.memberships(MOONS))


def test_threads_and_files_change_no_bit(tmp_path):
    one = cmeans.StreamingFuzzyCMeans(2, m=1.5, chunk_size=700, n_jobs=1, **FEW).fit(MOONS[:3000])
    for X, jobs in ((MOONS[:3000], 3), (npy(tmp_path, MOONS[:3000]), 2)):
        other = cmeans.StreamingFuzzyCMeans(2, m=1.5, chunk_size=700, n_jobs=jobs, **FEW).fit(X)
        np.testing.assert_array_equal(one.memberships_, other.memberships_)


@pytest.mark.parametrize("method", ["landmarks", "projection"])
def test_a_graph_that_stands_already(method):
    graph = cmeans.KernelKMeans(2, **FEW).fit(MOONS[:2000]).kernel_
    words = {"rule": "hard", "method": method, "kernel": graph, "random_state": 0}
    stream, other = (fed(stream_of(2, **words), part, 500) for part in (MOONS[:4000], MOONS[4000:]))
    assert stream.kernel_ == graph
    stream.merge(other)
    assert stream.mass_.sum() == pytest.approx(10000)
    assert adjusted_rand_score(HALF, stream.predict(MOONS)) > 0.97


@pytest.mark.parametrize(
    "words",
    [
        {"rule": "hard"},
        {"m": 1.5},
        {"rule": "hard", "merge": "tree"},
        {"rule": "hard", "n_points": 1},
    ],
)
def test_patches(words, tmp_path):
    X, y = MOONS[:4000], HALF[:4000]
    model = cmeans.KernelPatchClustering(
        2, kernel="landmark_graph", patch_size=1000, random_state=0, **words
    ).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.97
    assert len(model.eigenvalues_) > 2
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    assert again.kernel_ == model.kernel_
    np.testing.assert_array_equal(again.memberships(X), model.memberships(X))
    other = cmeans.KernelPatchClustering(
        2, kernel="landmark_graph", patch_size=1000, random_state=0, n_jobs=3, **words
    )
    np.testing.assert_array_equal(other.fit(npy(tmp_path, X)).labels_, model.labels_)


def test_small_patches_are_held_until_they_make_a_graph():
    model = cmeans.KernelPatchClustering(
        2, kernel="landmark_graph", rule="hard", patch_size=1000, random_state=0
    )
    for start, landmarks in ((0, 125), (250, 250), (500, 250)):
        model.partial_fit(MOONS[start : start + 250])
        assert len(model.kernel_.points) == landmarks
    fed(model, MOONS[750:4000], 250)
    assert model.mass_.sum() == pytest.approx(4000)
    assert adjusted_rand_score(HALF, model.predict(MOONS)) > 0.97


def test_a_first_chunk_without_a_graph():
    stream = cmeans.StreamingFuzzyCMeans(2, rule="hard", **FEW)
    with pytest.raises(ValueError, match="less than the number of different rows"):
        stream.partial_fit(MOONS[:5])
    assert not hasattr(stream, "kernel_")
