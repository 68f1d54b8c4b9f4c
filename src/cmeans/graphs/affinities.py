"""Affinities between rows and their nearest neighbours, on the scale of each row.

Zelnik-Manor, Perona 2004, "Self-tuning spectral clustering".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..data.arrays import Float64, IntArray, ratios

SCALE = 7  # the neighbour whose distance is a row's scale
LEAST = 2.0**-20  # affinity of a row to its neighbours


def counted(
    weights: Float64,  # (n, k) of the neighbours
    copies: Float64,  # (n,) of each row beside itself, which are its nearest neighbours
    most: int,
) -> Float64:
    """Return how much of each neighbour's weight (n, k) is among the `most` nearest by weight."""
    before = copies[:, None] + np.cumsum(weights, axis=1) - weights
    found: Float64 = np.clip(most - before, 0.0, weights)
    return found


def scales(distances: Float64, weights: Float64, copies: Float64) -> Float64:
    """Return the distance (n,) to the seventh neighbour of each row, by weight, or by number where
    weights are less than one; 0 where so many are copies of it."""
    if not distances.shape[1]:
        return np.zeros(len(distances))
    place = min(SCALE, distances.shape[1]) - 1
    enough = copies[:, None] + np.cumsum(weights, axis=1) >= SCALE
    enough[:, place] = True
    nearest: Float64 = distances[np.arange(len(distances)), enough.argmax(axis=1)]
    return np.where(copies >= SCALE, 0.0, nearest)


def affinities(distances: Float64, own: Float64, others: Float64) -> Float64:
    """Return exp(-d^2 / s_i s_j), by the scales s of both ends. Where one of them is 0, the other
    stands for both; where both are, the distance itself."""
    one = np.where(own > 0, own, others)
    two = np.where(others > 0, others, own)
    one, two = np.where(one > 0, one, distances), np.where(two > 0, two, distances)
    return np.maximum(np.exp(-ratios(distances, one) * ratios(distances, two)), LEAST)


def gains(
    arcs: Any,  # (b, n) CSR, without those of rows to themselves
    labels: IntArray,  # (n,)
    strengths: Float64,  # (n,)
    resolution: float,
    own: IntArray | None = None,  # (b,) the rows of the graph that these are; None: new ones
) -> Any:
    """Return the gain of modularity (b, c), CSR, for which a row joins each community that it has
    an edge to."""
    c = int(labels.max()) + 1
    one_hot = sparse.csr_array(
        (np.ones(len(labels)), labels, np.arange(len(labels) + 1)), shape=(len(labels), c)
    )
    found = sparse.csr_array(arcs @ one_hot)
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    degree = np.bincount(rows, found.data, found.shape[0]) if own is None else strengths[own]
    total = np.bincount(labels, strengths, c)[found.indices]
    if own is not None:
        total = total - np.where(found.indices == labels[own][rows], strengths[own][rows], 0.0)
    found.data = found.data - resolution * degree[rows] * total / strengths.sum()
    return found
