"""Weighted quantiles of numbers that come in parts, by histograms of their bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

DIGIT = 16  # bits determined in one pass over the parts

Parts = Iterable[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]  # values, none negative, and their positive weights


def weighted_quantile(parts: Callable[[], Parts], share: float) -> float:
    """Return the smallest value that at least a `share` of the weight does not exceed; the minimum for 0.

    Exact: nonnegative numbers are in the order of their bits, so four passes over `parts()` determine all 64 of them.
    """
    found = np.uint64(0)  # the bits determined so far
    remaining: float | None = None  # weight still to be passed among the values that begin with these bits
    for shift in range(64 - DIGIT, -1, -DIGIT):
        weights = np.zeros(2**DIGIT)
        for values, weight in parts():
            bits = (values + 0.0).view(np.uint64) >> np.uint64(shift)
            matching = bits >> np.uint64(DIGIT) == found
            weights += np.bincount((bits[matching] & np.uint64(2**DIGIT - 1)).astype(np.intp), weight[matching], minlength=2**DIGIT)
        reached = np.cumsum(weights)
        remaining = share * reached[-1] if remaining is None else remaining
        filled = np.flatnonzero(weights > 0)
        digit = int(filled[min(int(np.searchsorted(reached[filled], remaining)), len(filled) - 1)])
        remaining -= float(reached[digit] - weights[digit])
        found = found << np.uint64(DIGIT) | np.uint64(digit)
    return float(np.array([found]).view(np.float64)[0])
