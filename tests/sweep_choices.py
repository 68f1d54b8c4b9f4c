"""Few of many combinations of choices, the same at every call: what is left of a full product where most of it would say nothing new."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, product
from typing import Any


def once(*parameters: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Every choice at least once: enough where one place in the code handles them, whoever asks."""
    choices = [list(parameter) for parameter in parameters]
    return [tuple(own[turn % len(own)] for own in choices) for turn in range(max(map(len, choices)))]


def pairs(*parameters: Iterable[Any], allowed: Callable[..., bool] = lambda *_: True) -> list[tuple[Any, ...]]:
    """Any two choices of two parameters at least once together, where an allowed combination has both.

    The next is always the first of those that bring most new pairs together.
    """
    choices = [list(parameter) for parameter in parameters]
    places = [place for place in product(*map(range, map(len, choices))) if allowed(*_at(choices, place))]
    meeting = {place: set(combinations(enumerate(place), 2)) for place in places}
    missing = set().union(*meeting.values())
    found = []
    while missing:
        best = max(places, key=lambda place: len(meeting[place] & missing))
        missing -= meeting[best]
        found.append(best)
    return [_at(choices, place) for place in sorted(found)]


def _at(choices: list[list[Any]], place: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(own[index] for own, index in zip(choices, place, strict=True))
