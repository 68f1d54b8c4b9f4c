"""Quantiles of numbers that come in parts: by histograms, which add, of more and more of their digits."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

DIGIT = 16  # bits looked at in one pass over the parts

Parts = Iterable[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]  # values, none negative, and their positive weights


def weighted_quantile(parts: Callable[[], Parts], share: float) -> float:
    """The smallest value that at least a `share` of the weight does not exceed; the least of all for 0.

    Exact: numbers that are not negative are in the order of their bits, so four passes, each over `parts()` anew, find all 64.
    """
    found = np.uint64(0)  # the bits known so far
    wanted: float | None = None  # weight that is still to be passed among the values that begin with them
    for shift in range(64 - DIGIT, -1, -DIGIT):
        weights = np.zeros(2**DIGIT)
        for values, weight in parts():
            bits = (values + 0.0).view(np.uint64) >> np.uint64(shift)
            here = bits >> np.uint64(DIGIT) == found
            weights += np.bincount((bits[here] & np.uint64(2**DIGIT - 1)).astype(np.intp), weight[here], minlength=2**DIGIT)
        reached = np.cumsum(weights)
        wanted = share * reached[-1] if wanted is None else wanted
        filled = np.flatnonzero(weights > 0)
        digit = int(filled[min(int(np.searchsorted(reached[filled], wanted)), len(filled) - 1)])
        wanted -= float(reached[digit] - weights[digit])
        found = found << np.uint64(DIGIT) | np.uint64(digit)
    return float(np.array([found]).view(np.float64)[0])
