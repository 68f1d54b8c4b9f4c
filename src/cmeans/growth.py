"""Clusters one after the other: from two far rows on, a seed that ends in one more cluster is kept, others are given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .arrays import IntArray
from .centres import Centres
from .engines import Engine
from .farthest import FarRows, farthest_rows
from .rules import Rule
from .runs import Best
from .solver import NoRowsLeftError, Solution, centres_of
from .sweep import State
from .table import Table


@dataclass(frozen=True)
class Growth:
    """How clusters are added (Xenaki, Koutroumbas, Rontogiannis 2014, SeqSAPCM)."""

    max_clusters: int
    n_new: int = 1  # seeds at a time
    seed_quantile: float = 1.0  # rows farther than this share of all are no seeds
    patience: int = 1  # trials without a new cluster before it ends


def diametral_rows(table: Table, rule: Rule, engine: Engine) -> tuple[FarRows, float]:
    """Two rows far apart, and their squared distance: the one farthest from the mean, and the one farthest from that
    (Egecioglu, Kalantari 1989). One row where all are equal."""
    everybody = np.ones((table.n_rows, 1))
    middle = centres_of(table, rule, everybody, engine)
    one = farthest_rows(table, engine, middle, 1)
    if one.centres is None:
        row = np.array([int(np.argmax(table.blocks.weight > 0))])
        return FarRows(row, table.space.embed(table.blocks.take(row), row), one.passes + 1), 0.0
    two = farthest_rows(table, engine, one.centres, 1)
    assert two.centres is not None, "a row away from the mean is away from some other row"
    both = Centres.stack([one.centres, two.centres])
    rows: IntArray = np.concatenate([one.rows, two.rows])
    return FarRows(rows, both, one.passes + two.passes + 1), float(both.squared_distances()[0, 1])


def grow(
    table: Table,
    solve: Callable[[State], Solution],
    engine: Engine,
    growth: Growth,
    start: FarRows,
    first_scale: Callable[[int], float],  # of a cluster that starts at a row
) -> Best:
    """Clusters from the rows of `start` on, until `patience` trials in a row have found no further one.

    A trial solves from all clusters and a seed, the row farthest from them and from the seeds given up before. Where it ends with
    scales too small for any row, it has failed.
    """
    found = solve(_seeded(None, start, first_scale))
    visits = start.passes * table.n_rows + found.row_visits
    given_up: list[Centres] = []
    failures = 0
    while failures < growth.patience and not found.ended:
        room = growth.max_clusters - len(found.state.centres)
        if room <= 0:
            break
        taken = Centres.stack([found.state.centres, *given_up])
        far = farthest_rows(table, engine, taken, min(growth.n_new, room), growth.seed_quantile)
        visits += far.passes * table.n_rows
        if far.centres is None:
            break
        try:
            trial = solve(_seeded(found.state, far, first_scale))
        except NoRowsLeftError:
            trial = found
        else:
            visits += trial.row_visits
        if len(trial.state.centres) > len(found.state.centres) and not trial.stuck:
            found, failures = trial, 0
        else:
            failures += 1
            given_up.append(far.centres)
    return Best(found, None, visits)


def _seeded(state: State | None, far: FarRows, first_scale: Callable[[int], float]) -> State:
    """A state with clusters that start at rows."""
    assert far.centres is not None
    scales = np.array([first_scale(int(row)) for row in far.rows])
    if state is None:
        return State(far.centres, scales)
    assert state.scales is not None
    return State(Centres.stack([state.centres, far.centres]), np.concatenate([state.scales, scales]))
