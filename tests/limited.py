"""Fits and predictions within sizes of a test's own, so that few rows do what many would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec, TypeVar

import pytest

from cmeans.data.limits import Limits
from cmeans.fitting.prediction import Predicting

P, T = ParamSpec("P"), TypeVar("T")
USUAL = Predicting._limits


def limited(patch: pytest.MonkeyPatch, **sizes: float) -> Limits:
    """Give all estimators these sizes, with those set before, and return them all."""
    limits: Limits = replace(Predicting._limits, **sizes)  # type: ignore[arg-type]
    patch.setattr(Predicting, "_limits", limits)
    return limits


def within(**sizes: float) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """For fits that tests share: within the usual sizes but for these, whatever sizes the first
    test that asks for one has set."""

    def decorate(fit: Callable[P, T]) -> Callable[P, T]:
        @wraps(fit)
        def fitted(*args: P.args, **kwargs: P.kwargs) -> T:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Predicting, "_limits", replace(USUAL, **sizes))  # type: ignore[arg-type]
                return fit(*args, **kwargs)

        return fitted

    return decorate
