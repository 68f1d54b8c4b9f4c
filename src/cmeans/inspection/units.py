"""Units in which the numbers of columns are written for people: amounts, shares, years, dates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64
from ..runtime.numerals import as_date, percent, told_apart, written_out

FIRST_YEAR, LAST_YEAR = 1500, 2200


@dataclass(frozen=True)
class Unit:
    """A way to write and compare the numbers of a column.

    Attributes
    ----------
    write : of numbers that stand side by side, their texts.
    exactly : of one number, with all its digits.
    words : what is said of numbers below and above another, and of those to which it belongs itself
    is_share : whether the column has zeros and ones, whose mean is a share.
    is_whole : whether it has whole numbers alone.
    is_year : whether it has years.
    is_amount : whether times of its average mean something: it has no negative numbers.
    """

    write: Callable[[Iterable[float]], list[str]]
    exactly: Callable[[float], str]
    words: tuple[str, str, str, str] = ("below", "above", "at most", "at least")
    is_share: bool = False
    is_whole: bool = False
    is_amount: bool = False
    is_year: bool = False


def unit_of(values: Float64, is_date: bool = False) -> Unit:
    """Return how the numbers of a column (n,) are written; `is_date`: they are days since 1970."""
    own = values[np.isfinite(values)]
    whole, low, high = bool((own == np.rint(own)).all()), own.min(initial=0), own.max(initial=0)
    if is_date:
        return Unit(_dates, _moment, ("before", "after", "until", "from"), is_whole=whole)
    if whole and len(own) and low == 0 and high == 1:
        return Unit(_shares, percent, is_share=True, is_whole=True)
    if whole and len(own) and own.min() >= FIRST_YEAR and high <= LAST_YEAR:
        return Unit(_years, lambda year: f"{year:g}", is_whole=True, is_year=True)
    return Unit(told_apart, written_out, is_whole=whole, is_amount=bool(low >= 0))


def _dates(days: Iterable[float]) -> list[str]:
    return [as_date(day) for day in days]


def _moment(days: float) -> str:
    """Return days since 1970 as a date, with the time of the day where that is not midnight."""
    seconds = np.datetime64(round(days * 86_400), "s")
    return str(seconds).removesuffix("T00:00:00").replace("T", " ")


def _shares(values: Iterable[float]) -> list[str]:
    return [percent(value) for value in values]


def _years(values: Iterable[float]) -> list[str]:
    return [f"{value:.0f}" for value in values]
