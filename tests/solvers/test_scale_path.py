"""Adaptive clusters at the scale at which they stand apart best: against loops, in many columns,
from few rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances, silhouette_samples

import naive_sparse
from cmeans import AdaptivePossibilisticCMeans
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.engines.threads import ThreadEngine
from cmeans.rules import Fuzzy
from cmeans.solvers.adaptive import pilot_widths
from cmeans.spaces import EuclideanSpace
from cmeans.spaces.centres import Centres
from cmeans.sweeps.passes import SilhouettePass
from cmeans.sweeps.problem import Problem, Stopping
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from contracts.arrays import DTYPES
from naive_sparse import Recipe

pytestmark = pytest.mark.slow

nowhere = pytest.mark.filterwarnings("ignore:.*belong nowhere:UserWarning")
RAGGED = Limits(block_rows=50, tasks=3, task_values=1)


def mixture(clusters, columns, rows, seed, apart=8.0):
    """Normal clusters of unequal size and width, some standard deviations apart."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(clusters, rows, p=rng.dirichlet(np.full(clusters, 4.0)))
    if clusters <= columns:  # any two at that distance
        centres = np.linalg.qr(rng.normal(size=(columns, clusters)))[0].T * apart / np.sqrt(2)
    else:
        centres = rng.normal(size=(clusters, columns)) * apart / np.sqrt(2 * columns)
    return centres[labels] + rng.uniform(0.6, 1.2, clusters)[labels, None] * rng.normal(
        size=(rows, columns)
    ), labels


def problem_of(X, weight=None):
    blocks = Blocks(X, np.ones(len(X)) if weight is None else weight, limits=RAGGED)
    return Problem(
        RepresentedRows(EuclideanSpace(np.zeros(X.shape[1])), blocks, 0),
        Fuzzy(1.05),
        ThreadEngine(2),
        Stopping(10, 1e-4),
    )


def silhouette(X, V, eta, weight=None):
    problem = problem_of(X, weight)
    total, weight = problem.engine.fold(
        problem.rows, SilhouettePass(State(Centres.orthonormal(V), eta))
    )
    return total / weight


@pytest.mark.parametrize("dtype", DTYPES)
def test_silhouettes_are_those_of_the_loops(dtype):
    X, _ = mixture(4, 3, 170, 0)
    X = X.astype(dtype)
    V, eta = X[[1, 5, 9, 20]].astype(np.float64), np.array([1.0, 0.3, 2.0, 1.5])
    assert silhouette(X, V, eta) == pytest.approx(
        naive_sparse.silhouette(X.astype(float), V, eta),
        abs=1e-5 if np.dtype(dtype).itemsize == 4 else 1e-12,
    )


def test_silhouettes_of_clusters_that_are_points_are_scikit_learns():
    """There a mean distance to a cluster is that to its centre; scikit-learn leaves a row itself
    out, which is at distance 0."""
    V = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 9.0]])
    X = np.repeat(V, [5, 7, 4], axis=0)
    assert silhouette(X, V, np.ones(3)) == pytest.approx(
        silhouette_samples(
            pairwise_distances(X) ** 2, np.repeat(range(3), [5, 7, 4]), metric="precomputed"
        ).mean()
    )


def test_silhouettes_of_weighted_rows_are_those_of_copies():
    X, _ = mixture(3, 2, 90, 1)
    weight = np.arange(90) % 4
    V, eta = X[:3], np.array([0.5, 1.0, 2.0])
    assert silhouette(X, V, eta, weight.astype(float)) == pytest.approx(
        silhouette(np.repeat(X, weight, axis=0), V, eta), rel=1e-12
    )


@pytest.mark.parametrize("columns", [2, 20, 200])
def test_concentration(columns):
    """It is the loops', and sqrt(columns / 2), nearly, for normal clusters."""
    rng = np.random.default_rng(columns)
    labels = np.arange(300) % 3
    X = rng.normal(size=(300, columns)) + 1000.0 * labels[:, None]
    means = np.array([X[labels == j].mean(axis=0) for j in range(3)])
    found = pilot_widths(problem_of(X), State(Centres.orthonormal(means)))
    assert found.concentration == pytest.approx(naive_sparse.concentration(X, labels), rel=1e-6)
    assert found.concentration == pytest.approx(np.sqrt(columns / 2), rel=0.12)


