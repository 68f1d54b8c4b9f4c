"""Connected pieces as an estimator: every number of clusters from one fit, and predict is the
fit."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import cophenet, is_valid_linkage, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

import cmeans
from cmeans import ConnectivityClustering
from limited import limited

WAYS = [{}, {"noise": "auto"}, {"noise": 0.1}, {"min_cluster_size": 10}, {"min_samples": 5}]


def touching(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Five blobs that touch."""
    rng, y = np.random.default_rng(seed), np.arange(300) % 5
    return rng.uniform(-10, 10, (5, 2))[y] + rng.normal(0, 1.6, (300, 2)), y


def piled() -> tuple[np.ndarray, np.ndarray]:
    """Six places of fifty equal rows each, with ten others around it."""
    places = np.array([[i % 3, i // 3] for i in range(6)]) * 10.0
    around = np.repeat(places, 10, 0) + np.random.default_rng(0).normal(0, 0.1, (60, 2))
    X = np.r_[np.repeat(places, 50, 0), around]
    return X, np.r_[np.repeat(range(6), 50), np.repeat(range(6), 10)]


def full_of_ties() -> np.ndarray:
    return (np.random.default_rng(0).random((60, 6)) < 0.4).astype(float)


def two_parts(kind: type = sparse.csr_matrix) -> sparse.csr_matrix:
    """Rows 0, 1, 2 and 3, 4; 1 and 2 are equal, and there is no diagonal."""
    i, j = [0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]
    return kind(([1.0, 1, 0, 0, 2, 2], (i, j)), shape=(5, 5))


@pytest.mark.parametrize("words", WAYS, ids=str)
def test_predict_is_the_fit_in_every_partition(words: dict, tmp_path) -> None:
    X, _ = touching()
    model = ConnectivityClustering(5, **words).fit(X)
    cmeans.save(model, tmp_path / "model.safetensors")
    others = cmeans.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))
    for k in [*range(1, min(model._pieces.most, 30)), None]:
        labels = model.partition(k)
        np.testing.assert_array_equal(model.predict(X, k=k), labels)
        for other in others:
            np.testing.assert_array_equal(other.predict(X, k=k), labels)
            np.testing.assert_array_equal(other.partition(k), labels)
        if k is not None:
            fresh = ConnectivityClustering(k, **words).fit(X)
            np.testing.assert_array_equal(fresh.labels_, labels)
    np.testing.assert_array_equal(labels, model.labels_)
    for layer, labels in enumerate(model.cluster_layers_):
        np.testing.assert_array_equal(others[0].predict(X, layer=layer), labels)
    np.testing.assert_array_equal(model.predict(X, distance=1.0), model.partition(distance=1.0))


@pytest.mark.parametrize("words", WAYS, ids=str)
def test_the_largest_membership_is_that_of_the_label(words: dict) -> None:
    X, _ = touching()
    model = ConnectivityClustering(5, **words).fit(X)
    u, labels = model.memberships_, model.labels_
    assert (labels < 0).any() == ("noise" in words)
    np.testing.assert_array_equal(u[labels >= 0].argmax(axis=1), labels[labels >= 0])
    np.testing.assert_allclose(u.sum(axis=1), labels >= 0)
    np.testing.assert_array_equal(model.memberships(X), u)
    np.testing.assert_array_equal(labels[model.exemplars_], range(5))
    np.testing.assert_array_equal(model.probabilities_[model.exemplars_], 1.0)
    for numbers in (model.probabilities_, model.outlier_scores_):
        assert ((numbers >= 0) & (numbers <= 1)).all()
    assert (model.probabilities_[labels < 0] == 0).all()


def test_piles_of_equal_rows() -> None:
    X, y = piled()
    model = ConnectivityClustering(6).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert np.isfinite(model.probabilities_).all()
    assert np.isfinite(model.outlier_scores_).all()
    rows, counts = np.unique(X, axis=0, return_counts=True)
    weighted = ConnectivityClustering(6).fit(rows, sample_weight=counts)
    np.testing.assert_allclose(weighted.cost_curve_, model.cost_curve_, rtol=1e-12)
    np.testing.assert_array_equal(weighted.predict(X), model.labels_)


@pytest.mark.parametrize("min_samples", [1, 2, 3])
def test_weights_are_copies(min_samples: float) -> None:
    X, rng = full_of_ties(), np.random.default_rng(0)
    weight = rng.integers(0, 4, len(X))
    words = {"min_samples": min_samples, "noise": "auto"}
    weighted = ConnectivityClustering(4, **words).fit(X, sample_weight=weight)
    copied = ConnectivityClustering(4, **words).fit(np.repeat(X, weight, axis=0))
    assert weighted.cost_curve_.tobytes() == copied.cost_curve_.tobytes()
    for k in range(1, len(copied.cost_curve_) + 1):
        np.testing.assert_array_equal(weighted.predict(X, k=k), copied.predict(X, k=k))
        np.testing.assert_array_equal(weighted.partition(k), weighted.predict(X, k=k))


@pytest.mark.parametrize("min_samples", [1, 3])
def test_the_order_of_rows_changes_nothing(min_samples: float) -> None:
    lattice = np.array(list(itertools.product(range(5), range(4))), dtype=float)
    for X in (full_of_ties(), lattice, -lattice[:, :1]):
        model = ConnectivityClustering(2, min_samples=min_samples).fit(X)
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(len(X))
            other = ConnectivityClustering(2, min_samples=min_samples).fit(X[order])
            assert model.cost_curve_.tobytes() == other.cost_curve_.tobytes()
            for k in range(1, len(model.cost_curve_) + 1):
                np.testing.assert_array_equal(model.partition(k)[order], other.partition(k))


def test_one_piece_and_a_row_far_from_it() -> None:
    far = [[0.5, 0.6, 0.7, 0.8]]
    X = np.r_[np.random.default_rng(0).normal(0, 0.01, (40, 4)), far]
    alone = ConnectivityClustering(1, noise="auto").fit(X)
    np.testing.assert_array_equal(np.flatnonzero(alone.labels_ < 0), [40])
    assert alone.predict([[0.0, 0, 0, 0], [9.0, 9, 9, 9]]).tolist() == [0, -1]
    equal = ConnectivityClustering(noise="auto").fit(np.ones((30, 2)))
    assert equal.n_clusters_ == 1
    assert not equal.labels_.any()


def test_a_chain_of_a_thousand_joins(tmp_path) -> None:
    X = np.cumsum(np.arange(1.0, 1200.0))[:, None]
    model = ConnectivityClustering(3).fit(X)
    assert np.bincount(model.labels_).tolist() == [1197, 1, 1]
    cmeans.save(model, tmp_path / "model.safetensors")
    assert (cmeans.load(tmp_path / "model.safetensors").predict(X) == model.labels_).all()
    assert len(model.cluster_layers_) == len(model.layer_sizes_)
    assert is_valid_linkage(model.linkage_)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.coo_array, "dense"])
