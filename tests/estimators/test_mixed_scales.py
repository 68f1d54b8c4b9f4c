"""Clusters that are near each other, beside others that are farther away than numbers have digits
for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cmeans import CMeans, FuzzyCMeans, KernelKMeans, ProbabilisticKMeans

SPACES = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "laplacian": {"kernel": "laplacian", "gamma": 0.5},
}


@pytest.mark.parametrize(
    ("cls", "space"),
    [
        (cls, space)
        for cls in (KernelKMeans, FuzzyCMeans)
        for space in SPACES
        if (cls, space) != (FuzzyCMeans, "linear")
    ],
)
@pytest.mark.parametrize(
    ("dtype", "places"),
    [("float32", [1e4, 1e4 + 2, 0]), ("float64", [1e9, 1e9 + 2, 0]), ("float64", [0, 2, 1e9])],
)
def test_two_clusters_and_a_far_one(cls, space, dtype, places):
    truth = np.repeat([0, 1, 2], 40)
    X = (
        np.array(places)[truth, None] + 0.1 * np.random.default_rng(0).normal(size=(120, 2))
    ).astype(dtype)
    assert adjusted_rand_score(truth, cls(3, random_state=0, **SPACES[space]).fit(X).labels_) == 1.0


@pytest.mark.parametrize("far", [1e3, 1e5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("cls", [KernelKMeans, FuzzyCMeans, CMeans, ProbabilisticKMeans])
def test_tight_clusters_beside_a_far_one_are_told_apart_without_alarm(cls, dtype, far):
    """What is small beside the spread of all rows is large within a cluster: m, T and warnings go
    by the latter."""
    words = {"rule": "entropy"} if cls is CMeans else {"kernel": "linear"}
    truth = np.repeat([0, 1, 2], 50)
    X = (
        np.array([0.0, 2.0, far])[truth, None]
        + 0.1 * np.random.default_rng(0).normal(size=(150, 1))
    ).astype(dtype)
    assert adjusted_rand_score(truth, cls(3, random_state=0, **words).fit(X).labels_) == 1.0


def test_centres_of_single_precision_rows_are_their_means_however_far_they_are():
    X = (1e6 + np.random.default_rng(0).normal(size=(50, 3))).astype(np.float32)
    model = KernelKMeans(1, kernel="linear", random_state=0).fit(X)
    np.testing.assert_array_equal(
        model.cluster_centers_[0], np.float64(X).mean(axis=0).astype(np.float32)
    )