@nowhere
@pytest.mark.parametrize(
    ("clusters", "columns", "rows", "most"),
    [
        (3, 2, 24, 5),
        *(
            pytest.param(*shape, marks=pytest.mark.minutes)
            for shape in ((3, 12, 30, 5), (1, 3, 60, 8))
        ),
    ],
)
def test_the_path_is_the_naive_one(clusters, columns, rows, most):
    X, _ = mixture(clusters, columns, rows, {2: 0, 12: 1, 3: 2}[columns])
    start = np.arange(most)
    V, eta = naive_sparse.fuzzy_pilot(X, X[start], m=1.5, sweeps=30)
    labels = np.argmin(
        pairwise_distances(X, naive_sparse.naive.fcm_points(X, X[start], 1.5, 30).centers), axis=1
    )
    spread = naive_sparse.concentration(X, labels)
    found, alpha = naive_sparse.best_separated(
        X, V, eta, spread, Recipe(factor=0.9, test="global"), tol=1e-9
    )
    model = AdaptivePossibilisticCMeans(
        (1, most), init=start, pilot_m=1.5, scaling=None, tol=1e-9, max_iter=1000
    ).fit(X)
    assert model.n_clusters_ == len(found.centers)
    np.testing.assert_allclose(model.cluster_centers_, found.centers, atol=1e-4)
    np.testing.assert_allclose(model.eta_, min(eta) * found.eta / alpha, rtol=1e-4)
    np.testing.assert_array_equal(model.labels_, found.labels)


@nowhere
@pytest.mark.parametrize(("clusters", "columns"), [(4, 20), (9, 20), (12, 60), (8, 100)])
def test_clusters_in_many_columns(clusters, columns):
    """Where distances within and between clusters hardly differ. alpha=1 finds one there from 60
    columns on."""
    X, y = mixture(clusters, columns, 1500, clusters, apart=12.0)
    model = AdaptivePossibilisticCMeans(random_state=0).fit(X)
    assert model.n_clusters_ == clusters
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert (model.labels_ == -1).mean() < 0.05


def test_digits():
    X, y = load_digits(return_X_y=True)
    model = AdaptivePossibilisticCMeans(random_state=0).fit(X)
    assert 8 <= model.n_clusters_ <= 14
    assert adjusted_rand_score(y, model.labels_) > 0.5
    assert (model.labels_ == -1).mean() < 0.05


@nowhere
@pytest.mark.parametrize("rows", [50, 100, 400])
def test_the_number_does_not_depend_on_the_number_of_rows(rows):
    X, y = make_blobs(rows, random_state=1)
    model = AdaptivePossibilisticCMeans(random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.85


def test_that_no_clusters_stand_apart_is_told_in_many_columns():
    X = np.random.default_rng(0).normal(size=(500, 30))
    with pytest.warns(
        UserWarning, match=r"AdaptivePossibilisticCMeans: no clusters stand apart.*cmeans\.select"
    ):
        model = AdaptivePossibilisticCMeans(random_state=0).fit(X)
    assert model.n_clusters_ == 1


@nowhere
@pytest.mark.parametrize(
    "words",
    [
        {"kernel": "rbf", "gamma": 0.01},
        {"kernel": "rbf", "gamma": 0.01, "landmarks": 60},
        {"sparsity": 0},
    ],
)
def test_other_spaces_and_sparsities(words):
    X, y = mixture(4, 8, 400, 4, apart=8.0)
    model = AdaptivePossibilisticCMeans(random_state=0, **words).fit(X)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(y, model.labels_) > 0.9


@nowhere
def test_row_visits_are_those_of_all_stages():
    X, _ = mixture(4, 8, 400, 3)
    path, single = (
        AdaptivePossibilisticCMeans(random_state=0, alpha=alpha).fit(X) for alpha in ("auto", 1.0)
    )
    assert path.row_visits_ > single.row_visits_ + 3 * len(X)
