"""Clusters with covariances of which something is told: known labels, and linked rows."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import naive_covariances
import naive_told_covariances as naive
from cmeans import (
    CMeans,
    Covariance,
    FuzzyCMeans,
    GaussianMixture,
    KernelKMeans,
    PossibilisticCMeans,
)
from cmeans.rules import Entropy
from limited import limited

SHAPES = ("full", "diag", "tied", "spherical")
N = 45


def rows(n=N, seed=0):
    rng = np.random.default_rng(seed)
    centres, stretch = 3.0 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3, 3))
    kinds = np.arange(n) % 3
    return centres[kinds] + np.einsum("nij,nj->ni", stretch[kinds], rng.normal(size=(n, 3))), kinds


def told(kinds, seed=1):
    """Known labels, which are not the numbers that clusters would have, strengths, and groups of
    linked rows, of which some are known."""
    n, rng = len(kinds), np.random.default_rng(seed)
    groups = np.full(n, -1)
    groups[[0, 3, 6]], groups[[1, 4]], groups[[10, 13]] = 0, 1, 2
    known, s = np.where(rng.random(n) < 0.2, (kinds + 1) % 3, -1), rng.uniform(0.2, 1, n)
    known[[0, 3, 6, 10, 13]], known[[1, 4]], s[[1, 4]] = -1, 2, 0.6
    return known, s, groups


def every_group(groups):
    own = np.where(groups < 0, groups.max() + 1 + np.arange(len(groups)), groups)
    return np.unique(own, return_inverse=True)[1]


def short(model, X, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **more)


def case(shape, linked, prior=True):
    """Rows, weights, labels to start from, T, and what is told, as naive loops and as fits have
    it."""
    X, kinds = rows()
    w = np.random.default_rng(1).integers(1, 4, N).astype(float)
    labels = np.random.default_rng(2).integers(0, 3, N)
    known, s, groups = told(kinds)
    groups = groups if linked else np.full(N, -1)
    words = {"known_labels": known, "label_strength": s, "must_link": groups}
    hard = KernelKMeans(3, kernel="linear", random_state=0).fit(X, sample_weight=w, **words)
    T = naive_covariances.pooled(X, w, hard.memberships_, shape)
    s = np.where(known >= 0, s, 0.0)
    return X, w, labels, T, (known, s, every_group(groups)), words


def same(pairs):
    for mine, theirs in pairs:
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


def matrices(values, shape):
    if shape == "tied":
        return np.array([values] * 3)
    if values.ndim == 3:
        return values
    return (values if values.ndim == 2 else values[:, None])[:, :, None] * np.eye(3)


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_mixture_is_the_naive_one(shape, linked):
    X, w, labels, T, what, words = case(shape, linked)
    model = GaussianMixture(3, covariance=shape, init=labels, max_iter=4, tol=0, random_state=0)
    short(model, X, sample_weight=w, **words)
    found = naive.mixture(X, w, np.eye(3)[labels], T, shape, 4, what)
    same(
        [
            (model.means_, found["v"]),
            (matrices(model.covariances_, shape), found["S"]),
            (model.weights_, found["p"]),
            (model.memberships_, found["u"]),
            (model.objective_history_, found["history"]),
        ]
    )


@pytest.mark.parametrize("linked", [False, True])
def test_a_mixture_beside_noise_is_the_naive_one(linked):
    X, w, labels, T, what, words = case("full", linked)
    model = GaussianMixture(3, noise=0.2, init=labels, max_iter=4, tol=0, random_state=0)
    short(model, X, sample_weight=w, **words)
    noise = 0.2, naive_covariances.noise_volume(X, w)
    found = naive.mixture(X, w, np.eye(3)[labels], T, "full", 4, what, noise)
    same(
        [
            (model.means_, found["v"]),
            (model.covariances_, found["S"]),
            (model.memberships_, found["u"]),
            (model.objective_history_, found["history"]),
        ]
    )


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("shape", ["full", "tied"])
def test_fuzzy_clusters_are_the_naive_ones(shape, linked):
    X, w, labels, T, what, words = case(shape, linked)
    model = FuzzyCMeans(3, m=1.7, covariance=shape, init=labels, max_iter=4, tol=0, random_state=0)
    short(model, X, sample_weight=w, **words)
    found = naive.gustafson_kessel(X, w, np.eye(3)[labels], T, 1.7, 4, shape, what)
    same(
        [
            (model.cluster_centers_, found["v"]),
            (model.metrics_, found["A"]),
            (model.memberships_, found["u"]),
            (model.objective_history_, found["history"]),
        ]
    )


EVERY = [
    (GaussianMixture, {}),
    (GaussianMixture, {"noise": "auto", "covariance": "diag"}),
    (FuzzyCMeans, {"m": 1.4}),
    (KernelKMeans, {"kernel": "linear", "covariance": Covariance(volume="free")}),
    (KernelKMeans, {"kernel": "landmark_graph"}),
    (CMeans, {"rule": Entropy(2.0), "covariance": Covariance("tied", volume="free")}),
    (PossibilisticCMeans, {}),
]


@pytest.mark.parametrize(("cls", "words"), EVERY)
def test_the_objective_never_rises_and_what_is_told_is_kept(cls, words):
    X, kinds = rows(90)
    known, _, groups = told(kinds)
    model = cls(3, tol=0, max_iter=30, random_state=0, **{"covariance": "full", **words})
    short(model, X, known_labels=known, must_link=groups)
    history = model.objective_history_
    assert (np.diff(history) <= 1e-9 * np.abs(history[0])).all()
    for group in range(3):
        assert len(set(model.labels_[groups == group])) == 1
    np.testing.assert_array_equal(model.labels_[known >= 0], known[known >= 0])
    free = (known < 0) & (groups < 0)  # others are predicted as if nothing were known of them
    np.testing.assert_array_equal(model.predict(X)[free], model.labels_[free])


@pytest.mark.parametrize("cls", [GaussianMixture, FuzzyCMeans])
def test_weights_are_copies(cls):
    """Also in groups, whose members' copies belong to them."""
    X, kinds = rows()
    (known, s, groups), w = told(kinds), np.random.default_rng(0).integers(1, 4, N)
    model = cls(3, covariance="full", random_state=0)
    words = {"known_labels": known, "label_strength": s, "must_link": groups}
    copies = {name: np.repeat(value, w) for name, value in words.items()}
    weighted = model.fit(X, sample_weight=w, **words)
    state, memberships = weighted._state, np.repeat(weighted.memberships_, w, axis=0)
    copied = cls(3, covariance="full", random_state=0).fit(np.repeat(X, w, axis=0), **copies)
    np.testing.assert_allclose(copied.memberships_, memberships, atol=1e-9)
    np.testing.assert_allclose(copied._state.metrics.factors, state.metrics.factors, rtol=1e-8)


