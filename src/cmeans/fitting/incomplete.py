"""Rows with missing values of mixtures: their space, and which columns are never seen together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64, to_numpy
from ..data.blocks import GivenRows
from ..data.precision import numpy_dtype, resolution
from ..engines import Pass
from ..runtime.user_warnings import warn
from ..spaces import IncompleteSpace
from .procedure import FitContext

SHOWN = 3  # pairs of columns in a message
ROUNDINGS = 4  # of a column's mean: deviations that are no larger say nothing


@dataclass(frozen=True)
class SeenPass(Pass[Float64]):
    """(d, 2) sums over rows by column: of the weights of the values that are there, and of their
    weighted squares about the means; where pairs count, also (d, d) of the weights of rows that
    have values in two columns together."""

    means: Float64  # (d,)
    pairs: bool

    def work(self, rows: GivenRows, task: int, prepared: None) -> Float64:
        d = len(self.means)
        total = np.zeros((d, 2 + d * self.pairs))
        for block in rows.task(task):
            x = to_numpy(block.x).astype(np.float64) - self.means
            there = (~np.isnan(x)).astype(np.float64)
            total[:, 0] += block.weight @ there
            total[:, 1] += block.weight @ np.where(there > 0, x, 0.0) ** 2
            if self.pairs:
                total[:, 2:] += (there.T * block.weight) @ there
        return total


def incomplete_space(context: FitContext, means: Float64, *, pairs: bool) -> IncompleteSpace:
    """Return the space of rows with missing values about the means of their columns; where `pairs`
    of columns have covariances, warn of those that no row has values in together."""
    blocks = context.blocks
    rows = GivenRows(blocks, blocks.numbers_of_a_row)
    sums = context.engine.fold(rows, SeenPass(means, pairs))
    one, other = np.nonzero(np.triu(sums[:, 2:] <= 0, 1))
    if len(one):
        labels = context.column_labels
        named = [f"{labels[a]} and {labels[b]}" for a, b in zip(one, other, strict=True)]
        more = f", and {len(named) - SHOWN:,} more pairs" if len(named) > SHOWN else ""
        warn(
            f"{context.estimator_name}: no row has values in both columns "
            f"{', '.join(named[:SHOWN])}{more}: how these vary together is not in the rows, and "
            "what other columns say of it is taken. Find rows that have both, or take "
            'covariance="diag".'
        )
    deviations = np.sqrt(sums[:, 1] / sums[:, 0])
    said = deviations > ROUNDINGS * resolution(numpy_dtype(blocks.x)) * np.abs(means)
    return IncompleteSpace(means, np.where(said, deviations, 0.0))
