"""Fits and predictions within sizes of a test's own, so that few rows do what many would."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cmeans.data.limits import Limits
from cmeans.fitting.prediction import Predicting


def limited(patch: pytest.MonkeyPatch, **sizes: float) -> Limits:
    """Give all estimators these sizes, with those set before, and return them all."""
    limits: Limits = replace(Predicting._limits, **sizes)  # type: ignore[arg-type]
    patch.setattr(Predicting, "_limits", limits)
    return limits
