"""The choice of a scaling of the columns, by their ranges, units and tails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.numerals import in_times
from .arrays import Float64

TIMES = 10.0  # that ranges of columns may differ where their unit may be one
TAIL = 5.0  # times the range of the middle 98% that all values may span
SKEW = 2.0  # of positive values, from which on they are like incomes
LEVEL = 0.75  # skew that logarithms leave at most, where they help


@dataclass(frozen=True)
class ChosenScaling:
    """A scaling by its name: "none", "log", "unit" or "robust", and why."""

    name: str
    reason: str


@np.errstate(over="ignore")
def chosen_scaling(x: Float64) -> ChosenScaling:
    """Return the scaling of rows (n, d) that makes columns comparable; what is missing has no
    part."""
    ranges = np.nanmax(x, axis=0) - np.nanmin(x, axis=0)
    varied = ranges > 0
    if not varied.any():
        return ChosenScaling("none", "columns as they are")
    some, spans = x[:, varied], ranges[varied]
    if _like_incomes(some):
        return ChosenScaling(
            "log", "logarithms of the columns, whose values are positive and skewed, then standard"
        )
    low, high = np.nanquantile(some, [0.01, 0.99], axis=0)
    times = float(spans.max() / spans.min())
    if times <= TIMES:
        return ChosenScaling("none", "columns as they are: their ranges are alike")
    if np.any((high > low) & (spans > TAIL * (high - low))):
        return ChosenScaling(
            "robust",
            f"columns divided by their quartiles: their ranges differ {in_times(times)}, and a few "
            "rows are far out",
        )
    return ChosenScaling(
        "unit", f"columns brought to ranges of 1, as their ranges differ {in_times(times)}"
    )


def _like_incomes(x: Float64) -> bool:
    """Return True where all columns hold positive values with long upper tails, which logarithms
    level."""
    if (x <= 0).any():
        return False
    return bool((_skew(x) > SKEW).all() and (np.abs(_skew(np.log(x))) < LEVEL).all())


def _skew(x: Float64) -> Float64:
    centred = x - np.nanmean(x, axis=0)
    # in a unit whose cubes are numbers; a power of two, which rounds nothing
    exponent = np.frexp(np.nanmax(np.abs(centred), axis=0))[1]
    unit = np.exp2(np.clip(exponent - 1.0, -1000, 1000))
    spread = np.maximum(np.nanstd(x / unit, axis=0), 1e-300)
    skew: Float64 = np.nanmean((centred / unit) ** 3, axis=0) / spread**3
    return skew
