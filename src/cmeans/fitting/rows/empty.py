"""Rows that say nothing of the cluster that they belong to: they weigh nothing, and are in no
cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...data.arrays import Float64, IntArray
from ...data.blocks import Blocks, GivenRows
from ...engines import Engine, NumberedPass
from ...runtime.user_warnings import warn
from ...spaces import Space


@dataclass(frozen=True)
class EmptyRowsPass(NumberedPass[list[IntArray]]):
    """Numbers of the rows that say nothing in a space, as they are given."""

    space: Space

    def work(self, rows: GivenRows, task: int, prepared: None) -> list[IntArray]:
        return [
            self.first + block.start + self.space.empty_rows_of(block) for block in rows.task(task)
        ]


def without_empty_rows(blocks: Blocks, space: Space, engine: Engine, estimator_name: str) -> Blocks:
    """Return the rows, with no weight where they say nothing in the space; refused where all of
    them are such rows."""
    if not space.may_hold_empty_rows:
        return blocks
    rows = np.concatenate(
        engine.fold(GivenRows(blocks, blocks.numbers_of_a_row), EmptyRowsPass(space))
    )
    if not len(rows):
        return blocks
    if len(rows) == blocks.n_rows:
        first = int(blocks.given_numbers(rows).min())
        raise ValueError(
            f"{estimator_name}: row {first} of X has {space.empty_row_has} (rows count from 0), so "
            "that no cluster is nearer to it; leave it out."
        )
    weight: Float64 = blocks.by_row(np.float64)
    weight[:] = blocks.weight[:]
    weight[rows] = 0.0
    if not weight.any():
        raise ValueError(
            f"{estimator_name}: every row of positive weight has {space.empty_row_has}; there is "
            "nothing to cluster."
        )
    return replace(blocks, weight=weight)


def warn_of_empty_rows(count: int, n_rows: int, space: Space, estimator_name: str) -> None:
    """Warn of rows that are in no cluster because they say nothing."""
    if count:
        has, are = ("has", "is") if count == 1 else ("have", "are")
        warn(
            f"{estimator_name}: {count:,} of {n_rows:,} rows of X {has} {space.empty_row_has}, and "
            f"{are} in no cluster, with the label -1. "
            "Leave such rows out, or find out why they are empty."
        )
