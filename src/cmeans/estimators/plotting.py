"""Pictures of a fitted model, as a method of every estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Plotting:
    """Mixin: the method `plot`, and a table of clusters in notebooks."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """Return the function of scikit-learn's diagram, with a row for each cluster below it once
        there are any."""
        diagram = super()._repr_html_  # type: ignore[misc]
        if "labels_" not in vars(self):
            return diagram  # type: ignore[no-any-return]

        def with_clusters() -> str:
            from ..inspection.summary import table_of_fit

            return f"{diagram()}{table_of_fit(self)._repr_html_()}"

        return with_clusters

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
