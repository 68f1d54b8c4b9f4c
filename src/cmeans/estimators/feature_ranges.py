"""Features brought to one range inside a fit: what each is multiplied by."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Float64, is_sparse, numpy_dtype, to_numpy
from ..blocks import pieces, spans
from ..complaints import NOT_FINITE

RANGE = 10.0  # what a feature ranges over, as the papers have it
ROWS = 4096  # looked at together


def factors_to_ten(x: Array, weight: Float64, owner: str) -> Float64:
    """(d,) factors that make every feature of the rows of positive weight range over 10; 1 for features that are constant."""
    low, high = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for part, (start, stop) in zip(pieces(x, ROWS), spans(int(x.shape[0]), ROWS), strict=True):
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
        raise ValueError(f"{owner}: {NOT_FINITE}")
    return np.where((width > 0) & (factors < np.finfo(numpy_dtype(x)).max), factors, 1.0)
