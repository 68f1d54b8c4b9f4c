"""Sums of parts that are added in a tree, wherever several of them are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from .orders import Answer


@dataclass(frozen=True)
class Sums:
    """Sums of parts, every two neighbours added as far as both are here: a tree that depends
    on the number of parts alone, whoever holds them. By level and number there."""

    nodes: dict[tuple[int, int], Any]
    n_leaves: int

    @property
    def whole(self) -> Any:
        (total,) = self.nodes.values()
        return total

    def __add__(self, other: Sums) -> Sums:
        found, level, width = {**self.nodes, **other.nodes}, 0, self.n_leaves
        while width > 1:
            for _, number in sorted(node for node in found if node[0] == level):
                alone = number == width - 1 and number % 2 == 0  # the last one has no neighbour
                if alone or (number % 2 == 0 and (level, number + 1) in found):
                    one = found.pop((level, number))
                    other_one = None if alone else found.pop((level, number + 1))
                    found[level + 1, number // 2] = one if alone else one + other_one
            level, width = level + 1, (width + 1) // 2
        return Sums(found, self.n_leaves)


def leaf(value: Any, number: int, n_leaves: int) -> Sums:
    """Return the sum of one part of so many."""
    return Sums({(0, number): value}, n_leaves) + Sums({}, n_leaves)


def together(answers: list[Answer]) -> list[Answer]:
    """Return answers of which the first that is a sum has those of all others."""
    summed = [at for at, answer in enumerate(answers) if isinstance(answer.value, Sums)]
    if summed:
        first = answers[summed[0]]
        total = reduce(add, (answers[at].value for at in summed))
        for at in summed:
            answers[at] = replace(answers[at], value=Sums({}, total.n_leaves))
        answers[summed[0]] = replace(first, value=total)
    return answers
