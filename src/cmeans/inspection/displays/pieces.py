"""The tree of connected pieces, and what every number of them costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...data.arrays import Float64, IntArray
from ...graphs.piece_branches import Branch, branches
from ...graphs.piece_tree import PieceTree
from ...runtime.checks import real
from ..figure import NOISE, colour
from .base import Display

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
        self.ax_.set(xlabel="rows (weight), side by side", ylabel="longest step within a piece")


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
        self.choice_ = self.ax_.axvline(
            self.n_clusters, color="0.2", lw=1, label=f"chosen: {self.n_clusters}"
        )
        if shown.any():
            self.ax_.set(xscale="log", yscale="log")
        self.ax_.set(xlabel="number of clusters", ylabel="least cost")
        self.ax_.legend(fontsize=8)


def _fitted(model: Any, caller: str) -> Any:
    if not isinstance(getattr(model, "__dict__", {}).get("_tree"), PieceTree):
        raise ValueError(f"{caller}: the model is {model!r}; pass a fitted ConnectivityClustering.")
    return model