def test_a_graph_in_parts(kind) -> None:
    graph = two_parts(sparse.csr_matrix if kind == "dense" else kind)
    if kind == "dense":  # the diagonal is 0 whatever it holds
        stored = graph.tocoo()
        graph = np.full((5, 5), np.inf)
        graph[stored.row, stored.col] = stored.data
    before = graph.copy()
    assert ConnectivityClustering(metric="precomputed").fit(graph).n_clusters_ == 2
    model = ConnectivityClustering(3, metric="precomputed").fit(graph)
    assert model.n_connected_components_ == 2
    assert model.partition(2).tolist() == [0, 0, 0, 1, 1]
    assert model.cost_curve_.tolist() == [np.inf, 3, 1, 0]
    for k in (2, 3, 4):
        np.testing.assert_array_equal(model.predict(graph, k=k), model.partition(k))
        assert model.partition(k)[1] == model.partition(k)[2]
    assert (before != graph).sum() == 0
    new = [[np.inf, np.inf, np.inf, 1, 2], [np.inf] * 5]
    assert model.predict(new, k=2).tolist() == [1, -1]
    with pytest.raises(ValueError, match="fewer than the 2 parts of X"):
        model.partition(1)


def test_rows_of_other_lengths_by_their_directions() -> None:
    rng, y = np.random.default_rng(0), np.repeat([0, 1, 2], 50)
    unit = np.eye(3)[y] + rng.normal(0, 0.05, (150, 3))
    X = unit * 10 ** rng.uniform(-3, 3, (150, 1))
    X[0] = 0
    with pytest.warns(cmeans.DataWarning, match="1 of 150 rows of X has length 0"):
        model = ConnectivityClustering(3, metric="cosine").fit(X)
    assert model.labels_[0] == -1
    assert adjusted_rand_score(y[1:], model.labels_[1:]) == 1
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    of_units = ConnectivityClustering(3).fit(unit[1:])
    np.testing.assert_array_equal(model.labels_[1:], of_units.labels_)
    assert set(model.exemplars_) <= set(range(1, 150))
    with pytest.warns(cmeans.DataWarning, match="length 0"):
        np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_linkage_is_that_of_scipy() -> None:
    X = np.r_[touching()[0][:60], touching()[0][:5]]
    ours, theirs = ConnectivityClustering(2).fit(X).linkage_, linkage(X, "single")
    assert is_valid_linkage(ours)
    np.testing.assert_allclose(ours[:, 2], theirs[:, 2])
    np.testing.assert_allclose(squareform(cophenet(ours)), squareform(cophenet(theirs)))


