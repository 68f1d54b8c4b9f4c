"""Few of many combinations of choices, the same at every call: what is left of a full product where
most of it would say nothing new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations, product
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
    left, met, found = _allowed(choices, allowed), set[Any](), []

    def worth(place: tuple[int, ...]) -> tuple[int, int]:
        return sum(max(missing[choice], 0) for choice in enumerate(place)), len(
            set(combinations(enumerate(place), 2)) - met
        )

    while max(missing.values()) > 0:
        best = max(left, key=worth)
        left.remove(best)
        found.append(best)
        met |= set(combinations(enumerate(best), 2))
        for choice in enumerate(best):
            missing[choice] -= 1
    return [_at(choices, place) for place in sorted(found)]


def pairs(
    *parameters: Iterable[Any], allowed: Callable[..., bool] = lambda *_: True
) -> list[tuple[Any, ...]]:
    """Any two choices of two parameters at least once together, where an allowed combination has
    both.

    The next is always the first of those that bring most new pairs together.
    """
    choices = [list(parameter) for parameter in parameters]
    places = _allowed(choices, allowed)
    # a set of pairs is a whole number, of which there are many to intersect
    bits = defaultdict[Any, int](lambda: 1 << len(bits))
    meeting = {
        place: sum(bits[pair] for pair in combinations(enumerate(place), 2)) for place in places
    }
    missing, found = (1 << len(bits)) - 1, []
    while missing:
        best = max(places, key=lambda place: (meeting[place] & missing).bit_count())
        missing &= ~meeting[best]
        found.append(best)
    return [_at(choices, place) for place in sorted(found)]


def shared_out(choices: Iterable[T], own: Any, others: Iterable[Any], shares: int = 3) -> list[T]:
    """The share of the choices that is its own where others ask the same of the same code: a third,
    or more where there are fewer."""
    everyone = list(others)
    return list(choices)[everyone.index(own) % shares :: min(shares, len(everyone))]


def _at(choices: list[list[Any]], place: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(own[index] for own, index in zip(choices, place, strict=True))


def _allowed(choices: list[list[Any]], allowed: Callable[..., bool]) -> list[tuple[int, ...]]:
    """All allowed combinations, as the places of their choices."""
    return [
        place for place in product(*map(range, map(len, choices))) if allowed(*_at(choices, place))
    ]
