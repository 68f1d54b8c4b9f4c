"""Fits with kernel="precomputed_graph", against dense loops."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

import cmeans
import every_estimator
import naive_cut
import naive_graph
from cmeans import Landmarks
from cmeans.graphs import multigrid
from cmeans.graphs import precomputed_graph as module
from cmeans.kernels import LandmarkGraphKernel, PrecomputedGraphKernel
from cmeans.rules import Entropy
from contracts.arrays import as_form, on_host

pytestmark = pytest.mark.slow

GRAPH = {"kernel": "precomputed_graph", "random_state": 0}
AS_IT_IS = {**GRAPH, "kernel": PrecomputedGraphKernel(refine=False)}  # the cut of the eigenvectors
MOONS, HALF = make_moons(600, noise=0.08, random_state=0)


def joined(X, k=10):
    """Row i and each of its k nearest."""
    nearest = kneighbors_graph(X, k, mode="connectivity")
    return sparse.csr_array((nearest + nearest.T) / 2)


def dense_example(n=150):
    X = MOONS[:n]
    W = np.exp(-((X[:, None] - X[None, :]) ** 2).sum(axis=2) / 0.02)
    return W * (W > 1e-4), np.random.default_rng(0).uniform(0.3, 3, size=n)


EDGES = joined(MOONS)


@pytest.fixture(params=["dense", "multigrid"])
def eigensolver(request, monkeypatch):
    if request.param == "multigrid":
        monkeypatch.setattr(module, "DENSE", 0)
        monkeypatch.setattr(multigrid, "COARSEST", 20)
        monkeypatch.setattr(module, "GAPS", 5)
        monkeypatch.setattr(multigrid, "RESIDUAL", 1e-11)  # as exact as the twin is compared with
        monkeypatch.setattr(multigrid, "SHARE", 0)
    return request.param


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_features_are_the_leading_eigenvectors_of_the_dense_graph(eigensolver, k, normalized):
    W, s = dense_example()
    new = np.random.default_rng(1).uniform(size=(7, 150)) ** 4
    params = {"n_components": k, "normalized": normalized, "refine": False}
    model = cmeans.KernelKMeans(
        min(k, 2), kernel=PrecomputedGraphKernel(**params), random_state=0
    ).fit(W, sample_weight=s)
    values, e, at_new = naive_cut.features(W, s, k, new)
    assert values[k - 1] - values[k] > 1e-6, "the example cuts no tie"
    if normalized:
        e, at_new = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (e, at_new))
    np.testing.assert_allclose(model.eigenvalues_, values[: len(model.eigenvalues_)], atol=1e-10)
    mine = model.kernel_.features(W)
    signs = np.sign((mine * e).sum(axis=0))
    np.testing.assert_allclose(mine, e * signs, atol=1e-9)
    np.testing.assert_allclose(model.kernel_.features(new), at_new * signs, atol=1e-9)
    np.testing.assert_allclose(model.kernel_(new, W), at_new @ e.T, atol=1e-8)


def test_labels_are_those_of_the_nearest_means_under_weights_times_degrees():
    W, s = dense_example()
    model = cmeans.KernelKMeans(3, **AS_IT_IS, tol=0).fit(W, sample_weight=s)
    mass = s * naive_cut.degrees(W, s)
    mass *= s.sum() / mass.sum()
    _, e, _ = naive_cut.features(W, s, model.kernel_.n_components, W[:1])
    means = np.array(
        [
            np.average(e[model.labels_ == j], axis=0, weights=mass[model.labels_ == j])
            for j in range(3)
        ]
    )
    d2 = ((e[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_array_equal(d2.argmin(axis=1), model.labels_)
    assert mass @ d2.min(axis=1) == pytest.approx(model.objective_, rel=1e-9)
    assert model.score(W, sample_weight=s) == pytest.approx(-model.objective_, rel=1e-9)
    np.testing.assert_allclose(model.transform(W), np.sqrt(d2), atol=1e-6)
    np.testing.assert_array_equal(model.predict(W), model.labels_)
    truth = np.random.default_rng(0).integers(3, size=150)
    assert naive_cut.cut(W, s, model.labels_) < 0.1 * naive_cut.cut(W, s, truth)


def test_the_graph_of_landmarks_given_by_its_affinities():
    X, w = MOONS[:200], np.random.default_rng(1).uniform(0.5, 2, size=200)
    words = {"kernel": LandmarkGraphKernel(falloff=0), "landmarks": X[::5], "random_state": 0}
    over = cmeans.KernelKMeans(2, **words).fit(X, sample_weight=w)
    z = naive_graph.landmark_weights(X, X[::5], 5)
    given = cmeans.KernelKMeans(2, **AS_IT_IS).fit(naive_graph.graph(z, w), sample_weight=w)
    np.testing.assert_allclose(
        given.eigenvalues_, over.eigenvalues_[: len(given.eigenvalues_)], atol=1e-12
    )
    e, other = given.kernel_.features(naive_graph.graph(z, w)), over.kernel_.features(X)
    assert e.shape == other.shape
    np.testing.assert_allclose(e @ e.T, other @ other.T, atol=1e-9)
    assert adjusted_rand_score(over.labels_, given.labels_) == 1
    assert given.objective_ == pytest.approx(over.objective_, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("form", ["csr", "numpy", "torch"])
def test_a_cut_is_refined_on_the_graph(form):
    """As loops of kernel k-means do from the eigenvectors' cut, whose lowest is kept; distances are
    the kernel's up to a number a row."""
    blobs = np.random.default_rng(3).normal(size=(150, 2)) + 2 * (np.arange(150)[:, None] % 3)
    W, s = (
        joined(blobs, 6).toarray(),
        np.random.default_rng(0).integers(1, 4, size=150).astype(float),
    )
    before = cmeans.KernelKMeans(4, **AS_IT_IS).fit(W, sample_weight=s).labels_
    expected = naive_cut.refined(W, s, before)
    model = cmeans.KernelKMeans(4, **GRAPH).fit(as_form(W, form, "float64"), sample_weight=s)
    labels = on_host(model.labels_)
    np.testing.assert_array_equal(labels, expected)
    assert naive_cut.cut(W, s, labels) < naive_cut.cut(W, s, before) - 1e-6
    np.testing.assert_array_equal(on_host(model.predict(as_form(W, form, "float64"))), labels)
    d2 = on_host(model.transform(as_form(W, form, "float64"))) ** 2
    scores = naive_cut.scores(W, s, labels) * (s @ naive_cut.degrees(W, s))
    np.testing.assert_allclose(d2 - d2[:, :1], scores[:, :1] - scores, atol=1e-8)


