"""Graphs of networkx and igraph as matrices of the weights of their edges: neither is imported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse


@runtime_checkable
class NetworkxGraph(Protocol):
    """A graph of networkx, by all that is asked of it."""

    nodes: Any

    def edges(self, data: str) -> Iterable[tuple[Any, Any, Any]]: ...
    def number_of_nodes(self) -> int: ...
    def is_directed(self) -> bool: ...


@runtime_checkable
class IgraphGraph(Protocol):
    """A graph of igraph, by all that is asked of it."""

    es: Any

    def vcount(self) -> int: ...
    def get_edgelist(self) -> Sequence[tuple[int, int]]: ...
    def edge_attributes(self) -> Sequence[str]: ...
    def is_directed(self) -> bool: ...


def adjacency(graph: Any) -> Any:
    """Return the weights (n, n), CSR, of the edges of a graph, nodes in its order; anything else as
    it is. Parallel edges weigh their sum, edges of a graph without weights 1, and one that lacks
    its weight NaN."""
    if isinstance(graph, NetworkxGraph):
        place = {node: number for number, node in enumerate(graph.nodes)}
        edges, n = list(graph.edges(data="weight")), len(place)
        ends = [(place[one], place[other]) for one, other, _ in edges]
        weights = [weight for _, _, weight in edges]
    elif isinstance(graph, IgraphGraph):
        ends, n = list(graph.get_edgelist()), graph.vcount()
        has_weights = "weight" in graph.edge_attributes()
        weights = list(graph.es["weight"]) if has_weights else [None] * len(ends)
    else:
        return graph
    data = np.array(weights, np.float64)  # NaN for None
    if all(weight is None for weight in weights):
        data = np.ones(len(weights))
    pairs = np.array(ends, np.int64).reshape(-1, 2)
    if not graph.is_directed():
        pairs.sort(axis=1)  # parallel edges may be listed from either end
    return sparse.coo_array((data, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
