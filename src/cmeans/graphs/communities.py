"""Communities of a graph at a resolution: moves, refinement and aggregation in turn.

Traag, Waltman, van Eck 2019, "From Louvain to Leiden: guaranteeing well-connected communities".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.arrays import IntArray
from .community_graph import CommunityGraph, compact
from .community_moves import joined, moved, refined

FEW = 100  # nodes up to which runs cost nothing
STARTS = 20  # of these
ROUNDS = 10  # at most, each from the communities of the one before


def communities(
    graph: CommunityGraph,
    resolution: float,
    *,
    draw: Sequence[int] | None = None,  # of the order of nodes; None: by falling strength
    start: IntArray | None = None,  # (n,) communities to begin with; None: each node alone
    rounds: int = ROUNDS,
) -> IntArray:
    """Return communities (n,) of a modularity that no node and no part of one can raise much,
    named 0, 1, ..."""
    rng = None if draw is None else np.random.RandomState(list(draw))
    labels = np.arange(graph.n_nodes) if start is None else start
    for _ in range(rounds):
        before = compact(labels)
        labels = _round(graph, resolution, before, rng)
        if np.array_equal(labels, before):
            break
    return labels


def _round(
    graph: CommunityGraph, resolution: float, labels: IntArray, rng: np.random.RandomState | None
) -> IntArray:
    pull = resolution / graph.total
    place, coarse = np.arange(graph.n_nodes), graph  # the node of each node in the coarse graph
    while True:
        n = coarse.n_nodes
        order = np.argsort(-coarse.strength, kind="stable") if rng is None else rng.permutation(n)
        label = moved(coarse, pull, labels, order)
        found = compact(label)
        if found.max() + 1 == n:
            return compact(found[place])
        part = compact(refined(coarse, pull, label, order))
        if part.max() + 1 == n:  # nothing is refined together
            part = found
        labels = np.empty(int(part.max()) + 1, np.int64)
        labels[part] = found
        place, coarse = part[place], joined(coarse, part)


def settled(graph: CommunityGraph, resolution: float, labels: IntArray) -> IntArray:
    """Return communities, each connected, that no single node gains by leaving."""
    pull, order = resolution / graph.total, np.argsort(-graph.strength, kind="stable")
    while True:
        found = moved(graph, pull, labels, order)
        parts = graph.connected_parts(found)
        if parts.max() == compact(found).max():
            return parts
        labels = parts


def best_of_few(graph: CommunityGraph, resolution: float, labels: IntArray) -> IntArray:
    """Return communities of a graph of few nodes, or better ones that runs from groups drawn at
    random, few ones to many, come to."""
    best = graph.modularity(labels, resolution)
    n = graph.n_nodes if graph.n_nodes <= FEW else 0
    for number in range(STARTS if n else 0):
        groups = 1 + number * (n - 1) // (STARTS - 1)
        start = np.random.RandomState([n, number]).randint(0, groups, n)
        start = np.where(graph.held, n + np.arange(n), start)
        found = communities(graph, resolution, draw=(n, number), start=start)
        if (value := graph.modularity(found, resolution)) > best + 1e-9:
            best, labels = value, found
    return labels
