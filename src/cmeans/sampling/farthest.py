"""Rows far from all centres, which refill empty clusters and seed new ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..spaces.centres import Centres
from ..sweeps.passes import NearestRowsPass
from ..sweeps.problem import Problem
from ..sweeps.state import State
from .quantiles import weighted_quantile

ROWS_AT_ONCE = 2**20  # rows that are searched together


@dataclass(frozen=True)
class FarRows:
    """Rows of positive weight, each far from given centres and from those before it."""

    rows: IntArray  # (k,)
    centres: Centres | None  # the same rows as centres; None where there are none
    passes: int  # over the table

    def first(self) -> FarRows:
        """The first of the rows alone."""
        return FarRows(self.rows[:1], None if self.centres is None else self.centres[:1], self.passes)


def farthest_rows(problem: Problem, centres: Centres, count: int, quantile: float = 1.0) -> FarRows:
    """Return up to `count` rows, each the farthest from its nearest centre and from the rows taken before it.

    Fewer are returned where all other rows coincide with one of these. With a quantile below 1 the rows of the largest distances,
    1 - quantile of the weight, are passed over.
    """
    blocks, space = problem.rows.blocks, problem.space
    distance = blocks.by_row(np.float64)
    distance.fill(np.inf)
    rows: list[int] = []
    chosen: list[Centres] = []
    latest, passes = centres, 0
    for _ in range(count):
        done = 0
        for _, part in problem.map(NearestRowsPass(problem.rule, State(latest))):
            here = distance[done : done + len(part)]
            np.minimum(here, part, out=here)
            done += len(part)
        passes += 1
        row = _farthest_row(distance, blocks.weight, quantile)
        if distance[row] <= 0:
            break
        latest = space.embed(blocks.take(np.array([row])), np.array([row]))
        rows.append(row)
        chosen.append(latest)
    return FarRows(np.array(rows, dtype=np.intp), Centres.stack(chosen) if chosen else None, passes)


def _farthest_row(distance: Float64, weight: Float64, quantile: float) -> int:
    """Return the row of the largest distance, or of the distance at a weighted quantile below 1."""
    parts = [slice(*span) for span in spans(len(distance), ROWS_AT_ONCE)]
    if quantile < 1.0:
        limit = weighted_quantile(lambda: ((distance[part][weight[part] > 0], _positive_weights(weight[part])) for part in parts), quantile)
        return next(part.start + int(hits[0]) for part in parts if len(hits := _weighted_rows(distance[part] == limit, weight[part])))
    farthest = [part.start + int(np.argmax(np.where(weight[part] > 0, distance[part], -1.0))) for part in parts]
    return farthest[int(np.argmax([distance[row] if weight[row] > 0 else -1.0 for row in farthest]))]


def _positive_weights(weight: Float64) -> Float64:
    return weight[weight > 0]


def _weighted_rows(selected: npt.NDArray[np.bool_], weight: Float64) -> IntArray:
    return np.flatnonzero(selected & (weight > 0))
