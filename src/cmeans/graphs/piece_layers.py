"""Clusters of one layer inside those of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from ..data.arrays import IntArray
from ..data.outputs import Labels

ClusterTree = dict[tuple[int, int], list[tuple[int, int]]]


def cluster_tree(layers: Sequence[Labels]) -> ClusterTree:
    """Return the clusters of finer layers within each cluster of the layers above them, as (layer,
    cluster), the layers counted from the finest; above all is (len(layers), 0). Where layers are
    not nested, a cluster is in the one that holds most of its rows."""
    tree: ClusterTree = {}
    for layer, labels in enumerate(layers):
        count = int(labels.max(initial=-1)) + 1
        above = np.full((count, 2), (len(layers), 0))
        for upper in range(len(layers) - 1, layer, -1):  # the nearest one that holds them last
            holder = _holders(labels, layers[upper], count)
            above[holder >= 0] = np.column_stack([np.full(count, upper), holder])[holder >= 0]
        for cluster, (upper, holder) in enumerate(above.tolist()):
            tree.setdefault((upper, holder), []).append((layer, cluster))
    return tree


def _holders(labels: Labels, upper: Labels, count: int) -> IntArray:
    """Return the cluster of an upper layer that holds most rows of each of the clusters, of several
    the first; -1 where none holds any."""
    both = (labels >= 0) & (upper >= 0)
    shape = count, int(upper.max(initial=0)) + 1
    parts = np.ones(int(both.sum())), (labels[both], upper[both])
    rows = sparse.coo_array(parts, shape=shape).tocsr()
    return np.where(np.diff(rows.indptr) > 0, np.ravel(rows.argmax(axis=1)), -1)
