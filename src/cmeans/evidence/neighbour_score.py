"""The neighbour score, an index that is fair to clusters of any shape: how well a partition keeps
near rows together.

With a the share of pairs of a row and one of its three nearest that are in one cluster, and e that
of all pairs, the score is (a - e) / (1 - e): 0 by chance, 1 where no near rows are divided.
Clusters lighter than a hundredth of all rows, or five of them, and rows of noise are left out of
both: a few far rows are easily kept together.
"""

from __future__ import annotations

import numpy as np

from ..data.arrays import IntArray
from .near_rows import NearRows


def neighbour_score(labels: IntArray, near: NearRows) -> float:
    """Return the score of labels (n,), -1 for noise; 0 where fewer than two clusters are heavy."""
    masses = np.bincount(labels[labels >= 0], near.weights[labels >= 0])
    heavy = masses >= near.light
    if heavy.sum() < 2:
        return 0.0
    kept = np.append(heavy, False)[labels]  # the last is of noise
    pairs = near.weights[:, None] * near.shares * (kept[:, None] & kept[near.numbers])
    same = labels[:, None] == labels[near.numbers]
    chance = float(((masses[heavy] / masses[heavy].sum()) ** 2).sum())
    together = float((pairs * same).sum() / pairs.sum())
    return (together - chance) / (1.0 - chance)
