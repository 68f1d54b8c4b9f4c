"""Communities of a wanted number: the resolution that has as many, and joins of those that lose
least."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.arrays import IntArray
from .communities import communities
from .community_graph import CommunityGraph, compact
from .community_levels import CommunitySearch, StableCommunities

LOWEST, HIGHEST = -10.0, 20.0  # powers of two that are resolutions
CLOSE = 2.0**-6  # of two of them
STRIDE = 0.25  # by which they rise where communities are too few


def number_of(labels: IntArray) -> int:
    return int(labels.max()) + 1


def with_number(search: CommunitySearch, wanted: int) -> StableCommunities | None:
    """Return as many communities; None where no resolution has so many, or more parts than these
    are connected by nothing, or held apart."""
    low, high = LOWEST, HIGHEST
    while high - low > CLOSE:
        middle = (low + high) / 2
        found = number_of(communities(search.coarse, 2.0**middle))
        if found == wanted:
            high = middle
            break
        low, high = (middle, high) if found < wanted else (low, middle)
    while high <= HIGHEST + STRIDE:
        best = search.at(2.0**high)
        if number_of(best.labels) >= wanted:
            labels = _merged(search.graph, 2.0**high, best.labels, wanted)
            return None if labels is None else replace(best, labels=labels)
        high += STRIDE
    return None


def _merged(
    graph: CommunityGraph, resolution: float, labels: IntArray, wanted: int
) -> IntArray | None:
    """Join pairs of communities that an edge connects, those that cost the least modularity first,
    until so many are left; None where nothing connects them, or all are held apart."""
    c = number_of(labels)
    if c == wanted:
        return labels
    between = np.zeros((c, c))
    np.add.at(between, (labels[graph.begin], labels[graph.end]), graph.weight)
    strength, name = between.sum(axis=1), np.arange(c)
    holds = np.bincount(labels, graph.held) > 0
    for _ in range(c - wanted):
        gain = between - resolution * np.outer(strength, strength) / graph.total
        gain[(between <= 0) | np.eye(c, dtype=bool) | np.outer(holds, holds)] = -np.inf
        a, b = np.unravel_index(np.argmax(gain), gain.shape)
        if not np.isfinite(gain[a, b]):
            return None
        between[a] += between[b]
        between[:, a] += between[:, b]
        between[b], between[:, b] = 0.0, 0.0
        strength[a], strength[b] = strength[a] + strength[b], 0.0
        holds[a] |= holds[b]
        name[name == b] = a
    return compact(name[labels])
