"""The c-means family with covariances: against naive loops, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import naive_covariances as naive
from cmeans import (
    CMeans,
    Covariance,
    FuzzyCMeans,
    GaussianMixture,
    KernelKMeans,
    PossibilisticCMeans,
    Sizes,
)
from cmeans.rules import Entropy
from limited import limited


def rows(n=60, seed=0, d=3):
    rng = np.random.default_rng(seed)
    centres, stretch = 3.0 * rng.normal(size=(3, d)), rng.normal(size=(3, d, d))
    kinds = np.arange(n) % 3
    return centres[kinds] + np.einsum("nij,nj->ni", stretch[kinds], rng.normal(size=(n, d)))


def short(model, X, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **more)


@pytest.mark.parametrize("shape", ["full", "tied"])
def test_it_is_the_naive_gustafson_kessel(shape):
    X, w = rows(), np.random.default_rng(1).integers(1, 4, 60).astype(float)
    labels = np.random.default_rng(2).integers(0, 3, 60)
    hard = KernelKMeans(3, kernel="linear", random_state=0).fit(X, sample_weight=w).labels_
    T = naive.pooled(X, w, hard, shape)
    model = FuzzyCMeans(3, m=1.7, covariance=shape, init=labels, max_iter=4, tol=0, random_state=0)
    short(model, X, sample_weight=w)
    known = naive.gustafson_kessel(X, w, np.eye(3)[labels], T, 1.7, 4, shape)
    for mine, theirs in (
        (model.cluster_centers_, known["v"]),
        (model.metrics_, known["A"]),
        (model.memberships_, known["u"]),
        (model.objective_history_, known["history"]),
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


def test_it_is_gustafson_kessel_of_another_package():
    """The demonstration of Octave's fuzzy-logic-toolkit, `gustafson_kessel_demo_2`, whose release
    0.4.6 ends at these figures from four starts (m = 2, volumes of 1, options [2 2000 1e-14 0])."""
    X = np.array(DEMONSTRATION.split(), float).reshape(-1, 3)
    areas = np.repeat([0, 1, 2], [9, 11, 12])
    words = {"m": 2.0, "covariance": Covariance(prior=0), "init": areas, "tol": 1e-9}
    model = FuzzyCMeans(3, **words).fit(X)
    known = [
        [2.07437548089, 11.9209678341, 6.08095599509],
        [3.26786920021, 3.74158441422, 9.51893648266],
        [11.1674637044, 9.51229649773, 13.4359536341],
    ]
    np.testing.assert_allclose(model.cluster_centers_, known, rtol=1e-8)
    np.testing.assert_allclose(model.objective_, 120.032813454, rtol=1e-10)
    np.testing.assert_allclose((model.memberships_**2).sum() / len(X), 0.841843005458, rtol=1e-8)


DEMONSTRATION = """
    1 11 5  1 12 6  1 13 5  2 11 7  2 12 6  2 13 7  3 11 6  3 12 5  3 13 7  1 1 10  1 3 9  2 2 11
    3 1 9  3 3 10  3 5 11  4 4 9  4 6 8  5 5 8  5 7 9  6 6 10  9 10 12  9 12 13  9 13 14  10 9 13
    10 13 12  11 10 14  11 12 13  12 6 12  12 7 15  12 9 15  14 6 14  14 8 13