def test_a_refined_cut_is_kept_saved_and_resumed(tmp_path):
    blobs = np.random.default_rng(3).normal(size=(150, 2)) + 2 * (np.arange(150)[:, None] % 3)
    W = joined(blobs, 6)
    model = cmeans.KernelKMeans(
        4, **GRAPH, engine=cmeans.ThreadEngine(checkpoint=tmp_path / "run")
    ).fit(W)
    again = cmeans.KernelKMeans(
        4, **GRAPH, engine=cmeans.ThreadEngine(n_jobs=2, checkpoint=tmp_path / "run")
    ).fit(W)
    np.testing.assert_array_equal(model.labels_, again.labels_)
    cmeans.save(model, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(
        cmeans.load(tmp_path / "model.safetensors").predict(W), model.labels_
    )
    unit = cmeans.KernelKMeans(4, **GRAPH).fit(1024 * W)
    assert unit.objective_ == pytest.approx(model.objective_)
    soft = cmeans.FuzzyCMeans(4, **GRAPH, m=1.5).fit(W)
    assert (
        soft.kernel_.set_params(refine=False) == cmeans.KernelKMeans(4, **AS_IT_IS).fit(W).kernel_
    )


def test_a_weight_counts_copies(eigensolver):
    W, _ = dense_example()
    copies = np.random.default_rng(2).integers(0, 4, size=150)
    rows = np.repeat(np.arange(150), copies)
    every = W[np.ix_(rows, rows)]
    start = np.flatnonzero(copies)[[5, 40, 80]]
    weighted = cmeans.FuzzyCMeans(3, **GRAPH, m=1.5, init=start).fit(W, sample_weight=copies)
    repeated = cmeans.FuzzyCMeans(3, **GRAPH, m=1.5, init=np.searchsorted(rows, start)).fit(every)
    e, other = weighted.kernel_.features(W)[rows], repeated.kernel_.features(every)
    np.testing.assert_allclose(e @ e.T, other @ other.T, atol=1e-6)
    np.testing.assert_allclose(weighted.memberships_[rows], repeated.memberships_, atol=1e-5)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


@pytest.mark.parametrize(
    "estimator", ["KernelKMeans", "FuzzyCMeans", "PossibilisticCMeans", "CMeans"]
)
def test_estimators_and_their_files(estimator, tmp_path):
    words = {"eta_scale": 0.1} if estimator == "PossibilisticCMeans" else {}
    words |= {"rule": Entropy(T=0.5)} if estimator == "CMeans" else {}
    model = getattr(cmeans, estimator)(2, **GRAPH, **words).fit(EDGES)
    assert adjusted_rand_score(HALF, model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(EDGES), model.labels_)
    np.testing.assert_array_equal(model.memberships(EDGES), model.memberships_)
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(EDGES[::3]), model.labels_[::3])
    assert again.kernel_ == model.kernel_


