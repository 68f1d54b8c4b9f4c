"""Validation of the weights of rows, and the unit in which fits have them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..data.arrays import Float64, is_foreign, to_numpy
from ..data.containers import unlabelled
from ..engines import brought, column_beside
from .validation import CheckedRows, intact, refuse_entries


def weights_of(
    given: CheckedRows, sample_weight: Any, estimator_name: str
) -> tuple[Float64, float]:
    """Return sample weights (n,) and their unit: those given, or those that come with the rows."""
    if given.weight is not None and sample_weight is not None:
        raise ValueError(
            f"{estimator_name}: sample_weight is given, and X brings weights of its own; open it "
            "without weight=..., or leave it out."
        )
    if sample_weight is None and given.weight is None:
        return read_weights(None, int(given.x.shape[0]), estimator_name)
    weight = unlabelled(given.weight if sample_weight is None else sample_weight)
    check = partial(_checked_weights, estimator_name)
    column = column_beside(given.x, weight, check, "sample_weight", estimator_name)
    if column is not None:
        return _in_unit(column, estimator_name)
    return read_weights(brought(weight), int(given.x.shape[0]), estimator_name)


def read_weights(sample_weight: Any, n: int, estimator_name: str) -> tuple[Float64, float]:
    """Return sample weights (n,) in float64 and their unit; for None a broadcast constant.

    Weights far from 1, which float32 could not hold, are divided by a power of two, the unit, and
    results multiplied by it: only ratios matter, and such factors round nothing.
    """
    if sample_weight is None:
        return np.broadcast_to(1.0, (n,)), 1.0
    sample_weight = intact(sample_weight, "sample_weight", estimator_name)
    weight = np.asarray(to_numpy(sample_weight) if is_foreign(sample_weight) else sample_weight)
    if weight.ndim == 0:
        weight = np.full(n, weight)
    if weight.shape != (n,):
        raise ValueError(
            f"{estimator_name}: sample_weight has shape {weight.shape}; one weight for each of the "
            f"{n} rows is needed: shape ({n},)."
        )
    return _in_unit(_checked_weights(estimator_name, weight), estimator_name)


def _checked_weights(estimator_name: str, weight: Any, start: int = 0) -> Float64:
    """Return sample weights in float64, those from row `start` on."""
    try:
        with np.errstate(invalid="ignore"):  # a NaN may be a signalling one
            weight = weight.astype(
                np.float64, casting="safe" if np.iscomplexobj(weight) else "unsafe"
            )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{estimator_name}: sample_weight must be numbers: {error}.") from None
    said = f"{estimator_name}: sample_weight"
    refuse_entries(~np.isfinite(weight), weight, said, "weights must be finite", start)
    refuse_entries(weight < 0, weight, said, "weights must not be negative", start)
    return np.asarray(weight, np.float64)


def _in_unit(weight: Any, estimator_name: str) -> tuple[Any, float]:
    """Return the same weights in a unit in which they are near 1, and the unit."""
    if not weight.any():
        raise ValueError(
            f"{estimator_name}: every sample weight is zero; at least one row must have a positive "
            "weight."
        )
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError(
            f"{estimator_name}: the sample weights add up to more than float64 holds; divide them "
            f"by {weight.max():.3g}."
        )
    power = int(np.frexp(weight.max())[1])
    if abs(power) <= 30:
        return weight, 1.0
    if isinstance(weight, np.ndarray):
        scaled = np.ldexp(weight, -power)
    else:
        scaled = weight.mapped(np.ldexp, -power)
    return scaled, float(np.ldexp(1.0, min(power, 1023)))
