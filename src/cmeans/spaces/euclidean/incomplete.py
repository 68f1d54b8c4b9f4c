"""The Euclidean space of rows with missing values whose clusters have metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...data.arrays import (
    Array,
    Float64,
    IntArray,
    as_like,
    host_float64,
    namespace,
    squared_norms,
    to_numpy,
)
from ...data.blocks import Block
from ...data.missing import MeanFilled
from ...runtime.stored_classes import stored
from ..centres import Centres
from ..rows import ProductRows, Rows
from .points import PointSpace


@stored
@dataclass(frozen=True)
class IncompleteSpace(PointSpace):
    """Rows about `shift`, the means of the columns, with what clusters expect in place of what is
    missing (`CompletedRows`). Where there are no metrics, means are in its place."""

    shift: Float64  # (d,)
    deviations: Float64  # (d,) of the values that are there; 0 in columns of one value
    spherical = False
    empty_row_has = "no value at all, only NaN"
    may_hold_empty_rows = True
    sweeps_products = False
    keeps_rows_cheaply = False
    takes_metrics = True
    completes_rows = True
    pairs_by_kernel = False

    def __post_init__(self) -> None:
        if self.shift.ndim != 1 or self.deviations.shape != self.shift.shape:
            raise ValueError(
                f"IncompleteSpace: a shift {self.shift.shape} and deviations "
                f"{self.deviations.shape} are no point and its scales"
            )

    @property
    def size(self) -> int:
        """As many as a row's covariances have numbers."""
        return len(self.shift) ** 2

    @property
    def moment_width(self) -> int:
        return len(self.shift)

    @property
    def typical_scales(self) -> Float64:
        known = self.deviations > 0
        return np.where(known, 1.0 / np.where(known, self.deviations, 1.0), 0.0)

    @property
    def filling(self) -> MeanFilled:
        return MeanFilled(self.shift)

    def rows(self, block: Block, room: Array | None = None) -> Rows:
        xp, holes = namespace(block.x), namespace(block.x).isnan(block.x)
        x = block.x - as_like(self.shift, block.x)[None, :]
        x = xp.where(holes, xp.zeros_like(x), x)
        return ProductRows(x, squared_norms(x), holes)

    def empty_rows(self, rows: Rows) -> IntArray:
        return np.flatnonzero(to_numpy(rows.plain().holes).all(axis=1))

    def embed(self, block: Block, numbers: IntArray | None = None) -> Centres:
        rows = self.rows(replace(block, x=host_float64(block.x)))
        return Centres.orthonormal(host_float64(rows.plain().g))
