"""Graphs of which the best modularity is known from ten seeds of leidenalg, and how near the
consensus fit at resolution 1 comes to it; for `benchmarks.communities`."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from cmeans import ModularityClustering

from .defaults import labelled

SEEDS = 10  # of leidenalg


def graphs() -> dict[str, Callable[[], Any]]:
    """Twelve graphs, as symmetric CSR without a diagonal."""
    return {
        "karate": _karate,
        "planted, 6 groups of 50": lambda: _planted([50] * 6, 0.3, 0.01),
        "planted, 10 groups of 100": lambda: _planted([100] * 10, 0.1, 0.01),
        "planted, unequal": lambda: _planted([400, 200, 100, 50, 25], 0.15, 0.02),
        "as LFR, 1,000 nodes, mixing .2": lambda: _mixed(1_000, 0.2),
        "as LFR, 1,000 nodes, mixing .5": lambda: _mixed(1_000, 0.5),
        "as LFR, 5,000 nodes, mixing .4": lambda: _mixed(5_000, 0.4),
        **{
            f"neighbours of {name}": (lambda name=name: _neighbours(name))
            for name in ("digits", "mnist", "s2", "aggregation", "vehicle")
        },
    }


def _karate() -> Any:
    networkx = importlib.import_module("networkx")
    return sparse.csr_array(
        networkx.to_scipy_sparse_array(networkx.karate_club_graph()), dtype=float
    )


def _planted(sizes: list[int], inside: float, outside: float) -> Any:
    rng, y = np.random.default_rng(0), np.repeat(np.arange(len(sizes)), sizes)
    share = np.where(y[:, None] == y, inside, outside)
    return _both_ways(np.triu(rng.random(share.shape) < share, 1))


def _mixed(n: int, mixing: float) -> Any:
    """Degrees and community sizes that fall as powers, a share of each node's edges leaving its
    community (Lancichinetti, Fortunato, Radicchi 2008, with edges drawn by the degrees of their
    ends)."""
    rng = np.random.default_rng(0)
    degrees = np.minimum(10 * (1 - rng.random(n)) ** (-1 / 1.5), 100)
    sizes = list[int]()
    while sum(sizes) < n:
        sizes.append(int(min(20 / (1 - rng.random()), 200, n - sum(sizes))))
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    begin, end = list[np.ndarray](), list[np.ndarray]()
    inside = [(np.flatnonzero(y == k), 1 - mixing) for k in range(len(sizes))]
    for members, share in [(np.arange(n), mixing), *inside]:
        p = degrees[members] / degrees[members].sum()
        count = int(share * degrees[members].sum() / 2)
        begin.append(rng.choice(members, count, p=p))
        end.append(rng.choice(members, count, p=p))
    i, j = np.concatenate(begin), np.concatenate(end)
    apart = i != j
    graph = sparse.csr_array((np.ones(apart.sum()), (i[apart], j[apart])), shape=(n, n))
    return ((graph + graph.T) > 0).astype(float).tocsr()


def _neighbours(name: str) -> Any:
    """The graph of 15 neighbours that a fit makes."""
    x = labelled(name, 5_000)[0]
    if x.shape[1] > 50:
        x = x - x.mean(axis=0)
        x = x @ np.linalg.eigh(x.T @ x)[1][:, -50:]
    x = np.unique(x, axis=0)
    distances, numbers = NearestNeighbors(n_neighbors=15).fit(x).kneighbors()
    scale = distances[:, 6]
    values = np.exp(-(distances**2) / (scale[:, None] * scale[numbers]))
    starts = np.arange(0, values.size + 1, 15)
    graph = sparse.csr_array((values.ravel(), numbers.ravel(), starts), shape=(len(x), len(x)))
    return sparse.csr_array(graph.maximum(graph.T.tocsr()))


def _both_ways(upper: np.ndarray) -> Any:
    graph = sparse.csr_array(upper.astype(float))
    return sparse.csr_array(graph + graph.T)


def modularity(graph: Any, labels: np.ndarray) -> float:
    """Q of labels at resolution 1, for all that take part."""
    degrees, total = graph.sum(axis=1), graph.sum()
    arcs = graph.tocoo()
    inside = arcs.data[labels[arcs.row] == labels[arcs.col]].sum()
    return float(inside / total - (np.bincount(labels, degrees) ** 2).sum() / total**2)


def compared(graph: Any) -> dict[str, float]:
    """Q of the consensus fit, and the best and the mean of ten seeds of leidenalg."""
    labels = ModularityClustering(resolution=1.0, metric="precomputed").fit(graph).labels_
    alone = np.flatnonzero(labels < 0)
    labels[alone] = labels.max() + 1 + np.arange(len(alone))
    leidenalg, igraph = map(importlib.import_module, ("leidenalg", "igraph"))
    upper = sparse.triu(graph, 1).tocoo()
    edges = list(zip(upper.row.tolist(), upper.col.tolist(), strict=True))
    whole = igraph.Graph(n=graph.shape[0], edges=edges)
    found = [
        modularity(
            graph,
            np.array(
                leidenalg.find_partition(
                    whole,
                    leidenalg.ModularityVertexPartition,
                    weights=upper.data.tolist(),
                    n_iterations=-1,
                    seed=seed,
                ).membership
            ),
        )
        for seed in range(SEEDS)
    ]
    return {"ours": modularity(graph, labels), "best": max(found), "mean": statistics.fmean(found)}
