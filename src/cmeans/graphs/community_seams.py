"""Boundaries between communities beside cuts through them: whether there are clusters at all.

A boundary between clusters is lighter than a cut that halves one of them. Where it is as heavy, the
communities are two parts of one cluster, or of none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from ..data.arrays import Float64, IntArray
from ..data.csr import diagonal_csr
from ..engines import Engine
from ..runtime.stored_classes import stored
from .community_graph import CommunityGraph

SEAM = 0.45  # ratio of a boundary to a halving, from which on communities may be one
APART = 1.4  # logarithm of cuts inside over cuts around, from which on they are clusters
MOST = 100.0  # ratio that is told, as of communities of single nodes, which have no halves
FLOOR = 0.01  # which is added to both cuts
FEW, DENSE = 6, 200  # nodes below which nothing is told, and up to which all eigenvectors are found
CLOSE = 1e-3  # tolerance of eigenvectors of more


@stored
@dataclass(frozen=True)
class Seams:
    """Boundaries between the pairs of communities that edges connect."""

    pairs: IntArray  # (q, 2) the smaller number first
    ratios: Float64  # (q,) weights of boundaries over the mean weight of a halving of the two
    largest: float  # mean over nodes, by strength, of the largest ratio of their community
    apart: float  # mean over them of log(best cut inside / cut around), as conductances

    @property
    def are_doubtful(self) -> bool:
        """True where boundaries may lead through clusters, or there are none."""
        return self.largest >= SEAM and self.apart < APART

    @property
    def doubtful(self) -> IntArray:
        """The pairs (r, 2) that may be one, those of the largest ratios first; none where the
        communities as a whole are clusters."""
        order = np.argsort(-self.ratios, kind="stable")
        return self.pairs[order[(self.ratios[order] >= SEAM) & self.are_doubtful]]


def seams(graph: CommunityGraph, labels: IntArray, engine: Engine) -> Seams:
    """Return the boundaries between the communities (n,) of a graph."""
    count = int(labels.max()) + 1
    between = sparse.coo_array(
        (graph.weight, (labels[graph.begin], labels[graph.end])), shape=(count, count)
    ).tocsr()
    strength: Float64 = between.sum(axis=1)
    own = between.diagonal()
    parts = _parts(graph, labels)
    cuts = np.array(list(engine.run(lambda task: _cuts(parts(task)), count)))
    half, inside = cuts[:, 0], cuts[:, 1]
    arcs = sparse.triu(between, 1).tocoo()
    mean = (half[arcs.row] + half[arcs.col]) / 2
    ratios = arcs.data / np.maximum(mean, arcs.data / MOST)
    largest = np.zeros(count)
    np.maximum.at(largest, arcs.row, ratios)
    np.maximum.at(largest, arcs.col, ratios)
    smaller = np.minimum(strength, strength.sum() - strength)
    around = (strength - own) / np.where(smaller > 0, smaller, 1.0)
    apart = np.log((inside + FLOOR) / (around + FLOOR))
    share = strength / strength.sum()
    pairs = np.column_stack([arcs.row, arcs.col]).astype(np.int64)
    return Seams(pairs, ratios, float(share @ largest), float(share @ apart))


def _parts(graph: CommunityGraph, labels: IntArray) -> Any:
    """Return a function of a community that returns the matrix of the edges within it."""
    within = labels[graph.begin] == labels[graph.end]
    order = np.argsort(labels, kind="stable")
    first = np.append(0, np.cumsum(np.bincount(labels)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - first[labels[order]]
    arcs = np.flatnonzero(within)
    arcs = arcs[np.argsort(labels[graph.begin[arcs]], kind="stable")]
    start = np.append(
        0, np.cumsum(np.bincount(labels[graph.begin[arcs]], minlength=len(first) - 1))
    )

    def part(community: int) -> Any:
        own = arcs[start[community] : start[community + 1]]
        n = first[community + 1] - first[community]
        ends = place[graph.begin[own]], place[graph.end[own]]
        return sparse.coo_array((graph.weight[own], ends), shape=(n, n)).tocsr()

    return part


def _cuts(part: Any) -> tuple[float, float]:
    """Return the weight of the edges that are cut where a community is halved along its Fiedler
    vector, and the least conductance of a cut along it."""
    degree, n = part.sum(axis=1), part.shape[0]
    total = degree.sum()
    at_random = total / 4, 0.5  # half of the edges are cut
    if n < FEW:
        return at_random
    root = np.sqrt(degree)
    scaled = diagonal_csr(1 / root) @ part @ diagonal_csr(1 / root)
    try:
        order = np.argsort(_second(scaled) / root, kind="stable")
    except ArpackNoConvergence:
        return at_random
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    arcs = part.tocoo()
    lower, upper = np.sort(np.stack([rank[arcs.row], rank[arcs.col]]), axis=0)
    # an edge is cut by all cuts between its ends; both of its arcs are there
    opened, closed = (np.bincount(ends, arcs.data, n) for ends in (lower, upper))
    cut = np.cumsum(opened - closed)[:-1] / 2
    volume = np.cumsum(degree[order])[:-1]
    half = max(int(np.searchsorted(volume, total / 2, side="right")), 1) - 1
    return float(cut[half]), float((cut / np.minimum(volume, total - volume)).min())


def _second(matrix: Any) -> Float64:
    """Return the eigenvector (n,) of the second largest eigenvalue."""
    n = matrix.shape[0]
    if n <= DENSE:
        dense: Float64 = np.linalg.eigh(matrix.toarray())[1][:, -2]
        return dense
    start = np.random.RandomState(n).uniform(size=n)
    values, vectors = eigsh(matrix, 2, which="LA", tol=CLOSE, v0=start)
    second: Float64 = vectors[:, np.argmin(values)]
    return second