def test_what_a_fit_says():
    model = cmeans.KernelKMeans(2, **GRAPH).fit(EDGES)
    assert isinstance(model.kernel_, PrecomputedGraphKernel)
    blobs = np.random.default_rng(0).normal(size=(300, 2)) + 5 * (np.arange(300)[:, None] // 100)
    assert cmeans.KernelKMeans(2, **GRAPH).fit(joined(blobs, 20)).n_clusters_suggested_ == 3
    assert model.eigenvalues_[0] == pytest.approx(1)
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert (model.n_landmarks_, model.gamma_, model.approximation_) == (None, None, None)
    assert not hasattr(model, "landmarks_")


def test_new_rows_by_their_affinities():
    X, y = make_moons(900, noise=0.08, random_state=0)
    W = joined(X)
    model = cmeans.KernelKMeans(2, **GRAPH).fit(W[:600][:, :600])
    new = sparse.csr_array(W[600:][:, :600])
    kept = new.sum(axis=1) > 0
    assert adjusted_rand_score(y[600:][kept], model.predict(new[kept])) > 0.9


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        ("torch", "float64"),
        ("array_api_strict", "float64"),
        ("csr64", "float64"),
        ("csr", "float32"),
        ("numpy", "float32"),
    ],
)
def test_affinities_of_any_form(form, dtype):
    plain = cmeans.KernelKMeans(2, **GRAPH).fit(EDGES)
    W = as_form(EDGES.toarray(), form, dtype)
    other = cmeans.KernelKMeans(2, **GRAPH).fit(W)
    np.testing.assert_array_equal(on_host(other.labels_), plain.labels_)
    np.testing.assert_array_equal(on_host(other.predict(W)), plain.labels_)


def test_threads_memory_and_scale_change_nothing(eigensolver):
    one = cmeans.FuzzyCMeans(2, **GRAPH, m=1.5, n_jobs=1).fit(EDGES)
    for words in ({"n_jobs": 3}, {"engine": cmeans.ThreadEngine(2, memory_budget="250MB")}):
        np.testing.assert_array_equal(
            cmeans.FuzzyCMeans(2, **GRAPH, m=1.5, **words).fit(EDGES).memberships_, one.memberships_
        )
    other = cmeans.FuzzyCMeans(2, **GRAPH, m=1.5).fit(
        1024 * EDGES, sample_weight=np.full(600, 2.0**40)
    )
    np.testing.assert_allclose(other.memberships_, one.memberships_, atol=1e-9)
    assert other.objective_ == pytest.approx(2.0**40 * one.objective_)


def test_a_fit_goes_on_from_its_checkpoint_and_from_another_model(tmp_path):
    path = tmp_path / "run"
    first = cmeans.FuzzyCMeans(2, **GRAPH, m=1.5, engine=cmeans.ThreadEngine(checkpoint=path)).fit(
        EDGES
    )
    again = cmeans.FuzzyCMeans(2, **GRAPH, m=1.5, engine=cmeans.ThreadEngine(checkpoint=path)).fit(
        EDGES
    )
    np.testing.assert_array_equal(first.memberships_, again.memberships_)
    after = cmeans.KernelKMeans(2, kernel=first.kernel_, init=first).fit(EDGES)
    assert adjusted_rand_score(first.labels_, after.labels_) == 1


@pytest.mark.parametrize(
    "init",
    [
        "k-means++",
        "k-means||",
        "max-min",
        "random",
        "random-partition",
        [3, 500],
        HALF,
        EDGES[[3, 500]],
    ],
)
def test_starts(init):
    model = cmeans.KernelKMeans(2, **GRAPH, init=init).fit(EDGES)
    assert adjusted_rand_score(HALF, model.labels_) > 0.9


