"""Affinities between rows and their nearest neighbours, on the scale of each row.

Zelnik-Manor, Perona 2004, "Self-tuning spectral clustering".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..data.arrays import Float64, IntArray, diagonal_csr

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
    ratio = np.divide(distances, one, out=np.zeros_like(distances), where=one > 0)
    other = np.divide(distances, two, out=np.zeros_like(distances), where=two > 0)
    found: Float64 = np.maximum(np.exp(-ratio * other), LEAST)
    return found


def affinity_graph(
    distances: Float64,  # (n, k) ascending
    numbers: npt.NDArray[Any],  # (n, k)
    weights: Float64,  # (n,) of the rows, of which no two are equal
    most: int,  # neighbours by weight
) -> tuple[Any, Float64]:
    """Return the symmetric affinities (n, n), CSR, and the scales (n,) of rows.

    A row of weight w stands for w equal ones, each with an edge to its nearest neighbours, the
    other copies first. An edge stays if either end lists the other.
    """
    n, k = numbers.shape
    copies, of_others = np.maximum(weights - 1.0, 0.0), weights[numbers]
    widths = scales(distances, of_others, copies)
    listed = counted(of_others, copies, most) * weights[:, None]
    values = listed * affinities(
        distances, np.broadcast_to(widths[:, None], (n, k)), widths[numbers]
    )
    parts = (values.ravel(), numbers.ravel(), k * np.arange(n + 1))
    one_way = sparse.csr_array(parts, shape=(n, n))
    loops = diagonal_csr(weights * np.minimum(copies, most))
    both = sparse.csr_array(one_way.maximum(one_way.T.tocsr()) + loops)
    both.eliminate_zeros()
    both.sort_indices()
    return both, widths


def arcs_of_new_rows(
    distances: Float64,  # (b, k) to rows of the graph, ascending
    numbers: npt.NDArray[Any],  # (b, k)
    weights: Float64,  # (n,)
    widths: Float64,  # (n,) scales of the rows of the graph
    most: int,
) -> Any:
    """Return the affinities (b, n), CSR, of new rows to their nearest neighbours."""
    b, k = numbers.shape
    of_others = weights[numbers]
    own = scales(distances, of_others, np.zeros(b))
    values = counted(of_others, np.zeros(b), most) * affinities(
        distances, np.broadcast_to(own[:, None], (b, k)), widths[numbers]
    )
    parts = (values.ravel(), numbers.ravel().astype(np.int64), k * np.arange(b + 1))
    return sparse.csr_array(parts, shape=(b, len(weights)))


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
