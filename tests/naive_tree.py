"""Minimum spanning trees of all pairs of rows by loops: Kruskal 1956, over edges in the order of
their lengths, and of their rows' numbers where these are equal."""

from __future__ import annotations

import itertools
import math

import numpy as np


def distances(points):
    """|x_i - x_j| (n, n): squares of differences, added column by column."""
    squares = np.zeros((len(points), len(points)))
    for column in points.T:
        differences = column[:, None] - column[None, :]
        squares += differences * differences
    return np.sqrt(squares)


def core_distances(d, weights, min_samples):
    """The least radius within which rows weigh enough; infinite where all rows together do not."""
    core = np.full(len(d), math.inf)
    for i, row in enumerate(d):
        total = 0.0
        for j in sorted(range(len(d)), key=lambda j: (j != i, row[j])):
            if not math.isfinite(row[j]):
                break
            total += weights[j]
            if total >= min_samples:
                core[i] = 0.0 if j == i else row[j]
                break
    return core


def tree(d, core):
    """Edges [(i, j), ...] and their lengths, under max(d_ij, core_i, core_j)."""
    n = len(d)
    reach = np.maximum(d, np.maximum(core[:, None], core[None, :]))
    parents = list(range(n))

    def root(i):
        while parents[i] != i:
            parents[i] = i = parents[parents[i]]
        return i

    edges, lengths = [], []
    for length, i, j in sorted((reach[i, j], i, j) for i, j in itertools.combinations(range(n), 2)):
        if math.isfinite(length) and root(i) != root(j):
            parents[root(i)] = root(j)
            edges.append((i, j))
            lengths.append(length)
    return np.array(edges, np.int64).reshape(-1, 2), np.array(lengths)
