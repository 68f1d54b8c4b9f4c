"""Sizes of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...data.arrays import Float64
from ...fitting.weights import read_weights
from ...runtime.numerals import percent, several
from ..figure import colour, count_axis, lines_of_text, plain
from ..rows import inspected
from .base import Display, bars_size, checked_labels, cluster_names


class SizesDisplay(Display):
    """The weight of each cluster, and of noise, as bars.

    Parameters
    ----------
    sizes : (c,) weights.
    noise : weight of the rows that belong to no cluster.
    names : c names, default: their numbers.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    bars_ : the bars, cluster by cluster, noise last.

    Examples
    --------
    >>> from cmeans.inspection import SizesDisplay
    >>> [float(bar.get_width()) for bar in SizesDisplay.from_predictions([0, 0, 1, -1]).bars_]
    [2.0, 1.0, 1.0]
    """

    def __init__(
        self, sizes: Float64, noise: float = 0.0, *, names: Sequence[str] | None = None
    ) -> None:
        self.sizes, self.noise = sizes, noise
        self.names = cluster_names(names, len(sizes), type(self).__name__)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        sample_weight: Any = None,
        diag: Any = None,
        names: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the sizes of the clusters of a fitted model among rows X, all of them (of more than
        200,000, as many evenly spaced)."""
        seen = inspected(
            model,
            X,
            f"{cls.__name__}.from_estimator",
            sample_weight=sample_weight,
            diag=diag,
            most=200_000,
        )
        factor = seen.n_rows / len(seen.numbers)
        return cls(
            seen.masses * factor, float(seen.weight[seen.labels < 0].sum()) * factor, names=names
        ).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, labels: Any, *, sample_weight: Any = None, names: Any = None, ax: Any = None
    ) -> Self:
        """Draw the sizes of clusters by labels (n,), -1 for noise."""
        caller = f"{cls.__name__}.from_predictions"
        own = checked_labels(labels, caller)
        weight, unit = read_weights(sample_weight, len(own), caller)
        sizes = np.bincount(own + 1, weights=weight * unit).astype(np.float64)
        return cls(sizes[1:], float(sizes[0]), names=names).plot(ax=ax)

    def _draw(self) -> None:
        values, names = list(map(float, self.sizes)), list(self.names)
        colours = [colour(j) for j in range(len(values))]
        if self.noise:
            values = [*values, float(self.noise)]
            names = [*names, "noise"]
            colours = [*colours, colour(-1)]
        places = np.arange(len(values))
        self.bars_ = self.ax_.barh(places, values, color=colours)
        total = max(sum(values), np.finfo(float).tiny)
        if len(values) <= lines_of_text(self.ax_):
            self.ax_.bar_label(
                self.bars_, [percent(value / total) for value in values], padding=2, fontsize=8
            )
            self.ax_.set_yticks(places, [plain(name, 30) for name in names])
        self.ax_.invert_yaxis()
        self.ax_.margins(x=0.12, y=0.01)
        self.ax_.set(xlabel="weight of the rows", ylabel="cluster")
        count_axis(self.ax_.xaxis)
        least = percent(float(self.sizes.min(initial=total)) / total)
        said = several(len(self.sizes), "cluster")
        said += f", the smallest holds {least}" if len(self.sizes) > 1 else ""
        self._say(said + (f"; {percent(self.noise / total)} is noise" if self.noise else ""))

    @property
    def _size(self) -> tuple[float, float]:
        return bars_size(len(self.sizes) + bool(self.noise))
