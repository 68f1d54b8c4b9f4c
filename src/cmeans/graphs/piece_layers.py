"""A few numbers of clusters that stand out, and which cluster of one is in which of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.outputs import Labels

FINER = 1.5  # times as many clusters at least has each layer than the one above it
LAYERS = 6  # at most
GAP = 1.05  # times as large as the next is the gain of the last cluster of a layer at least

ClusterTree = dict[tuple[int, int], list[tuple[int, int]]]


def layer_sizes(gain: Float64, least: int, most: int) -> IntArray:
    """Return the numbers of clusters of layers, the largest first: those after which the gain of
    one more falls most, no two of them near each other.

    `gain` (q,) are the falls of the cost by each cluster, the largest first.
    """
    k = np.arange(least, min(most, len(gain) - 1) + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = np.where(gain[k] > 0, gain[k - 1] / gain[k], np.where(gain[k - 1] > 0, np.inf, 0.0))
    chosen: list[int] = []
    for number in k[np.argsort(-fall, kind="stable")].tolist():
        if fall[number - least] < GAP or len(chosen) == LAYERS:
            break
        if all(max(number, other) >= FINER * min(number, other) for other in chosen):
            chosen.append(number)
    return np.array(sorted(chosen, reverse=True), dtype=np.intp)


def cluster_tree(layers: Sequence[Labels]) -> ClusterTree:
    """Return the clusters of finer layers within each cluster of the layers above them, as (layer,
    cluster), the layers counted from the finest; above all is (len(layers), 0)."""
    tree: ClusterTree = {}
    for layer, labels in enumerate(layers):
        count = int(labels.max(initial=-1)) + 1
        above = np.full((count, 2), (len(layers), 0))
        for upper in range(len(layers) - 1, layer, -1):  # the nearest one that holds them last
            holder = np.full(count, -1)
            np.maximum.at(holder, labels[labels >= 0], layers[upper][labels >= 0])
            above[holder >= 0] = np.column_stack([np.full(count, upper), holder])[holder >= 0]
        for cluster, (upper, holder) in enumerate(above.tolist()):
            tree.setdefault((upper, holder), []).append((layer, cluster))
    return tree
