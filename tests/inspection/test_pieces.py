"""Displays of connected pieces: what was drawn is read back."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons

import cmeans
from cmeans import ConnectivityClustering
from cmeans.graphs.piece_branches import branches
from cmeans.inspection import (
    CostCurveDisplay,
    ImageDisplay,
    PieceTreeDisplay,
    ScatterDisplay,
    SilhouetteDisplay,
    SizesDisplay,
    TendencyDisplay,
    explain,
    representatives,
    summary,
)

pytest.importorskip("matplotlib")


def three_heaps() -> np.ndarray:
    rng, y = np.random.default_rng(0), np.arange(150) % 3
    return rng.normal(0, 0.3, (150, 2)) + np.c_[8.0 * y, y == 2]


def test_branches_are_coloured_by_their_clusters() -> None:
    model = cmeans.ConnectivityClustering(3).fit(three_heaps())
    display = PieceTreeDisplay.from_estimator(model, min_weight=45)
    assert sorted(display.clusters) == [-1, -1, 0, 1, 2]  # two joins of several
    assert len(display.areas_) == 5
    for branch in display.branches:
        assert (np.diff(branch.heights) >= 0).all()
        assert (np.diff(branch.right - branch.left) >= 0).all()
    assert PieceTreeDisplay.from_estimator(model, k=1, min_weight=45).clusters == [0] * 5
    assert display.ax_.get_xlim() == (0, 150)


def test_a_deep_tree_is_condensed() -> None:
    X = np.cumsum(np.arange(1.0, 1500.0))[:, None]
    model = cmeans.ConnectivityClustering(2).fit(X)
    (branch,) = branches(model._tree, 15)
    assert len(branch.heights) <= 201
    assert branch.right[-1] - branch.left[-1] == len(X)
    assert len(PieceTreeDisplay.from_estimator(model).areas_) == 1


def test_equal_rows_and_one_row_are_drawn() -> None:
    for X in (np.ones((5, 2)), [[1.0]]):
        model = cmeans.ConnectivityClustering().fit(X)
        assert len(PieceTreeDisplay.from_estimator(model).areas_) == 1
        CostCurveDisplay.from_estimator(model)


def test_the_curve_shows_the_costs_and_the_choice() -> None:
    model = cmeans.ConnectivityClustering().fit(three_heaps())
    display = CostCurveDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.line_.get_ydata(), model.cost_curve_[:-1])  # above 0
    assert display.choice_.get_xdata()[0] == model.n_clusters_ == 3
    assert display.layers_.get_xdata().tolist() == model.layer_sizes_.tolist()


@pytest.mark.parametrize("display", [PieceTreeDisplay, CostCurveDisplay])
def test_other_models_are_refused(display: type) -> None:
    for model in (cmeans.KernelKMeans(2), cmeans.ConnectivityClustering()):
        with pytest.raises(ValueError, match="pass a fitted ConnectivityClustering"):
            display.from_estimator(model)


def test_summaries_and_explanations_are_of_the_longest_steps() -> None:
    X, _ = make_moons(200, noise=0.05, random_state=0)
    model = ConnectivityClustering(noise=0.1).fit(X)
    d, labels = model.transform(X), model.labels_
    table = summary(model, X, feature_names=["east", "north"])
    np.testing.assert_array_equal(table["weight"], np.bincount(labels[labels >= 0]))
    own = np.where(labels < 0, 0, d[np.arange(200), labels])
    spread = [np.sqrt((own[labels == j] ** 2).mean()) for j in range(2)]
    np.testing.assert_allclose(table["spread"], spread)
    np.testing.assert_allclose(table["separation"], model.split_distances_[[1, 1]], rtol=1e-9)
    np.testing.assert_array_equal(table["typical"][:, 0], model.exemplars_)
    other = d[np.arange(200), np.maximum(1 - labels, 0) % 2]
    silhouettes = [((other - own) / other)[labels == j].mean() for j in range(2)]
    np.testing.assert_allclose(table["silhouette"], silhouettes)
    told = explain(model, X)
    assert told.fidelity > 0.9
    np.testing.assert_array_equal(told.noise, np.flatnonzero(labels < 0))
    rows = representatives(model, X, k=2)
    np.testing.assert_array_equal(rows["row"].reshape(2, 2), model.representatives(2))


def test_pictures_of_rows_and_clusters() -> None:
    X, _ = make_moons(200, noise=0.05, random_state=0)
    model = ConnectivityClustering(4, noise="auto").fit(X)
    assert len(model.plot(X).axes) == 4
    assert ScatterDisplay.from_estimator(model, X, columns=(0, 1)).labels.tolist() == list(
        model.labels_
    )
    some = ScatterDisplay.from_estimator(model, X, max_rows=50)
    np.testing.assert_array_equal(some.labels, model.labels_[::4])
    assert len(SilhouetteDisplay.from_estimator(model, X).areas_) == 4
    sizes = SizesDisplay.from_estimator(model, X, sample_weight=np.full(200, 2.0))
    assert sizes.sizes.sum() + sizes.noise == 400
    pixels = np.r_[np.zeros((4, 6)), np.ones((4, 6))]
    split = ConnectivityClustering(2).fit(pixels.reshape(-1, 1))
    assert ImageDisplay.from_estimator(split, pixels).labels.max() == 1


def test_pictures_of_given_distances() -> None:
    X, _ = make_moons(60, noise=0.03, random_state=0)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    model = ConnectivityClustering(3, metric="precomputed").fit(D)
    shown = ScatterDisplay.from_estimator(model, D)
    np.testing.assert_array_equal(shown.labels, model.labels_)
    assert "name" not in summary(model, D)


def test_pictures_that_there_are_not() -> None:
    X, _ = make_moons(60, noise=0.03, random_state=0)
    model = ConnectivityClustering(2).fit(X)
    with pytest.raises(ValueError, match="draw a PieceTreeDisplay"):
        TendencyDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match=r"diag is for kernels"):
        ScatterDisplay.from_estimator(model, X, diag=np.ones(60))
    with pytest.raises(ValueError, match=r"pass X"):
        summary(model)
    apart = np.where(np.eye(4) + np.eye(4)[[1, 0, 3, 2]], 1.0, np.inf)
    parts = ConnectivityClustering(metric="precomputed").fit(apart)
    with pytest.raises(ValueError, match=r"nothing connects 2 parts of X .*PieceTreeDisplay"):
        ScatterDisplay.from_estimator(parts, apart)


def test_rows_are_drawn_where_they_lie() -> None:
    """Longest steps are the same for all rows of a piece, and would put them in one place."""
    X = three_heaps()
    for d in (1, 2, 5):
        some = np.hstack([X, X, X])[:, :d] if d < 5 else np.c_[X, 0.01 * X, np.ones(150)]
        shown = ScatterDisplay.from_estimator(ConnectivityClustering(3).fit(some), some)
        np.testing.assert_allclose(np.var(shown.positions, axis=0).sum(), np.var(some, 0).sum())
        assert shown.axis_names[0].startswith("column 0" if d < 5 else "direction 1 (99.")
