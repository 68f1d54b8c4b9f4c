"""Clusters are numbered by decreasing mass where no start is given, and keep the numbers of one that is."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

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

MIDDLES = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 9.0]])
SIZES = [40, 150, 90, 60]
X, TRUTH = make_blobs(SIZES, centers=MIDDLES, cluster_std=0.5, random_state=0)
ORDER = np.argsort([-size for size in SIZES])
EXPECTED = np.argsort(ORDER)[TRUTH]
MODELS = {
    "plain": KernelKMeans(4, kernel="linear"),
    "landmarks": KernelKMeans(4, kernel="rbf", gamma=0.05, n_landmarks=30),
    "exact": KernelKMeans(4, kernel="rbf", gamma=0.05, n_landmarks=None),
    "starts": KernelKMeans(4, kernel="linear", n_init=3, search=None),
    "graph": KernelKMeans(4, kernel="landmark_graph", n_landmarks=60),
    "fuzzy": FuzzyCMeans(4),
    "entropy": CMeans(4, rule="entropy", T=1.0),
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
    np.testing.assert_allclose(model.eta_, (pull * pilot.transform(X) ** 2).sum(axis=0) / pull.sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("name", ["plain", "landmarks", "exact", "fuzzy", "possibilistic", "two-step", "stream", "lloyd"])
@pytest.mark.parametrize("start", ["points", "labels"])
def test_a_start_keeps_its_numbers(name, start):
    given = MIDDLES if start == "points" else TRUTH
    if name == "stream":
        given = MIDDLES  # of the first chunk
    fitted = clone(MODELS[name]).set_params(random_state=0, init=given).fit(X)
    np.testing.assert_array_equal(np.asarray(fitted.labels_), TRUTH)


def test_clusters_of_one_mass_are_numbered_alike():
    rows, truth = make_blobs([50, 50, 50], centers=MIDDLES[[0, 1, 3]], cluster_std=0.4, random_state=1)
    first, *others = (KernelKMeans(3, kernel="linear", random_state=seed).fit(rows).labels_ for seed in range(5))
    for other in others:
        np.testing.assert_array_equal(other, first)
    assert len(np.unique(first)) == len(np.unique(truth))
