"""Counts and sums of what is observed of the columns of rows with missing values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.arrays import Float64, IntArray, to_numpy
from ...data.blocks import Blocks
from ...engines import Engine, Pass
from ...spaces import EuclideanSpace
from ...sweeps.represented_rows import RepresentedRows


@dataclass(frozen=True)
class ObservedSums:
    """Sums over rows by column."""

    missing: IntArray  # (d,) rows without a value
    mass: Float64  # (d,) sum of the weights of rows with a value
    moment: Float64  # (d,) sum of weight x over them
    weight: float  # sum of the weights of all rows with any value

    def __add__(self, other: ObservedSums) -> ObservedSums:
        return ObservedSums(
            self.missing + other.missing,
            self.mass + other.mass,
            self.moment + other.moment,
            self.weight + other.weight,
        )

    @property
    def means(self) -> Float64:
        """(d,) weighted means of the columns."""
        return self.moment / self.mass


@dataclass(frozen=True)
class ObservedPass(Pass[ObservedSums]):
    """A pass that sums what is observed of the columns of rows as they are given."""

    def work(self, rows: RepresentedRows, task: int, prepared: None) -> ObservedSums:
        d = rows.space.size
        sums = ObservedSums(np.zeros(d, np.intp), np.zeros(d), np.zeros(d), 0.0)
        for block in rows.blocks.task(task, d):
            x = to_numpy(block.x).astype(np.float64, copy=False)
            holes = np.isnan(x)
            values, weight = np.where(holes, 0.0, x), float(block.weight @ ~holes.all(axis=1))
            sums += ObservedSums(holes.sum(axis=0), block.weight @ ~holes, block.weight @ values, weight)
        return sums


def observed_sums(blocks: Blocks, engine: Engine) -> ObservedSums:
    """Return what is observed of the columns, by one pass over the rows."""
    as_given = EuclideanSpace(np.zeros(int(blocks.x.shape[1])))
    return engine.fold(RepresentedRows(as_given, blocks, 0), ObservedPass())
