"""Bounds of the true cost over numbers of landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ...data.arrays import Float64
from ...runtime.checks import integer
from ...runtime.numerals import percent, several
from ..figure import colour, count_axis
from .base import Display


class CertificateDisplay(Display):
    """Bounds of the cost of a partition with the whole kernel, and the part of the kernel that
    landmarks leave out.

    Parameters
    ----------
    n_landmarks : (k,)
    cost : (k, 2) bounds.
    residual : (k,) share of the kernel that is left out.

    Attributes
    ----------
    ax_, figure_ : of matplotlib, once plotted.
    bounds_ : lines from the lower to the upper bound.
    residual_ : line of the residuals, over the axis on the right.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from cmeans import KernelKMeans
    >>> from cmeans.inspection import CertificateDisplay
    >>> X = load_digits().data
    >>> model = KernelKMeans(10, gamma="median", landmarks=100, random_state=0).fit(X)
    >>> CertificateDisplay.from_estimator(model, X, n_landmarks=(50, 200)).n_landmarks.tolist()
    [50, 100, 200]
    """

    def __init__(self, n_landmarks: Any, cost: Float64, residual: Float64) -> None:
        self.n_landmarks, self.cost, self.residual = n_landmarks, cost, residual

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any = None,
        *,
        n_landmarks: Sequence[int] = (),
        sample_weight: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the certificate of a fitted model, and of fits with other numbers of landmarks.

        Parameters
        ----------
        model : a fitted estimator of this library on landmarks, whose `approximation_` is drawn.
        X, sample_weight : rows and weights that the model was fitted to; needed where `n_landmarks`
            is given.
        n_landmarks : further numbers of landmarks, with each of which a copy of the estimator is
            fitted.
        ax : Axes of matplotlib, default=None: of a new figure.

        Raises
        ------
        ValueError
            For models without a certificate: in the plain space, exact, on graphs, or of kernels
            that are not positive semidefinite.
        """
        caller = f"{cls.__name__}.from_estimator"
        check_is_fitted(model)
        found = [vars(model).get("approximation_")]
        if n_landmarks and X is None:
            raise ValueError(
                f"{caller}(n_landmarks={n_landmarks!r}): fits with other numbers of landmarks need "
                "X."
            )
        for number in n_landmarks:
            other = clone(model).set_params(
                landmarks__number=integer(number, "n_landmarks", caller, 1)
            )
            found.append(other.fit(X, sample_weight=sample_weight).approximation_)
        if any(one is None for one in found):
            raise ValueError(
                f"{caller}: there is no certificate (approximation_ is None): the fit is exact, in "
                "the plain space or on a graph, or its "
                "kernel is not positive semidefinite. Fit with landmarks: landmarks=300."
            )
        found.sort(key=lambda one: one.n_landmarks)
        numbers = np.array([one.n_landmarks for one in found])
        return cls(
            numbers,
            np.array([one.cost_bounds for one in found]),
            np.array([one.residual for one in found]),
        ).plot(ax=ax)

    def _draw(self) -> None:
        self.bounds_ = self.ax_.vlines(
            self.n_landmarks,
            self.cost[:, 0],
            self.cost[:, 1],
            color=colour(0),
            lw=4,
            label="bounds of the true cost",
        )
        low, high = float(self.cost.min()), float(self.cost.max())
        margin = 0.1 * (high - low) or 0.01 * abs(high) or 1.0
        self.ax_.set(
            xlabel="landmarks",
            ylabel="cost with the whole kernel",
            ylim=(low - margin, high + margin),
        )
        other = self.ax_.twinx()
        (self.residual_,) = other.plot(
            self.n_landmarks,
            100 * self.residual,
            "o--",
            color=colour(1),
            ms=4,
            label="left out of the kernel",
        )
        other.set_ylabel("left out of the kernel, %")
        other.set_ylim(bottom=0)
        other.spines["right"].set_visible(True)
        count_axis(self.ax_.xaxis)
        count_axis(self.ax_.yaxis)
        self.ax_.legend(handles=[self.bounds_, self.residual_])
        self._say(
            f"{several(self.n_landmarks[-1], 'landmark')} leave out "
            f"{percent(float(self.residual[-1]), 1)} of the kernel"
        )
