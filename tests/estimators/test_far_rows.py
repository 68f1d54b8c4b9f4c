"""Rows that are far from all others: no cluster begins with them, no scale is theirs, and their
scores say what they are."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from benchmarks.far_rows import CLUSTERS, MODELS, with_far_row
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from cmeans import (
    AdaptivePossibilisticCMeans,
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    SequentialPossibilisticCMeans,
)
from cmeans.rules import Fuzzy, Possibilistic

FAR = [5.0, 10.0, 100.0, 1e6]
LEAVE_OUT = [
    "FuzzyCMeans, noise",
    "PossibilisticCMeans",
    "AdaptivePossibilisticCMeans",
    "SequentialPossibilisticCMeans",
]


@cache
def blobs(rows=90, columns=2, seed=0):
    centres = 8.0 * np.vstack([np.zeros(columns), np.eye(columns)[:2]])
    return make_blobs(rows, centers=centres, random_state=seed)


def test_a_far_row_has_no_cluster_of_possibilistic_ones():
    X = np.vstack([blobs()[0], [[100.0, 100.0]]])
    model = PossibilisticCMeans(3, random_state=42).fit(X)
    assert sorted(np.bincount(model.labels_)) == [30, 30, 31]
    assert model.outlier_score(X)[-1] > 0.999


def test_a_far_row_does_not_end_a_sequential_search():
    X = np.vstack([blobs()[0], [[40.0, 40.0]]])
    model = SequentialPossibilisticCMeans().fit(X)
    assert (model.n_clusters_, model.labels_[-1]) == (3, -1)
    assert (
        adjusted_rand_score(
            blobs()[1][model.labels_[:-1] >= 0], model.labels_[:-1][model.labels_[:-1] >= 0]
        )
        == 1
    )


@pytest.mark.slow  # four draws, each at several scales
def test_two_lognormal_blobs_are_two_clusters():
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = np.vstack([rng.lognormal(size=(100, 2)), rng.lognormal(size=(100, 2)) + 10.0])
        found.append(AdaptivePossibilisticCMeans(random_state=0).fit(X).n_clusters_)
    assert found.count(2) >= 3


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("name", LEAVE_OUT)
def test_a_far_row_changes_no_cluster_and_is_an_outlier(name, far):
    """At 5 to a million spreads, without a warning."""
    X, y = with_far_row(far)
    model = MODELS[name]().fit(X)
    assert model.n_clusters_ == CLUSTERS
    inside = np.flatnonzero(model.labels_[:-1] >= 0)
    assert len(inside) > 0.75 * len(y)
    assert adjusted_rand_score(y[inside], model.labels_[inside]) == 1
    assert model.outlier_score(X)[-1] >= model.outlier_threshold_
    assert model.labels_[-1] == -1 or name == "PossibilisticCMeans"


@pytest.mark.parametrize("columns", [2, 8])
def test_one_row_in_a_hundred_changes_no_possibilistic_cluster(columns):
    X, y = blobs(300, columns)
    rows = np.vstack([X, 8.0 + 100.0 * np.random.default_rng(1).standard_t(1, size=(3, columns))])
    model = PossibilisticCMeans(3, random_state=0).fit(rows)
    assert adjusted_rand_score(y, model.labels_[:-3]) == 1
    assert model.outlier_score(rows)[-3:].min() >= model.outlier_threshold_
    assert (model.outlier_score(X) >= model.outlier_threshold_).mean() < 0.06


def test_clean_rows_have_the_start_of_the_literature():
    """Where no row is far there is no noise to look for, nor where a cluster of few rows is near
    another: PossibilisticCMeans is CMeans, whose fuzzy run knows none, but for one pass."""
    few = [11.0, 0.0] + 0.3 * np.random.default_rng(5).normal(size=(20, 2))
    X = np.vstack([blobs(300)[0], few])
    one = PossibilisticCMeans(4, m=1.3, eta_scale=1.0, pilot_m=1.3, random_state=0).fit(X)
    other = CMeans(
        4, rule=Possibilistic(1.3, pilot_m=1.3, eta_scale=1.0), kernel="linear", random_state=0
    ).fit(X)
    np.testing.assert_array_equal(one.memberships_, other.memberships_)
    assert one.row_visits_ == other.row_visits_ + len(X)


def test_a_small_cluster_is_no_noise():
    rng = np.random.default_rng(3)
    y = np.repeat(range(4), [200, 120, 60, 20])
    X = 12.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[y] + rng.normal(size=(400, 2))
    assert adjusted_rand_score(y, PossibilisticCMeans(4, random_state=0).fit(X).labels_) > 0.99


# ---------------------------------------------------------------------------------------- threshold


def test_thresholds():
    X, _ = blobs(300)
    hard = KernelKMeans(3, kernel="linear", random_state=0).fit(X)
    fuzzy = FuzzyCMeans(3, noise="auto", random_state=0).fit(X)
    sparse = AdaptivePossibilisticCMeans(random_state=0).fit(X)
    assert (fuzzy.outlier_threshold_, sparse.outlier_threshold_) == (0.5, 1.0)
    np.testing.assert_array_equal(sparse.outlier_score(X) >= 1.0, sparse.labels_ == -1)
    assert 2.5 < hard.outlier_threshold_ < 4  # standard deviations
    assert hard.outlier_threshold_**2 == pytest.approx(
        FuzzyCMeans(3, m=1.01, noise="auto", random_state=0).fit(X).noise_distance_, rel=0.2
    )
    assert "outlier_threshold_" not in vars(KernelKMeans(2).fit(X[:20]))


def test_a_threshold_is_of_the_last_fit():
    X, _ = blobs(300)
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(X)
    before = model.outlier_threshold_
    assert model.fit(10.0 * X).outlier_threshold_ == pytest.approx(10.0 * before, rel=1e-6)


def test_a_typicality_that_falls_without_end_has_a_threshold_too():
    X, _ = blobs(300)
    model = AdaptivePossibilisticCMeans(sparsity=0, random_state=0).fit(X)
    assert 0.5 < model.outlier_threshold_ < 1
    assert (model.outlier_score(X) >= model.outlier_threshold_).mean() < 0.06


def test_no_threshold_without_rows():
    with pytest.raises(
        AttributeError,
        match=r"'KernelKMeans' object has no attribute 'outlier_threshold_'.*rows of a fit",
    ):
        _ = KernelKMeans(2).outlier_threshold_
    assert not hasattr(FuzzyCMeans(2), "outlier_threshold_")


# ----------------------------------------------------------------------------------------- warnings


@pytest.mark.parametrize(
    "make",
    [lambda c: FuzzyCMeans(c, random_state=0), lambda c: PossibilisticCMeans(c, random_state=0)],
)
def test_clusters_near_each_other_do_not_coincide_for_one_that_is_far(make):
    """A warning would be an error."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(centre, 0.1, 50) for centre in (0.0, 2.0, 1000.0)])[:, None]
    assert adjusted_rand_score(np.repeat(range(3), 50), make(3).fit(X).labels_) == 1


def test_clusters_beside_noise_that_is_far_have_not_collapsed():
    X = np.vstack([blobs()[0], [[1e6, 1e6]]])
    model = FuzzyCMeans(3, noise="auto", random_state=0).fit(X)
    assert model.separation_ > 0.1
    assert (model.labels_[-1], model.n_clusters_) == (-1, 3)


def test_many_columns_coincide_beside_a_far_row():
    """The far row has one centre, and the others are nearly one point: that is said as it is
    without the row."""
    X = np.vstack([np.random.default_rng(0).normal(size=(200, 40)), np.full((1, 40), 1e3)])
    with pytest.warns(UserWarning, match="pairs of centres coincide|collapsed"):
        CMeans(4, rule=Fuzzy(2.0), kernel="linear", random_state=0).fit(X)
