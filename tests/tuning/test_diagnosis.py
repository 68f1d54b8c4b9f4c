"""Measures of collapsed and of coincident centres, against what lies within the clusters."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans import KernelKMeans
from cmeans.spaces.centres import Centres
from cmeans.tuning.diagnosis import coincident_pairs, separation


def centres(*rows):
    return Centres.orthonormal(np.array(rows, dtype=float))


def test_pairs_are_judged_by_the_wider_of_their_clusters():
    near, far = centres([0.0], [2.0], [1000.0]), np.array([0.01, 0.01, 0.01])
    assert coincident_pairs(near, far) == 0
    assert coincident_pairs(near, np.array([9000.0, 0.01, 0.01])) == 1
    assert coincident_pairs(near, np.array([0.01, 0.01, 1e9])) == 2


def test_equal_centres_of_rows_that_repeat_coincide():
    """Their clusters have no width at all."""
    assert coincident_pairs(centres([1e6], [1e6], [5.0]), np.zeros(3)) == 1
    assert coincident_pairs(centres([0.0], [0.0]), np.zeros(2)) == 1
    assert coincident_pairs(centres([1e6], [1e6 + 1.0]), np.zeros(2)) == 0


def test_separation_of_clusters_of_one_size_is_over_the_mean_of_all_distances():
    rng = np.random.default_rng(0)
    X = np.vstack(
        [rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 5.0, rng.normal(size=(50, 2)) - 9.0]
    )
    model = KernelKMeans(3, kernel="linear", tol=0, random_state=0).fit(X)
    v = model.cluster_centers_
    mean = ((X[:, None] - v[None]) ** 2).sum(axis=2).mean()
    assert np.bincount(model.labels_).tolist() == [50, 50, 50]
    assert model.separation_ == pytest.approx(
        ((v - v.mean(axis=0)) ** 2).sum(axis=1).max() / mean, rel=1e-9
    )


def test_separation_of_centres_that_are_one_point():
    assert separation(centres([3.0, 4.0], [3.0, 4.0]), np.array([1.0, 2.0]), np.ones(2)) == 0
    assert separation(centres([3.0, 4.0]), np.zeros(1), np.ones(1)) == 1
