"""Scaling of features to one range inside a fit: the factor of each feature."""

from __future__ import annotations

import numpy as np

from ..runtime.user_warnings import NOT_FINITE
from .arrays import Array, Float64, is_sparse, numpy_dtype, to_numpy
from .blocks import blocks_of, spans

RANGE = 10.0  # of each scaled feature, as in the papers
ROWS = 4096  # read at once


def factors_to_ten(x: Array, weight: Float64, estimator_name: str) -> Float64:
    """Return the factors (d,) that give every feature of the rows of positive weight the range 10; 1 for constant features."""
    low, high = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for part, (start, stop) in zip(blocks_of(x, ROWS), spans(int(x.shape[0]), ROWS), strict=True):
        counted = np.flatnonzero(weight[start:stop] > 0)
        if len(counted) == 0:
            continue
        if is_sparse(part):
            rows = part[counted]
            lowest, highest = rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
        else:
            dense = to_numpy(part)[counted]
            lowest, highest = dense.min(axis=0), dense.max(axis=0)
        low, high = np.minimum(low, lowest), np.maximum(high, highest)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        width: Float64 = high - low
        factors = RANGE / width
    if not np.isfinite(width).all():
        raise ValueError(f"{estimator_name}: {NOT_FINITE}")
    return np.where((width > 0) & (factors < np.finfo(numpy_dtype(x)).max), factors, 1.0)
