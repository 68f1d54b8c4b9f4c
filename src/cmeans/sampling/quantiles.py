"""Weighted quantiles of numbers that come in parts, by histograms of their bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

DIGIT = 16  # bits determined in one pass over the parts

Parts = Iterable[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]  # values, none negative, and their positive weights


def digit_weights(
    values: npt.NDArray[np.float64], weight: npt.NDArray[np.float64], found: np.uint64, shift: int
) -> npt.NDArray[np.float64]:
    """Return the weight (2^16,) of the values, none negative, that begin with the bits found so far, by their next 16 bits."""
    bits = (values + 0.0).view(np.uint64) >> np.uint64(shift)
    matching = bits >> np.uint64(DIGIT) == found
    digits = (bits[matching] & np.uint64(2**DIGIT - 1)).astype(np.intp)
    return np.bincount(digits, weight[matching], minlength=2**DIGIT).astype(np.float64)


def weighted_quantile(parts: Callable[[], Parts], share: float) -> float:
    """Return the smallest value that at least a `share` of the weight does not exceed; the minimum for 0.

    Exact: nonnegative numbers are in the order of their bits, so four passes over `parts()` determine all 64 of them.
    """

    def sums(found: np.uint64, shift: int) -> npt.NDArray[np.float64]:
        weights = np.zeros(2**DIGIT)
        for values, weight in parts():
            weights += digit_weights(values, weight, found, shift)
        return weights

    return quantile_of_sums(sums, share)


def quantile_of_sums(sums: Callable[[np.uint64, int], npt.NDArray[np.float64]], share: float) -> float:
    """Return the same from a function that sums `digit_weights` over all values, wherever they are."""
    found = np.uint64(0)  # the bits determined so far
    remaining: float | None = None  # weight still to be passed among the values that begin with these bits
    for shift in range(64 - DIGIT, -1, -DIGIT):
        weights = sums(found, shift)
        reached = np.cumsum(weights)
        remaining = share * reached[-1] if remaining is None else remaining
        filled = np.flatnonzero(weights > 0)
        digit = int(filled[min(int(np.searchsorted(reached[filled], remaining)), len(filled) - 1)])
        remaining -= float(reached[digit] - weights[digit])
        found = found << np.uint64(DIGIT) | np.uint64(digit)
    return float(np.array([found]).view(np.float64)[0])
