"""The tree of connected pieces, and what every number of them costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...data.arrays import Float64, IntArray
from ...graphs.piece_branches import Branch, branches
from ...graphs.piece_tree import PieceTree
from ...runtime.checks import real
from ...runtime.numerals import several
from ..figure import NOISE, colour, count_axis, label
from .base import Display

MOST = 8  # layers that are named
NAMED = 0.02  # of all weight from which on a cluster has room for its number
SHARE = 0.01  # of all weight that a branch has at least, where nothing else is asked for


class PieceTreeDisplay(Display):
    """The tree of connected pieces, condensed: how pieces grow and join as steps may be longer.

    Every branch is a piece, as wide as its rows weigh at each distance; it ends where it joins
    another. Lighter pieces are left out, so that a tree of any depth can be drawn. Branches of one
    cluster have its colour, those of several are grey.

    Parameters
    ----------
    branches : of `graphs.piece_branches`.
    clusters : a cluster for each branch, -1 for those of several.
    total : float, weight of all rows.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    areas_ : of the branches.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from cmeans import ConnectivityClustering
    >>> from cmeans.inspection import PieceTreeDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> model = ConnectivityClustering().fit(X)
    >>> len(PieceTreeDisplay.from_estimator(model, min_weight=50).areas_)
    3
    """

    def __init__(self, branches: Sequence[Branch], clusters: Sequence[int], total: float) -> None:
        self.branches, self.clusters, self.total = branches, clusters, total

    @classmethod
    def from_estimator(
        cls, model: Any, *, k: int | None = None, min_weight: float | None = None, ax: Any = None
    ) -> Self:
        """Draw the tree of a fitted `ConnectivityClustering`.

        Parameters
        ----------
        model : the model.
        k : number of clusters that have colours, default: `n_clusters_`.
        min_weight : weight of the lightest branch, default: a hundredth of all.
        """
        caller = f"{cls.__name__}.from_estimator"
        asked = _fitted(model, caller)._asked(k, None, None)
        tree = asked.pieces.tree
        total = float(tree.weight[tree.roots].sum())
        least = SHARE * total if min_weight is None else real(min_weight, "min_weight", caller)
        found = branches(tree, least)
        places = np.sort(tree.start[asked.centres])
        clusters = []
        for branch in found:
            start, stop = tree.start[branch.nodes[-1]], tree.stop[branch.nodes[-1]]
            inside = np.searchsorted(places, stop) - np.searchsorted(places, start)
            clusters.append(-1 if inside > 1 else int(asked.own[tree.order[start]]))
        return cls(found, clusters, total).plot(ax=ax)

    def _draw(self) -> None:
        self.areas_ = [
            self.ax_.fill_betweenx(
                branch.heights,
                branch.left,
                branch.right,
                step="post",
                color=NOISE if cluster < 0 else colour(cluster),
                alpha=0.4 if cluster < 0 else 0.9,
                lw=0,
            )
            for branch, cluster in zip(self.branches, self.clusters, strict=True)
        ]
        heights = np.concatenate([branch.heights for branch in self.branches])
        if (heights > 0).any():
            self.ax_.set_yscale("log")
            self.ax_.set_ylim(0.9 * heights[heights > 0].min(), heights.max())
        self.ax_.set_xlim(0, self.total)
        self.ax_.set(
            xlabel="weight of the rows, side by side", ylabel="longest step within a piece"
        )
        count_axis(self.ax_.xaxis)
        count_axis(self.ax_.yaxis)
        found = sorted({cluster for cluster in self.clusters if cluster >= 0})
        self._name_clusters(found)
        self._say(f"{several(len(found), 'cluster')} of connected pieces, joined by longer steps")

    def _name_clusters(self, found: Sequence[int]) -> None:
        """Name clusters at their widest branches, where these are wide enough."""
        for cluster in found:
            own = [
                branch
                for branch, known in zip(self.branches, self.clusters, strict=True)
                if known == cluster
            ]
            widest = max(own, key=lambda branch: branch.right[-1] - branch.left[-1])
            if widest.right[-1] - widest.left[-1] >= NAMED * self.total:
                ends = np.maximum(widest.heights[[0, -1]], np.finfo(float).tiny)
                middle = int(np.searchsorted(widest.heights, np.sqrt(ends.prod())))
                middle = min(middle, len(widest.heights) - 1)
                across = (widest.left[middle] + widest.right[middle]) / 2
                label(self.ax_, str(cluster), (across, widest.heights[middle]))


class CostCurveDisplay(Display):
    """The least cost of every number of connected pieces, with the number chosen and the layers.

    Parameters
    ----------
    cost : (q,) of 1, 2, ... clusters.
    n_clusters : int, the number chosen.
    layers : numbers of clusters of layers.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    line_ : the curve.
    choice_ : the vertical line at the choice.
    layers_ : the points of the layers.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from cmeans import ConnectivityClustering
    >>> from cmeans.inspection import CostCurveDisplay
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> CostCurveDisplay.from_estimator(ConnectivityClustering().fit(X)).n_clusters
    2
    """

    def __init__(self, cost: Float64, n_clusters: int, layers: IntArray) -> None:
        self.cost, self.n_clusters, self.layers = cost, n_clusters, layers

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the costs of a fitted `ConnectivityClustering`.

        Parameters
        ----------
        model : the model.
        """
        fitted = _fitted(model, f"{cls.__name__}.from_estimator")
        return cls(fitted.cost_curve_, fitted.n_clusters_, fitted.layer_sizes_).plot(ax=ax)

    def _draw(self) -> None:
        numbers = np.arange(1, len(self.cost) + 1)
        shown = np.isfinite(self.cost) & (self.cost > 0)
        (self.line_,) = self.ax_.plot(numbers[shown], self.cost[shown], color=colour(0))
        layers = self.layers[shown[self.layers - 1]]
        (self.layers_,) = self.ax_.plot(
            layers, self.cost[layers - 1], "o", color=colour(1), label="layers"
        )
        self.choice_ = self.ax_.axvline(self.n_clusters, color="0.5", lw=1, zorder=0)
        if shown.any():
            self.ax_.set(xscale="log", yscale="log")
        self.ax_.set(xlabel="number of clusters", ylabel="least cost")
        count_axis(self.ax_.xaxis)
        count_axis(self.ax_.yaxis)
        self.ax_.legend()
        said = ", ".join(f"{size:,}" for size in self.layers[:MOST])
        said += ", ..." if len(self.layers) > MOST else ""
        self._say(f"{several(self.n_clusters, 'cluster')} chosen; layers: {said or 'none'}")


def _fitted(model: Any, caller: str) -> Any:
    if not isinstance(getattr(model, "__dict__", {}).get("_tree"), PieceTree):
        raise ValueError(f"{caller}: the model is {model!r}; pass a fitted ConnectivityClustering.")
    return model
