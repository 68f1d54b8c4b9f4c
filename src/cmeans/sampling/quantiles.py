"""Weighted quantiles of numbers that come in parts, by histograms of their bits."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

DIGIT = 13  # bits determined in one pass over the parts
# after which few values are left, all of which the last pass returns
SHIFTS = (64 - DIGIT, 64 - 2 * DIGIT)

Numbers = npt.NDArray[np.float64]
Parts = Iterable[tuple[Numbers, Numbers]]  # values, none negative, and their positive weights


@dataclass(frozen=True)
class DigitWeights:
    """The weight of values by their next bits. Most of these do not occur, and are not sent to
    another process."""

    weights: Numbers  # (2^DIGIT,)

    def __add__(self, other: DigitWeights) -> DigitWeights:
        return DigitWeights(self.weights + other.weights)

    def __reduce__(self) -> Any:
        there = np.flatnonzero(self.weights)
        return _of_digits, (there.astype(np.uint16), self.weights[there])


@dataclass(frozen=True)
class ValueWeights:
    """Values with their weights, equal ones of a part as one."""

    values: Numbers  # (k,)
    weights: Numbers  # (k,)

    def __add__(self, other: ValueWeights) -> ValueWeights:
        return ValueWeights(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.weights, other.weights]),
        )


@dataclass(frozen=True)
class QuantileSearch:
    """The bits of a quantile that are known; a pass over all parts, wherever they are, sums
    `weights` to find the next ones."""

    found: int = 0  # the leading bits
    shift: int = SHIFTS[0]  # how many bits follow the next ones; 0 where all others are next

    def weights(self, values: Numbers, weight: Numbers) -> Any:
        """Return the weights of those values of a part that begin with the known bits."""
        bits = (values + 0.0).view(np.uint64)
        if self.shift:
            digits = bits >> np.uint64(self.shift)
            matching = digits >> np.uint64(DIGIT) == np.uint64(self.found)
            digits = (digits[matching] & np.uint64(2**DIGIT - 1)).astype(np.intp)
            return DigitWeights(
                np.bincount(digits, weight[matching], minlength=2**DIGIT).astype(np.float64)
            )
        matching = bits >> np.uint64(SHIFTS[-1]) == np.uint64(self.found)
        distinct, which = np.unique(values[matching], return_inverse=True)
        return ValueWeights(
            distinct,
            np.bincount(which, weight[matching], minlength=len(distinct)).astype(np.float64),
        )


def _of_digits(digits: npt.NDArray[np.uint16], weights: Numbers) -> DigitWeights:
    dense = np.zeros(2**DIGIT)
    dense[digits] = weights
    return DigitWeights(dense)


def weighted_quantile(parts: Callable[[], Parts], share: float) -> float:
    """Return the smallest value that at least a `share` of the weight does not exceed; the minimum
    for 0.

    Exact: nonnegative numbers are in the order of their bits, of which two passes over `parts()`
    determine all but the last 38.
    """

    def sums(search: QuantileSearch) -> Any:
        return reduce(operator.add, (search.weights(values, weight) for values, weight in parts()))

    return quantile_of_sums(sums, share)


def quantile_of_sums(sums: Callable[[QuantileSearch], Any], share: float) -> float:
    """Return the same from a function that sums `QuantileSearch.weights` over all values, wherever
    they are."""
    found = 0
    # weight still to be passed among the values that begin with these bits
    remaining: float | None = None
    for shift in SHIFTS:
        weights = sums(QuantileSearch(found, shift)).weights
        reached = np.cumsum(weights)
        remaining = share * reached[-1] if remaining is None else remaining
        digit = _first_to_reach(reached, weights, remaining)
        remaining -= float(reached[digit] - weights[digit])
        found = found << DIGIT | digit
    last = sums(QuantileSearch(found, 0))
    order = np.argsort(last.values, kind="stable")
    weights = last.weights[order]
    assert remaining is not None
    return float(last.values[order[_first_to_reach(np.cumsum(weights), weights, remaining)]])


def _first_to_reach(reached: Numbers, weights: Numbers, remaining: float) -> int:
    """Return the first place where weight has summed to what remains, among those where there is
    any."""
    filled = np.flatnonzero(weights > 0)
    return int(filled[min(int(np.searchsorted(reached[filled], remaining)), len(filled) - 1)])
