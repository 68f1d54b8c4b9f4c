"""From rows, or given affinities, to the communities of their graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..data.arrays import Float64, IntArray, diagonal_csr
from ..data.blocks import Blocks, mapped
from ..engines import Engine
from ..graphs.community_graph import CommunityGraph, canonical_order, compact, rounded
from ..graphs.community_levels import CommunitySearch, StableCommunities
from ..graphs.community_moves import joined
from ..graphs.community_points import (
    GivenNodes,
    NeighbourNodes,
    Nodes,
    both_ways,
    graph_key,
    projected,
)
from ..graphs.community_seams import Seams, seams
from ..graphs.community_shares import NodeCommunities
from ..graphs.edges import EDGES, neighbour_graph
from ..graphs.nearest_neighbours import nearest_neighbours
from ..graphs.piece_points import GivenPoints
from ..graphs.row_keys import row_keys
from ..runtime.numerals import parse_budget
from .graph_objects import adjacency
from .memory import require
from .validation import host_matrix

AXES = 50  # principal axes along which rows of more columns are compared
AS_THEY_ARE = GivenPoints(np.empty((0, 0)))  # for dense rows in float64
COPIES = 4  # of all rows in float64 that are in memory together


@dataclass(frozen=True)
class CommunityRows:
    """The graph of rows."""

    nodes: Nodes
    affinities: Any  # (u, u) CSR, symmetric, between nodes of some weight
    node_of_row: IntArray  # (n,) -1 for none
    sizes: Float64  # (u,) weights of nodes
    others: IntArray  # nodes of no weight
    arcs: Any  # (o, u) CSR, of these to nodes of some
    recall: float = 1.0  # share of true neighbours that were found


def neighbour_rows(
    blocks: Blocks,
    n_neighbors: int,
    edges: str,
    engine: Engine,
    *,
    by_direction: bool,
    estimator_name: str,
) -> CommunityRows:
    """Return the graph of rows and their nearest neighbours; equal rows are one node."""
    budget = parse_budget(engine.memory_budget, type(engine).__name__)
    needed = 8 * COPIES * blocks.n_rows * int(blocks.x.shape[1])
    require(budget, estimator_name, needed, "all rows", "cluster a sample, and predict the others")
    if by_direction:
        whole = GivenPoints(np.empty((0, 0)), have_unit_length=True)
        blocks = replace(blocks, x=mapped(blocks.x, whole.rows))
    x, weight = AS_THEY_ARE.rows(blocks.in_memory().x), blocks.weight[:] * blocks.unit
    counts = x.any(axis=1) if by_direction else np.ones(len(x), bool)
    keys, first, member = np.unique(
        row_keys(x[counts]).view(np.int64), return_index=True, return_inverse=True
    )
    # nodes are in the order of their first rows
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    node = np.full(len(x), -1)
    node[counts] = rank[member]
    given = x[counts][first[order]]
    del x
    weights = np.bincount(node[counts], weight[counts], len(given)).astype(np.float64)
    centre, axes = _principal(given, weights)
    rows = np.ascontiguousarray(projected(given, centre, axes))
    heavy = np.flatnonzero(weights > 0)
    found = nearest_neighbours(rows[heavy], n_neighbors, engine)
    graph, made = neighbour_graph(
        found.distances, found.numbers, weights[heavy], n_neighbors, EDGES[edges]
    )
    nodes = NeighbourNodes(
        rows, weights, made, keys[order], axes, centre, by_direction, n_neighbors
    )
    others = np.flatnonzero(weights == 0)
    arcs = nodes.arcs_of(rows[others])
    graph = _spread(graph, heavy, len(rows))
    return CommunityRows(nodes, graph, node, weights, others, arcs, found.recall)


def _spread(graph: Any, places: IntArray, n: int) -> Any:
    """Return a matrix in which rows and columns are at other places among n."""
    if len(places) == n:
        return graph
    arcs = graph.tocoo()
    return sparse.csr_array((arcs.data, (places[arcs.row], places[arcs.col])), shape=(n, n))


def _principal(rows: Float64, weights: Float64) -> tuple[Float64, Float64]:
    """Return the mean of rows and their first principal axes, where they have more columns."""
    d = rows.shape[1]
    centre: Float64 = weights @ rows / weights.sum()
    if d <= AXES:
        return centre, np.empty((0, 0))
    moved = (rows - centre) * np.sqrt(weights / weights.sum())[:, None]
    if len(rows) >= d:
        return centre, np.ascontiguousarray(np.linalg.eigh(moved.T @ moved)[1][:, -AXES:])
    values, vectors = np.linalg.eigh(moved @ moved.T)
    there = values > 1e-12 * max(values[-1], np.finfo(float).tiny)
    axes = moved.T @ vectors[:, there][:, -AXES:]
    if not axes.size:
        return centre, np.empty((0, 0))
    return centre, np.ascontiguousarray(axes / np.linalg.norm(axes, axis=0))


def given_rows(x: Any, weight: Float64) -> CommunityRows:
    """Return the graph of given affinities (n, n): an edge weighs as much as the larger of its two
    directions, times the weights of both ends. A node is not its own neighbour."""
    both = both_ways(x)
    scaled = sparse.csr_array(diagonal_csr(weight) @ both @ diagonal_csr(weight))
    scaled.eliminate_zeros()
    scaled.sort_indices()
    keys = row_keys(x).view(np.int64)
    nodes, others = GivenNodes(weight, keys, graph_key(both)), np.flatnonzero(weight == 0)
    arcs = nodes.arcs(both[others])
    return CommunityRows(nodes, scaled, np.arange(len(keys)), weight, others, arcs)


def given_affinities(X: Any, estimator_name: str, n_nodes: int | None = None) -> Any:
    """Return checked affinities of rows to all nodes of a fit, CSR: between all nodes where
    `n_nodes` is not given."""
    asked, X = f'{estimator_name}(metric="precomputed")', adjacency(X)
    x = host_matrix(X, estimator_name)
    if x.ndim != 2 or x.shape[1] != (x.shape[0] if n_nodes is None else n_nodes):
        wanted = "one for each pair of nodes" if n_nodes is None else f"{n_nodes} columns"
        raise ValueError(
            f"{asked}: X has shape {tuple(x.shape)}; give affinities, {wanted}, dense or sparse, "
            "or a graph of networkx or igraph."
        )
    try:
        # a type of few digits would lose sums of entries at one place
        x = sparse.csr_array(x.astype(np.float64), copy=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{asked}: X must be numbers: {error}.") from None
    x.sum_duplicates()
    wrong = np.flatnonzero(~((x.data >= 0) & np.isfinite(x.data)))
    if len(wrong):
        row = int(np.searchsorted(x.indptr, wrong[0], side="right")) - 1
        value = x.data[wrong[0]]
        raise ValueError(
            f"{asked}: X[{row}, {x.indices[wrong[0]]}] is {value:g}; weights of edges are finite "
            "and not negative. Of correlations, keep the positive ones (X.clip(min=0)), and leave "
            "out missing ones."
        )
    x.eliminate_zeros()
    return x


Chosen = Callable[[CommunitySearch], StableCommunities]


@dataclass(frozen=True)
class FoundCommunities:
    """The communities of rows."""

    communities: NodeCommunities
    others: tuple[NodeCommunities, ...]  # at other resolutions where they are stable
    modularity: float
    seams: Seams
    search: StableCommunities


def found_communities(
    rows: CommunityRows, choose: Chosen, most_cells: int, engine: Engine
) -> FoundCommunities:
    """Return the communities of nodes, the heaviest first."""
    graph = rounded(rows.affinities)
    linked = np.flatnonzero(np.diff(graph.indptr))
    inner = CommunityGraph.of(graph[linked][:, linked])
    order = canonical_order(inner)
    canonical = sparse.csr_array(inner.matrix[order][:, order])
    canonical.sort_indices()
    places = linked[order]
    search = CommunitySearch.of(
        CommunityGraph.of(canonical), rows.sizes[places], most_cells, engine
    )
    found = choose(search)

    def named(labels: IntArray) -> IntArray:
        every = np.full(graph.shape[0], -1)
        every[places] = labels
        return _by_size(every, rows.sizes)

    def of_nodes(labels: IntArray, resolution: float) -> NodeCommunities:
        return NodeCommunities.of(rows.affinities, labels, resolution, rows.others, rows.arcs)

    labels = named(found.labels)
    nodes = of_nodes(labels, found.resolution)
    others: dict[int, NodeCommunities] = {}  # by their numbers of communities
    for layer in found.others:
        further = of_nodes(named(layer.labels), layer.resolution)
        if further.n_clusters != nodes.n_clusters:
            others.setdefault(further.n_clusters, further)
    alone = np.where(labels < 0, nodes.n_clusters, labels)
    modularity = CommunityGraph.of(rows.affinities).modularity(alone, found.resolution)
    between = _seams(search, labels[places], engine)
    return FoundCommunities(nodes, tuple(others.values()), modularity, between, found)


def _seams(search: CommunitySearch, labels: IntArray, engine: Engine) -> Seams:
    """Return the boundaries between communities, of many nodes between groups of these."""
    if search.coarse is search.graph:
        return seams(search.graph, labels, engine)
    group = compact(search.cell * (int(labels.max()) + 1) + labels)
    of_group = np.empty(int(group.max()) + 1, np.int64)
    of_group[group] = labels
    return seams(joined(search.graph, group), of_group, engine)


def _by_size(labels: IntArray, sizes: Float64) -> IntArray:
    """Return the labels named by falling weight, equally heavy ones as they come."""
    joined = labels >= 0
    names, first = np.unique(labels[joined], return_index=True)
    weight = np.bincount(labels[joined], sizes[joined])
    rank = np.empty(len(names), np.int64)
    rank[np.lexsort((first, -weight))] = np.arange(len(names))
    named = np.full(len(labels), -1)
    named[joined] = rank[labels[joined]]
    return named
