"""Nodes that change communities, communities refined into well-connected parts, and graphs of such
parts: in native code, and the same in Python where there is none.

Traag, Waltman, van Eck 2019, "From Louvain to Leiden".
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Float64
from ..native.calls import ADDRESS, REAL, WHOLE, Structure, address, byref, members, pointer_to
from .community_graph import CommunityGraph, Numbers

TIE = 1e-10  # as in the C file


class _GraphArgument(Structure):
    """struct graph"""

    _fields_ = [
        *members("start end weight strength held", ADDRESS),
        *members("nodes", WHOLE),
        *members("pull", REAL),
    ]


class _MoveArgument(Structure):
    """struct move_room"""

    _fields_ = members("label queue total joined size seen free waits", ADDRESS)


class _RefineArgument(Structure):
    """struct refine_room"""

    _fields_ = members("label order part whole total outside joined seen alone", ADDRESS)


class _JoinArgument(Structure):
    """struct joined_graph"""

    _fields_ = [*members("member order start end weight joined", ADDRESS), *members("count", WHOLE)]


GRAPH = pointer_to(_GraphArgument)


def _addresses(*arrays: npt.NDArray[Any]) -> list[int | None]:
    return [address(array) for array in arrays]


def _argument(graph: CommunityGraph, pull: float) -> _GraphArgument:
    arrays = graph.start, graph.end, graph.weight, graph.strength, graph.held
    return _GraphArgument(*_addresses(*arrays), graph.n_nodes, pull)


def moved(graph: CommunityGraph, pull: float, labels: Numbers, order: Numbers) -> Numbers:
    """Return communities (n,) after nodes, first in this order, have joined those of their largest
    gain, until none gains; `pull`: the resolution over the sum of all strengths."""
    label, queue, n = labels.astype(np.int32), order.astype(np.int32), graph.n_nodes
    if not native.is_available():
        return _moved(graph, pull, label, queue)
    numbers = [np.zeros(n) for _ in range(2)]
    names = [np.empty(n, np.int32) for _ in range(3)]
    waits = np.empty(n, np.int8)
    room = _MoveArgument(*_addresses(label, queue, *numbers, *names, waits))
    arguments = (GRAPH, pointer_to(_MoveArgument))
    move_nodes = native.function("move_nodes", np.float64, arguments, WHOLE)
    move_nodes(byref(_argument(graph, pull)), byref(room))
    return label


def refined(graph: CommunityGraph, pull: float, labels: Numbers, order: Numbers) -> Numbers:
    """Return the well-connected parts (n,) of communities, named by one of their nodes."""
    order, n = order.astype(np.int32), graph.n_nodes
    if not native.is_available():
        return _refined(graph, pull, labels, order)
    part, seen, alone = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int8)
    numbers = [np.zeros(n) for _ in range(4)]
    room = _RefineArgument(*_addresses(labels, order, part, *numbers, seen, alone))
    arguments = (GRAPH, pointer_to(_RefineArgument))
    refine = native.function("refine_communities", np.float64, arguments)
    refine(byref(_argument(graph, pull)), byref(room))
    return part


def joined(graph: CommunityGraph, member: Numbers) -> CommunityGraph:
    """Return the graph of groups of nodes, named 0, 1, ..."""
    order = np.argsort(member, kind="stable").astype(np.int32)
    member, count = member.astype(np.int32), int(member.max()) + 1
    held = np.zeros(count, np.int8)
    np.maximum.at(held, member, graph.held)
    if not native.is_available():
        return _joined(graph, member, order, held)
    start = np.empty(count + 1, np.int64)
    end, weight = np.empty(len(graph.end), np.int32), np.empty(len(graph.end))
    sums = np.zeros(count)
    made = _JoinArgument(*_addresses(member, order, start, end, weight, sums), count)
    join = native.function("join_nodes", np.float64, (GRAPH, pointer_to(_JoinArgument)))
    join(byref(_argument(graph, 0.0)), byref(made))
    arcs = int(start[-1])
    return CommunityGraph(start, end[:arcs].copy(), weight[:arcs].copy(), held)


def _neighbours(graph: CommunityGraph) -> list[list[tuple[int, float]]]:
    ends, weights = graph.end.tolist(), graph.weight.tolist()
    arcs = list(zip(ends, weights, strict=True))
    bounds = graph.start.tolist()
    return [arcs[bounds[v] : bounds[v + 1]] for v in range(graph.n_nodes)]


def _moved(graph: CommunityGraph, pull: float, label: Numbers, order: Numbers) -> Numbers:
    """The C function `move_nodes`."""
    n, strength, neighbours = graph.n_nodes, graph.strength.tolist(), _neighbours(graph)
    labels, total, size = label.tolist(), [0.0] * n, [0] * n
    for v, c in enumerate(labels):
        total[c] += strength[v]
        size[c] += 1
    free = [c for c in reversed(range(n)) if not size[c]]
    queue, waits = deque(order.tolist()), [True] * n
    while queue:
        v = queue.popleft()
        waits[v], own = False, labels[v]
        if graph.held[v]:
            continue
        sums: dict[int, float] = {}
        for u, weight in neighbours[v]:
            if u != v:
                sums[labels[u]] = sums.get(labels[u], 0.0) + weight
        pulled, tie = pull * strength[v], TIE * strength[v]
        total[own] -= strength[v]
        size[own] -= 1
        best, most = own, sums.get(own, 0.0) - pulled * total[own]
        if size[own] and most < -tie:
            best, most = free[-1], 0.0
        for c, weight in sums.items():
            gain = weight - pulled * total[c]
            if gain > most + tie:
                best, most = c, gain
        if best != own:
            if not size[best]:
                free.pop()
                total[best] = 0.0
            if not size[own]:
                free.append(own)
            labels[v] = best
            for u, _ in neighbours[v]:
                if labels[u] != best and not waits[u]:
                    queue.append(u)
                    waits[u] = True
        total[best] += strength[v]
        size[best] += 1
    return np.array(labels, np.int32)


def _refined(graph: CommunityGraph, pull: float, label: Numbers, order: Numbers) -> Numbers:
    """The C function `refine_communities`."""
    n, strength, neighbours = graph.n_nodes, graph.strength.tolist(), _neighbours(graph)
    labels, parts, total, alone = label.tolist(), list(range(n)), list(strength), [True] * n
    whole, outside = [0.0] * n, [0.0] * n
    for v, c in enumerate(labels):
        whole[c] += strength[v]
        for u, weight in neighbours[v]:
            if u != v and labels[u] == c:
                outside[v] += weight
    for v in order.tolist():
        all_of_it, pulled = whole[labels[v]], pull * strength[v]
        if graph.held[v] or not alone[v] or outside[v] < pulled * (all_of_it - strength[v]):
            continue
        sums: dict[int, float] = {}
        for u, weight in neighbours[v]:
            if u != v and labels[u] == labels[v]:
                sums[parts[u]] = sums.get(parts[u], 0.0) + weight
        best, most = v, 0.0
        for c, weight in sums.items():
            if c == v or outside[c] < pull * total[c] * (all_of_it - total[c]):
                continue
            gain = weight - pulled * total[c]
            if gain > most + TIE * strength[v]:
                best, most = c, gain
        if best != v:
            outside[best] += outside[v] - 2 * sums[best]
            total[best] += strength[v]
            parts[v], alone[best], alone[v] = best, False, False
    return np.array(parts, np.int32)


def _joined(
    graph: CommunityGraph, member: Numbers, order: Numbers, held: npt.NDArray[np.int8]
) -> CommunityGraph:
    """The C function `join_nodes`."""
    neighbours, members = _neighbours(graph), member.tolist()
    sums: list[dict[int, float]] = [{} for _ in range(len(held))]
    for v in order.tolist():
        own = sums[members[v]]
        for u, weight in neighbours[v]:
            own[members[u]] = own.get(members[u], 0.0) + weight
    ends: list[int] = [c for own in sums for c in own]
    weights: Float64 = np.array([w for own in sums for w in own.values()], np.float64)
    start: npt.NDArray[np.int64] = np.append(0, np.cumsum([len(own) for own in sums]))
    return CommunityGraph(start.astype(np.int64), np.array(ends, np.int32), weights, held)
