"""Values of X that are missing: distances over those that are there, about the means of the
columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data.additive import Additive
from ...data.arrays import Float64, IntArray, to_numpy
from ...data.blocks import Blocks, GivenRows
from ...data.files.schema import shortened
from ...data.precision import numpy_dtype
from ...engines import Engine, Pass
from ...runtime.user_warnings import warn
from ..procedure import FitContext, Stage

MOSTLY = 0.5  # share of a column's weight without a value from which on a warning is issued


@dataclass(frozen=True)
class Holes(Stage):
    """Rows with missing values lie in a space of their own, which counts what is observed."""

    # (d,) rows without a value in each column, known once the rows are
    missing: IntArray | None = None

    name = 'missing="partial"'

    def settle(self, context: FitContext) -> FitContext:
        blocks, name = context.blocks, context.estimator_name
        if not context.given.holes:
            return context.with_stage(Holes(np.zeros(int(blocks.x.shape[1]), np.intp)))
        sums = observed_sums(blocks, context.engine)
        if sums.missing.any():
            sums.complain(context.column_labels, name)
            # as of `EuclideanSpace.about`
            means = (sums.moment / sums.mass).astype(numpy_dtype(blocks.x))
            space = context.procedure.space_of_holes(context, means.astype(np.float64))
            context = replace(context, space=space)
        return context.with_stage(Holes(sums.missing))

    @property
    def attributes(self) -> Mapping[str, Any]:
        return {"n_missing_": self.missing}


@dataclass(frozen=True)
class ObservedSums(Additive):
    """Sums over rows by column."""

    missing: IntArray  # (d,) rows without a value
    mass: Float64  # (d,) sum of the weights of rows with a value
    moment: Float64  # (d,) sum of weight x over them
    weight: float  # sum of the weights of all rows with any value

    def complain(self, labels: Any, estimator_name: str) -> None:
        """Refuse columns (d,) in which nothing is observed; warn of those in which hardly anything
        is."""
        never = labels[self.mass <= 0].tolist()
        mostly = labels[self.mass < (1.0 - MOSTLY) * self.weight].tolist()
        if never:
            raise ValueError(
                f"{estimator_name}: X has no value in {shortened(never)}, in any row of positive "
                "weight; drop what is never observed."
            )
        if mostly:
            warn(
                f"{estimator_name}: X has no value in {shortened(mostly)} in more than half of the "
                "rows; the others alone say where centres are there. Find out why, or leave it out."
            )


@dataclass(frozen=True)
class ObservedPass(Pass[ObservedSums]):
    """A pass that sums what is observed of the columns of rows as they are given."""

    def work(self, rows: GivenRows, task: int, prepared: None) -> ObservedSums:
        d = rows.width
        sums = ObservedSums(np.zeros(d, np.intp), np.zeros(d), np.zeros(d), 0.0)
        for block in rows.task(task):
            x = to_numpy(block.x).astype(np.float64, copy=False)
            holes = np.isnan(x)
            values, weight = np.where(holes, 0.0, x), float(block.weight @ ~holes.all(axis=1))
            sums += ObservedSums(
                holes.sum(axis=0), block.weight @ ~holes, block.weight @ values, weight
            )
        return sums


def observed_sums(blocks: Blocks, engine: Engine) -> ObservedSums:
    """Return what is observed of the columns, by one pass over the rows."""
    return engine.fold(GivenRows(blocks, blocks.numbers_of_a_row), ObservedPass())
