"""Agreement of a fit with refits to bootstrap samples, cluster by cluster."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...data.arrays import Float64
from ...runtime.numerals import several
from ..figure import colour, lines_of_text
from .base import Display, bars_size

# Jaccard indices above which a cluster is there, and below which it may not be (Hennig 2007)
THERE, DOUBTFUL = 0.85, 0.6
MOST = 8  # doubtful clusters that are named


class StabilityDisplay(Display):
    """Jaccard indices of the clusters with those of refits, with standard errors; lines at 0.85 and
    0.6 (Hennig 2007).

    Parameters
    ----------
    clusters : (c,) mean Jaccard indices.
    error : (c,) their standard errors.
    overall : mean adjusted Rand index of the refits.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    bars_ : the bars, cluster by cluster.

    References
    ----------
    Hennig: Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis
    52, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cmeans import KernelKMeans, stability
    >>> from cmeans.inspection import StabilityDisplay
    >>> X = load_iris().data
    >>> found = stability(KernelKMeans(3, kernel="linear", random_state=0).fit(X), X, n_bootstrap=5)
    >>> len(StabilityDisplay.from_stability(found).bars_)
    3
    """

    def __init__(self, clusters: Float64, error: Float64, *, overall: float = float("nan")) -> None:
        self.clusters, self.error, self.overall = clusters, error, overall

    @classmethod
    def from_stability(cls, stability: Any, *, ax: Any = None) -> Self:
        """Draw what `cmeans.stability` returned."""
        clusters = getattr(stability, "clusters", None)
        if clusters is None:
            raise ValueError(
                f"{cls.__name__}.from_stability(stability={stability!r}): give what "
                "cmeans.stability returned."
            )
        return cls(
            np.asarray(clusters),
            np.asarray(stability.clusters_error),
            overall=float(stability.overall),
        ).plot(ax=ax)

    @property
    def _size(self) -> tuple[float, float]:
        return bars_size(len(self.clusters))

    def _draw(self) -> None:
        places = np.arange(len(self.clusters))
        colours = [colour(j) for j in range(len(places))]
        self.bars_ = self.ax_.barh(
            places,
            np.nan_to_num(self.clusters),
            xerr=np.nan_to_num(self.error),
            color=colours,
            capsize=3,
        )
        for limit, style in ((THERE, "--"), (DOUBTFUL, ":")):
            self.ax_.axvline(limit, color="0.3", lw=1, ls=style, zorder=0)
        self.ax_.set(
            xlabel=f"Jaccard index with clusters of refits (there: {THERE:g}, doubtful: below "
            f"{DOUBTFUL:g})",
            ylabel="cluster",
            xlim=(0, 1.02),
        )
        self.ax_.set_yticks(places if len(places) <= lines_of_text(self.ax_) else [])
        self.ax_.invert_yaxis()
        self.ax_.margins(y=0.01)
        there, doubtful = (self.clusters >= THERE).sum(), np.flatnonzero(self.clusters < DOUBTFUL)
        said = f"{there} of {several(len(places), 'cluster')} come again in refits"
        if len(doubtful):
            said += f"; doubtful: {', '.join(map(str, doubtful[:MOST]))}"
            said += ", ..." if len(doubtful) > MOST else ""
        if not np.isnan(self.overall):
            said += f"; adjusted Rand index {self.overall:.2f}"
        self._say(said)
