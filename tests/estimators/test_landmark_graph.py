"""Fits with kernel="landmark_graph"."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import cmeans
import naive_graph
from cmeans import Landmarks
from cmeans.graphs.landmark_graph import Sought, automatic_landmarks, doubt
from cmeans.kernels import LandmarkGraphKernel
from cmeans.papers import GradientLandmarks
from cmeans.rules import Entropy
from cmeans.runtime.user_warnings import collected
from contracts.arrays import as_form, on_host
from file_formats import npy, parquet
from limited import limited

pytestmark = pytest.mark.slow

GRAPH = {"kernel": "landmark_graph", "random_state": 0}
MOONS, HALF = make_moons(1000, noise=0.06, random_state=0)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    ("X", "y"),
    [(MOONS, HALF), make_circles(1000, factor=0.4, noise=0.05, random_state=0)],
    ids=["moons", "circles"],
)
def test_shapes_that_are_no_balls(X, y, native, monkeypatch):
    if not native:
        for place in (
            "cmeans.kernels.nearest_points.serves",
            "cmeans.kernels.native_values.serves",
        ):
            monkeypatch.setattr(place, lambda _: False)
    model = cmeans.KernelKMeans(2, **GRAPH).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new, truth = make_moons(300, noise=0.06, random_state=5) if X is MOONS else (X[:300], y[:300])
    assert adjusted_rand_score(truth, model.predict(new)) > 0.98


def test_a_few_rows_between_shapes_do_not_join_them():
    """With all rows counting alike, each ring is cut in halves."""
    X, y = make_circles(10_000, factor=0.6, noise=0.06, random_state=0)
    assert adjusted_rand_score(y, cmeans.KernelKMeans(2, **GRAPH).fit_predict(X)) > 0.99


def test_spirals_that_touch():
    """Two arms that begin in one point, to which the cut between them is narrow, wherever it is
    along the arms."""
    rng = np.random.default_rng(0)
    angle, arm = 4 * np.pi * np.sqrt(rng.uniform(size=10_000)), rng.integers(2, size=10_000)
    along = np.column_stack([np.cos(angle), np.sin(angle)]) * (angle * (2 * arm - 1))[:, None]
    model = cmeans.KernelKMeans(2, **GRAPH).fit(along + rng.normal(scale=0.3, size=(10_000, 2)))
    assert adjusted_rand_score(arm, model.labels_) > 0.99


def test_sparse_clusters_count_as_much_as_dense_ones():
    rng = np.random.default_rng(0)
    dense, sparse_ones = rng.normal(size=(3, 600, 2)), 4 * rng.normal(size=(3, 60, 2))
    centres = 30 * np.column_stack([np.cos(np.arange(6)), np.sin(np.arange(6))])[:, None]
    X = np.concatenate([*(dense + centres[:3]), *(sparse_ones + centres[3:])])
    y = np.repeat(np.arange(6), [600] * 3 + [60] * 3)
    assert adjusted_rand_score(y, cmeans.KernelKMeans(6, **GRAPH, n_init=3).fit_predict(X)) > 0.97


def test_digits():
    X, y = load_digits(return_X_y=True)
    labels = [
        cmeans.KernelKMeans(10, kernel="landmark_graph", n_init=3, random_state=seed).fit_predict(
            X / 16
        )
        for seed in range(3)
    ]
    assert np.mean([normalized_mutual_info_score(y, found) for found in labels]) > 0.86


def test_what_a_fit_says():
    model = cmeans.KernelKMeans(2, **GRAPH).fit(MOONS)
    assert isinstance(model.kernel_, LandmarkGraphKernel)
    assert model.n_landmarks_ == len(model.landmarks_) == 500
    assert model.landmark_indices_ is None
    assert model.gamma_ is None
    assert model.approximation_ is None
    assert model.eigenvalues_[0] == pytest.approx(1)
    assert (np.diff(model.eigenvalues_) <= 0).all()
    blobs = np.random.default_rng(0).normal(size=(900, 2)) + 9 * (np.arange(900)[:, None] // 300)
    assert cmeans.KernelKMeans(3, **GRAPH).fit(blobs).n_clusters_suggested_ == 3
    assert not hasattr(model.set_params(kernel="linear").fit(MOONS), "eigenvalues_")


@pytest.mark.parametrize(
    ("frequencies", "count", "is_doubtful"),
    [
        ([0, 0.1, 0.11, 0.2, 0.3], 2, True),  # the last cluster and one more: by a tenth
        ([0, 0.1, 0.13, 0.5, 0.6], 2, False),  # by a quarter
        ([0, 0.1, 0.11, 0.12], 1, False),  # one cluster is no cut
        ([0, 0.1, 0.5, 0.55], 2, False),  # the graph shows two
        ([0, 0.0, 0.0, 0.5, 0.6], 2, False),  # three parts, of which another warning speaks
        (np.linspace(0, 0.9, 10), 8, True),  # by an eighth
        ([*np.linspace(0, 0.7, 8), 0.83, 1.0], 8, False),  # by .16
    ],
)
def test_cuts_where_there_is_no_gap_are_doubtful(frequencies, count, is_doubtful):
    with collected() as told:
        doubt(1 - np.square(frequencies), Sought(count, "clusters", "fit"))
    assert [f"a cut into {count} clusters is doubtful" in message for message, _ in told] == (
        [True] if is_doubtful else []
    )


def test_many_clusters_have_landmarks_of_their_own():
    assert [automatic_landmarks(c) for c in (8, 60, 1000)] == [1000, 1800, 4000]
    X = 9 * np.random.default_rng(0).random((2100, 2))
    with pytest.warns(UserWarning, match="into 35 clusters is doubtful, since one into 36 costs"):
        model = cmeans.KernelKMeans(35, **GRAPH).fit(X)
    assert 1000 < model.n_landmarks_ <= 1050  # those of no row are left out


def test_labels_are_those_of_the_nearest_means_of_naive_features():
    """At the end of a fit from given landmarks: means of features in each cluster, and each row's
    nearest."""
    rng = np.random.default_rng(1)
    X, w = MOONS[:200], rng.integers(1, 4, size=200).astype(float)
    model = cmeans.KernelKMeans(2, **GRAPH, landmarks=X[::5], tol=0).fit(X, sample_weight=w)
    Z = naive_graph.landmark_weights(X, X[::5], 5)
    other, v = (
        naive_graph.landmark_weights(MOONS[200:], X[::5], 5),
        naive_graph.graph_weights(X, X[::5], 5, w),
    )
    _, e, at_new = naive_graph.features(Z, v, w, model.kernel_.n_components, other)
    means = np.array(
        [np.average(e[model.labels_ == j], axis=0, weights=w[model.labels_ == j]) for j in range(2)]
    )
    d2 = ((e[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_array_equal(d2.argmin(axis=1), model.labels_)
    assert w @ d2.min(axis=1) == pytest.approx(model.objective_, rel=1e-9)
    new = ((at_new[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(MOONS[200:]), new.argmin(axis=1))
    np.testing.assert_allclose(model.transform(MOONS[200:]), np.sqrt(new), atol=1e-7)


@pytest.mark.parametrize("params", [{"landmarks": MOONS[::9]}, {}])
def test_a_weight_counts_copies(params):
    copies = np.random.default_rng(2).integers(1, 4, size=400)
    rows = np.repeat(np.arange(400), copies)
    weighted = cmeans.FuzzyCMeans(2, **GRAPH, m=1.5, **params).fit(
        MOONS[:400], sample_weight=copies
    )
    repeated = cmeans.FuzzyCMeans(2, **GRAPH, m=1.5, **params).fit(MOONS[:400][rows])
    np.testing.assert_allclose(weighted.memberships_[rows], repeated.memberships_, atol=1e-6)
    assert weighted.n_landmarks_ == repeated.n_landmarks_


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        ("torch", "float64"),
        ("array_api_strict", "float64"),
        ("csr", "float64"),
        ("numpy", "float32"),
    ],
)
def test_rows_of_any_form(form, dtype):
    X = as_form(MOONS, form, dtype)
    plain, other = (
        cmeans.KernelKMeans(2, **GRAPH).fit(MOONS),
        cmeans.KernelKMeans(2, **GRAPH).fit(X),
    )
    assert adjusted_rand_score(plain.labels_, on_host(other.labels_)) > 0.99
    np.testing.assert_array_equal(on_host(other.predict(X)), on_host(other.labels_))
    points = sparse.csr_array(MOONS[::9]) if form == "csr" else MOONS[::9]
    given = cmeans.KernelKMeans(2, **GRAPH, landmarks=points).fit(X)
    np.testing.assert_array_equal(
        on_host(given.predict(MOONS.astype(dtype))), on_host(given.labels_)
    )


@pytest.mark.parametrize("write", [npy, parquet])
def test_files_that_are_not_loaded(write, tmp_path, monkeypatch):
    limited(monkeypatch, loaded_bytes=0, canonical_rows=100, subsampled_above=400)
    path = write(tmp_path, MOONS)
    inside, outside = (
        cmeans.KernelKMeans(2, **GRAPH).fit(MOONS),
        cmeans.KernelKMeans(2, **GRAPH).fit(path),
    )
    np.testing.assert_array_equal(outside.labels_, inside.labels_)
    np.testing.assert_array_equal(outside.predict(path), inside.labels_)
    assert outside.objective_ == pytest.approx(inside.objective_, rel=1e-9)


def test_a_dask_array():
    distributed = pytest.importorskip("distributed")
    array = pytest.importorskip("dask.array")
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ):
        model = cmeans.KernelKMeans(2, **GRAPH).fit(array.from_array(MOONS, chunks=(300, 2)))
    assert adjusted_rand_score(HALF, model.labels_) > 0.99


def test_threads_and_memory_change_no_bit():
    X = np.concatenate([MOONS + 0.01 * number for number in range(4)])
    one = cmeans.FuzzyCMeans(2, **GRAPH, m=1.5, n_jobs=1).fit(X)
    for words in ({"n_jobs": 3}, {"engine": cmeans.ThreadEngine(2, memory_budget="250MB")}):
        other = cmeans.FuzzyCMeans(2, **GRAPH, m=1.5, **words).fit(X)
        np.testing.assert_array_equal(one.memberships_, other.memberships_)


@pytest.mark.parametrize(
    "estimator",
    ["KernelKMeans", "FuzzyCMeans", "PossibilisticCMeans", "CMeans", "ProbabilisticKMeans"],
)
def test_estimators_and_their_files(estimator, tmp_path):
    words = {"eta_scale": 0.1} if estimator == "PossibilisticCMeans" else {}
    words |= {"rule": Entropy(T=0.5)} if estimator == "CMeans" else {}
    model = getattr(cmeans, estimator)(2, **GRAPH, **words).fit(MOONS)
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    new = MOONS[::7] + 0.02
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.memberships(new), model.memberships(new))
    np.testing.assert_array_equal(again.eigenvalues_, model.eigenvalues_)
    assert again.kernel_ == model.kernel_


def test_a_fit_goes_on_from_its_checkpoint_and_from_another_model(tmp_path):
    path = tmp_path / "run"
    first = cmeans.FuzzyCMeans(
        2, **GRAPH, m=1.5, max_iter=100, engine=cmeans.ThreadEngine(checkpoint=path)
    ).fit(MOONS)
    again = cmeans.FuzzyCMeans(
        2, **GRAPH, m=1.5, max_iter=100, engine=cmeans.ThreadEngine(checkpoint=path)
    ).fit(MOONS)
    np.testing.assert_array_equal(first.memberships_, again.memberships_)
    after = cmeans.KernelKMeans(2, kernel=first.kernel_, init=first).fit(MOONS)
    assert adjusted_rand_score(HALF, after.labels_) > 0.99


@pytest.mark.parametrize("landmarks", ["uniform", "k-means++"])
def test_landmarks_among_the_rows(landmarks):
    model = cmeans.KernelKMeans(2, **GRAPH, landmarks=Landmarks(200, method=landmarks)).fit(MOONS)
    np.testing.assert_allclose(model.landmarks_, MOONS[model.landmark_indices_])
    assert adjusted_rand_score(HALF, model.labels_) > 0.9


BAD_PARAMETERS = {
    "n_neighbors": ({"n_neighbors": 0}, "n_neighbors=0.: give a whole number"),
    "width": ({"width": -1.0}, "width=-1.0.: give a positive number"),
    "width's name": ({"width": "mean"}, "width='mean'.: give a positive number"),
    "n_components": (
        {"n_components": 1.5},
        'n_components=1.5.: give a whole number of at least 1, or "auto"',
    ),
    "normalized": ({"normalized": "yes"}, "normalized='yes'.: give True or False"),
    "falloff": ({"falloff": -1}, "falloff=-1.: give a number of at least 0"),
    "metric": ({"metric": "cosine"}, "metric='cosine'.: give .euclidean., or .precomputed."),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters_of_a_graph(name):
    words, message = BAD_PARAMETERS[name]
    with pytest.raises(ValueError, match=f"LandmarkGraphKernel.{message}"):
        LandmarkGraphKernel(**words)


def test_a_graph_that_is_to_be_made_has_no_values():
    with pytest.raises(ValueError, match="the graph is made of rows"):
        LandmarkGraphKernel().prepare(MOONS)


BAD = {
    "gamma": ({"gamma": 1.0}, "gamma=1.0.: a graph has no gamma"),
    "landmark_tol": ({"landmarks": Landmarks(tol=0.1)}, "a graph has none of that; leave tol out"),
    "gradients": (
        {"landmarks": GradientLandmarks()},
        r"a graph has none of that; give Landmarks\(...\)",
    ),
    "no landmarks": ({"landmarks": None}, "the graph is made over landmarks"),
    "more neighbours than landmarks": (
        {"landmarks": 20, "kernel": LandmarkGraphKernel(n_neighbors=21)},
        "there are 20 different landmarks",
    ),
    "as many landmarks as rows": (
        {"landmarks": Landmarks(100, method="uniform")},
        "there are 100 different landmarks for 100 rows",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters(name):
    words, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        cmeans.KernelKMeans(2, **{**GRAPH, **words}).fit(MOONS[:100])


def test_rows_without_a_graph():
    with pytest.raises(ValueError, match="there are 1 different landmarks for 50 rows"):
        cmeans.KernelKMeans(2, **GRAPH).fit(np.ones((50, 2)))


@pytest.mark.parametrize("form", ["numpy", "torch", "npy"])
def test_distances_to_landmarks(form, tmp_path):
    """By any measure; Euclidean ones make the graph that the rows make."""
    away = np.sqrt(((MOONS[:, None] - MOONS[None, ::9]) ** 2).sum(axis=2))
    words = {**GRAPH, "kernel": LandmarkGraphKernel(metric="precomputed")}
    plain = cmeans.KernelKMeans(2, **GRAPH, landmarks=MOONS[::9]).fit(MOONS)
    model = cmeans.KernelKMeans(2, **words).fit(
        npy(tmp_path, away) if form == "npy" else as_form(away, form)
    )
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, atol=1e-9)
    assert adjusted_rand_score(plain.labels_, on_host(model.labels_)) == 1
    assert (model.n_landmarks_, hasattr(model, "landmarks_")) == (112, False)
    cmeans.save(model, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(
        cmeans.load(tmp_path / "model.safetensors").predict(away), on_host(model.labels_)
    )
    blocks_away = np.abs(MOONS[:, None] - MOONS[None, ::9]).sum(axis=2)
    assert (
        adjusted_rand_score(HALF, cmeans.TwoStepKernelKMeans(2, **words).fit_predict(blocks_away))
        > 0.99
    )
    for X, more, message in (
        (-away, {}, "X holds negative numbers; metric=.precomputed. takes distances"),
        (sparse.csr_array(away), {}, "give all of them, as a dense array"),
        (away, {"landmarks": 20}, "one column each; leave it out"),
    ):
        with pytest.raises(ValueError, match=message):
            cmeans.KernelKMeans(2, **{**words, **more}).fit(X)


def test_two_steps(tmp_path):
    """The graph of a sample, and all rows in it: as if the sample had been clustered alone."""
    X, y = make_moons(6000, noise=0.06, random_state=1)
    model = cmeans.TwoStepKernelKMeans(2, **GRAPH).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert len(model.landmarks_) == model.n_landmarks_ == 1000
    assert model.landmark_indices_ is None
    rows = np.arange(0, 6000, 10)
    named = cmeans.TwoStepKernelKMeans(2, **GRAPH, landmarks=rows, init=[0, 30]).fit(X)
    alone = cmeans.KernelKMeans(2, kernel=named.kernel_, init=[0, 3]).fit(X[rows])
    np.testing.assert_array_equal(named.labels_[rows], alone.labels_)
    np.testing.assert_array_equal(named.predict(X), named.labels_)
    cmeans.save(model, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(
        cmeans.load(tmp_path / "model.safetensors").predict(X), model.labels_
    )
    np.testing.assert_array_equal(
        cmeans.TwoStepKernelKMeans(2, **GRAPH, n_jobs=2).fit(npy(tmp_path, X)).labels_,
        model.labels_,
    )
    with pytest.raises(ValueError, match="a graph has landmarks before it is a kernel"):
        cmeans.TwoStepKernelKMeans(2, **GRAPH, landmarks=Landmarks(method="rpcholesky")).fit(X)


@pytest.mark.parametrize("landmarks", ["uniform", "k-means++"])
def test_in_two_steps_a_weight_counts_copies(landmarks):
    copies = np.random.default_rng(2).integers(1, 4, size=300)
    rows = np.repeat(np.arange(300), copies)
    words = {**GRAPH, "landmarks": Landmarks(200, method=landmarks)}
    weighted = cmeans.TwoStepKernelKMeans(2, **words).fit(MOONS[:300], sample_weight=copies)
    repeated = cmeans.TwoStepKernelKMeans(2, **words).fit(MOONS[:300][rows])
    np.testing.assert_array_equal(weighted.labels_[rows], repeated.labels_)


def test_one_cluster_and_more_parts_than_clusters():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(cmeans.KernelKMeans(1, **GRAPH).fit(MOONS[HALF == 0]).labels_) == {0}
    far = np.concatenate([MOONS[:200] + 50 * part for part in range(3)])
    with pytest.warns(UserWarning, match="parts that nothing joins"):
        model = cmeans.KernelKMeans(2, **GRAPH).fit(far)
    assert model.n_clusters_ == 2


@pytest.mark.parametrize(
    ("estimator", "least"), [("FuzzyCMeans", 0.75), ("PossibilisticCMeans", 0.88)]
)
def test_memberships_mark_the_rows_between_strokes(estimator, least):
    """Two moons joined by four rows: ranked by their largest membership, these lie among the
    lowest; means of six draws."""
    ranks, agreement = [], []
    for seed in range(6):
        moons, half = make_moons(1500, noise=0.06, random_state=seed)
        bridge = np.column_stack(
            [np.random.default_rng(seed).normal(0, 0.03, 4), np.linspace(0.6, 0.9, 4)]
        )
        model = getattr(cmeans, estimator)(2, **GRAPH, landmarks=300, m=1.5).fit(
            np.concatenate([moons, bridge])
        )
        largest = model.memberships_.max(axis=1)
        ranks.append(np.mean(largest[:1500] > largest[1500:, None]))  # 1/2 for rows like all others
        agreement.append(adjusted_rand_score(half, model.labels_[:1500]))
    assert np.mean(ranks) > least
    assert np.mean(agreement) > 0.98
