"""Single-pass fuzzy c-means as the papers of streams compare it: spFCM, oFCM, and their kernel
versions by medoids.

spFCM (Hore, Hall, Goldgof 2007) carries weighted centres from chunk to chunk; oFCM (Hore, Hall,
Goldgof, Cheng 2008) clusters every chunk by itself and then all their weighted centres. In kernel
space (Havens and others 2012) the row nearest to a centre goes in its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cmeans import FuzzyCMeans, KernelPatchClustering
from cmeans.papers import StreamingKernelFCM

METHODS = ("spFCM", "oFCM", "spKFCM", "oKFCM")


def labels_of(
    method: str, x: np.ndarray, clusters: int, size: int, m: float, seed: int, **kernel: Any
) -> np.ndarray:
    """Labels of all rows at the end, from chunks of at most `size` rows."""
    if method == "oFCM":
        return online_fcm(x, clusters, size, m, seed)
    if method == "spFCM":
        how: dict[str, Any] = {
            "kernel": "linear",
            "chunk_size": size,
            "past_weight": "u",
            "meta_membership": "update",
        }
        return (
            StreamingKernelFCM(clusters, m=m, search=None, random_state=seed, **how).fit(x).labels_
        )
    merge = "tree" if method == "oKFCM" else "chain"
    return (
        KernelPatchClustering(
            clusters, m=m, patch_size=size, n_points=1, merge=merge, random_state=seed, **kernel
        )
        .fit(x)
        .labels_
    )


def online_fcm(x: np.ndarray, clusters: int, size: int, m: float, seed: int) -> np.ndarray:
    """oFCM: centres of every chunk, weighted by sum_i u_ij, and then centres of these."""
    words: dict[str, Any] = {"m": m, "kernel": "linear", "search": None, "random_state": seed}
    centres, weights = [], []
    for chunk in np.array_split(x, -(-len(x) // size)):
        model = FuzzyCMeans(clusters, **words).fit(chunk)
        centres.append(model.cluster_centers_)
        weights.append(model.memberships_.sum(axis=0))
    last = FuzzyCMeans(clusters, **words).fit(
        np.vstack(centres), sample_weight=np.concatenate(weights)
    )
    return last.predict(x)
