"""Clusters that are joined across their shallowest valleys."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray
from .valleys import Borders, Edges


def merged(
    labels: IntArray,  # (n,) of no noise
    weights: Float64,  # (n,)
    edges: Edges,
    depths: tuple[float, ...],  # rising
    light: float,
) -> list[IntArray]:
    """Return the partition (n,) in which no valley is shallower, for each of some depths.

    Clusters lighter than `light` join the one with which they share most edges, the lightest first.
    Then those join between which the valley is shallowest.
    """
    borders = Borders.of(labels, edges)
    masses: Float64 = np.bincount(labels, weights).astype(np.float64)
    valleys = borders.valleys()
    names = np.arange(len(masses))
    found: list[IntArray] = []
    alive = masses > 0

    def join(kept: int, gone: int) -> None:
        nonlocal borders, valleys
        borders = borders.joined(kept, gone)
        masses[kept] += masses[gone]
        alive[gone] = False
        names[names == gone] = kept
        valleys = borders.valleys()
        valleys[~alive], valleys[:, ~alive] = np.inf, np.inf

    while (small := _lightest(masses, alive, borders.counts, light)) is not None:
        join(small[1], small[0])
    for depth in depths:
        while valleys.min() < depth:
            gone, kept = np.unravel_index(int(valleys.argmin()), valleys.shape)
            join(int(kept), int(gone))
        found.append(in_order(names[labels]))
    return found


def in_order(labels: IntArray) -> IntArray:
    """Return labels numbered by the first row of each, so that equal partitions are equal."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers: IntArray = np.argsort(np.argsort(first))[inverse.ravel()]
    return numbers


def _lightest(
    masses: Float64, alive: npt.NDArray[np.bool_], counts: Float64, light: float
) -> tuple[int, int] | None:
    """Return the lightest cluster below a weight that has edges to others, and the one with most
    of these."""
    for cluster in np.argsort(masses, kind="stable"):
        if not alive[cluster]:
            continue
        if masses[cluster] >= light:
            return None
        others = counts[cluster].copy()
        others[cluster] = 0.0
        if others.max() > 0:
            return int(cluster), int(others.argmax())
    return None
