"""Bounds of clusters' sizes from the parameters `size_min` and `size_max`."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..data.arrays import Float64
from ..data.blocks import Blocks
from ..solvers.sizes import SizeLimits
from .validation import host_array

SizesArgument: TypeAlias = float | Sequence[float] | None  # of both parameters; arrays are sequences too
LEAST = {"size_min": "at least 0", "size_max": "above 0"}


@dataclass(frozen=True)
class GivenSizes:
    """Bounds as they are given: values below 1 are shares of the rows' weight, others weights."""

    low: Float64  # (c,) or (1,)
    high: Float64  # (c,) or (1,), infinite where there is no bound
    given: str  # for messages
    estimator_name: str

    def limits(self, blocks: Blocks, n_clusters: int, *, soft: bool) -> SizeLimits:
        """Return the bounds for all clusters, if there are rows for them."""
        for values, name in ((self.low, "size_min"), (self.high, "size_max")):
            if len(values) not in (1, n_clusters):
                raise ValueError(
                    f"{self.estimator_name}({self.given}): {name} holds {len(values)} numbers for n_clusters={n_clusters}; give one for "
                    "each cluster, or one for all."
                )
        total = float(blocks.weight.sum()) * blocks.unit
        low, high = (np.broadcast_to(values, (n_clusters,)) for values in (self.low, self.high))
        shares = np.where(low < 1, low, low / total), np.where(high < 1, high, np.minimum(high / total, 1.0))
        limits = SizeLimits(*shares, low_is_share=low < 1, high_is_share=high < 1)
        complaint = limits.complaint(limits.over(blocks.weight, soft=soft), blocks.unit, "rows" if blocks.alike else "of weight")
        if complaint is not None:
            raise ValueError(
                f"{self.estimator_name}({self.given}): {complaint}. Values below 1 are shares of all rows, others their number (of "
                "weighted rows, the sum of their weights)."
            )
        return limits


def given_sizes(size_min: Any, size_max: Any, estimator_name: str) -> GivenSizes | None:
    """Return `size_min` and `size_max`, checked as far as is possible without rows; None where neither is given."""
    if size_min is None and size_max is None:
        return None
    low = np.zeros(1) if size_min is None else _numbers(size_min, "size_min", estimator_name)
    high = np.full(1, np.inf) if size_max is None else _numbers(size_max, "size_max", estimator_name)
    given = ", ".join(f"{name}={value!r}" for name, value in (("size_min", size_min), ("size_max", size_max)) if value is not None)
    alike = (np.maximum(low, high) < 1) | (np.minimum(low, high) >= 1) if len({1, len(low), len(high)}) < 3 else np.zeros(1, bool)
    if (alike & (low > high)).any():
        raise ValueError(f"{estimator_name}({given}): size_min must not be above size_max.")
    if (low < 1).all() and len(low) > 1 and math.fsum(low) > 1 + 1e-9:
        raise ValueError(f"{estimator_name}({given}): the shares of size_min add up to {math.fsum(low):.6g}; they must not exceed 1.")
    if (high < 1).all() and len(high) > 1 and math.fsum(high) < 1 - 1e-9:
        raise ValueError(f"{estimator_name}({given}): the shares of size_max add up to {math.fsum(high):.6g}; all rows must find room.")
    return GivenSizes(low, high, given, estimator_name)


def _numbers(value: Any, name: str, estimator_name: str) -> Float64:
    """Return one number, or one for each cluster, in an array."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        values = np.array([float(value)])
    else:
        array = np.asarray(None) if isinstance(value, (str, bytes, bool)) else host_array(value, name, estimator_name)
        if array.ndim != 1 or not len(array) or not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
            raise ValueError(
                f"{estimator_name}({name}={value!r}): {name} must be a number, or an array of one number for each cluster: below 1 "
                "a share of all rows, from 1 on a number of them."
            )
        values = array.astype(np.float64)
    wanted = LEAST[name]
    if not (np.isfinite(values) & ((values > 0) | ((values == 0) & (name == "size_min")))).all():
        raise ValueError(f"{estimator_name}({name}={value!r}): {name} must be finite and {wanted}.")
    return values
