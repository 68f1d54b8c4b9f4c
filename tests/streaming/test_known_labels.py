"""Streams of which some labels are known, from the first chunk on or later."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import cmeans
import naive
from blob_streams import stream
from cmeans import KernelPatchClustering, StreamingFuzzyCMeans
from naive_told import told_cmeans
from sweep_choices import pairs

C = 3
SPACES: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "landmarks": {"kernel": "rbf", "gamma": 0.1, "landmarks": 30},
    "projection": {"kernel": "rbf", "gamma": 0.1, "method": "projection", "chunk_size": 100},
}


def blobs(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(
        n, centers=[[0, 0, 0], [4, 0, 1], [0, 4, 0]], cluster_std=0.8, random_state=seed
    )


def told_of(y: np.ndarray, share: float = 0.1) -> np.ndarray:
    """Labels of some rows; clusters would rarely have these numbers by themselves."""
    return np.where(np.random.default_rng(1).random(len(y)) < share, (y + 1) % C, -1)


def model(**words: Any) -> StreamingFuzzyCMeans:
    return stream(C, **{"m": 1.5, "random_state": 0, **words})


@pytest.mark.parametrize(
    ("kind", "warm_up", "first"), pairs(product(SPACES, ["fuzzy", "hard"]), [0, 250], [0, 2, 4])
)
def test_clusters_take_the_numbers_of_labels_whenever_they_come(
    kind: tuple[str, str], warm_up: int, first: int
) -> None:
    (X, y), (space, rule) = blobs(), kind
    known, stream = told_of(y), model(rule=rule, warm_up=warm_up, **SPACES[space])
    for number in range(6):
        rows = slice(100 * number, 100 * number + 100)
        stream.partial_fit(X[rows], known_labels=known[rows] if number >= first else None)
        if number >= first:
            held = known[rows] >= 0
            np.testing.assert_array_equal(stream.labels_[held], known[rows][held])
            assert np.mean(stream.labels_ == (y[rows] + 1) % C) > 0.9
    assert np.mean(stream.predict(X) == (y + 1) % C) > 0.9


def test_labels_that_come_one_by_one() -> None:
    X, y = blobs()
    stream = model(warm_up=0).partial_fit(X[:200])
    for label in (2, 0):
        rows = slice(200 + 50 * label, 250 + 50 * label)
        stream.partial_fit(X[rows], known_labels=np.where(y[rows] == label, label, -1))
        assert np.mean(stream.predict(X[y == label]) == label) > 0.9
    before = stream.predict(X)
    stream.partial_fit(X[:50])
    assert np.mean(stream.predict(X) == before) > 0.98
    assert np.mean(stream.predict(X) == y) > 0.9


@pytest.mark.usefixtures("sweeps")
def test_one_chunk_is_a_fit() -> None:
    X, y = blobs(60)
    known, strength = told_of(y, 0.2), np.random.default_rng(2).uniform(0.2, 1, 60)
    start = np.array([0, 20, 40])
    K = naive.kernel_matrix(X, X, naive.linear)
    twin = told_cmeans(K, start, 1.5, 60, np.ones(60), known, strength, np.arange(60))
    stream = model(kernel="linear", init=start, warm_up=0, tol=1e-10)
    stream.partial_fit(X, known_labels=known, label_strength=strength)
    np.testing.assert_allclose(stream.memberships_, twin.memberships, atol=1e-7)
    assert stream.objective_ == pytest.approx(twin.objective, rel=1e-9)


def test_known_rows_are_part_of_what_is_kept() -> None:
    """A chunk of known rows moves the centres that later chunks begin with."""
    X, y = blobs()
    plain, told = model(warm_up=0), model(warm_up=0)
    for rows in (slice(0, 300), slice(300, 600)):
        plain.partial_fit(X[rows])
        told.partial_fit(X[rows], known_labels=(y[rows] + 1) % C)
    means = np.stack([X[(y + 1) % C == j].mean(axis=0) for j in range(C)])
    np.testing.assert_allclose(told.cluster_centers_, means, atol=1e-9)
    np.testing.assert_allclose(told.mass_, np.bincount((y + 1) % C))
    assert not np.allclose(plain.cluster_centers_, told.cluster_centers_, atol=1e-3)


@pytest.mark.parametrize("space", SPACES)
def test_fit_cuts_labels_with_the_rows(space: str) -> None:
    X, y = blobs()
    known = told_of(y)
    stream = model(**{**SPACES[space], "chunk_size": 150}).fit(X, known_labels=known)
    np.testing.assert_array_equal(stream.labels_[known >= 0], known[known >= 0])
    assert adjusted_rand_score(stream.labels_, y) > 0.8


@pytest.mark.parametrize("warm_up", [0, 500])
def test_a_stream_saved_goes_on_to_the_same_bits(warm_up: int, tmp_path: Path) -> None:
    X, y = blobs()
    known, streams = told_of(y), []
    for saving in (False, True):
        stream = model(warm_up=warm_up).partial_fit(X[:200], known_labels=known[:200])
        if saving:
            cmeans.save(stream, tmp_path / "s")
            stream = cmeans.load(tmp_path / "s")
        streams.append(
            stream.partial_fit(X[200:400], known_labels=known[200:400]).partial_fit(X[400:])
        )
    np.testing.assert_array_equal(streams[0].cluster_centers_, streams[1].cluster_centers_)
    np.testing.assert_array_equal(streams[0]._stream.tied, streams[1]._stream.tied)


def test_bad_labels_leave_the_stream_as_it_was() -> None:
    X, _ = blobs()
    stream = model(warm_up=0).partial_fit(X[:200])
    centres = stream.cluster_centers_.copy()
    with pytest.raises(
        ValueError, match=r"known_labels has shape \(3,\); one entry for each of the 100 rows"
    ):
        stream.partial_fit(X[:100], known_labels=[0, 1, 2])
    with pytest.raises(ValueError, match=r"known_labels\[0\] is 3; labels are 0 \.\.\. 2"):
        stream.partial_fit(X[:100], known_labels=np.full(100, 3))
    with pytest.raises(ValueError, match="label_strength is given without known_labels"):
        stream.partial_fit(X[:100], label_strength=0.5)
    with pytest.raises(
        ValueError,
        match="must_link is for KernelKMeans, FuzzyCMeans, PossibilisticCMeans, GaussianMixture",
    ):
        model().fit(X, must_link=[[0, 1]])
    with pytest.raises(ValueError, match=r"known_labels is for .* and StreamingFuzzyCMeans"):
        KernelPatchClustering(C, patch_size=100).partial_fit(
            X[:100], known_labels=np.zeros(100, int)
        )
    np.testing.assert_array_equal(stream.cluster_centers_, centres)
