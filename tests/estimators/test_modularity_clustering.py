"""Communities as an estimator: graphs of every form, the number unknown, and predict is the fit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

import cmeans
from cmeans import ModularityClustering
from cmeans.data.limits import Limits
from cmeans.inspection import summary

UNSTABLE = pytest.mark.filterwarnings(
    "ignore:.*(no stable level|doubtful whether there are clusters):UserWarning"
)


def given(**words: object) -> ModularityClustering:
    return ModularityClustering(metric="precomputed", **words)


def isolated() -> np.ndarray:
    """Two triangles, and two nodes without edges."""
    A = np.kron(np.diag([1, 1, 0]), np.ones((3, 3)))[:8, :8]
    return A - np.diag([1, 1, 1, 1, 1, 1, 0, 0])


def planted(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Six groups."""
    rng, y = np.random.default_rng(0), np.arange(n) % 6
    chance = np.where(y[:, None] == y, 0.3, 0.01)
    A = np.triu((rng.random((n, n)) < chance) * (1 + 0.1 * rng.random((n, n))), 1)
    return A + A.T, y


def blobs(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(n, centers=4, n_features=5, cluster_std=0.5, random_state=3)


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray, ModularityClustering]:
    X, y = load_digits(return_X_y=True)
    return X / 16, y, ModularityClustering().fit(X / 16)


@pytest.mark.slow  # digits as a whole
def test_digits_with_nothing_told(digits) -> None:
    X, y, model = digits
    assert adjusted_rand_score(y, model.labels_) >= 0.88
    assert model.stability_.max() >= 0.9
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(model.memberships(X), model.memberships_)
    counts = np.bincount(model.labels_)
    assert (np.diff(counts) <= 0).all()


@UNSTABLE
def test_digits_in_another_order_and_number_of_threads(digits) -> None:
    X = digits[0][:600]
    model = ModularityClustering().fit(X)
    order = np.random.default_rng(0).permutation(len(X))
    moved = ModularityClustering(n_jobs=2).fit(X[order])
    assert adjusted_rand_score(model.labels_[order], moved.labels_) == 1
    assert moved.modularity_ == pytest.approx(model.modularity_, rel=1e-9)
    np.testing.assert_array_equal(ModularityClustering(n_jobs=1).fit(X).labels_, model.labels_)


@pytest.mark.slow  # digits as a whole
def test_new_digits_are_where_a_fit_of_all_has_them(digits) -> None:
    X, _, model = digits
    old = np.random.default_rng(0).random(len(X)) < 0.8
    predicted = ModularityClustering().fit(X[old]).predict(X[~old])
    both = contingency_matrix(model.labels_[~old], predicted)
    assert both[linear_sum_assignment(-both)].sum() >= 0.95 * both.sum()


def test_nodes_without_edges() -> None:
    with pytest.warns(UserWarning, match="2 of 8 nodes"):
        model = given().fit(isolated())
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, -1, -1]
    assert not model.memberships_[6:].any()
    np.testing.assert_array_equal(model.predict(isolated()), model.labels_)


@UNSTABLE
def test_weights_are_used_at_every_step() -> None:
    y = np.arange(40) % 4
    A = np.where(y[:, None] == y, 2.0, 1.0) - np.diag(np.full(40, 2.0))
    for X in (A, sparse.csr_array(A), sparse.csc_array(A), sparse.coo_array(A), A.astype(int)):
        assert adjusted_rand_score(y, given().fit(X).labels_) == 1
    assert given().fit(A > 0).n_clusters_ == 1


def test_one_answer_for_all_forms_of_a_graph() -> None:
    A, y = planted()
    upper = np.triu(A)
    stored = sparse.csr_array(upper)
    zeros = sparse.csr_array(np.ones_like(A))
    zeros.data[:] = A.ravel()
    expected = given().fit(A)
    assert adjusted_rand_score(y, expected.labels_) == 1
    forms = [upper, upper.T, upper + upper.T, (upper + upper.T) / 2, zeros, np.eye(300) + A]
    formats = ("csc", "coo", "lil", "dok", "bsr")
    for X in [*forms, *(stored.asformat(form) for form in formats)]:
        model = given(resolution=expected.resolution_).fit(X)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.modularity_ == pytest.approx(expected.modularity_, abs=1e-12)
        np.testing.assert_array_equal(expected.predict(X), expected.labels_)
    order = np.random.default_rng(0).permutation(300)
    moved = given().fit(A[order][:, order]).labels_
    assert adjusted_rand_score(expected.labels_[order], moved) == 1


