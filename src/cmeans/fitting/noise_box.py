"""The box over which noise of a mixture is spread, and rows far outside it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Float64, IntArray, host_float64, to_numpy
from ..data.blocks import Blocks, GivenRows
from ..engines import Engine, NumberedPass
from .geometry import Geometry

JUDGED_ROWS = 10_000  # of which a fair sample has quantiles
OUTSIDE = 0.01  # share of the rows beyond either end of a column's range, one row at least
ROUNDING = 1e-9  # of sums of weights
STRETCH = 1.1  # of the ranges: a row at 10^4 of them must not make noise thin
FAR = 1.0  # ranges beyond the ends from which on rows have no part in how runs start


@dataclass(frozen=True)
class NoiseBox:
    """The ends of the columns of rows, but for a few rows beyond them."""

    low: Float64  # (d,)
    high: Float64  # (d,)

    @classmethod
    def of(cls, geometry: Geometry) -> NoiseBox:
        """Return the box of a fair sample of the rows, the same for every random_state. Of a column
        in which nearly all rows have one value the ends are those of all of them."""
        positions, weights = geometry.population.fixed_sample_of(JUDGED_ROWS)
        x = host_float64(geometry.blocks.take(geometry.population.at(positions)).x)
        counts = weights * geometry.blocks.unit
        ends = np.array([_ends(column, counts) for column in x.T])
        return cls(ends[:, 0], ends[:, 1])

    @property
    def ranges(self) -> Float64:
        """(d,) of the noise in each column."""
        return (self.high - self.low) * STRETCH

    def without_far_rows(self, blocks: Blocks, engine: Engine) -> Blocks | None:
        """Return the rows, with no weight where they are far outside; None where none are."""
        room = FAR * (self.high - self.low)
        outside = FarRowsPass(self.low - room, self.high + room)
        rows = np.concatenate(engine.fold(GivenRows(blocks, blocks.numbers_of_a_row), outside))
        if not len(rows) or len(rows) == blocks.n_rows:
            return None
        weight: Float64 = blocks.by_row(np.float64)
        weight[:] = blocks.weight[:]
        weight[rows] = 0.0
        return replace(blocks, weight=weight)


@dataclass(frozen=True)
class FarRowsPass(NumberedPass[list[IntArray]]):
    """Numbers of rows outside a box."""

    low: Float64
    high: Float64

    def work(self, rows: GivenRows, task: int, prepared: None) -> list[IntArray]:
        found = []
        for block in rows.task(task):
            x = to_numpy(block.x)
            outside = ((x < self.low) | (x > self.high)).any(axis=1)
            found.append(self.first + block.start + np.flatnonzero(outside))
        return found


def _ends(column: Float64, weights: Float64) -> tuple[float, float]:
    order = np.argsort(column, kind="stable")[: np.count_nonzero(~np.isnan(column))]
    values, weights = column[order], weights[order]
    beyond = max(OUTSIDE * float(weights.sum()), 1.0) * (1.0 + ROUNDING)
    low = np.searchsorted(np.cumsum(weights), beyond, side="right")
    high = len(values) - 1 - np.searchsorted(np.cumsum(weights[::-1]), beyond, side="right")
    if low < high and values[low] < values[high]:
        return values[low], values[high]
    return values[0], values[-1]
