"""Numbers as people read and write them; none says what is not so."""

from __future__ import annotations

import math
import numbers
import re
import sys
from collections.abc import Iterable

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


def in_digits(value: float, digits: int = 3) -> str:
    """Return a number in so many significant digits, below 10,000 to the unit at least: 0.0717,
    13.7, 2,006, 28,100; "-" for none."""
    if math.isnan(value):
        return "-"
    size = abs(value)
    if 0 < size < FEW or size >= MANY:
        return f"{value:.{digits}g}"
    if 1_000 <= size < 10_000:
        digits = max(digits, 4)
    exact = f"{value + 0.0:.{digits - 1}e}"
    text = f"{float(exact):,.{max(digits - 1 - int(exact.partition('e')[2]), 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def told_apart(values: Iterable[float], digits: int = 3) -> list[str]:
    """Return numbers that stand beside one another, each in so many digits, or in more (up to 8)
    where fewer would hide how much they differ: 106,120 and 106,460, not 106,000 twice."""
    own = [float(value) for value in values]
    finite = [value for value in own if math.isfinite(value)]
    apart = max(finite, default=0.0) - min(finite, default=0.0)
    if not 0 < apart < math.inf:
        return [in_digits(value, digits) for value in own]
    step = math.floor(math.log10(apart)) - 1  # a hundredth of the difference can be seen
    return [
        in_digits(value, min(max(digits, math.floor(math.log10(abs(value))) - step + 1), 8))
        if value and math.isfinite(value)
        else in_digits(value)
        for value in own
    ]


def several(count: float, noun: str, plural: str | None = None) -> str:
    """Return how many of something there are, exactly: "1 row", "28,123 rows"."""
    number = f"{count:,}" if isinstance(count, int) else f"{count:,.0f}"
    return f"{number} {noun if count == 1 else plural or noun + 's'}"


def in_times(ratio: float) -> str:
    """Return how many times as much something is: "1,234 times"; of what is beyond all measure not
    the number: "over a million times"."""
    return f"{ratio:,.0f} times" if ratio <= 1e6 else "over a million times"


def in_bytes(size: float) -> str:
    """Return an amount of memory in its largest unit: "512 bytes", "3.2 MB", "28 GB"; of what is
    beyond all measure not the number."""
    if size >= 1e21:  # also whole numbers that no float holds
        return "over a billion TB"
    units = ("bytes", "kB", "MB", "GB", "TB")
    power = next((power for power in range(4) if size < 999.5 * 1000**power), 4)
    scaled = size / 1000**power
    return f"{in_digits(scaled, 2 if scaled < 10 else 3)} {units[power]}"


def as_date(days: float) -> str:
    """Return days since 1970 as a date, "2024-03-07"; "-" for none."""
    if not math.isfinite(days):
        return "-"
    return str(np.datetime64(math.floor(days), "D"))


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


def written_out(value: float) -> str:
    """Return all digits of a number for people, with thousands: 2,005.5, 5,432,100."""
    text = in_full(value)
    whole, point, decimals = text.partition(".")
    large = whole.lstrip("-").isdecimal() and abs(value) >= 1_000
    return f"{int(whole):,}{point}{decimals}" if large else text


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
