"""The agreement of partitions of the same rows."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray


def shared(ours: IntArray, theirs: IntArray, weights: Float64) -> Float64:
    """Return the weights (c, k) that clusters of two partitions share, none of them -1."""
    c, k = int(ours.max()) + 1, int(theirs.max()) + 1
    total: Float64 = np.bincount(ours * k + theirs, weights, c * k).astype(np.float64).reshape(c, k)
    return total


def agreement(both: Float64) -> float:
    """Return the adjusted Rand index of two partitions by the weights that their clusters share,
    pairs counted with a row and itself (large numbers of rows make no difference)."""
    total = both.sum()
    ours, theirs = (both.sum(axis=1) ** 2).sum(), (both.sum(axis=0) ** 2).sum()
    chance, most = ours * theirs / total**2, (ours + theirs) / 2.0
    return 1.0 if most <= chance else float(((both**2).sum() - chance) / (most - chance))


def information(both: Float64) -> float:
    """Return the mutual information of two partitions less half of what one lacks of the other
    (their variation of information), in nats."""
    shares = both / both.sum()
    joint, ours, theirs = (_entropy(p) for p in (shares, shares.sum(axis=1), shares.sum(axis=0)))
    return ours + theirs - joint - 0.5 * (2.0 * joint - ours - theirs)


def _entropy(shares: Float64) -> float:
    positive = shares[shares > 0]
    return -float((positive * np.log(positive)).sum())
