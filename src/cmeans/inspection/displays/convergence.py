"""The objective over the sweeps of a fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.arrays import Float64, host_float64
from ...fitting.validation import host_array
from ..figure import colour
from .base import Display


class ConvergenceDisplay(Display):
    """The objective after each sweep, as its excess over the last one.

    Parameters
    ----------
    history : (k,) objectives.
    reason : why the fit ended.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    line_ : the line.

    Examples
    --------
    >>> from cmeans.inspection import ConvergenceDisplay
    >>> display = ConvergenceDisplay.from_predictions([9.0, 5.0, 4.0])
    >>> display.line_.get_ydata().tolist()
    [1.25, 0.25, 0.0]
    """

    def __init__(self, history: Float64, *, reason: str = "") -> None:
        self.history, self.reason = history, reason

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the objectives of a fitted model's sweeps (its last run over all rows)."""
        check_is_fitted(model)
        caller, history = f"{cls.__name__}.from_estimator", vars(model).get("objective_history_")
        if history is None or not len(history):
            raise ValueError(f"{caller}: {type(model).__name__} has no objective_history_ to draw.")
        return cls(host_float64(history), reason=str(model.stop_reason_)).plot(ax=ax)

    @classmethod
    def from_predictions(cls, history: Any, *, reason: str = "", ax: Any = None) -> Self:
        """Draw a given `history` of objectives (k,), one a sweep, below the `reason` why the fit
        ended."""
        caller = f"{cls.__name__}.from_predictions"
        values = host_float64(host_array(history, "history", caller))
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise ValueError(
                f"{caller}: history has shape {values.shape}; finite numbers (k,) are needed."
            )
        return cls(values, reason=reason).plot(ax=ax)

    def _draw(self) -> None:
        scale = abs(self.history[-1]) or 1.0
        excess = (self.history - self.history[-1]) / scale
        (self.line_,) = self.ax_.plot(
            np.arange(1, len(excess) + 1), excess, marker="o", ms=3, color=colour(0)
        )
        positive = excess[excess > 0]
        if len(positive):
            self.ax_.set_yscale("symlog", linthresh=max(float(positive.min()), 1e-12))
        self.ax_.set(xlabel="sweep", ylabel="objective above the last, relative to it")
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self._say(self.reason)
