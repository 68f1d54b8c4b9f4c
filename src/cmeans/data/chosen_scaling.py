"""The choice of a scaling of the columns, by their ranges, units and tails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.numerals import in_times
from .arrays import Float64
from .long_tails import are_levelled

TIMES = 10.0  # that ranges of columns may differ where their unit may be one
LEVELLED = 0.25  # of the columns, that logarithms level, from which on these are taken
TAIL = 5.0  # times the range of the middle 98% that all values may span


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
    levelled = are_levelled(some)
    times = float(spans.max() / spans.min())
    # where ranges are alike, columns may have one unit, and then all are in it or none is
    if levelled.all() or (times > TIMES and levelled.mean() >= LEVELLED):
        return ChosenScaling("log", "logarithms of the columns with long tails, then standard")
    low, high = np.nanquantile(some, [0.01, 0.99], axis=0)
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
