"""The stability of communities at every resolution."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...data.arrays import Float64, IntArray
from ...graphs.community_levels import STABLE
from ...runtime.numerals import in_digits, several
from ..figure import colour, count_axis
from .base import Display

MOST = 8  # layers whose sizes are named above the picture


class ResolutionDisplay(Display):
    """The agreement of communities at every resolution, with the layers and the one chosen; a line
    at .8, from which on they are stable.

    Parameters
    ----------
    resolutions, stability : (q,) of each; -inf where there is none.
    chosen : the resolution of the labels.
    layers : (l,) resolutions of layers; sizes : (l,) their numbers of communities.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    line_ : stability over the resolutions.
    layers_ : the points of the layers, with their numbers of communities beside them.
    choice_ : the vertical line at the choice.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from cmeans import ModularityClustering
    >>> from cmeans.inspection import ResolutionDisplay
    >>> X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> ResolutionDisplay.from_estimator(ModularityClustering().fit(X)).sizes
    array([3])
    """

    def __init__(
        self,
        resolutions: Float64,
        stability: Float64,
        *,
        chosen: float,
        layers: Float64,
        sizes: IntArray,
    ) -> None:
        self.resolutions, self.stability = resolutions, stability
        self.chosen, self.layers, self.sizes = chosen, layers, sizes

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the stability of a fitted `ModularityClustering`.

        Parameters
        ----------
        model : the model.
        """
        fitted = getattr(model, "__dict__", {})
        if "stability_" not in fitted or "layer_resolutions_" not in fitted:
            raise ValueError(
                f"{cls.__name__}.from_estimator: the model is {model!r}; pass a fitted "
                "ModularityClustering."
            )
        return cls(
            model.resolutions_,
            model.stability_,
            chosen=model.resolution_,
            layers=model.layer_resolutions_,
            sizes=model.layer_sizes_,
        ).plot(ax=ax)

    def _draw(self) -> None:
        there = np.isfinite(self.stability)
        x, y = self.resolutions[there], self.stability[there]
        (self.line_,) = self.ax_.plot(x, y, ".-", color=colour(0))
        self.choice_ = self.ax_.axvline(self.chosen, color="0.5", lw=1, zorder=0, label="chosen")
        self.ax_.axhline(STABLE, color="0.5", lw=1, ls=":", label=f"stable from {STABLE} on")
        # where a number of clusters was given, its resolution may lie between levels
        heights = np.interp(self.layers, x, y) if len(x) else np.zeros(len(self.layers))
        (self.layers_,) = self.ax_.plot(self.layers, heights, "o", color=colour(1), label="layers")
        for layer, height, size in zip(self.layers, heights, self.sizes, strict=True):
            self.ax_.annotate(str(size), (layer, height), (4, 5), textcoords="offset points")
        self.ax_.set_xscale("log", base=2)
        self.ax_.set(
            xlabel="resolution", ylabel="agreement of runs (1: all alike)", ylim=(None, 1.05)
        )
        count_axis(self.ax_.xaxis)
        self.ax_.legend(loc="lower right")
        layers = f"{several(len(self.sizes), 'layer')} of communities"
        sizes = ", ".join(f"{size:,}" for size in self.sizes[:MOST])
        self._say(
            f"Chosen: resolution {in_digits(self.chosen)}; {layers}"
            + (f": {sizes}{', ...' if len(self.sizes) > MOST else ''}" if sizes else "")
        )