def test_types_of_whole_numbers() -> None:
    A = (planted(120)[0] > 0).astype(int) * 100
    expected = given(resolution=1.0).fit(A)
    for dtype in ("int8", "uint8", "int16", "uint32", "uint64", "bool"):
        X = sparse.coo_array(A.astype(dtype))
        assert given(resolution=1.0).fit(X).modularity_ == pytest.approx(expected.modularity_)
    twice = (np.tile(X.data.astype("int8") * 100, 2), tuple(np.tile(X.coords, 2)))
    X = sparse.coo_array(twice, shape=A.shape)  # 200 in sum, more than int8 has
    np.testing.assert_array_equal(given(resolution=1.0).fit(X).labels_, expected.labels_)


class OfIgraph:
    """What igraph has."""

    def __init__(self, edges: list[tuple[int, int]], n: int, weights: list | None) -> None:
        self.es, self._edges, self._n = {"weight": weights}, edges, n

    def vcount(self) -> int:
        return self._n

    def get_edgelist(self) -> list[tuple[int, int]]:
        return self._edges

    def edge_attributes(self) -> list[str]:
        return [name for name, values in self.es.items() if values is not None]

    def is_directed(self) -> bool:
        return False


def test_graphs_of_networkx_and_igraph() -> None:
    networkx = pytest.importorskip("networkx")
    A, _ = planted(120)
    expected = given(resolution=1.0).fit(A)
    named = networkx.relabel_nodes(networkx.from_numpy_array(A), lambda number: f"node {number}")
    upper = networkx.from_numpy_array(np.triu(A), create_using=networkx.DiGraph)
    rows, columns = (ends.tolist() for ends in np.nonzero(np.triu(A)))
    edges = list(zip(rows, columns, strict=True))
    parallel = edges + [(j, i) for i, j in edges]
    halves = (np.triu(A)[rows, columns] / 2).tolist() * 2
    for X in (named, upper, OfIgraph(parallel, 120, halves)):
        model = given(resolution=1.0).fit(X)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.modularity_ == pytest.approx(expected.modularity_, abs=1e-12)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
    ones = given(resolution=1.0).fit(A > 0)
    for X in (OfIgraph(edges, 120, None), networkx.from_edgelist(sorted(edges))):
        model = given(resolution=1.0).fit(X)
        assert model.modularity_ == pytest.approx(ones.modularity_, abs=1e-12)
    i, j = edges[5]
    del named.edges[f"node {i}", f"node {j}"]["weight"]
    with pytest.raises(ValueError, match=rf"X\[{i}, {j}\] is nan"):
        given().fit(named)


def test_the_modularity_told_is_the_formula() -> None:
    A, _ = planted(120)
    numbers = []
    for resolution in (0.01, 0.1, 0.5, 1, 2, 4):
        model = given(resolution=resolution).fit(A)
        same = model.labels_[:, None] == model.labels_
        d = A.sum(axis=1)
        expected = ((A - resolution * np.outer(d, d) / d.sum()) * same).sum() / d.sum()
        assert model.modularity_ == pytest.approx(expected, abs=1e-12)
        assert model.resolution_ == resolution
        numbers.append(model.n_clusters_)
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("value", "message"), [(-1.0, r"X\[3, 7\] is -1"), (np.nan, r"X\[3, 7\] is nan")]
)
def test_weights_that_are_none(value: float, message: str) -> None:
    A = planted()[0]
    A[3, 7] = value
    for X in (A, sparse.coo_array(A)):
        with pytest.raises(ValueError, match=message):
            given().fit(X)


@UNSTABLE
def test_rows_without_clusters() -> None:
    X = np.random.default_rng(0).normal(size=(500, 8))
    with pytest.warns(UserWarning, match="no stable level"):
        model = ModularityClustering().fit(X)
    assert model.stability_.max() < 0.8
    A = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)) * (np.random.default_rng(1).random(500) < 0.1)
    noise = 1 + 1e-12 * np.random.default_rng(2).random(A.shape)
    A, noise = np.maximum(A, A.T), np.maximum(noise, noise.T)
    np.testing.assert_array_equal(given().fit(A).labels_, given().fit(A * noise).labels_)


