"""Shares of k(x, x) + |v|^2 by which rounding may change a squared distance, and below which two of
them tie. Products are summed in lanes, so that few roundings follow each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import rounding
from ..native.calls import LINE


def margin_of_bounds(dtype: Any, columns: int, size: int) -> float:
    """Return the share of a bound by `size` directions.

    Each coordinate errs by the roundings of its product over `columns` of |x|, all of them by
    sqrt(size) times that; the bound is summed over them one after the other.
    """
    lanes = columns * np.dtype(dtype).itemsize / LINE + 5.0
    return _share(dtype, (1.0 + size**0.5) * lanes + size + 8.0)


def margin_of_products(dtype: Any, columns: int) -> float:
    """Return the share of a distance by products of all columns, summed one after the other, beside
    one by products in lanes."""
    return _share(dtype, columns * (1.0 + np.dtype(dtype).itemsize / LINE) + 16.0)


def _share(dtype: Any, roundings: float) -> float:
    """Return the share of so many roundings, of 2^-24 each in float32."""
    unit = float(np.finfo(dtype).eps) / 2.0
    return float(rounding(dtype) + 2.0 * unit * roundings)
