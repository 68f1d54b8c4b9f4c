"""Rows far from all centres: what refills empty clusters and seeds new ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .arrays import Float64, IntArray
from .blocks import spans
from .centres import Centres
from .engines import Engine
from .jobs import OwnDistances
from .quantiles import weighted_quantile
from .scratch import room
from .sweep import State
from .table import Table

TOGETHER = 2**20  # rows that are looked at together


@dataclass(frozen=True)
class FarRows:
    """Rows of positive weight, each far from given centres and from those before it."""

    rows: IntArray  # (k,)
    centres: Centres | None  # the same as centres; None where there is none
    passes: int  # over the table

    def first(self) -> FarRows:
        """The first of them alone."""
        return FarRows(self.rows[:1], None if self.centres is None else self.centres[:1], self.passes)


def farthest_rows(table: Table, engine: Engine, centres: Centres, count: int, quantile: float = 1.0) -> FarRows:
    """Up to `count` rows, each the farthest from its nearest centre and from those taken before it; fewer where all others
    coincide with some. With a quantile below 1 the rows of the largest distances, 1 - quantile of the weight, are passed over.
    """
    blocks = table.blocks
    distance = (room if blocks.are_stored else np.empty)((table.n_rows,), np.float64)
    distance.fill(np.inf)
    rows: list[int] = []
    chosen: list[Centres] = []
    latest, passes = centres, 0
    for _ in range(count):
        done = 0
        for part in distances_to(table, engine, latest):
            here = distance[done : done + len(part)]
            np.minimum(here, part, out=here)
            done += len(part)
        passes += 1
        row = _at(distance, blocks.weight, quantile)
        if distance[row] <= 0:
            break
        latest = table.space.embed(blocks.take(np.array([row])), np.array([row]))
        rows.append(row)
        chosen.append(latest)
    return FarRows(np.array(rows, dtype=np.intp), Centres.stack(chosen) if chosen else None, passes)


def distances_to(table: Table, engine: Engine, centres: Centres) -> Iterator[Float64]:
    """(n,) squared distance of each row to its nearest centre, some rows at a time."""
    return engine.each(table, OwnDistances(State(centres)))


def _at(distance: Float64, weight: Float64, quantile: float) -> int:
    """The row of the largest distance; of the largest below which a share `quantile` of the weight lies."""
    parts = [slice(*span) for span in spans(len(distance), TOGETHER)]
    if quantile < 1.0:
        wanted = weighted_quantile(lambda: ((distance[part][weight[part] > 0], _positive(weight[part])) for part in parts), quantile)
        return next(part.start + int(hits[0]) for part in parts if len(hits := _where(distance[part] == wanted, weight[part])))
    farthest = [part.start + int(np.argmax(np.where(weight[part] > 0, distance[part], -1.0))) for part in parts]
    return farthest[int(np.argmax([distance[row] if weight[row] > 0 else -1.0 for row in farthest]))]


def _positive(weight: Float64) -> Float64:
    return weight[weight > 0]


def _where(is_it: npt.NDArray[np.bool_], weight: Float64) -> IntArray:
    return np.flatnonzero(is_it & (weight > 0))
