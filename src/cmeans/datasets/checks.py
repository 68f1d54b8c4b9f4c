"""Checks of the generators' arguments."""

from __future__ import annotations

import math
import numbers
from typing import Any


def whole(function_name: str, name: str, value: Any, least: int) -> int:
    """Return a whole number of at least `least`, or raise ValueError."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{function_name}({name}={value!r}): {name} must be a whole number of at least {least}."
        )
    return int(value)


def share(function_name: str, name: str, value: Any, *, above: bool) -> float:
    """Return a number in [0, 1), or in (0, 1) with `above`, or raise ValueError."""
    good = (
        isinstance(value, numbers.Real)
        and not isinstance(value, bool)
        and 0 <= float(value) < 1
        and not (above and value == 0)
    )
    if not good:
        raise ValueError(
            f"{function_name}({name}={value!r}): {name} must be "
            f"{'above 0' if above else 'at least 0'} and below 1."
        )
    return float(value)


def rising(function_name: str, name: str, values: Any) -> tuple[float, ...]:
    """Return three finite numbers, 0 < the first <= the second < the third, or raise ValueError."""
    are_numbers = isinstance(values, (tuple, list)) and all(
        isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values
    )
    if (
        not are_numbers
        or len(values) != 3
        or not all(map(math.isfinite, values))
        or not 0 < values[0] <= values[1] < values[2]
    ):
        raise ValueError(
            f"{function_name}({name}={values!r}): {name} must be three numbers, 0 < the first <= "
            "the second < the third."
        )
    return tuple(map(float, values))
