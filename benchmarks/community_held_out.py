"""How well labels that communities predict agree with a refit of all rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from cmeans import ModularityClustering
from cmeans.graphs.communities import communities, settled
from cmeans.graphs.community_graph import CommunityGraph, canonical_order, compact, rounded

SHARE = 0.2  # of the rows that are held out
DRAWS = 2
ROUNDS = (2, 0)  # of a refit from labels: as many as a fit ends with, and moves of rows alone


def agreements(X: np.ndarray) -> list[float]:
    """Shares of new and of old rows whose labels are those of a refit of all rows, of one that
    starts from the labels, and of one in which single rows move from there."""
    whole = ModularityClustering().fit(X)
    found = []
    for draw in range(DRAWS):
        new = np.random.default_rng(draw).random(len(X)) < SHARE
        model = ModularityClustering().fit(X[~new])
        predicted = np.empty(len(X), np.int64)
        predicted[~new], predicted[new] = model.labels_, model.predict(X[new])
        start = np.where(new, predicted.max() + 1 + np.arange(len(X)), predicted)
        again = [refit(X, start, model.resolution_, rounds) for rounds in ROUNDS]
        found.append(
            [
                same(predicted, labels)[rows].mean()
                for labels in (whole.labels_, *again)
                for rows in (new, ~new)
            ]
        )
    return np.mean(found, axis=0).tolist()


def refit(X: np.ndarray, start: np.ndarray, resolution: float, rounds: int) -> np.ndarray:
    """Communities of the graph of all rows, from labels at a resolution: some rounds of moves,
    refinement and aggregation, and moves of single rows until none gains."""
    model = ModularityClustering(resolution=resolution)
    x, weight = model._read(X, None)
    with model._engine(model._blocks(x, weight, 1.0)) as engine:
        rows = model._rows(x, weight, engine)
    first = np.unique(rows.node_of_row, return_index=True)[1]
    affinities = rounded(rows.affinities)
    order = canonical_order(CommunityGraph.of(affinities))
    graph = CommunityGraph.of(sparse.csr_array(affinities[order][:, order]))
    labels = np.empty(graph.n_nodes, np.int64)
    begun = compact(start[first[order]])
    moved = communities(graph, resolution, start=begun, rounds=rounds)
    labels[order] = settled(graph, resolution, moved)
    return labels[rows.node_of_row]


def same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """True for rows (n,) of equal labels, those of `other` named by the best match."""
    counts = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(counts, (one, other), 1)
    names = np.full(other.max() + 1, -1)
    rows, columns = linear_sum_assignment(-counts)
    names[columns] = rows
    return one == names[other]
