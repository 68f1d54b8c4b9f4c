"""Few of many combinations of choices, the same at every call: what is left of a full product where
most of it would say nothing new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from functools import reduce
from heapq import heapify, heappop, heapreplace
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
    places = _allowed(choices, allowed)
    bits = _as_bits(combinations(enumerate(place), 2) for place in places)
    met, found = 0, list[tuple[int, ...]]()

    def worth(at: int) -> tuple[int, int, int]:
        wanted = sum(map(missing.__getitem__, enumerate(places[at])))
        return -wanted, -(bits[at] & ~met).bit_count(), at

    queue = sorted(map(worth, range(len(places))))
    while any(missing.values()):
        at = queue[0][-1]
        if queue[0] == worth(at):  # it only falls: as much as last time is the most
            heappop(queue)
            met |= bits[at]
            found.append(places[at])
            for choice in enumerate(places[at]):
                missing[choice] = max(missing[choice] - 1, 0)
        else:
            heapreplace(queue, worth(at))
    return [_at(choices, place) for place in sorted(found)]


def pairs(
    *parameters: Iterable[Any], allowed: Callable[..., bool] = lambda *_: True
) -> list[tuple[Any, ...]]:
    """Any two choices of two parameters at least once together, where an allowed combination has
    both."""
    choices = [list(parameter) for parameter in parameters]
    places = _allowed(choices, allowed)
    met = covering([combinations(enumerate(place), 2) for place in places])
    return [_at(choices, places[at]) for at in sorted(met)]


def covering(sets: Iterable[Iterable[Hashable]]) -> list[int]:
    """The places of sets that have, together, what all have: next is always the first of those that
    bring most that is new.

    What a set brings only falls, so that one that brings as much as it last did is the next.
    """
    bits = _as_bits(sets)
    missing, found = reduce(or_, bits, 0), list[int]()
    queue = [(-own.bit_count(), at) for at, own in enumerate(bits)]
    heapify(queue)
    while missing:
        last, at = queue[0]
        brings = -(bits[at] & missing).bit_count()
        if brings == last:
            heappop(queue)
            missing &= ~bits[at]
            found.append(at)
        else:
            heapreplace(queue, (brings, at))
    return found


def shared_out(choices: Iterable[T], own: Any, others: Iterable[Any], shares: int = 3) -> list[T]:
    """The share of the choices that is its own where others ask the same of the same code: a third,
    or more where there are fewer."""
    everyone = list(others)
    return list(choices)[everyone.index(own) % shares :: min(shares, len(everyone))]


def _at(choices: list[list[Any]], place: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(own[index] for own, index in zip(choices, place, strict=True))


def _as_bits(sets: Iterable[Iterable[Hashable]]) -> list[int]:
    """Each set as a whole number of one bit an element: there are many to compare."""
    bits = defaultdict[Hashable, int](lambda: 1 << len(bits))
    return [sum(bits[element] for element in own) for own in sets]


def _allowed(choices: list[list[Any]], allowed: Callable[..., bool]) -> list[tuple[int, ...]]:
    """All allowed combinations, as the places of their choices."""
    return [
        place for place in product(*map(range, map(len, choices))) if allowed(*_at(choices, place))
    ]