def groups_of_groups() -> tuple[np.ndarray, np.ndarray]:
    """Three groups of three each."""
    corners = np.array([[0, 0], [1, 0], [0.5, 0.9]])
    centres = (30 * corners[:, None] + 4.5 * corners).reshape(9, 2)
    rng = np.random.default_rng(0)
    X = np.concatenate([centre + rng.normal(size=(150, 2)) for centre in centres])
    return X, np.repeat(np.arange(9), 150)


def test_layers_of_groups_of_groups(tmp_path) -> None:
    X, y = groups_of_groups()
    model = ModularityClustering().fit(X)
    assert model.layer_sizes_.tolist() == [9, 3]
    fine, coarse = model.cluster_layers_
    np.testing.assert_array_equal(fine, model.labels_)
    assert adjusted_rand_score(y, fine) > 0.95
    assert adjusted_rand_score(y // 3, coarse) == 1
    assert model.cluster_tree_[2, 0] == [(1, 0), (1, 1), (1, 2)]
    for cluster in range(3):
        inside = {label for _, label in model.cluster_tree_[1, cluster]}
        assert inside == set(fine[coarse == cluster].tolist())
    cmeans.save(model, tmp_path / "model.safetensors")
    read = cmeans.load(tmp_path / "model.safetensors")
    new = X + 0.01
    for layer, labels in enumerate(model.cluster_layers_):
        np.testing.assert_array_equal(read.predict(X, layer=layer), labels)
        assert read.memberships(new, layer=layer).shape == (len(X), model.layer_sizes_[layer])
        assert adjusted_rand_score(read.predict(new, layer=layer), labels) > 0.98
    assert read.cluster_tree_ == model.cluster_tree_
    assert read.seams_ == model.seams_
    with pytest.raises(ValueError, match=r"layer=2.*2 layers"):
        model.predict(X, layer=2)
    assert ModularityClustering(resolution=0.1).fit(X).layer_resolutions_.tolist() == [0.1]


def two_normal(distance: float) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(500, 2)) + distance * np.eye(2)[np.arange(500) % 2]


@pytest.mark.filterwarnings("ignore:.*no stable level:UserWarning")
@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).random((500, 2)),
        two_normal(0),
        make_moons(1000, noise=0.05, random_state=0)[0][:500],
    ],
    ids=["uniform", "normal", "moons"],
)
def test_boundaries_through_clusters_are_doubted(X: np.ndarray) -> None:
    with pytest.warns(UserWarning, match="doubtful whether there are clusters") as heard:
        model = ModularityClustering().fit(X)
    ratios = [model.seams_[pair] for pair in model.doubtful_pairs_]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] >= 0.45
    one, other = model.doubtful_pairs_[0]
    assert any(f"{one} and {other} ({ratios[0]:.2f})" in str(one_of.message) for one_of in heard)


@pytest.mark.filterwarnings("ignore:.*no stable level:UserWarning")
def test_communities_that_are_single_values_are_told() -> None:
    """Of two columns of counts; not where every value is one, or of three columns."""
    counts = np.random.default_rng(0).poisson([[1, 8, 3], [6, 1, 3], [3, 3, 15]] * 700)
    with pytest.warns(UserWarning, match="communities are equal rows, as of columns of counts"):
        ModularityClustering().fit(counts[:, :2].astype(float))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*are equal rows")
        ModularityClustering().fit(counts.astype(float))
        ModularityClustering().fit(np.repeat(np.eye(3), 40, axis=0) + np.arange(120)[:, None] % 4)


def test_clusters_are_not_doubted() -> None:
    model = ModularityClustering().fit(two_normal(5 / np.sqrt(2)))
    assert (model.n_clusters_, model.doubtful_pairs_) == (2, [])
    assert model.seams_[0, 1] < 0.45


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_the_rows_seen_are_those_of_the_model(metric: str) -> None:
    X = planted()[0] if metric == "precomputed" else blobs()[0]
    model = ModularityClustering(metric=metric).fit(X)
    seen = model._seen(X, None, None, 150)
    np.testing.assert_array_equal(seen.labels, model.labels_[seen.numbers])
    np.testing.assert_array_equal(seen.memberships, model.memberships_[seen.numbers])
    own = [model.memberships_[model.labels_ == j] for j in range(model.n_clusters_)]
    centres = np.array([rows.mean(axis=0) for rows in own])
    np.testing.assert_allclose(seen.state.centres.coordinates, centres)
    expected = np.linalg.norm(seen.memberships[:, None] - centres, axis=2)
    np.testing.assert_allclose(seen.distances, expected, atol=1e-7)
    assert (seen.x is None) == (metric == "precomputed")
    table = summary(model, X)
    np.testing.assert_allclose(table["share"], np.bincount(model.labels_) / len(X))


