"""Which cluster of one layer is in which of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.outputs import Labels

ClusterTree = dict[tuple[int, int], list[tuple[int, int]]]


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
