"""Centres over the columns of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, get_args

import numpy as np

from ...data.arrays import Float64, host_float64
from ...fitting.validation import host_array, one_of
from ..contrast import contrast_of
from ..figure import DIVERGING, colour, marker, plain
from ..rows import inspected, named_features
from .base import Display, cluster_names

Kind = Literal["lines", "heatmap"]
SHOWN = 40  # columns at most, those in which centres differ most
NUMBERED = 200  # cells of a heat map at most in which the number is written


class CentresDisplay(Display):
    """Means of the clusters over the columns of the input, in deviations of each column from its
    mean, as parallel lines or a heat map.

    Of every space: a cluster's mean is that of its rows, weighted by their memberships. Of more
    than 40 columns those in which the means differ most are shown.

    Parameters
    ----------
    values : (c, d) standardised means.
    feature_names : d names.
    kind : "lines" or "heatmap", default="heatmap"

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    lines_ : c lines; image_ : of a heat map.
    shown_ : numbers of the columns that are shown, in their order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import FuzzyCMeans
    >>> from cmeans.inspection import CentresDisplay
    >>> X = load_iris().data
    >>> CentresDisplay.from_estimator(FuzzyCMeans(3, random_state=0).fit(X), X).shown_.tolist()
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        values: Float64,
        feature_names: Sequence[str],
        *,
        kind: str = "heatmap",
        names: Sequence[str] | None = None,
    ) -> None:
        self.values, self.feature_names, self.kind = values, tuple(feature_names), kind
        self.names = cluster_names(names, len(values), type(self).__name__)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        feature_names: Any = None,
        kind: Kind = "heatmap",
        sample_weight: Any = None,
        names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the means of the clusters of a fitted model over the columns of rows X."""
        caller = f"{cls.__name__}.from_estimator"
        one_of(kind, "kind", caller, get_args(Kind))
        seen = inspected(model, X, caller, sample_weight=sample_weight)
        contrast = contrast_of(seen, named_features(feature_names, seen, caller))
        if contrast is None:
            raise ValueError(
                f"{caller}: rows of a precomputed kernel have no columns over which centres could "
                "be drawn."
            )
        return cls(contrast.standardized, contrast.feature_names, kind=kind, names=names).plot(
            ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        centres: Any,
        *,
        feature_names: Any = None,
        kind: Kind = "heatmap",
        names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw given centres (c, d), which should be standardised."""
        caller = f"{cls.__name__}.from_predictions"
        one_of(kind, "kind", caller, get_args(Kind))
        values = host_float64(host_array(centres, "centres", caller))
        if values.ndim != 2 or not values.size or not np.isfinite(values).all():
            raise ValueError(
                f"{caller}: centres have shape {values.shape}; finite numbers (c, d) are needed."
            )
        columns = (
            [f"column {k}" for k in range(values.shape[1])]
            if feature_names is None
            else list(feature_names)
        )
        if len(columns) != values.shape[1]:
            raise ValueError(
                f"{caller}(feature_names=...): {len(columns)} names for {values.shape[1]} columns."
            )
        return cls(values, columns, kind=kind, names=names).plot(ax=ax)

    def _draw(self) -> None:
        spread = np.ptp(self.values, axis=0)
        self.shown_ = np.sort(np.argsort(-spread, kind="stable")[:SHOWN])
        values = self.values[:, self.shown_]
        columns = [plain(self.feature_names[k], 24) for k in self.shown_]
        clusters = [plain(name, 30) for name in self.names]
        places = np.arange(len(columns))
        if self.kind == "lines":
            self.lines_ = [
                self.ax_.plot(
                    places, line, color=colour(j), marker=marker(j), ms=4, label=clusters[j]
                )[0]
                for j, line in enumerate(values)
            ]
            self.ax_.axhline(0, color="0.7", lw=0.8)
            self.ax_.set(ylabel="deviations from the mean of all rows")
            if len(clusters) <= 14:
                self.ax_.legend(title="cluster", fontsize=8)
        else:
            most = float(np.abs(values).max()) or 1.0
            self.image_ = self.ax_.imshow(
                values,
                cmap=DIVERGING,
                vmin=-most,
                vmax=most,
                aspect="auto",
                interpolation="nearest",
            )
            self.figure_.colorbar(self.image_, ax=self.ax_, label="deviations from the mean")
            self.ax_.set(ylabel="cluster")
            if len(clusters) <= 40:
                self.ax_.set_yticks(np.arange(len(clusters)), clusters)
            if values.size <= NUMBERED:
                for (j, k), value in np.ndenumerate(values):
                    dark = abs(value) > 0.6 * most
                    self.ax_.text(
                        k,
                        j,
                        f"{value:.1f}",
                        ha="center",
                        va="center",
                        fontsize=7,
                        color="white" if dark else "black",
                    )
        self.ax_.set_xticks(
            places,
            columns,
            rotation=45 if len(columns) <= 6 else 90,
            ha="right" if len(columns) <= 6 else "center",
            fontsize=8,
        )
        if len(self.shown_) < self.values.shape[1]:
            self.ax_.set_title(
                f"{len(self.shown_)} of {self.values.shape[1]:,} columns, those that differ most",
                fontsize=9,
            )
