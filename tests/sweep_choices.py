"""Few of many combinations of choices, the same at every call: what is left of a full product where
most of it would say nothing new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import combinations, product
from operator import or_
from typing import Any, TypeVar

T = TypeVar("T")


def once(*parameters: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Every choice at least once: enough where one place in the code handles them, whoever asks."""
    choices = [list(parameter) for parameter in parameters]
    return [
        tuple(own[turn % len(own)] for own in choices) for turn in range(max(map(len, choices)))
    ]


def often(
    times: int, *parameters: Iterable[Any], allowed: Callable[..., bool] = lambda *_: True
) -> list[tuple[Any, ...]]:
    """Every choice at least so many times, with others each time, of allowed ones: where choices
    hardly meddle with each other."""
    choices = [list(parameter) for parameter in parameters]
    missing = {
        (place, index): times for place, own in enumerate(choices) for index in range(len(own))
    }
    left, met, found = _pairs_of(_allowed(choices, allowed)), 0, []

    def worth(place: tuple[int, ...]) -> tuple[int, int]:
        wanted = sum(map(missing.__getitem__, enumerate(place)))
        return wanted, (left[place] & ~met).bit_count()

    while any(missing.values()):
        best = max(left, key=worth)
        met |= left.pop(best)
        found.append(best)
        for choice in enumerate(best):
            missing[choice] = max(missing[choice] - 1, 0)
    return [_at(choices, place) for place in sorted(found)]


def pairs(
    *parameters: Iterable[Any], allowed: Callable[..., bool] = lambda *_: True
) -> list[tuple[Any, ...]]:
    """Any two choices of two parameters at least once together, where an allowed combination has
    both.

    The next is always the first of those that bring most new pairs together.
    """
    choices = [list(parameter) for parameter in parameters]
    left = _pairs_of(_allowed(choices, allowed))
    missing, found = reduce(or_, left.values(), 0), []
    while missing:
        best = max(left, key=lambda place: (left[place] & missing).bit_count())
        missing &= ~left[best]
        found.append(best)
    return [_at(choices, place) for place in sorted(found)]


def shared_out(choices: Iterable[T], own: Any, others: Iterable[Any], shares: int = 3) -> list[T]:
    """The share of the choices that is its own where others ask the same of the same code: a third,
    or more where there are fewer."""
    everyone = list(others)
    return list(choices)[everyone.index(own) % shares :: min(shares, len(everyone))]


def _at(choices: list[list[Any]], place: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(own[index] for own, index in zip(choices, place, strict=True))


def _pairs_of(places: Iterable[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
    """The pairs of choices that each combination has, as a whole number of one bit a pair: there
    are many to compare."""
    bits = defaultdict[Any, int](lambda: 1 << len(bits))
    return {
        place: sum(bits[pair] for pair in combinations(enumerate(place), 2)) for place in places
    }


def _allowed(choices: list[list[Any]], allowed: Callable[..., bool]) -> list[tuple[int, ...]]:
    """All allowed combinations, as the places of their choices."""
    return [
        place for place in product(*map(range, map(len, choices))) if allowed(*_at(choices, place))
    ]
