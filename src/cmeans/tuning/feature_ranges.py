"""Factors that bring all features to one range inside a fit, by a pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64, numpy_dtype
from ..data.blocks import Blocks, GivenRows
from ..data.scaling import extremes
from ..engines import Engine, Pass
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError

RANGE = 10.0  # of each scaled feature, as in the papers


@dataclass(frozen=True)
class Extremes:
    """The smallest and largest values (d,) of each feature."""

    low: Float64
    high: Float64

    def __add__(self, other: Extremes) -> Extremes:
        return Extremes(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


class _ExtremesPass(Pass[Extremes]):
    """Extremes of the rows of positive weight."""

    def work(self, rows: GivenRows, task: int, prepared: None) -> Extremes:
        found = [Extremes(*extremes(block.x, block.weight)) for block in rows.task(task)]
        return Extremes(np.min([one.low for one in found], axis=0), np.max([one.high for one in found], axis=0))


def factors_to_ten(blocks: Blocks, engine: Engine, estimator_name: str) -> Float64:
    """Return the factors (d,) that give every feature of the rows of positive weight the range 10; 1 for constant features."""
    found = engine.fold(GivenRows(blocks, int(blocks.x.shape[1])), _ExtremesPass())
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        width: Float64 = found.high - found.low
        factors = RANGE / width
    if not np.isfinite(width).all():
        raise OutOfRangeError(f"{estimator_name}: {NOT_FINITE}")
    return np.where((width > 0) & (factors < np.finfo(numpy_dtype(blocks.x)).max), factors, 1.0)