def test_distances_are_given_as_well_as_found() -> None:
    X = np.unique(touching()[0][:80], axis=0)  # in the order in which ties are decided
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    for words in ({}, {"min_samples": 3, "z": 2.0}):
        found = ConnectivityClustering(4, **words).fit(X)
        given = ConnectivityClustering(4, metric="precomputed", **words).fit(distances)
        np.testing.assert_allclose(given.cost_curve_, found.cost_curve_, rtol=1e-12)
        np.testing.assert_array_equal(given.labels_, found.labels_)
        weight = (np.arange(len(X)) % 3).astype(float)
        found.fit(X, sample_weight=weight)
        given.fit(distances, sample_weight=weight)
        np.testing.assert_array_equal(given.labels_, found.labels_)
        np.testing.assert_array_equal(given.predict(distances), given.labels_)


def test_clusters_of_layers_are_in_those_above() -> None:
    model = ConnectivityClustering(min_cluster_size=8, noise="auto").fit(touching()[0])
    layers, tree = model.cluster_layers_, model.cluster_tree_
    children = [child for found in tree.values() for child in found]
    every = {(i, j) for i, labels in enumerate(layers) for j in range(labels.max() + 1)}
    assert len(children) == len(set(children))
    assert set(children) == every
    for (upper, cluster), found in tree.items():
        for lower, child in found:
            rows = layers[lower] == child
            if upper < len(layers):
                assert set(layers[upper][rows]) <= {cluster, -1}
    assert list(model.layer_sizes_) == sorted(model.layer_sizes_, reverse=True)


def test_landmarks_of_many_rows(monkeypatch) -> None:
    limited(monkeypatch, tree_rows=500)
    rng, y = np.random.default_rng(0), np.arange(3000) % 3
    X = rng.normal(0, 0.3, (3000, 2)) + 6.0 * np.c_[y, y % 2]
    weight = rng.integers(1, 3, 3000)
    model = ConnectivityClustering(3, landmarks=60, random_state=0).fit(X, sample_weight=weight)
    assert model._tree.n_points <= 60
    assert model._tree.weight[-1] == weight.sum()
    assert adjusted_rand_score(y, model.labels_) == 1
    exact = ConnectivityClustering(3, landmarks=None).fit(X, sample_weight=weight)
    assert (exact.n_landmarks_, exact.step_error_) == (None, None)
    wrong = np.abs(exact.split_distances_[1:] - model.split_distances_[1:])
    assert (wrong <= model.step_error_).all()
    for k in (2, 5, 9):
        np.testing.assert_array_equal(model.predict(X, k=k), model.partition(k))


def test_rows_in_files_are_clustered_as_those_in_memory(monkeypatch, tmp_path) -> None:
    X, y = piled()
    X = np.r_[X, X + 0.001]
    np.save(tmp_path / "rows.npy", X)
    limited(monkeypatch, loaded_bytes=1, canonical_rows=10, block_rows=64)
    for words in ({}, {"landmarks": 30, "random_state": 0}):
        model = ConnectivityClustering(6, **words).fit(X)
        stored = ConnectivityClustering(6, **words).fit(str(tmp_path / "rows.npy"))
        np.testing.assert_array_equal(stored.labels_, model.labels_)
        np.testing.assert_array_equal(stored.predict(str(tmp_path / "rows.npy")), model.labels_)
        counts = stored.predict_to(str(tmp_path / "rows.npy"), tmp_path / "labels.npy", k=4)
        np.testing.assert_array_equal(counts, np.bincount(model.partition(4)))
        np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.partition(4))
        assert adjusted_rand_score(np.r_[y, y], stored.labels_) == 1


