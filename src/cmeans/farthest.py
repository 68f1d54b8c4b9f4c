"""Rows far from all centres: what refills empty clusters and seeds new ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Float64, IntArray
from .centres import Centres
from .engines import Engine
from .jobs import OwnDistances
from .quantiles import weighted_quantile
from .sweep import State
from .table import Table


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
    weight, distance = table.blocks.weight, np.full(table.n_rows, np.inf)
    rows: list[int] = []
    chosen: list[Centres] = []
    latest, passes = centres, 0
    for _ in range(count):
        distance = np.minimum(distance, distances_to(table, engine, latest))
        passes += 1
        row = _at(np.where(weight > 0, distance, -1.0), weight, quantile)
        if distance[row] <= 0:
            break
        latest = table.space.embed(table.blocks.take(np.array([row])), np.array([row]))
        rows.append(row)
        chosen.append(latest)
    return FarRows(np.array(rows, dtype=np.intp), Centres.stack(chosen) if chosen else None, passes)


def distances_to(table: Table, engine: Engine, centres: Centres) -> Float64:
    """(n,) squared distance of each row to its nearest centre."""
    return np.concatenate(list(engine.each(table, OwnDistances(State(centres)))))


def _at(distance: Float64, weight: Float64, quantile: float) -> int:
    """The row of the largest distance; of the largest below which a share `quantile` of the weight lies."""
    if quantile >= 1.0:
        return int(np.argmax(distance))
    counted = weight > 0
    values, weights = distance[counted], weight[counted]
    return int(np.argmax(distance == weighted_quantile(lambda: [(values, weights)], quantile)))
