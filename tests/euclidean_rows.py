"""Rows of plain features in their space, for tests of the parts that fits are made of."""

from __future__ import annotations

import numpy as np

from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.spaces import EuclideanSpace
from cmeans.sweeps.represented_rows import RepresentedRows


def euclidean_rows(
    X: np.ndarray,
    weight: np.ndarray | None = None,
    keep_bytes: int = 0,
    limits: Limits | None = None,
) -> RepresentedRows:
    """Rows (n, d), with weights (n,) or of weight 1."""
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    blocks = Blocks(X, weight, limits=limits or Limits())
    return RepresentedRows(EuclideanSpace(np.zeros(X.shape[1])), blocks, keep_bytes)
