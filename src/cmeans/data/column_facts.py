"""Sums and bounds of numbers by row, such as weights: of arrays, and of numbers that stay on other
machines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class ColumnFacts:
    """The sum and the bounds of numbers by row."""

    total: float
    least: float
    largest: float
    least_positive: float  # infinite where none is

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> ColumnFacts:
        """Return the facts of an array (n,)."""
        if are_alike(values):
            one = float(values[0])
            return cls(one * len(values), one, one, one if one > 0 else np.inf)
        with np.errstate(over="ignore"):
            total = float(values.sum(dtype=np.float64))
        return cls(
            total,
            float(values.min()),
            float(values.max()),
            float(np.min(values, where=values > 0, initial=np.inf)),
        )

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        least = min(self.least, other.least)
        positive = min(self.least_positive, other.least_positive)
        return ColumnFacts(
            self.total + other.total, least, max(self.largest, other.largest), positive
        )


def are_here(values: Any) -> bool:
    """True of an array, False of numbers that stay on other machines."""
    return isinstance(values, np.ndarray)


def are_alike(values: Any) -> bool:
    """True of one number that stands for those of all rows."""
    return isinstance(values, np.ndarray) and values.strides == (0,)


def asked(values: Any, function: Callable[[npt.NDArray[Any], int], Any]) -> list[Any]:
    """Return what a function says of numbers, from them and the number of the first: of each part,
    where these are elsewhere."""
    return [function(values, 0)] if are_here(values) else list(values.asked(function))


def facts_of(values: Any) -> ColumnFacts:
    """Return what is known of numbers, wherever they are."""
    facts: ColumnFacts = ColumnFacts.of(values) if are_here(values) else values.facts
    return facts
