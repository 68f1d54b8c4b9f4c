"""Pictures of a fitted model, as a method of every estimator."""

from __future__ import annotations

from typing import Any


class Plotting:
    """Mixin: the method `plot`, and a table of clusters in notebooks."""

    def _shown_below(self) -> str:
        """Return a table with a row for each cluster, once there are any."""
        if "labels_" not in vars(self):
            return ""
        from ..inspection.summary import table_of_fit

        return table_of_fit(self)._repr_html_()

    def plot(self, X: Any, *, diag: Any = None) -> Any:
        """Draw four pictures of the clusters of rows X: those of the fit, or others.
        `cmeans.inspection` has more.

        Parameters
        ----------
        X : rows as `predict` takes them.
        diag : (n,) k(x, x), for precomputed kernels, as for `predict`.

        Returns
        -------
        figure : of matplotlib.

        Raises
        ------
        ImportError
            Without matplotlib, which `pip install "cmeans[plot]"` brings.
        """
        from ..inspection.overview import overview

        return overview(self, X, diag=diag)
