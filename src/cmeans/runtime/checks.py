"""Checks of single parameters, whose messages name the argument, say what came, and what to
give."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class ParameterError(ValueError):
    """A parameter that is refused. Arguments: its owner, its name, the value that came, and what is
    wanted in its place.

    "{name}" in the last is the name of the parameter.
    """

    def __str__(self) -> str:
        owner, name, value, wanted = self.args
        return f"{owner}({name}={value!r}): {wanted.format(name=name)}"


@contextmanager
def parameters_of(owner: str, **names: str) -> Iterator[None]:
    """Name the owner of parameters that an object made within refuses; `names`: those that the
    owner has for the object's."""
    try:
        yield
    except ParameterError as error:
        _, name, value, wanted = error.args
        raise ParameterError(owner, names.get(name, name), value, wanted) from None


def is_auto(value: Any) -> bool:
    """Return True for "auto", which stands for a value that the rows determine."""
    return isinstance(value, str) and value == "auto"


def known_number(owner: object, name: str) -> float:
    """Return a parameter that is a number; ValueError where a fit has yet to settle it."""
    value: Any = getattr(owner, name)
    if value is None or isinstance(value, str):
        wanted = "a fit settles {name}; give a number to compute without one."
        raise ParameterError(type(owner).__name__, name, value, wanted)
    return value  # type: ignore[no-any-return]


def integer(value: Any, name: str, owner: str, least: int, others: str = "") -> int:
    """Return a whole number of at least `least`; `others` names the other accepted values."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ParameterError(
            owner, name, value, f"{{name}} must be {others}a whole number of at least {least}."
        )
    return int(value)


def real(
    value: Any, name: str, owner: str, *, least: float = 0.0, above: bool = False, others: str = ""
) -> float:
    """Return a finite number of at least (or above) `least`; `others` names the other accepted
    values."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    if not good or float(value) < least or (above and float(value) == least):
        if least == -math.inf:
            wanted = "a finite number"
        else:
            wanted = f"a number {'greater than' if above else 'of at least'} {least:g}"
        raise ParameterError(owner, name, value, f"{{name}} must be {others}{wanted}.")
    return float(value)


def one_of(value: Any, name: str, owner: str, known: tuple[str, ...]) -> str:
    """Return `value` if it is one of the `known` names."""
    if not isinstance(value, str) or value not in known:
        raise ParameterError(owner, name, value, f"unknown {{name}}; known are {list(known)}.")
    return value


def number_bounds(given: Any, name: str) -> tuple[int, float]:
    """Return the least and the largest number of clusters that `n_clusters` allows: "auto" any."""
    if is_auto(given):
        return 1, math.inf
    of_both = isinstance(given, tuple) and len(given) == 2
    least, most = given if of_both else (given, given)
    others = '"auto", (least, most) or '
    least = integer(least, "n_clusters", name, 1, others)
    return least, integer(most, "n_clusters", name, least, others)
