"""The consensus of partitions: kernel k-means with the co-association kernel, members of any kind,
and what the eight mixtures find that no single one is sure of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans, MeanShift
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

import cmeans
from cmeans import ConsensusClustering, FuzzyCMeans, GaussianMixture, KernelKMeans
from cmeans.inspection import report
from cmeans.inspection.directions import plane_of
from cmeans.inspection.rows import inspected


def members(*numbers: int) -> list[KernelKMeans]:
    return [KernelKMeans(c, kernel="linear", random_state=0) for c in numbers]


def rows(n: int = 60) -> np.ndarray:
    return make_blobs(n, centers=4, cluster_std=1.5, random_state=3)[0]


def naive_distances(labels: np.ndarray, weight: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Squared distances (n, c) of rows to the means of clusters, from all values of the kernel."""
    n, c = len(labels), clusters.max() + 1
    kernel = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            kernel[i, j] = np.mean((labels[i] == labels[j]) & (labels[i] >= 0))
    found = np.zeros((n, c))
    for k in range(c):
        share = weight * (clusters == k) / weight[clusters == k].sum()
        found[:, k] = np.diag(kernel) - 2 * kernel @ share + share @ kernel @ share
    return found


def test_it_is_kernel_kmeans_with_the_co_association_kernel() -> None:
    X = rows()
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    noisy = FuzzyCMeans(3, noise=0.2, random_state=0)
    model = ConsensusClustering(3, members=[*members(2, 4), noisy], random_state=0)
    model.fit(X, sample_weight=weight)
    assert (model.member_labels_ == -1).any()
    expected = naive_distances(model.member_labels_, weight, model.labels_)
    np.testing.assert_allclose(model.transform(X) ** 2, expected, atol=1e-12)
    np.testing.assert_array_equal(model.labels_, expected.argmin(axis=1))
    assert model.objective_ == pytest.approx(weight @ expected.min(axis=1))
    assert model.score(X, sample_weight=weight) == pytest.approx(-model.objective_)


def test_weights_are_copies_and_the_order_of_rows_says_nothing() -> None:
    X = rows()
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    model = ConsensusClustering(3, members=members(2, 3, 5), random_state=0)
    weighted = model.fit(X, sample_weight=weight).predict(X)
    objective, order = model.objective_, np.random.default_rng(2).permutation(weight.sum())
    copies = model.fit(np.repeat(X, weight, axis=0)[order])
    assert copies.objective_ == pytest.approx(objective, rel=1e-12)
    assert adjusted_rand_score(weighted, copies.predict(X)) == 1


def test_members_of_any_kind_say_where_new_rows_belong(tmp_path) -> None:
    X = rows()
    fitted = KMeans(3, n_init=2, random_state=0).fit(X)
    model = ConsensusClustering(3, members=[fitted, MeanShift(), *members(4)], random_state=0)
    model.fit(X[:50])
    assert model.members_[0] is fitted
    np.testing.assert_array_equal(model.member_labels_[:, 0], fitted.predict(X[:50]))
    np.testing.assert_array_equal(model.predict(X[:50]), model.labels_)
    u = model.memberships(X)
    np.testing.assert_allclose(u.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(u.argmax(axis=1), model.predict(X))
    assert ((model.outlier_score(X) >= -1e-12) & (model.outlier_score(X) <= 1)).all()
    with pytest.raises(ValueError, match=r"KMeans.*none of the library's"):
        cmeans.save(model, tmp_path / "model.safetensors")


@pytest.mark.parametrize("rows_too", [True, False])
def test_a_file_holds_the_members_too(tmp_path, rows_too) -> None:
    X = rows()
    model = ConsensusClustering(3, members=members(2, 4), random_state=0).fit(X)
    cmeans.save(model, tmp_path / "model.safetensors", rows=rows_too)
    again = cmeans.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.memberships(X), model.memberships_)
    assert [member.n_clusters for member in again.members_] == [2, 4]
    assert hasattr(again, "labels_") == rows_too == hasattr(again.members_[1], "labels_")
    if not rows_too:
        with pytest.raises(ValueError, match="saved without its rows"):
            again.representatives()