def test_rows_of_any_form_are_the_same_rows() -> None:
    X = np.where(np.random.default_rng(0).random((120, 4)) < 0.4, 0.0, touching()[0][:120, :1])
    model = ConnectivityClustering(4).fit(X)
    for form in (sparse.csr_array, np.asfortranarray, lambda x: x.tolist()):
        for words in ({}, {"landmarks": 20, "random_state": 0}):
            dense = ConnectivityClustering(4, **words).fit(X)
            other = ConnectivityClustering(4, **words).fit(form(X))
            np.testing.assert_array_equal(other.labels_, dense.labels_)
            np.testing.assert_array_equal(other.predict(X), dense.labels_)
        np.testing.assert_array_equal(model.predict(form(X)), model.labels_)
    single = X.astype(np.float32)
    of_single = ConnectivityClustering(4).fit(single)
    np.testing.assert_array_equal(of_single.predict(single), of_single.labels_)
    np.testing.assert_array_equal(of_single.predict(single.astype(float)), of_single.labels_)


def test_a_budget_too_small_is_refused_before_the_work() -> None:
    engine = cmeans.ThreadEngine(memory_budget="1KB")
    with pytest.raises(ValueError, match=r"all rows in one tree need .* give landmarks"):
        ConnectivityClustering(engine=engine).fit(touching()[0])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"n_clusters": 4}, "4 clusters are more than there can be: X has 3 different rows"),
        ({"n_clusters": 10**30}, "0 clusters are more than there can be: X has 3 different rows"),
        ({"n_clusters": 3, "min_cluster_size": 2}, "in 2 pieces of weight 2 or more"),
        ({"n_clusters": 0}, 'n_clusters must be "auto", .least, most. or a whole number'),
        ({"min_samples": 9}, "min_samples=9: all rows together weigh 5"),
        ({"z": 0}, "z must be a number greater than 0"),
        ({"noise": 1.0}, "give a share below 1"),
        ({"metric": "manhattan"}, "known are"),
    ],
)
def test_what_is_refused(words: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConnectivityClustering(**words).fit([[0.0], [0.0], [1.0], [1.0], [5.0]])


def test_answers_are_those_of_the_fit_whatever_is_set_since(tmp_path) -> None:
    X, _ = touching()
    model = ConnectivityClustering(5, noise="auto", z=2).fit(X)
    before = model.labels_, model.memberships_, model.partition(9), model.score(X)
    model.set_params(noise=None, z=1, metric="precomputed", min_cluster_size=50, n_clusters=2)
    cmeans.save(model, tmp_path / "model.safetensors")
    for same in (model, cmeans.load(tmp_path / "model.safetensors")):
        np.testing.assert_array_equal(same.predict(X), before[0])
        np.testing.assert_array_equal(same.memberships(X), before[1])
        np.testing.assert_array_equal(same.partition(9), before[2])
        assert same.score(X) == before[3]
        np.testing.assert_array_equal(same.predict(X, k=9), before[2])


def test_partitions_after_crumbs_are_those_of_pieces_as_heavy() -> None:
    rng, y = np.random.default_rng(3), np.arange(300) % 3
    X = np.r_[8.0 * np.eye(3)[y] + rng.normal(0, 0.4, (300, 3)), [[9e3, 0, 0], [0, -9e3, 0]]]
    model = ConnectivityClustering().fit(X)
    assert (model.n_clusters_, model.min_cluster_size_) == (3, 302 / 150)
    for k in (2, 3, 4, 9):
        fresh = ConnectivityClustering(k, min_cluster_size=model.min_cluster_size_).fit(X)
        np.testing.assert_array_equal(model.partition(k), fresh.labels_)
    alone = ConnectivityClustering(3).fit(X)  # takes any piece
    assert sorted(np.bincount(alone.labels_)) == [1, 1, 300]


@pytest.mark.parametrize("z", [1, 2, 3.5, 40])
def test_nothing_has_a_unit(z: float) -> None:
    X = touching()[0][:90]
    model = ConnectivityClustering(4, z=z).fit(X)
    for unit in (2.0**-400, 2.0**400):
        other = ConnectivityClustering(4, z=z).fit(unit * X)
        for k in (2, 4, 20):
            np.testing.assert_array_equal(other.partition(k), model.partition(k))
        with np.errstate(over="ignore", under="ignore"):
            expected = (model.cost_curve_ ** (1 / z) * unit) ** z
        np.testing.assert_allclose(other.cost_curve_, expected, rtol=1e-12)
        np.testing.assert_allclose(other.memberships_, model.memberships_, rtol=1e-12)


def test_weights_and_rows_may_both_be_huge() -> None:
    """Their products would leave float64."""
    X = touching()[0][:90]
    model = ConnectivityClustering(4).fit(X)
    other = ConnectivityClustering(4).fit(2.0**600 * X, sample_weight=np.full(90, 2.0**420))
    np.testing.assert_array_equal(other.labels_, model.labels_)
    with np.errstate(over="ignore"):
        expected = model.cost_curve_ * 2.0**600 * 2.0**420
    np.testing.assert_allclose(other.cost_curve_, expected, rtol=1e-12)


def test_rows_that_are_no_numbers_are_refused() -> None:
    X = touching()[0][:20]
    model = ConnectivityClustering(2).fit(X)
    for bad, what in ((np.nan, "NaN"), (np.inf, "infinity")):
        wrong = X.copy()
        wrong[3, 1] = bad
        for words in ({}, {"metric": "cosine"}, {"landmarks": 5}):
            with pytest.raises(ValueError, match=f"{what}, first at row 3, column 1"):
                ConnectivityClustering(2, **words).fit(wrong)
        with pytest.raises(ValueError, match=f"{what}, first at row 3, column 1"):
            model.predict(wrong)


def test_one_row_and_one_row_of_weight() -> None:
    with pytest.raises(ValueError, match=r"all rows together weigh 1 \(1 sample\)"):
        ConnectivityClustering(min_samples=3).fit([[1.0, 2.0]])
    model = ConnectivityClustering().fit([[1.0, 2.0]])
    assert (model.labels_.tolist(), model.cost_curve_.tolist()) == ([0], [0.0])
    heavy = ConnectivityClustering(noise="auto").fit([[0.0], [1.0], [2.0]], sample_weight=[0, 2, 0])
    assert heavy.labels_.tolist() in ([0, 0, 0], [-1, 0, -1])
    assert heavy.predict([[0.0], [1.0], [2.0]]).tolist() == heavy.labels_.tolist()


def test_bad_distances_and_questions() -> None:
    with pytest.raises(ValueError, match="X has shape"):
        ConnectivityClustering(metric="precomputed").fit(np.ones((3, 2)))
    for bad, what in ((np.nan, "NaN"), (-1.0, "-1")):
        with pytest.raises(ValueError, match=f"X holds {what}"):
            ConnectivityClustering(metric="precomputed").fit([[0, bad], [bad, 0]])
    model = ConnectivityClustering(1).fit([[0.0], [1.0]])
    for words in ({"k": 3}, {"k": 0}, {"layer": 9}, {"distance": -1.0}, {"k": 1, "layer": 0}):
        with pytest.raises(ValueError, match="ConnectivityClustering"):
            model.partition(**words)


def test_rows_in_parquet_files(monkeypatch, tmp_path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, _ = piled()
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    file, out = str(tmp_path / "rows.parquet"), tmp_path / "labels.parquet"
    table = pa.table({"east": X[:, 0], "north": X[:, 1]})
    parquet.write_table(table, file, row_group_size=70)
    limited(monkeypatch, loaded_bytes=1, canonical_rows=10, block_rows=64)
    for words in ({"noise": "auto"}, {"landmarks": 30, "random_state": 0}):
        here = ConnectivityClustering(6, **words).fit(X, sample_weight=weight)
        stored = ConnectivityClustering(6, **words).fit(file, sample_weight=weight)
        assert list(stored.feature_names_in_) == ["east", "north"]
        np.testing.assert_array_equal(stored.labels_, here.labels_)
        assert stored.cost_curve_.tobytes() == here.cost_curve_.tobytes()
        np.testing.assert_array_equal(stored.predict(file, k=4), here.partition(4))
        stored.predict_to(file, out, k=4)
        written = parquet.read_table(out).columns[0].to_numpy()
        np.testing.assert_array_equal(written, here.partition(4))
