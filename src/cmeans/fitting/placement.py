"""New rows in the clusters of a fitted model, within bounds that hold for old and new together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import IntArray
from ..solvers.sizes.near import LAST, NEAR, NearestClusters, near_prices
from ..solvers.sizes.placed import PlacedRows
from ..solvers.sizes.prices import SizeBounds
from ..sweeps.problem import Problem
from ..sweeps.state import State
from .prediction import Predicting

SMALL = 0.05  # rows, in place of none: a price that lets no row in at all is infinite


class Placement(NamedTuple):
    """New rows in clusters that had room for them."""

    labels: IntArray  # (n,)
    moved: int  # rows that are not in the cluster whose centre is nearest


def place_rows(model: Predicting, x: Any, held: IntArray, most: int) -> Placement:
    """Place rows x (n, d) in the clusters of a hard model, which hold so many rows (c,) already and
    may hold `most` each.

    Prices are found as in a fit with bounds of sizes; then each row goes to the cluster that has it
    for least and has room, those rows first that lose most where theirs is full. Rows that were
    there before stay. Where former rows fill more than `most`, what the others may hold grows until
    there is room for all.
    """
    table, c = model._known_table(x, None), len(held)
    n = table.n_rows
    # with the k least clusters filled to one level, all rows have room
    levels = -(-(n + np.cumsum(np.sort(held))) // np.arange(1, c + 1))
    room = np.maximum(max(most, levels.min()) - held, SMALL)
    bounds = SizeBounds(np.zeros(c), room, float(n), 1.0, 1.0)
    centres, prices = model._state.centres, np.zeros(c)
    with model._engine(table.blocks) as engine:
        problem = Problem(table, model._rule, engine)
        rows = NearestClusters.of(problem, State(centres, prices), min(NEAR, c))
        if c > NEAR:
            prices = near_prices(problem, rows, bounds, prices)
        labels = PlacedRows.of(problem, rows, bounds, State(centres, prices), LAST).labels
    return Placement(labels, int((labels != rows.clusters[:, 0]).sum()))
