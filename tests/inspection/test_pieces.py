"""Displays of connected pieces: what was drawn is read back."""

from __future__ import annotations

import numpy as np
import pytest

import cmeans
from cmeans.graphs.piece_branches import branches
from cmeans.inspection import CostCurveDisplay, PieceTreeDisplay

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
