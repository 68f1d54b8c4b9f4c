"""What the generators ask of their arguments."""

from __future__ import annotations

import math
import numbers
from typing import Any


def whole(owner: str, name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{owner}({name}={value!r}): {name} must be a whole number of at least {least}.")
    return int(value)


def share(owner: str, name: str, value: Any, *, above: bool) -> float:
    """A number of [0, 1), or of (0, 1) where it must be above zero."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 <= float(value) < 1 and not (above and value == 0)
    if not good:
        raise ValueError(f"{owner}({name}={value!r}): {name} must be {'above 0' if above else 'at least 0'} and below 1.")
    return float(value)


def rising(owner: str, name: str, values: Any) -> tuple[float, ...]:
    """Three finite numbers, 0 < the first <= the second < the third."""
    numbers_came = isinstance(values, (tuple, list)) and all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values)
    if not numbers_came or len(values) != 3 or not all(map(math.isfinite, values)) or not 0 < values[0] <= values[1] < values[2]:
        raise ValueError(f"{owner}({name}={values!r}): {name} must be three numbers, 0 < the first <= the second < the third.")
    return tuple(map(float, values))
