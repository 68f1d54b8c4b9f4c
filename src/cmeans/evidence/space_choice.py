"""The choice between partitions into the same number of clusters: the one that keeps near rows
together, and that others agree with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..data.arrays import IntArray
from .agreement import agreement, shared
from .merging import in_order
from .near_rows import NearRows
from .neighbour_score import neighbour_score

AGREED = 0.1  # of the score: how much the mean index with the others counts


def judged_partitions(
    partitions: Mapping[str, IntArray], near: NearRows
) -> dict[str, tuple[float, float]]:
    """Return for labels (n,) of each space their neighbour score, and their mean adjusted Rand
    index with those of the others; 0 where there are none."""
    ordered = {space: in_order(labels) for space, labels in partitions.items()}
    found = {}
    for space, labels in ordered.items():
        others = [
            agreement(shared(labels, other, near.weights))
            for name, other in ordered.items()
            if name != space
        ]
        mean = float(np.mean(others)) if others else 0.0
        found[space] = neighbour_score(partitions[space], near), mean
    return found


def best_partition(judged: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the spaces, the one of the best partition first."""
    return sorted(judged, key=lambda space: -(judged[space][0] + AGREED * judged[space][1]))