def test_graphs_in_parts(eigensolver):
    """As many clusters as parts: each is one, rows and clusters equal in size or not; more: parts
    are cut further."""
    blocks = [
        joined(np.random.default_rng(size).uniform(size=(size, 2)), 8) for size in (80, 120, 160)
    ]
    W, part = sparse.block_diag(blocks, format="csr"), np.repeat([0, 1, 2], [80, 120, 160])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = cmeans.KernelKMeans(3, **GRAPH).fit(W)
    assert adjusted_rand_score(part, model.labels_) == 1
    assert model.objective_ == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(model.eigenvalues_[:3], 1)
    assert model.eigenvalues_[3] < 1 - 1e-6
    five = cmeans.KernelKMeans(5, **GRAPH, n_init=3).fit(W)
    assert all(len(set(part[five.labels_ == cluster])) == 1 for cluster in range(5))
    with pytest.warns(
        UserWarning,
        match="falls into 3 parts that nothing joins, more than 2 clusters can tell apart",
    ):
        two = cmeans.KernelKMeans(2, **GRAPH).fit(W)
    assert two.n_clusters_ == 2
    assert all(len(set(two.labels_[part == number])) == 1 for number in range(3))


def test_the_eigensolver_keeps_to_the_budget(monkeypatch):
    """A budget that the rest of the fit keeps to, and eigenvectors that take more."""
    monkeypatch.setattr(module, "OF_VECTORS", 12_000)
    with pytest.raises(
        ValueError,
        match=r"need some \d+ bytes, more than the 100000000 that there are or that memory_budget "
        r"allows",
    ):
        cmeans.KernelKMeans(2, **GRAPH, engine=cmeans.ThreadEngine(memory_budget=100_000_000)).fit(
            EDGES
        )


def test_ties_are_told(eigensolver):
    """A ring has its eigenvalues in pairs, cos(2 pi j / n)."""
    n = 40
    ring = sparse.diags_array(
        [1.0, 1.0, 1.0, 1.0], offsets=[1, -1, n - 1, 1 - n], shape=(n, n), format="csr"
    )
    with pytest.warns(UserWarning, match="eigenvalues number 2 and 3 of the graph are equal"):
        model = cmeans.KernelKMeans(2, **GRAPH).fit(ring)
    assert model.kernel_.n_components == 3
    np.testing.assert_allclose(
        model.eigenvalues_[:5], np.cos(2 * np.pi / n * np.array([0, 1, 1, 2, 2])), atol=1e-9
    )


ONE_WAY = sparse.csr_array(kneighbors_graph(MOONS, 5))
BAD = {
    "directed": (ONE_WAY, {}, r"the affinities are not symmetric .* give \(X \+ X.T\) / 2"),
    "negative": (-EDGES, {}, "X holds negative numbers"),
    "not square": (EDGES[:50], {}, r"X has shape \(50, 600\); give the square matrix"),
    "not finite": (EDGES * np.nan, {}, "Input X contains NaN, first at row 0, column"),
    "gamma": (EDGES, {"gamma": 1.0}, "gamma=1.0.: a graph has no gamma"),
    "n_landmarks": (EDGES, {"landmarks": 10}, "a graph that is given has none; leave number out"),
    "landmarks": (
        EDGES,
        {"landmarks": Landmarks(method="uniform")},
        "a graph that is given has none; leave method out",
    ),
}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"refine": 1}, "refine=1.: give True or False"),
        ({"n_components": 0}, "n_components=0.: give a"),
    ],
)
def test_bad_parameters(words, message):
    with pytest.raises(ValueError, match=f"PrecomputedGraphKernel.{message}"):
        PrecomputedGraphKernel(**words)


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    X, words, message = BAD[name]
    with pytest.raises(ValueError, match=f"KernelKMeans.*{message}"):
        cmeans.KernelKMeans(2, **{**GRAPH, **words}).fit(X)


def test_bad_new_rows():
    model = cmeans.KernelKMeans(2, **GRAPH).fit(EDGES)
    with pytest.raises(ValueError, match="KernelKMeans: X holds negative numbers"):
        model.predict(-EDGES)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(MOONS)


def test_rows_of_weight_zero_are_placed_like_new_ones():
    s = np.ones(600)
    s[::7] = 0
    kept = np.flatnonzero(s)
    model = cmeans.KernelKMeans(2, **GRAPH).fit(EDGES, sample_weight=s)
    fewer = cmeans.KernelKMeans(2, **GRAPH).fit(EDGES[kept][:, kept])
    assert adjusted_rand_score(model.labels_[kept], fewer.labels_) == 1
    assert adjusted_rand_score(model.labels_[::7], fewer.predict(EDGES[::7][:, kept])) == 1


@pytest.mark.parametrize(
    "name",
    every_estimator.without(
        every_estimator.NAMES, "KernelKMeans", "FuzzyCMeans", "PossibilisticCMeans", "CMeans"
    ),
)
def test_other_estimators_refuse(name):
    with pytest.raises(
        ValueError, match=r"kernel=.precomputed_graph.\): a cut of a given graph is sought by"
    ):
        every_estimator.build(name, kernel="precomputed_graph").fit(EDGES.toarray())