@pytest.mark.parametrize("cls", [GaussianMixture, FuzzyCMeans])
def test_files_and_threads_are_as_memory(cls, tmp_path, monkeypatch):
    """The same bits, where the rows are read again in every sweep."""
    limited(monkeypatch, loaded_bytes=0, canonical_rows=0, block_rows=64)
    X, kinds = rows(400)
    known, s, groups = told(kinds)
    pq.write_table(pa.table({f"c{k}": X[:, k] for k in range(3)}), tmp_path / "rows.parquet")
    for more in ({}, {"must_link": groups}):
        words = {"known_labels": known, "label_strength": s, **more}
        here, *others = (
            short(
                cls(3, covariance="full", max_iter=4, random_state=0, n_jobs=jobs), x, **words
            )._state
            for x, jobs in ((X, 1), (X, 2), (tmp_path / "rows.parquet", 5))
        )
        for other in others:
            np.testing.assert_array_equal(other.metrics.factors, here.metrics.factors)
            np.testing.assert_array_equal(other.centres.coordinates, here.centres.coordinates)


def test_few_rows_tell_of_clusters_that_rows_alone_do_not_show():
    """Two clusters of two heaps each, of which those of different clusters are nearer."""
    rng = np.random.default_rng(0)
    kinds, heaps = np.arange(240) % 2, np.arange(240) // 2 % 2
    X = np.c_[6.0 * heaps, 4.0 * kinds] + rng.normal(size=(240, 2))
    told = np.where(np.arange(240) < 24, kinds, -1)
    free = told < 0
    for cls, words in ((GaussianMixture, {}), (FuzzyCMeans, {"covariance": "full", "m": 1.5})):
        found = [
            adjusted_rand_score(
                kinds[free], cls(2, random_state=0, **words).fit(X, **what).labels_[free]
            )
            for what in ({}, {"known_labels": told}, {"must_link": told})
        ]
        assert found[0] < 0.1
        assert found[1] > 0.8
        assert found[2] > 0.8


def test_rows_that_are_all_known_make_their_own_gaussians():
    X, kinds = rows(90)
    known = (kinds + 1) % 3
    model = GaussianMixture(3, covariance=Covariance(prior=0), random_state=0)
    model.fit(X, known_labels=known)
    np.testing.assert_array_equal(model.labels_, known)
    for j in range(3):
        np.testing.assert_allclose(model.means_[j], X[known == j].mean(axis=0))
        np.testing.assert_allclose(model.covariances_[j], np.cov(X[known == j].T, bias=True))
    assert model.n_starts_ == 2


def test_linked_rows_of_a_sample_show_what_starts_gain():
    """Runs from random rows are followed over some groups first, which stand for all."""
    X, kinds = rows(4200)
    groups = np.where(np.arange(4200) % 7 < 3, np.arange(4200) // 21 * 3 + kinds, -1)
    model = GaussianMixture(3, random_state=0, max_iter=20, tol=1e-3).fit(X, must_link=groups)
    assert model.n_starts_ == 8
    assert adjusted_rand_score(kinds, model.labels_) > 0.7


@pytest.mark.parametrize("words", [{"known_labels": [0] + [-1] * (N - 1)}, {"must_link": [[0, 1]]}])
@pytest.mark.parametrize(
    ("model", "said"),
    [
        (GaussianMixture(3, covariance=Covariance(df=5.0)), "neither known nor linked so far"),
        (GaussianMixture(3, missing="partial"), "neither known nor linked so far"),
        (GaussianMixture((2, 3)), "give one number beside known_labels="),
    ],
)
def test_what_does_not_go_together_says_what_to_do(model, said, words):
    X = rows()[0]
    if model.missing == "partial":
        X[0, 0] = np.nan
    with pytest.raises(ValueError, match=said):
        model.fit(X, **words)