def test_more_equal_rows_than_neighbours() -> None:
    others = np.random.default_rng(11).normal(0, 0.5, (60, 20)) - 4
    X, y = np.r_[np.repeat(np.eye(3, 20) * 9, 60, 0), others], np.repeat(range(4), 60)
    model = ModularityClustering().fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert np.isfinite(model.memberships_).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_community_of_fewer_rows_than_neighbours_wins_new_ones() -> None:
    y = np.repeat([0, 1, 2], [400, 400, 8])
    X = np.random.default_rng(14).normal(size=(808, 10)) + np.array([0, 9, 18])[y][:, None]
    model = ModularityClustering().fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    new = np.random.default_rng(15).normal(size=(200, 10)) + 18
    assert (model.predict(new) == model.labels_[-1]).all()


@UNSTABLE
@pytest.mark.parametrize(
    ("wide", "edges"), [(False, "scaling"), (True, "scaling"), (False, "equal"), (False, "shared")]
)
def test_weights_are_copies(wide: bool, edges: str) -> None:
    X = np.random.default_rng(0).normal(size=(60, 60 if wide else 4))
    weight = np.random.default_rng(1).integers(0, 4, 60)
    weighed = ModularityClustering(edges=edges).fit(X, sample_weight=weight)
    copied = ModularityClustering(edges=edges).fit(np.repeat(X, weight, axis=0))
    assert adjusted_rand_score(np.repeat(weighed.labels_, weight), copied.labels_) == 1
    assert weighed.modularity_ == pytest.approx(copied.modularity_, rel=1e-9)
    assert weighed.labels_.min() == 0  # rows without weight are where new ones would be
    np.testing.assert_array_equal(weighed.predict(X), weighed.labels_)
    assert adjusted_rand_score(copied.predict(X), weighed.labels_) == 1


@UNSTABLE
def test_directions() -> None:
    X, y = blobs()
    stretched = X * np.random.default_rng(0).uniform(0.1, 10, (len(X), 1))
    model = ModularityClustering(metric="cosine", n_clusters=4).fit(stretched)
    assert adjusted_rand_score(y, model.labels_) == 1
    with pytest.warns(UserWarning, match="length 0"):
        assert model.predict(np.zeros((1, 5))).tolist() == [-1]


@pytest.mark.parametrize("edges", ["equal", "shared"])
def test_other_edges(edges: str, tmp_path) -> None:
    X, y = blobs()
    model = ModularityClustering(edges=edges).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    cmeans.save(model, tmp_path / "model.safetensors")
    read = cmeans.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(read.predict(X), model.labels_)
    new = X + 0.1
    np.testing.assert_array_equal(read.predict(new), model.labels_)
    np.testing.assert_array_equal(read.memberships(new), model.memberships(new))


@UNSTABLE
def test_known_labels_are_held() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 2)), rng.normal(size=(200, 2)) + 9])
    known = np.full(300, -1)
    known[:10], known[100:110], known[110:120] = 1, 0, 2  # two halves of the second heap
    model = ModularityClustering(resolution=0.1).fit(X, known_labels=known)
    np.testing.assert_array_equal(model.labels_[:120][known[:120] >= 0], known[known >= 0])
    assert model.n_clusters_ == 3
    assert set(model.labels_[:100]) == {1}
    assert set(model.labels_[100:]) == {0, 2}
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    free = ModularityClustering(resolution=0.1).fit(X)
    assert free.n_clusters_ == 2
    assert free.modularity_ > model.modularity_
    order = rng.permutation(300)
    moved = ModularityClustering(resolution=0.1).fit(X[order], known_labels=known[order])
    np.testing.assert_array_equal(moved.labels_, model.labels_[order])
    assert ModularityClustering(5).fit(X, known_labels=known).n_clusters_ == 5
    with pytest.raises(ValueError, match="3 communities are known"):
        ModularityClustering(2).fit(X, known_labels=known)
    nothing = ModularityClustering(resolution=0.1).fit_predict(X, known_labels=np.full(300, -1))
    np.testing.assert_array_equal(nothing, free.labels_)


