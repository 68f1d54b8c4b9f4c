"""Columns in words: how the numbers of each are written, and what sets a cluster apart, said in
plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64
from ..runtime.numerals import as_date, in_digits, percent, told_apart, written_out
from .contrast import Contrast

FIRST_YEAR, LAST_YEAR = 1500, 2200
FAR = 1.5  # times the average from which on, or by which below, that is said


@dataclass(frozen=True)
class Unit:
    """How the numbers of a column are written and compared.

    Attributes
    ----------
    write : of numbers that stand side by side, their texts.
    exactly : of one number, with all its digits.
    words : what is said of numbers below and above another, and of those to which it belongs itself
    is_share : whether the column has zeros and ones, whose mean is a share.
    is_whole : whether it has whole numbers alone.
    is_amount : whether times of its average mean something: it has no negative numbers.
    """

    write: Callable[[Iterable[float]], list[str]]
    exactly: Callable[[float], str]
    words: tuple[str, str, str, str] = ("below", "above", "at most", "at least")
    is_share: bool = False
    is_whole: bool = False
    is_amount: bool = False


def unit_of(values: Float64, is_date: bool = False) -> Unit:
    """Return how the numbers of a column (n,) are written; `is_date`: they are days since 1970."""
    own = values[np.isfinite(values)]
    whole, low, high = bool((own == np.rint(own)).all()), own.min(initial=0), own.max(initial=0)
    if is_date:
        return Unit(_dates, as_date, ("before", "after", "until", "from"), is_whole=whole)
    if whole and len(own) and low == 0 and high == 1:
        return Unit(_shares, percent, is_share=True, is_whole=True)
    if whole and len(own) and own.min() >= FIRST_YEAR and high <= LAST_YEAR:
        return Unit(_years, lambda year: f"{year:g}", is_whole=True)
    return Unit(told_apart, written_out, is_whole=whole, is_amount=bool(low >= 0))


def _dates(days: Iterable[float]) -> list[str]:
    return [as_date(day) for day in days]


def _shares(values: Iterable[float]) -> list[str]:
    return [percent(value) for value in values]


def _years(values: Iterable[float]) -> list[str]:
    return [f"{value:.0f}" for value in values]


def said_of(
    contrast: Contrast, cluster: int, unit: Callable[[int], Unit], most: int = 3
) -> list[str]:
    """Return what sets a cluster apart, the most telling first: "spend 6 times the average (1,204,
    elsewhere 166)", "73% premium (elsewhere 12%)"; `unit`: of a column, by its number."""
    return [
        said_of_column(
            contrast.feature_names[k],
            unit(k),
            float(contrast.means[cluster, k]),
            float(contrast.rest[cluster, k]),
            float(contrast.mean[k]),
        )
        for k in contrast.leading(cluster, most).tolist()
    ]


def said_of_column(name: str, unit: Unit, inside: float, outside: float, average: float) -> str:
    """Return how the mean of a column inside a cluster differs from that of the other rows, and
    from the average of all."""
    here, elsewhere = unit.write([inside, outside])
    if unit.is_share:
        return f"{here} {name} (elsewhere {elsewhere})"
    times = inside / average if unit.is_amount and average > 0 else 1.0
    if 1 / FAR < times < FAR:
        return f"{name} {here} (elsewhere {elsewhere})"
    said = f"{in_digits(times, 2)} times" if times > 1 else f"{percent(times)} of"
    return f"{name} {said} the average ({here}, elsewhere {elsewhere})"
