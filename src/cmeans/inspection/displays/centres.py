"""Centres over the columns of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, get_args

import numpy as np

from ...data.arrays import Float64, host_float64
from ...fitting.validation import host_array
from ...runtime.checks import one_of
from ...runtime.numerals import several
from ..contrast import FULL, contrast_of
from ..figure import (
    DIVERGING,
    LEGEND,
    LINE,
    colour,
    every_name,
    lines_of_text,
    marker,
    name_groups,
    plain,
)
from ..rows import inspected, named_features
from .base import Display, bars_size, cluster_names
from .lanes import draw_lanes

Kind = Literal["lines", "heatmap"]
SHOWN = 40  # columns at most, those in which centres differ most
FEWEST = 8  # columns that a heat map shows at least, however low it is
LEADING = 3  # columns at most that the title names
NUMBERED = 12  # clusters at most whose numbers are written into a heat map
UPRIGHT, SHORT = 6, 4  # columns, and characters of a name, up to which names need no turn


class CentresDisplay(Display):
    """Means of the clusters over the columns of the input, in deviations of each column from its
    mean, as parallel lines over the columns in their order, or as a heat map with a line for each
    column, that in which the means differ most first.

    Of every space: a cluster's mean is that of its rows, weighted by their memberships. Of more
    than 40 columns, or lines of text in the height of the picture, those in which the means differ
    most are shown.

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
    [2, 3, 0, 1]
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
        if feature_names is None:
            columns = [f"column {k}" for k in range(values.shape[1])]
        else:
            columns = list(feature_names)
        if len(columns) != values.shape[1]:
            raise ValueError(
                f"{caller}(feature_names=...): {len(columns)} names for {values.shape[1]} columns."
            )
        return cls(values, columns, kind=kind, names=names).plot(ax=ax)

    @property
    def _size(self) -> tuple[float, float]:
        columns = min(self.values.shape[1], SHOWN)
        if self.kind == "lines":
            return max(6.4, 0.22 * columns + 2), bars_size(max(LEGEND, len(self.values)))[1]
        return max(6.4, 0.35 * len(self.values) + 3), max(3.2, 1.3 * LINE * columns + 1.2)

    def _draw(self) -> None:
        order = np.argsort(-np.ptp(self.values, axis=0), kind="stable")
        if self.kind == "lines":
            self.shown_ = np.sort(order[:SHOWN])
            self._draw_lines()
        else:
            self.shown_ = order[: min(SHOWN, max(lines_of_text(self.ax_), FEWEST))]
            self._draw_map()
        n_columns = self.values.shape[1]
        leading = ", ".join(plain(self.feature_names[k], 24) for k in order[:LEADING])
        said = f"Clusters differ most in {leading}"
        if len(self.shown_) < n_columns:
            said += f"; {len(self.shown_)} of {several(n_columns, 'column')}"
        self._say(said)

    def _draw_lines(self) -> None:
        columns = [plain(self.feature_names[k], 24) for k in self.shown_]
        names, places = [plain(name, 30) for name in self.names], np.arange(len(columns))
        values = self.values[:, self.shown_]
        if len(names) > LEGEND:
            self.lines_ = draw_lanes(self.ax_, places, values, names)
            self.ax_.set(ylabel="cluster: above and below the mean of all rows")
        else:
            self.lines_ = [
                self.ax_.plot(places, line, color=colour(j), marker=marker(j), ms=4)[0]
                for j, line in enumerate(values)
            ]
            self.ax_.axhline(0, color="0.7", lw=0.8, zorder=0)
            self.ax_.set(ylabel="deviations from the mean of all rows")
            name_groups(self.ax_, self.lines_, names, "cluster")
        few = len(columns) <= UPRIGHT
        self.ax_.set_xticks(
            places, columns, rotation=45 if few else 90, ha="right" if few else "center"
        )

    def _draw_map(self) -> None:
        """Draw columns downwards, the most telling first, so that any number of names is read."""
        values = self.values[:, self.shown_].T
        largest = float(np.abs(values).max()) or 1.0
        most = min(largest, FULL)
        self.image_ = self.ax_.imshow(
            values, cmap=DIVERGING, vmin=-most, vmax=most, aspect="auto", interpolation="nearest"
        )
        self.figure_.colorbar(
            self.image_,
            ax=self.ax_,
            label="deviations from the mean of all rows",
            extend="both" if largest > most else "neither",
        )
        self.ax_.set(xlabel="cluster")
        self.ax_.tick_params(length=0)
        self.ax_.spines[:].set_visible(False)
        self.ax_.set_yticks(
            np.arange(len(values)), [plain(self.feature_names[k], 24) for k in self.shown_]
        )
        names = [plain(name, 30) for name in self.names]
        if max(map(len, names)) > SHORT:
            self.ax_.set_xticks(np.arange(len(names)), names, rotation=45, ha="right")
        else:
            width = self.ax_.get_window_extent().width / self.figure_.dpi
            self.ax_.set_xticks(*every_name(names, 0.8 * width))
        if len(names) > NUMBERED:
            return
        for (k, j), value in np.ndenumerate(values):
            self.ax_.text(
                j,
                k,
                f"{round(value, 1) + 0.0:.1f}",
                ha="center",
                va="center",
                fontsize=7,
                color="white" if abs(value) > 0.6 * most else "black",
            )