def test_known_rows_of_one_label_are_one_though_nothing_connects_them() -> None:
    with pytest.warns(UserWarning, match="1 of 8 nodes"):
        model = given(resolution=0.1).fit(isolated(), known_labels=[-1, 0, -1, -1, 0, -1, 0, -1])
    assert model.labels_.tolist() == [0, 0, 0, 0, 0, 0, 0, -1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], r"shape \(2,\)"),
        ([0.5] * 8, "whole numbers"),
        ([0, 2] * 4, "hold 2, and no 1"),
        (["a"] * 8, "whole numbers"),
    ],
)
def test_known_labels_that_are_refused(labels: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        given().fit(isolated(), known_labels=labels)
    with pytest.raises(ValueError, match="rows 0 and 2 of X are equal"):
        ModularityClustering().fit([[0.0], [1], [0], [2]], known_labels=[0, -1, 1, -1])


def test_a_number_of_clusters() -> None:
    X, y = blobs()
    model = ModularityClustering(4).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert ModularityClustering(9).fit(X).n_clusters_ == 9
    assert ModularityClustering((5, 7), resolution=0.05).fit(X).n_clusters_ == 5
    with pytest.raises(ValueError, match=r"n_clusters=1000"):
        ModularityClustering(1000).fit(X)
    with pytest.raises(ValueError, match="connects 2 parts"):
        given(n_clusters=1).fit(np.kron(np.eye(2), np.ones((4, 4))))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"resolution": 0}, "resolution=0"),
        ({"resolution": "low"}, "resolution='low'"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"edges": "jaccard"}, "edges='jaccard'"),
        ({"metric": "manhattan"}, "metric='manhattan'"),
        ({"n_clusters": 3, "resolution": 1.0}, "each decides the other"),
        ({"n_clusters": 0}, "n_clusters"),
    ],
)
def test_what_is_refused(words: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ModularityClustering(**words).fit(blobs()[0])


def test_cells_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs(3000)
    monkeypatch.setattr(ModularityClustering, "_limits", Limits(community_nodes=500))
    model = ModularityClustering(resolution=0.05).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@UNSTABLE
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_wide_rows_of_a_file_are_those_of_memory(metric: str, tmp_path, monkeypatch) -> None:
    X = np.random.default_rng(0).normal(size=(300, 60)) + 4 * np.eye(60)[np.arange(300) % 3]
    np.save(tmp_path / "rows.npy", X)
    monkeypatch.setattr(ModularityClustering, "_limits", Limits(block_rows=64, tasks=3))
    whole = ModularityClustering(resolution=0.5, metric=metric, n_jobs=1).fit(X)
    model = ModularityClustering(resolution=0.5, metric=metric, n_jobs=2)
    model.fit(str(tmp_path / "rows.npy"))
    np.testing.assert_array_equal(model.memberships_, whole.memberships_)
    np.testing.assert_array_equal(model.predict(X), whole.labels_)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_saved_models_answer_alike(metric: str, tmp_path) -> None:
    X = planted(120)[0] if metric == "precomputed" else blobs()[0]
    model = ModularityClustering(4, metric=metric).fit(X)
    for rows in (True, False):
        cmeans.save(model, tmp_path / "model.safetensors", rows=rows)
        read = cmeans.load(tmp_path / "model.safetensors")
        np.testing.assert_array_equal(read.predict(X), model.labels_)
    with pytest.raises(ValueError, match="saved without its rows"):
        _ = read.memberships_


def test_representatives_scores_and_outliers() -> None:
    X, _ = blobs()
    model = ModularityClustering(4).fit(X)
    found = model.representatives(3)
    assert found.shape == (4, 3)
    assert (model.labels_[found] == np.arange(4)[:, None]).all()
    np.testing.assert_allclose(model.outlier_score(X), 1 - model.memberships_.max(axis=1))
    assert model.score(X) == pytest.approx(model.memberships_.max(axis=1).mean())
