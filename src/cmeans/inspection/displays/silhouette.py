"""Silhouettes by centres: how much nearer rows are to their own centre than to the next."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...data.arrays import Float64, IntArray, host_float64
from ...fitting.validation import host_array
from ...runtime.numerals import in_digits
from ..figure import colour
from ..rows import inspected
from .base import Display, bars_size, by_cluster, checked_labels, thinned
from .lanes import name_lanes

GAP = 0.02  # of the rows, between clusters


class SilhouetteDisplay(Display):
    """Simplified silhouettes, 1 - a / b of the distances to the own and the nearest other centre,
    cluster by cluster, in falling order.

    A full block is a clear cluster; values below zero (to the left) are rows that are nearer to
    another centre.

    Parameters
    ----------
    silhouettes : (n,) from -1 to 1.
    labels : (n,) -1 for noise, which is left out.
    weight : (n,) weights of the rows in the mean, default=None: alike.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    areas_ : one area a cluster; mean_ : the mean of all silhouettes.

    References
    ----------
    Rousseeuw: Silhouettes: a graphical aid to the interpretation and validation of cluster
    analysis. J. Computational and Applied Mathematics 20, 1987. By centres: Hruschka, Campello, de
    Castro: Evolving clusters in gene-expression data. Information Sciences 176, 2006.

    Examples
    --------
    >>> from cmeans.inspection import SilhouetteDisplay
    >>> round(SilhouetteDisplay.from_predictions([0.8, 0.6, 0.1], [0, 0, 1]).mean_, 3)
    0.5
    """

    def __init__(
        self, silhouettes: Float64, labels: IntArray, *, weight: Float64 | None = None
    ) -> None:
        self.silhouettes, self.labels = silhouettes, labels
        self.weight = np.ones(len(labels)) if weight is None else weight

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        sample_weight: Any = None,
        diag: Any = None,
        max_rows: int = 50_000,
        ax: Any = None,
    ) -> Self:
        """Draw silhouettes of rows X by the centres of a fitted model, in its space; of many rows
        `max_rows`, evenly spaced."""
        caller = f"{cls.__name__}.from_estimator"
        seen = inspected(model, X, caller, sample_weight=sample_weight, diag=diag, most=max_rows)
        if seen.n_clusters < 2:
            raise ValueError(
                f"{caller}: the model has one cluster, and silhouettes compare two; fit at least "
                "two."
            )
        return cls(seen.silhouettes, seen.labels, weight=seen.weight).plot(ax=ax)

    @classmethod
    def from_predictions(cls, silhouettes: Any, labels: Any, *, ax: Any = None) -> Self:
        """Draw given silhouettes (n,), such as scikit-learn's `silhouette_samples`, with labels
        (n,)."""
        caller = f"{cls.__name__}.from_predictions"
        own = checked_labels(labels, caller)
        values = host_float64(host_array(silhouettes, "silhouettes", caller))
        if values.shape != own.shape or not (np.abs(values) <= 1).all():
            raise ValueError(
                f"{caller}: silhouettes have shape {values.shape}; ({len(own)},) numbers from -1 "
                "to 1 are needed."
            )
        return cls(values, own).plot(ax=ax)

    def _draw(self) -> None:
        inside = np.flatnonzero(self.labels >= 0)
        weight = self.weight[inside]
        self.mean_ = (
            float(weight @ self.silhouettes[inside] / weight.sum())
            if weight.sum() > 0
            else float("nan")
        )
        order = inside[by_cluster(self.labels[inside], self.silhouettes[inside])]
        clusters, places, start = np.unique(self.labels[inside]), [], 0.0
        gap, self.areas_ = GAP * len(inside), []
        for cluster in clusters:
            rows = order[self.labels[order] == cluster]
            shown = thinned(np.arange(len(rows)), 1000)
            height = start + (shown + 0.5)
            self.areas_.append(
                self.ax_.fill_betweenx(
                    height, 0, self.silhouettes[rows][shown], color=colour(int(cluster)), lw=0.5
                )
            )
            places.append(start + len(rows) / 2)
            start += len(rows) + gap
        self.ax_.axvline(self.mean_, color="0.2", lw=1, ls="--")
        self.ax_.set(
            xlabel="simplified silhouette (0: between two clusters, 1: far from the others)",
            ylabel="rows, cluster by cluster",
            xlim=(min(0.0, float(self.silhouettes.min(initial=0))), 1),
        )
        name_lanes(self.ax_, places, [str(cluster) for cluster in clusters])
        self.ax_.invert_yaxis()
        self.ax_.margins(y=0)
        self._say(self._finding(clusters))

    @property
    def _size(self) -> tuple[float, float]:
        return bars_size(max(8, len(np.unique(self.labels))))

    def _finding(self, clusters: IntArray) -> str:
        """Return how clear clusters are, and which of them is least so."""
        said = f"Silhouettes are {in_digits(self.mean_, 2)} on average"
        if len(clusters) < 2:
            return said
        weights = [self.weight * (self.labels == cluster) for cluster in clusters]
        means = [w @ self.silhouettes / max(w.sum(), np.finfo(float).tiny) for w in weights]
        least = int(np.argmin(means))
        return f"{said}; cluster {clusters[least]} is the least clear, {in_digits(means[least], 2)}"
