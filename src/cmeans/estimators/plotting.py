"""Pictures of a fitted model, as a method of every estimator."""

from __future__ import annotations

from typing import Any


class Plotting:
    """Mixin: the method `plot`."""

    def plot(self, X: Any, *, diag: Any = None) -> Any:
        """Draw four pictures of the clusters of rows X: those of the fit, or others. `cmeans.inspection` has more.

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
