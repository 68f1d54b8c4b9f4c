"""From rows, or given affinities, to the communities of their graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..data.arrays import Float64, IntArray
from ..data.blocks import Blocks
from ..data.csr import diagonal_csr
from ..data.limits import MOST_COPIES
from ..engines import Engine
from ..graphs.community_graph import CommunityGraph, canonical_order, compact, rounded
from ..graphs.community_levels import CommunitySearch, Layer, StableCommunities
from ..graphs.community_moves import joined
from ..graphs.community_points import GivenNodes, NeighbourNodes, Nodes, both_ways, graph_key
from ..graphs.community_seams import Seams, seams
from ..graphs.community_shares import NodeCommunities
from ..graphs.edges import EDGES, neighbour_graph
from ..graphs.nearest_neighbours import nearest_neighbours
from ..graphs.piece_points import GivenPoints
from ..graphs.principal_axes import last_eigenvectors, principal_axes, reduced_rows
from ..graphs.row_keys import row_keys
from ..runtime.numerals import parse_budget
from .graph_objects import adjacency
from .memory import require
from .validation import host_array, host_matrix

AXES = 50  # principal axes along which rows of more columns are compared
COPIES = 4  # of all rows along their axes, in float64, that are in memory together


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
    n, d = blocks.n_rows, int(blocks.x.shape[1])
    is_wide = n < d and d > AXES
    of_all = COPIES * n * (d if is_wide else min(d, AXES))
    needed = 8 * (of_all + (0 if is_wide or d <= AXES else engine.n_threads * d * d))
    budget = parse_budget(engine.memory_budget, type(engine).__name__)
    require(budget, estimator_name, needed, "all rows", "cluster a sample, and predict the others")
    points = GivenPoints(np.empty((0, 0)), have_unit_length=by_direction)
    centre, axes = np.zeros(d), np.empty((0, 0))
    if is_wide:
        whole = points.rows(blocks.in_memory().x)
        centre, axes = _axes_of_few(whole, blocks.weight * whole.any(axis=1))
    elif d > AXES:
        centre, axes = principal_axes(blocks, points, AXES, engine)
    reduced = reduced_rows(blocks, points, centre, axes, engine)
    counted = np.flatnonzero(reduced.are_nodes)
    keys, first, member = np.unique(reduced.keys[counted], return_index=True, return_inverse=True)
    # nodes are in the order of their first rows
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    node = np.full(n, -1)
    node[counted] = rank[member]
    rows = _some(reduced.rows, counted[first[order]])
    weight = _multiplied(blocks.weight[:] * blocks.unit)
    weights = np.bincount(node[counted], weight[counted], len(rows)).astype(np.float64)
    heavy = np.flatnonzero(weights > 0)
    found = nearest_neighbours(_some(rows, heavy), n_neighbors, engine)
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


def _multiplied(weight: Float64) -> Float64:
    """Return weights whose products are numbers: these, or so many times as much that many copies
    stay many, and parts of one parts."""
    largest = float(weight.max(initial=0.0))
    if largest == 0 or 1 / MOST_COPIES <= largest <= MOST_COPIES:
        return weight
    nearest = min(max(largest, 1 / MOST_COPIES), MOST_COPIES)
    found: Float64 = weight * (nearest / largest)
    return found


def _spread(graph: Any, places: IntArray, n: int) -> Any:
    """Return a matrix in which rows and columns are at other places among n."""
    if len(places) == n:
        return graph
    arcs = graph.tocoo()
    return sparse.csr_array((arcs.data, (places[arcs.row], places[arcs.col])), shape=(n, n))


def _some(rows: Float64, which: IntArray) -> Float64:
    """Return some rows; where they are all, the rows themselves, which takes no memory."""
    return rows if len(which) == len(rows) else rows[which]


def _axes_of_few(rows: Float64, weights: Float64) -> tuple[Float64, Float64]:
    """Return the mean of rows and their first principal axes, where they have more columns than
    there are rows."""
    centre: Float64 = weights @ rows / max(weights.sum(), np.finfo(float).tiny)
    moved = (rows - centre) * np.sqrt(weights / weights.sum())[:, None]
    values, vectors = last_eigenvectors(moved @ moved.T, AXES)
    there = values > 1e-12 * max(values[-1], np.finfo(float).tiny)
    axes = moved.T @ vectors[:, there]
    if not axes.size:
        return centre, np.empty((0, 0))
    return centre, np.ascontiguousarray(axes / np.linalg.norm(axes, axis=0))


def given_rows(x: Any, weight: Float64) -> CommunityRows:
    """Return the graph of given affinities (n, n): an edge weighs as much as the larger of its two
    directions, times the weights of both ends. A node is not its own neighbour."""
    both, weight = both_ways(x), _multiplied(weight)
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
    asked, x = f'{estimator_name}(metric="precomputed")', host_matrix(adjacency(X), estimator_name)
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
    rows: CommunityRows,
    known: IntArray,  # (u,) communities that nodes are known to belong to, 0, 1, ...; -1: not known
    choose: Chosen,
    most_cells: int,
    engine: Engine,
) -> FoundCommunities:
    """Return the communities of nodes, the heaviest first; known ones keep their numbers."""
    inner, linked, place = _sought(rows.affinities, known)
    sizes = np.bincount(place, rows.sizes[linked]).astype(np.float64)
    search = CommunitySearch.of(inner, sizes, most_cells, engine)
    found = choose(search)

    def named(layer: Layer | StableCommunities) -> IntArray:
        labels = np.full(len(known), -1)
        labels[linked] = layer.labels[place]
        return _named(labels, rows.sizes, known)

    labels = named(found)
    of_inner = np.empty(inner.n_nodes, np.int64)
    of_inner[place] = labels[linked]
    between = _seams(search, of_inner, engine)
    del search, inner  # what follows takes as much memory

    def of_nodes(labels: IntArray, resolution: float) -> NodeCommunities:
        return NodeCommunities.of(rows.affinities, labels, resolution, rows.others, rows.arcs)

    nodes = of_nodes(labels, found.resolution)
    others: dict[int, NodeCommunities] = {}  # by their numbers of communities
    for layer in found.others:
        further = of_nodes(named(layer), layer.resolution)
        if further.n_clusters != nodes.n_clusters:
            others.setdefault(further.n_clusters, further)
    alone = np.where(nodes.labels < 0, nodes.n_clusters, nodes.labels)
    modularity = CommunityGraph.of(rows.affinities).modularity(alone, found.resolution)
    return FoundCommunities(nodes, tuple(others.values()), modularity, between, found)


def _sought(affinities: Any, known: IntArray) -> tuple[CommunityGraph, IntArray, IntArray]:
    """Return the graph whose communities are sought, whatever order nodes have here, the nodes that
    have edges, and their places there."""
    matrix = rounded(affinities)
    linked = np.flatnonzero(np.diff(matrix.indptr))
    if len(linked) < len(known):
        matrix = matrix[linked][:, linked]
    matrix, member, held = _with_known_as_one(matrix, known[linked])
    order = canonical_order(CommunityGraph.of(matrix))
    matrix = sparse.csr_array(matrix[order][:, order])
    matrix.sort_indices()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return CommunityGraph.of(matrix, held[order]), linked, rank[member]


def _with_known_as_one(matrix: Any, known: IntArray) -> tuple[Any, IntArray, IntArray]:
    """Return the graph in which the nodes of each known community are one, the node (m,) that each
    is in, and 1 for those nodes, which are held apart."""
    n, told = len(known), known >= 0
    if not told.any():
        return matrix, np.arange(n), np.zeros(n, np.int64)
    member = compact(np.where(told, known, known.max() + 1 + np.arange(n)))
    held = np.zeros(int(member.max()) + 1, np.int64)
    held[member[told]] = 1
    ones = sparse.csr_array((np.ones(n), (np.arange(n), member)), shape=(n, len(held)))
    joined_nodes = sparse.csr_array(ones.T @ matrix @ ones)
    # sums in the order of rows are rounded, so that it changes nothing
    return rounded(sparse.csr_array(joined_nodes.maximum(joined_nodes.T))), member, held


def _seams(search: CommunitySearch, labels: IntArray, engine: Engine) -> Seams:
    """Return the boundaries between communities, of many nodes between groups of these."""
    if search.coarse is search.graph:
        return seams(search.graph, labels, engine)
    group = compact(search.cell * (int(labels.max()) + 1) + labels)
    of_group = np.empty(int(group.max()) + 1, np.int64)
    of_group[group] = labels
    return seams(joined(search.graph, group), of_group, engine)


def _named(labels: IntArray, sizes: Float64, known: IntArray) -> IntArray:
    """Return the labels named by falling weight, equally heavy ones as they come, after the known
    ones, which keep their numbers."""
    joined, told = labels >= 0, known >= 0
    count = int(known.max(initial=-1)) + 1
    names, first = np.unique(labels[joined], return_index=True)
    weight = np.bincount(labels[joined], sizes[joined])
    rank = np.full(len(names), -1)
    rank[labels[joined & told]] = known[joined & told]
    free = np.flatnonzero(rank < 0)
    rank[free[np.lexsort((first[free], -weight[free]))]] = count + np.arange(len(free))
    named = known.copy()
    named[joined] = rank[labels[joined]]
    return named


def known_nodes(labels: Any, rows: CommunityRows, estimator_name: str) -> IntArray:
    """Return the communities (u,) that nodes are known to belong to, by those of their rows."""
    known = np.full(len(rows.sizes), -1)
    if labels is None:
        return known
    of_rows = _checked_labels(labels, len(rows.node_of_row), estimator_name)
    told = np.flatnonzero((of_rows >= 0) & (rows.node_of_row >= 0))
    nodes = rows.node_of_row[told]
    known[nodes] = of_rows[told]
    clash = told[known[nodes] != of_rows[told]]
    if len(clash):
        row = int(clash[0])
        other = int(told[(nodes == rows.node_of_row[row]) & (of_rows[told] != of_rows[row])][0])
        raise ValueError(
            f"{estimator_name}: rows {min(row, other)} and {max(row, other)} of X are equal, and "
            f"their known_labels are {of_rows[min(row, other)]} and {of_rows[max(row, other)]}; "
            "equal rows are in one community."
        )
    return np.where(rows.sizes > 0, known, -1)


def _checked_labels(labels: Any, n_rows: int, estimator_name: str) -> IntArray:
    values = host_array(labels, "known_labels", estimator_name)
    if values.shape != (n_rows,):
        raise ValueError(
            f"{estimator_name}: known_labels have shape {values.shape}; one for each of the "
            f"{n_rows} rows is needed."
        )
    whole = values.dtype.kind in "iuf" and bool((np.isfinite(values) & (values >= -1)).all())
    if not whole or (values != np.rint(values)).any():
        raise ValueError(
            f"{estimator_name}: known_labels must be whole numbers from 0, -1 where a label is not "
            "known (scikit-learn's LabelEncoder numbers names)."
        )
    numbers: IntArray = values.astype(np.int64)
    there = np.unique(numbers[numbers >= 0])
    if len(there) and there[-1] >= len(there):
        lacking = int(np.setdiff1d(np.arange(there[-1]), there)[0])
        raise ValueError(
            f"{estimator_name}: known_labels hold {there[-1]}, and no {lacking}; number them 0 ... "
            f"{len(there) - 1}: communities in which no row is known come after."
        )
    return numbers