"""
EVERY = [
    (FuzzyCMeans, {"m": 2.0}),
    (FuzzyCMeans, {"m": 1.2, "covariance": "diag"}),
    (KernelKMeans, {"kernel": "linear"}),
    (KernelKMeans, {"kernel": "linear", "covariance": Covariance(volume="free")}),
    (CMeans, {"rule": "entropy"}),
    (CMeans, {"rule": Entropy(2.0), "covariance": Covariance("tied", volume="free")}),
    (CMeans, {"rule": "polynomial_fuzzy"}),
    (PossibilisticCMeans, {}),
]


@pytest.mark.parametrize(("cls", "words"), EVERY)
def test_the_objective_never_rises_and_rows_are_predicted(cls, words):
    X = rows(n=90, seed=3)
    words = {"covariance": "full", **words}
    model = short(cls(3, tol=0, max_iter=30, random_state=0, **words), X)
    history = model.objective_history_
    assert (np.diff(history) <= 1e-9 * np.abs(history[0])).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.memberships(X), model.memberships_, atol=1e-12)
    d2 = model.transform(X) ** 2
    away = X[:, None] - model.cluster_centers_
    metrics = model.metrics_
    metrics = metrics if metrics.ndim == 3 else metrics[:, :, None] * np.eye(3)
    np.testing.assert_allclose(d2, np.einsum("ija,jab,ijb->ij", away, metrics, away), rtol=1e-8)


@pytest.mark.parametrize("cls", [FuzzyCMeans, PossibilisticCMeans])
def test_metrics_of_equal_volumes_have_determinant_one(cls):
    model = cls(3, covariance="full", random_state=0).fit(rows(n=90) * [1.0, 1e3, 1e-3])
    np.testing.assert_allclose(np.linalg.det(model.metrics_), 1.0, rtol=1e-8)


def test_free_volumes_are_classification_em():
    """Hard clusters: each row is where D + ln |S| is least."""
    X = rows(n=90)
    model = KernelKMeans(
        3, kernel="linear", covariance=Covariance(volume="free"), random_state=0
    ).fit(X)
    S = np.linalg.inv(model.metrics_)
    costs = naive.mahalanobis(X, model.cluster_centers_, S) + np.linalg.slogdet(S)[1]
    np.testing.assert_array_equal(costs.argmin(axis=1), model.labels_)


def test_spheres_of_equal_volumes_are_plain():
    X = rows(n=90)
    plain = FuzzyCMeans(3, m=2, random_state=0, tol=1e-8).fit(X)
    round_ = FuzzyCMeans(3, m=2, covariance="spherical", random_state=0, tol=1e-8).fit(X)
    np.testing.assert_allclose(round_.metrics_, 1.0)
    np.testing.assert_allclose(round_.cluster_centers_, plain.cluster_centers_, rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_crossing_lines(seed):
    t, kinds = np.linspace(-1, 1, 200), np.arange(200) % 2
    X = np.c_[t, np.where(kinds, -t, t)]
    model = FuzzyCMeans(2, covariance="full", random_state=seed).fit(X)
    assert adjusted_rand_score(kinds, model.labels_) >= 0.9


def test_the_fuzzifier_is_settled_in_the_metric():
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(3), 100)
    X = np.c_[rng.normal(scale=30.0, size=300), rng.normal(scale=0.3, size=300) + 3 * kinds]
    model = FuzzyCMeans(3, covariance="full", random_state=0).fit(X)
    assert 1 < model.m_ <= 2
    assert adjusted_rand_score(kinds, model.labels_) == 1.0


@pytest.mark.filterwarnings("ignore:.*is doubtful")
def test_features_of_a_graph_have_covariances():
    X = rows(n=200)
    model = KernelKMeans(3, kernel="landmark_graph", covariance="full", random_state=0).fit(X)
    assert model.metrics_.shape == (3, 3, 3)
    assert model.start_ != "the best partition of the whitened rows"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (FuzzyCMeans(3, covariance="oval"), "covariance must be one of"),
        (KernelKMeans(3, covariance="full"), 'kernel="linear" with metric="euclidean"'),
        (FuzzyCMeans(3, covariance="full", metric="cosine"), "covariances among rows as they are"),
        (FuzzyCMeans(3, covariance="full", noise=0.1), "a noise cluster so far"),
        (FuzzyCMeans(3, covariance="full", top_k=2), "few memberships of a row"),
        (FuzzyCMeans(3, covariance="full", sizes=Sizes(least=5)), "bounds of sizes"),
        (FuzzyCMeans(3, covariance="full", missing="partial"), "missing values"),
        (FuzzyCMeans(3, covariance="full", landmarks=5, kernel="rbf"), "not over landmarks"),
        (FuzzyCMeans(3, covariance=Covariance(volume="free")), "hard and entropy rules alone"),
        (CMeans(3, rule="entropy", search="annealing", covariance="full"), "not annealed"),
    ],
)
def test_what_does_not_go_together_says_what_to_do(model, said):
    with pytest.raises(ValueError, match=said):
        model.fit(rows())


def test_plans_count_the_runs_from_all_starts():
    """Eight runs, and two partitions; from a given start one of each."""
    X = rows(n=300)
    plans = [model.plan(X).passes for model in (FuzzyCMeans(3), GaussianMixture(3))]
    assert plans == [66, 246]
    assert GaussianMixture(3, init=X[:3]).plan(X).passes == 41
    assert GaussianMixture(3).plan(X).row_visits == 246 * 300
    many = GaussianMixture(3).plan(rows(n=6000))  # six of the runs are of 2,000 rows
    assert (many.passes, many.row_visits) == (126, 126 * 6000 + 6 * 20 * 2000)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (GaussianMixture, {}),
        (FuzzyCMeans, {"covariance": "full"}),
        (KernelKMeans, {"kernel": "linear", "covariance": "diag"}),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_files_are_as_memory(cls, words, dtype, tmp_path, monkeypatch):
    """The same bits, where the rows are read again in every sweep."""
    limited(monkeypatch, loaded_bytes=0, canonical_rows=0, block_rows=64)
    X, w = rows(n=400).astype(dtype), np.random.default_rng(0).integers(1, 4, 400)
    table = pa.table({f"c{k}": X[:, k] for k in range(3)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=90)
    here, there = (
        short(cls(3, max_iter=5, random_state=0, **words), x, sample_weight=w)
        for x in (X, tmp_path / "rows.parquet")
    )
    assert there.objective_ == here.objective_
    np.testing.assert_array_equal(there._state.metrics.factors, here._state.metrics.factors)
    np.testing.assert_array_equal(there.labels_, here.labels_)


def zeros(n=150):
    """Rows of few values that are not zero, of which three kinds have some columns oftener."""
    rng = np.random.default_rng(0)
    often = rng.random((3, 8)) < 0.4
    there = rng.random((n, 8)) < np.where(often[np.arange(n) % 3], 0.7, 0.1)
    return np.where(there, np.exp(0.5 * rng.normal(size=(n, 8))), 0.0)


# zeros are most of a column, so that other values are its steps
@pytest.mark.filterwarnings("ignore:.*components are narrower than the steps")
@pytest.mark.parametrize("covariance", ["diag", "spherical"])
@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (GaussianMixture, {}),
        (GaussianMixture, {"df": 5.0}),
        (FuzzyCMeans, {}),
        (KernelKMeans, {"kernel": "linear", "volume": "free"}),
    ],
)
def test_csr_rows_are_as_dense_ones(cls, words, covariance, monkeypatch):
    limited(monkeypatch, canonical_rows=0, block_rows=64)
    X, w = zeros(), np.random.default_rng(1).integers(1, 4, 150)
    words = dict(words)
    own = {name: words.pop(name) for name in ("df", "volume") if name in words}
    words["covariance"] = Covariance(covariance, **own)
    known = np.where(np.arange(150) < 12, np.arange(150) % 3, -1)
    told = {} if "df" in own else {"known_labels": known, "must_link": [[20, 23], [23, 26]]}
    dense, sparse_ = (
        short(cls(3, max_iter=8, random_state=0, n_jobs=jobs, **words), x, sample_weight=w, **told)
        for x, jobs in ((X, 1), (sparse.csr_array(X), 2))
    )
    for mine, theirs in (
        (sparse_.cluster_centers_, dense.cluster_centers_),
        (sparse_._state.metrics.factors, dense._state.metrics.factors),
        (sparse_.memberships_, dense.memberships_),
        (sparse_.objective_history_, dense.objective_history_),
        (sparse_.memberships(sparse.csr_array(X)), dense.memberships(X)),
        (sparse_.transform(sparse.csr_array(X)), dense.transform(X)),
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)
    if cls is GaussianMixture:
        assert sparse_.bic(sparse.csr_array(X)) == pytest.approx(dense.bic(X), rel=1e-9)


@pytest.mark.filterwarnings("ignore:.*components are narrower than the steps")
def test_csr_columns_of_one_value_say_nothing():
    """Not only zeros: squares about the origin leave little of their deviations."""
    X = np.c_[zeros(), np.full(150, 7.3)]
    with pytest.warns(UserWarning, match="all rows have the same value in"):
        model = GaussianMixture(3, covariance="diag", random_state=0).fit(sparse.csr_array(X))
    assert (model.covariances_[:, -1] == 0).all()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (FuzzyCMeans(2, covariance="full"), 'take covariance="diag" or "spherical"'),
        (GaussianMixture(2, covariance="diag", noise="auto"), "leave noise out"),
    ],
)
def test_what_csr_rows_do_not_have_is_refused(model, said):
    with pytest.raises(ValueError, match=f"X is sparse.*{said}"):
        model.fit(sparse.csr_array(zeros()))
