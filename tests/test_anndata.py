"""Clusters of cells of AnnData, written where scanpy looks for them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import cmeans
from cmeans import FuzzyCMeans, GaussianMixture, KernelKMeans, ModularityClustering

anndata = pytest.importorskip("anndata")
# anndata 0.12 asks pandas 3 for an option that is to go
pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated")


def thirteen() -> tuple[np.ndarray, np.ndarray]:
    """Groups of 40 to 16 rows."""
    y = np.repeat(np.arange(13), 40 - 2 * np.arange(13))
    places = 40 * np.random.default_rng(13).random((13, 5))
    return np.random.default_rng(12).normal(size=(len(y), 5)) + places[y], y


@pytest.fixture
def cells() -> Any:
    X, y = thirteen()
    order = np.random.default_rng(0).permutation(len(X))
    adata = anndata.AnnData(np.ones((len(X), 2), np.float32), obsm={"X_pca": X[order]})
    adata.obs["kind"] = y[order]
    return adata


def test_categories_are_numbers_in_order_by_falling_size(cells: Any) -> None:
    model = cmeans.anndata.cluster(cells, ModularityClustering(13))
    found = cells.obs["cmeans"]
    assert list(found.cat.categories) == [str(number) for number in range(13)]
    np.testing.assert_array_equal(found.cat.codes, cells.obs["kind"])
    colours = cells.uns["cmeans_colors"]
    assert len(set(colours)) == len(colours) == 13
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)
    memberships = cells.obsm["cmeans_memberships"]
    np.testing.assert_array_equal(memberships.argmax(axis=1), found.cat.codes)
    told = cells.uns["cmeans"]
    assert told["params"]["method"] == "ModularityClustering"
    assert told["params"]["use_rep"] == "X_pca"
    assert told["n_clusters"] == told["params"]["n_clusters"] == 13
    assert told["modularity"] == model.modularity_
    np.testing.assert_array_equal(model.predict(cells.obsm["X_pca"]), model.labels_)


def test_a_second_key_leaves_the_first_alone(cells: Any, tmp_path: Any) -> None:
    cmeans.anndata.cluster(cells, FuzzyCMeans(3, random_state=0), key_added="coarse")
    before = cells.copy()
    cmeans.anndata.cluster(cells, FuzzyCMeans(9, random_state=0), key_added="fine")
    assert cells.obs["coarse"].equals(before.obs["coarse"])
    assert cells.uns["coarse"] == before.uns["coarse"]
    assert cells.uns["coarse_colors"] == before.uns["coarse_colors"]
    sizes = cells.obs["fine"].value_counts(sort=False)
    assert list(sizes.index) == [str(number) for number in range(9)]
    assert sizes.is_monotonic_decreasing
    # what was written can be kept in a file, of which anndata asks leave for texts of pandas 3
    with anndata.settings.override(allow_write_nullable_strings=True):
        cells.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert read.obs["fine"].equals(cells.obs["fine"])
    assert dict(read.uns["fine"]["params"]) == cells.uns["fine"]["params"]


def test_equally_large_groups_are_numbered_as_they_come() -> None:
    X = np.repeat([[0.0], [100.0], [200.0]], [5, 8, 5], axis=0) + np.tile([0.0, 0.1], 9)[:, None]
    adata = anndata.AnnData(X)
    cmeans.anndata.cluster(adata, KernelKMeans(3, random_state=0), use_rep="X")
    assert adata.obs["cmeans"].tolist() == ["1"] * 5 + ["0"] * 8 + ["2"] * 5


def test_a_graph_of_cells() -> None:
    graph = np.kron(np.diag([1, 1, 0]), np.ones((3, 3)))[:8, :8] - np.diag([1.0] * 6 + [0.0] * 2)
    adata = anndata.AnnData(np.ones((8, 1), np.float32), obsp={"connectivities": graph})
    with pytest.warns(cmeans.DataWarning, match="2 of 8 nodes"):
        cmeans.anndata.cluster(
            adata,
            ModularityClustering(resolution=1, metric="precomputed"),
            use_rep="connectivities",
        )
    assert adata.obs["cmeans"].cat.codes.tolist() == [0, 0, 0, 1, 1, 1, -1, -1]
    assert adata.obs["cmeans"].isna().sum() == 2
    for method, use_rep in (
        (ModularityClustering(), "connectivities"),
        (ModularityClustering(metric="precomputed"), "X"),
        (GaussianMixture(2), "connectivities"),
    ):
        with pytest.raises(ValueError, match=f"use_rep='{use_rep}'\\): these are"):
            cmeans.anndata.cluster(adata, method, use_rep=use_rep)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"use_rep": "X_umap"}, r"use_rep='X_umap'\): .* obsm \(X_pca\) nor in obsp \(empty\)"),
        ({"method": "leiden"}, r"method='leiden'\): give 'communities', 'connected', or an"),
        ({"method": 3}, r"method=3\): give an estimator"),
        ({"key_added": 3}, r"key_added=3\): give a text"),
        ({"adata": np.eye(3)}, r"adata is a ndarray; give an AnnData"),
        ({"method": KernelKMeans(10**6)}, "n_clusters"),
    ],
)
def test_what_is_refused_leaves_the_cells_as_they_were(
    words: dict[str, Any], message: str, cells: Any
) -> None:
    with pytest.raises(ValueError, match=message):
        cmeans.anndata.cluster(**{"adata": cells, **words})
    assert list(cells.obs) == ["kind"]
    assert not cells.uns


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_a_fit_says_where_cells_are_clustered(cells: Any, metric: Any) -> None:
    with pytest.raises(ValueError, match=r"X is AnnData; pass it to cmeans\.anndata\.cluster"):
        ModularityClustering(metric=metric).fit(cells)
