"""The partition that over-segmentations of a sample agree on, once their clusters are joined across
shallow valleys.

Each partition into too many clusters, of any space, becomes one into fewer as shallow valleys
close, for several depths, and votes for that. What stands apart comes out whatever was cut too
small. A candidate, with shares p_j and valleys v_j around its clusters, is as good as

    - sum_j p_j ln p_j clip((v_j - .3) / .5, -1, 1), how much it says, and how deep its valleys are
    + 6 mean over spaces of root of the share of votes whose index with it is above .9
    + 8 mean of its three largest indices with other spaces' partitions into as many clusters
    + mean of the three largest of their information, less half of what differs
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..data.arrays import Float64, IntArray
from .agreement import agreement, information, shared
from .merging import in_order, merged
from .near_rows import NearRows
from .valleys import Edges, shallowest

DEPTHS = (0.2, 0.4, 0.7)  # of valleys that close
READINGS = ((20, 10), (10, 5))  # edges a row, and rows near their midpoints
VOTES, SAME, TOLD = 6.0, 8.0, 1.0
FLAT, CLIFF = 0.3, 0.5
ALIKE = 0.9  # index of partitions that are one for votes
NONE, NONE_FALLS = 0.1, 1.5

# the partition (n,) of a space into so many clusters, or None where it has none
Partition = Callable[[str, int], IntArray | None]


@dataclass
class Votes:
    """A partition, and how many over-segmentations of each class end in it."""

    labels: IntArray
    counts: dict[tuple[str, int, float], int] = field(default_factory=dict)

    @property
    def number(self) -> int:
        return int(self.labels.max()) + 1


@dataclass(frozen=True)
class Consensus:
    """The partition that is agreed on, and how far."""

    labels: IntArray  # (n,)
    number: int
    score: float
    spaces: Mapping[str, float]  # of each, the share of its votes
    single: float  # share of votes for one cluster
    ranking: list[tuple[int, float]]  # best score of each number of clusters, the best first

    @property
    def is_none(self) -> bool:
        """True where one cluster is agreed on."""
        roots = np.sqrt(list(self.spaces.values()))
        return self.single > NONE + NONE_FALLS * float(roots.mean())


def consensus(
    near: NearRows,
    spaces: tuple[str, ...],
    numbers: tuple[int, ...],  # of clusters of over-segmentations, rising
    partition: Partition,
    least: int = 2,
    most: float = np.inf,
) -> Consensus | None:
    """Return the partition into `least` to `most` clusters that over-segmentations of some spaces
    agree on; None where there is none into two clusters or more."""
    edges = [Edges.of(near, *reading) for reading in READINGS]
    votes, own, cast = _cast(near, edges, spaces, numbers, partition)
    ballots = list(votes.values())
    single = _mean_share([vote for vote in ballots if vote.number == 1], cast)
    most = min(most, max(2, len(near.x) // 10))
    known = {
        **{_key(labels): labels for labels in own.values()},
        **{key: vote.labels for key, vote in votes.items()},
    }
    judged = [
        _judged(labels, near, edges[0], ballots, cast)
        for labels in known.values()
        if max(least, 2) <= int(labels.max()) + 1 <= most
    ]
    if not judged:
        return None
    judged.sort(key=lambda candidate: -candidate.bound)
    best: dict[int, float] = {}
    winner, top = judged[0], -np.inf
    for candidate in judged:
        if candidate.bound <= top and candidate.number in best:
            continue  # it cannot win, and its number is known better
        score = candidate.score + _with_others(candidate, spaces, partition, near.weights)
        best[candidate.number] = max(best.get(candidate.number, -np.inf), score)
        if score > top:
            winner, top = candidate, score
    return Consensus(
        winner.labels,
        winner.number,
        top,
        winner.shares,
        single,
        sorted(best.items(), key=lambda item: -item[1]),
    )


@dataclass(frozen=True)
class _Candidate:
    labels: IntArray
    number: int
    score: float  # without what other spaces say
    bound: float  # of the score with it
    shares: dict[str, float]


def _cast(
    near: NearRows,
    edges: list[Edges],
    spaces: tuple[str, ...],
    numbers: tuple[int, ...],
    partition: Partition,
) -> tuple[dict[bytes, Votes], dict[tuple[str, int], IntArray], dict[tuple[str, int, float], int]]:
    """Return the votes, partitions of their own of all spaces, and how many votes each class has
    cast."""
    votes: dict[bytes, Votes] = {}
    own: dict[tuple[str, int], IntArray] = {}
    cast: dict[tuple[str, int, float], int] = {}
    for space in spaces:
        for number in numbers:
            labels = partition(space, number)
            if labels is None:
                continue
            own[space, number] = labels = in_order(labels)
            for reading, some in enumerate(edges):
                found = merged(labels, near.weights, some, DEPTHS, near.light)
                for depth, joined in zip(DEPTHS, found, strict=True):
                    kind = space, reading, depth
                    cast[kind] = cast.get(kind, 0) + 1
                    counts = votes.setdefault(_key(joined), Votes(joined)).counts
                    counts[kind] = counts.get(kind, 0) + 1
    return votes, own, cast


def _judged(
    labels: IntArray,
    near: NearRows,
    edges: Edges,
    ballots: list[Votes],
    cast: Mapping[tuple[str, int, float], int],
) -> _Candidate:
    number = int(labels.max()) + 1
    shares = np.bincount(labels, near.weights) / near.weights.sum()
    told = -shares * np.log(shares)
    depth = np.clip((shallowest(labels, edges) - FLAT) / CLIFF, -1.0, 1.0)
    alike = [
        vote
        for vote in ballots
        if abs(vote.number - number) <= max(2.0, 0.3 * number)
        and agreement(shared(labels, vote.labels, near.weights)) > ALIKE
    ]
    spaces = {space for space, *_ in cast}
    by_space = {
        space: _mean_share(alike, {kind: n for kind, n in cast.items() if kind[0] == space})
        for space in sorted(spaces)
    }
    score = float(told @ depth) + VOTES * float(np.sqrt(list(by_space.values())).mean())
    return _Candidate(labels, number, score, score + SAME + TOLD * float(told.sum()), by_space)


def _mean_share(votes: list[Votes], cast: Mapping[tuple[str, int, float], int]) -> float:
    """Return the mean over classes of the share of their votes that are among some."""
    return float(
        np.mean([sum(vote.counts.get(kind, 0) for vote in votes) / n for kind, n in cast.items()])
    )


def _with_others(
    candidate: _Candidate, spaces: tuple[str, ...], partition: Partition, weights: Float64
) -> float:
    """Return what partitions of the spaces into as many clusters add to a score."""
    indices, told = [0.0] * 3, [-3.0] * 3
    own = {}
    for space in spaces:
        labels = partition(space, candidate.number)
        if labels is not None:
            own[space] = in_order(labels)
    mine = [space for space, labels in own.items() if np.array_equal(labels, candidate.labels)]
    for space, labels in own.items():
        if mine == [space]:
            continue  # it is this partition
        both = shared(candidate.labels, labels, weights)
        indices.append(agreement(both))
        told.append(information(both))
    return SAME * float(np.mean(sorted(indices)[-3:])) + TOLD * float(np.mean(sorted(told)[-3:]))


def _key(labels: IntArray) -> bytes:
    return labels.astype(np.int32).tobytes()
