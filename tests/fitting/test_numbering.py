"""Clusters are numbered by decreasing mass where no start is given, and keep the numbers of one
that is."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons

from cmeans import (
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    KernelPatchClustering,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    StreamingFuzzyCMeans,
    TwoStepKernelKMeans,
)
from cmeans.rules import Entropy
from limited import limited

MIDDLES = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 9.0]])
SIZES = [40, 150, 90, 60]
X, TRUTH = make_blobs(SIZES, centers=MIDDLES, cluster_std=0.5, random_state=0)
ORDER = np.argsort([-size for size in SIZES])
EXPECTED = np.argsort(ORDER)[TRUTH]
MODELS = {
    "plain": KernelKMeans(4, kernel="linear"),
    "landmarks": KernelKMeans(4, kernel="rbf", gamma=0.05, landmarks=30),
    "exact": KernelKMeans(4, kernel="rbf", gamma=0.05, landmarks=None),
    "starts": KernelKMeans(4, kernel="linear", n_init=3, search=None),
    "graph": KernelKMeans(4, kernel="landmark_graph", landmarks=60),
    "fuzzy": FuzzyCMeans(4),
    "entropy": CMeans(4, rule=Entropy(T=1.0)),
    "possibilistic": PossibilisticCMeans(4),
    "two-step": TwoStepKernelKMeans(4, gamma=0.05),
    "lloyd": ProbabilisticKMeans(4, solver="lloyd", init="k-means++"),
    "fagp": ProbabilisticKMeans(4, solver="fagp", init="k-means++"),
    "stream": StreamingFuzzyCMeans(4, chunk_size=170),
    "patches": KernelPatchClustering(4, gamma=0.05, patch_size=170),
    "tree": KernelPatchClustering(4, gamma=0.05, patch_size=170, merge="tree"),
}
over_models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@over_models
def test_by_decreasing_mass_whatever_the_seed(model):
    rows = np.random.default_rng(0).permutation(len(X))
    for seed in range(3):
        fitted = clone(model).set_params(random_state=seed).fit(X[rows])
        np.testing.assert_array_equal(np.asarray(fitted.labels_), EXPECTED[rows])
        np.testing.assert_array_equal(fitted.predict(X[rows]), EXPECTED[rows])
        np.testing.assert_array_equal(fitted.memberships_.argmax(axis=1), EXPECTED[rows])
        assert (np.diff(fitted.memberships_.sum(axis=0)) < 0).all()


def test_scales_go_with_their_clusters():
    model = PossibilisticCMeans(4, pilot_m=1.5, eta_scale=1, random_state=0).fit(X)
    pilot = FuzzyCMeans(4, m=1.5, random_state=0).fit(X)
    pull = pilot.memberships_**1.5
    np.testing.assert_allclose(
        model.eta_, (pull * pilot.transform(X) ** 2).sum(axis=0) / pull.sum(axis=0), rtol=1e-9
    )


@pytest.mark.parametrize(
    "name", ["plain", "landmarks", "exact", "fuzzy", "possibilistic", "two-step", "stream", "lloyd"]
)
@pytest.mark.parametrize("start", ["points", "labels"])
def test_a_start_keeps_its_numbers(name, start):
    given = MIDDLES if start == "points" else TRUTH
    if name == "stream":
        given = MIDDLES  # of the first chunk
    fitted = clone(MODELS[name]).set_params(random_state=0, init=given).fit(X)
    np.testing.assert_array_equal(np.asarray(fitted.labels_), TRUTH)


def test_clusters_of_one_mass_are_numbered_alike_in_the_space_of_every_seed():
    rows, _ = make_moons(600, noise=0.05, random_state=0)
    first, *others = (
        KernelKMeans(2, kernel="landmark_graph", random_state=seed).fit(rows).labels_
        for seed in range(4)
    )
    assert np.bincount(first).tolist() == [300, 300]
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("canonical", [True, False])
def test_clusters_of_one_mass_are_numbered_by_their_first_rows(canonical, tmp_path, monkeypatch):
    """In the order of their values where rows are so few that shuffling them changes nothing."""
    limited(monkeypatch, canonical_rows=2000 if canonical else 0, task_rows=512)
    rows = np.concatenate(
        [
            place + 0.1 * np.random.default_rng(0).normal(size=(600, 2))
            for place in ([1, 4], [-4, 0], [0, 0])
        ]
    )
    expected = np.repeat([2, 0, 1] if canonical else [0, 1, 2], 600)
    assert rows[600:1200, 0].max() < rows[1200:, 0].min() < rows[:600, 0].min()
    np.save(tmp_path / "rows.npy", rows)
    for seed in range(2):
        np.testing.assert_array_equal(
            KernelKMeans(3, kernel="linear", random_state=seed).fit(rows).labels_, expected
        )
    limited(monkeypatch, loaded_bytes=100)
    np.testing.assert_array_equal(
        KernelKMeans(3, kernel="linear").fit(str(tmp_path / "rows.npy")).labels_, expected
    )


def test_clusters_of_one_mass_in_a_stream():
    middles = np.array([[4.0, 0.0], [0.0, 0.0], [2.0, 3.0]])
    rows = np.concatenate(
        [middles + 0.1 * np.random.default_rng(seed).normal(size=(3, 2)) for seed in range(60)]
    )
    for seed in range(4):
        fitted = StreamingFuzzyCMeans(3, chunk_size=90, rule="hard", random_state=seed).fit(rows)
        # by the first column
        np.testing.assert_array_equal(np.asarray(fitted.labels_[:3]), [2, 0, 1])


def test_clusters_of_one_mass_are_numbered_alike():
    rows, truth = make_blobs(
        [50, 50, 50], centers=MIDDLES[[0, 1, 3]], cluster_std=0.4, random_state=1
    )
    first, *others = (
        KernelKMeans(3, kernel="linear", random_state=seed).fit(rows).labels_ for seed in range(5)
    )
    for other in others:
        np.testing.assert_array_equal(other, first)
    assert len(np.unique(first)) == len(np.unique(truth))