def test_the_eight_mixtures() -> None:
    X, kinds = load_iris(return_X_y=True)
    model = ConsensusClustering(3, random_state=0).fit(X)
    assert len(model.members_) == 8
    assert adjusted_rand_score(kinds, model.labels_) > 0.9
    assert model.agreement_ > 0.9
    assert "8 members agree by 0.9" in model.stop_reason_


def test_members_start_each_from_its_own_seed() -> None:
    """What all find from one start may be a poor optimum of all."""
    X = load_iris().data
    seeds = [one.random_state for one in ConsensusClustering(3, random_state=0).fit(X).members_]
    again = [one.random_state for one in ConsensusClustering(3, random_state=0).fit(X).members_]
    assert len(set(seeds)) == 8
    assert again == seeds


def test_missing_values(tmp_path: Path) -> None:
    X, kinds = load_wine(return_X_y=True)
    X, drawn = minmax_scale(X), np.random.default_rng(0).random(X.shape)
    X[drawn < 0.1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        ConsensusClustering(3).fit(X)
    model = ConsensusClustering(3, missing="partial", random_state=0).fit(X)
    assert [one.missing for one in model.members_] == ["partial"] * 4
    assert model.n_missing_.tolist() == np.isnan(X).sum(axis=0).tolist()
    assert adjusted_rand_score(kinds, model.labels_) > 0.85
    assert np.array_equal(model.predict(X), model.labels_)
    cmeans.save(model, tmp_path / "model")
    assert np.array_equal(cmeans.load(tmp_path / "model").memberships(X), model.memberships_)


@pytest.mark.parametrize("columns", [2, 4])
def test_pages_of_missing_values(columns: int, tmp_path: Path) -> None:
    X = minmax_scale(load_iris().data)[:, :columns]
    X[::9, 0] = X[1::9, 1] = np.nan
    own = [FuzzyCMeans(3, missing="partial", random_state=0)]
    model = ConsensusClustering(3, members=own, missing="partial", random_state=0).fit(X)
    assert np.isfinite(plane_of(inspected(model, X, "page")).positions).all()
    report(model, X, tmp_path / "report.html")
    cmeans.explore(model, X, tmp_path / "page.html", n_clusters=())


def test_members_of_ones_own_take_missing_values_as_they_can() -> None:
    X = rows()
    X[::7, 0] = np.nan
    own = [FuzzyCMeans(4, missing="partial", random_state=0)]
    model = ConsensusClustering(4, members=own, missing="partial", random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, model.members_[0].labels_) == 1.0
    with pytest.raises(ValueError, match="FuzzyCMeans: Input X contains NaN"):
        model.set_params(members=[FuzzyCMeans(4)]).fit(X)


def test_what_members_warn_of_is_told_once() -> None:
    X = np.column_stack([rows(), np.ones(60)])
    with pytest.warns(UserWarning, match="all rows have the same value") as told:
        ConsensusClustering(
            3, members=[GaussianMixture(3, random_state=seed) for seed in (0, 1)], random_state=0
        ).fit(X)
    assert len(told) == 1


def test_members_that_tell_fewer_groups_apart() -> None:
    with pytest.warns(UserWarning, match="tell only 2 groups of rows apart"):
        model = ConsensusClustering(3, members=members(2)).fit(rows())
    assert model.n_clusters_ == 2
    assert model.agreement_ == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "give a list of estimators"),
        (KernelKMeans(3), "give a list of estimators"),
        ([KernelKMeans], "estimators with fit and predict"),
        ([DBSCAN()], "estimators with fit and predict"),
    ],
)
def test_members_that_are_none(given, message) -> None:
    with pytest.raises(ValueError, match=message):
        ConsensusClustering(3, members=given).fit(rows())


def test_members_without_weights_are_refused_beside_some() -> None:
    model = ConsensusClustering(3, members=[MeanShift(), *members(3)])
    with pytest.raises(ValueError, match="MeanShift takes no sample_weight"):
        model.fit(rows(), sample_weight=np.ones(60))
