"""Numbers as people read and write them; none says what is not so."""

from __future__ import annotations

import math
import numbers
import re
import sys

import numpy as np

FINEST = 6  # decimals at most of a percentage
POWERS = {"K": 1, "M": 2, "G": 3, "T": 4}
UNITS = {
    "": 1,
    "B": 1,
    **{f"{k}B": 1000**p for k, p in POWERS.items()},
    **{f"{k}IB": 1024**p for k, p in POWERS.items()},
}
FEW, MANY = 1e-6, 1e15  # sizes below and from which on a number is given with its power of ten


def in_digits(value: float, digits: int = 4) -> str:
    """Return a number in so many digits, whole numbers and large ones to the unit: 0.07165, 13.74,
    2006, 28,000; "-" for none."""
    if math.isnan(value):
        return "-"
    size = abs(value)
    if 0 < size < FEW or size >= MANY:
        return f"{value:.{digits}g}"
    if size >= 10 ** (digits - 1) or value == round(value):
        return f"{value + 0.0:,.0f}" if round(size) >= 10_000 else f"{value + 0.0:.0f}"
    text = f"{value:.{digits}g}"
    return f"{value:.{digits - 1 - math.floor(math.log10(size))}f}" if "e" in text else text


def counted(number: int, noun: str) -> str:
    """Return a number of things: "1 cluster", "2,000 rows"; the noun takes an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float, decimals: int = 0) -> str:
    """Return a share as a percentage, with further decimals where fewer would say none or all of
    what is some: 7%, 99.96%, 0.3%."""
    value = 100.0 * share
    if 0 < share < 1:
        decimals = max(decimals, min(FINEST, math.ceil(-math.log10(min(value, 100.0 - value)))))
        value = min(max(value, 10.0**-decimals), 100.0 - 10.0**-decimals)
    return f"{value:.{decimals}f}%"


def between(low: float, high: float) -> float:
    """Return the number of the fewest digits between two others, also where all three are held in
    single precision; `low` where there is no number between."""
    middle = low + (high - low) / 2
    tried = [0.0, *(float(f"{middle:.{digits}e}") for digits in range(17))]
    single = np.float32
    with np.errstate(over="ignore"):
        fits = (
            one for one in tried if low < one < high and single(low) <= single(one) < single(high)
        )
        return next(fits, low)


def in_full(value: float) -> str:
    """Return all digits of a number, from which it can be read again: 2005.5, 5432100."""
    size = abs(value)
    if 0 < size < FEW or size >= MANY:
        return repr(value)
    return np.format_float_positional(value, trim="-")


def parse_budget(budget: int | float | str | None, owner: str) -> int | None:
    """Return the bytes of `memory_budget` (a number, or text such as "4GB" or "512MiB"); None stays
    None."""
    if budget is None:
        return None
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", budget)
        if match and match[2].upper() in UNITS:
            return int(min(float(match[1]) * UNITS[match[2].upper()], sys.maxsize))
    elif (
        isinstance(budget, numbers.Real) and not isinstance(budget, bool) and 0 < budget < math.inf
    ):
        return int(min(budget, sys.maxsize))
    raise ValueError(
        f'{owner}(memory_budget={budget!r}): give bytes or text such as "512MB" or "4GB".'
    )
