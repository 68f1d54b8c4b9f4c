"""The choice of a scaling of the columns, by their ranges, units and tails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.numerals import in_times
from .arrays import Float64
from .long_tails import are_levelled

TIMES = 10.0  # that ranges of columns may differ where their unit may be one
LEVELLED = 0.25  # of the columns, that logarithms level, from which on these are taken
RECORDS = 60  # columns of a table, at most; of more each may be one of many alike
FEW = 0.1  # of so many columns
TAIL = 5.0  # times the range of the middle 98% that all values may span


@dataclass(frozen=True)
class ChosenScaling:
    """A scaling by its name: "none", "log", "unit" or "robust", and why."""

    name: str
    reason: str


def _times(x: Float64, spans: Float64) -> float:
    """Return how many times the ranges of columns (d,) of rows differ. Of many columns some are
    rare, such as pixels at the edge of pictures, and do no harm in one unit with others: those of
    the largest ranges, which outweigh others, are compared with most, and most with each other,
    unless all are counts."""
    if len(spans) <= RECORDS:
        return float(spans.max() / spans.min())
    small, large = np.quantile(spans, [FEW, 1 - FEW])
    known = np.where(np.isnan(x), 0.0, x)
    are_counts = bool((np.nanmin(x, axis=0) == 0).all() and (known == np.rint(known)).all())
    return float(max(spans.max() / large, 1.0 if are_counts else large / small))


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
    times = _times(some, spans)
    # where ranges are alike, columns may have one unit, and then all are in it or none is
    if levelled.all() or (times > TIMES and levelled.mean() >= LEVELLED):
        return ChosenScaling("log", "logarithms of the columns with long tails, then standard")
    low, high = np.nanquantile(some, [0.01, 0.99], axis=0)
    if times <= TIMES:
        return ChosenScaling("none", "columns as they are: their ranges are alike")
    tails = (high > low) & (spans > TAIL * (high - low))
    if tails.mean() >= FEW if len(spans) > RECORDS else tails.any():
        return ChosenScaling(
            "robust",
            f"columns divided by their quartiles: their ranges differ {in_times(times)}, and a few "
            "rows are far out",
        )
    return ChosenScaling(
        "unit", f"columns brought to ranges of 1, as their ranges differ {in_times(times)}"
    )
