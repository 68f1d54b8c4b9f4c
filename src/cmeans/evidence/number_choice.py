"""The choice of the number of clusters: by the drop of the gains of connected pieces where it is
clear, else by the consensus of over-segmentations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..data.arrays import IntArray
from .consensus import Consensus
from .gain_drops import CLEAR, GainDrops


@dataclass(frozen=True)
class NumberChoice:
    """A number of clusters and why it is that."""

    number: int  # that there are, or would be
    none: bool  # whether one cluster is the answer
    reason: str
    rules_agree: bool | None
    second: tuple[int, float] | None
    labels: IntArray | None  # (n,) the partition that is agreed on, where there is one
    by_communities: bool = False  # of the graph of near rows, which decide for tables too
    coarser: int = 1  # the number before clusters were parted along lines

    @property
    def stable(self) -> set[int]:
        """The numbers of clusters that it speaks for."""
        return set() if self.none else {self.number, self.coarser} - {1}


def chosen_number(
    drops: GainDrops, ask: Callable[[], Consensus | None], clear: float = CLEAR
) -> NumberChoice:
    """Return the choice; `ask` for the consensus where the drop is not so clear."""
    if drops.ratio >= clear:
        return _by_drop(drops)
    found = ask()
    if found is None:
        return NumberChoice(drops.number, True, "No partition has two clusters.", None, None, None)
    return _by_consensus(found, drops)


def by_communities(number: int, labels: IntArray) -> NumberChoice:
    """Return the choice of communities of which no boundary is doubtful, where the valleys between
    rows were too shallow to tell clusters apart."""
    reason = (
        f"{number} clusters: the graph of near rows has so many communities, and none of their "
        "boundaries leads through a cluster; valleys between rows are too shallow to show them."
    )
    return NumberChoice(number, False, reason, None, None, labels, by_communities=True)


def along_lines(labels: IntArray, coarser: int) -> NumberChoice:
    """Return the choice of clusters that so many were parted into, along lines through valleys
    inside them."""
    number = int(labels.max()) + 1
    reason = (
        f"{number} clusters: {coarser} by nearest rows, inside {'which' if coarser > 1 else 'it'} "
        "lines lead through valleys that are less than half as dense as what is beside them."
    )
    return NumberChoice(number, False, reason, None, None, labels, coarser=coarser)


def _by_drop(drops: GainDrops) -> NumberChoice:
    number = drops.number
    others = [
        (ratio, n) for n, ratio in zip(drops.numbers, drops.ratios, strict=True) if n != number
    ]
    ratio = drops.ratio_at(number)
    second = None
    if others:
        best, other = max(others)
        second = int(other), float(ratio / best)
    reason = (
        f"{number} clusters: after so many connected pieces what a further one gains drops "
        f"{ratio:.1f} times; without clusters it drops less than {CLEAR:g} times, 19 times in 20."
    )
    return NumberChoice(number, False, reason, None, second, None)


def _by_consensus(found: Consensus, drops: GainDrops) -> NumberChoice:
    others = [item for item in found.ranking if item[0] != found.number]
    second = (others[0][0], found.score - others[0][1]) if others else None
    votes = sum(found.spaces.values()) / max(len(found.spaces), 1)
    if found.is_none:
        reason = (
            f"No clusters: {found.single:.0%} of partitions into too many end in one cluster when "
            f"shallow valleys close; {found.number} there would be, by {votes:.0%}."
        )
    else:
        reason = (
            f"{found.number} clusters: {votes:.0%} of partitions into too many end in these when "
            f"shallow valleys close, {found.single:.0%} in one cluster; connected pieces alone do "
            f"not say (their gains drop {drops.ratio:.1f} times at most)."
        )
    agree = found.number == drops.number
    return NumberChoice(found.number, found.is_none, reason, agree, second, found.labels)
