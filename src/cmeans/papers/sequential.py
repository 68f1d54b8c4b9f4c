"""Clusters one after the other: from two far rows on, a seed that ends in one more cluster is kept,
others are given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..data.arrays import IntArray
from ..data.partitions import MadeLabels, Partition
from ..sampling.drawing import weights_at
from ..sampling.farthest import FarRows, farthest_rows
from ..solvers.multistart import BestRun
from ..solvers.solution import Solution, Verdict
from ..spaces.centres import Centres
from ..sweeps.problem import Problem
from ..sweeps.state import State


@dataclass(frozen=True)
class Growth:
    """Parameters of adding clusters (Xenaki, Koutroumbas, Rontogiannis 2014, SeqSAPCM)."""

    max_clusters: int
    n_new: int = 1  # seeds at a time
    seed_quantile: float = 1.0  # rows farther than this share of all are no seeds
    patience: int = 1  # trials without a new cluster before it ends


def diametral_rows(problem: Problem) -> tuple[FarRows, float]:
    """Two rows far apart, and their squared distance: the one farthest from the mean, and the one
    farthest from that (Egecioglu, Kalantari 1989). One row where all are equal. The rule must be a
    hard one."""
    rows = problem.rows
    middle = problem.centres_of(Partition(MadeLabels(_zeros, 0, rows.n_rows), 1, rows.blocks.x))
    one = farthest_rows(problem, middle, 1)
    if one.centres is None:
        row = weights_at(rows.blocks.weight).hit(np.zeros(1))  # the first that has a weight
        return FarRows(row, rows.space.embed(rows.blocks.take(row), row), one.passes + 1), 0.0
    two = farthest_rows(problem, one.centres, 1)
    assert two.centres is not None, "a row away from the mean is away from some other row"
    both = Centres.stack([one.centres, two.centres])
    numbers: IntArray = np.concatenate([one.rows, two.rows])
    return FarRows(numbers, both, one.passes + two.passes + 1), float(
        both.squared_distances()[0, 1]
    )


def grow(
    problem: Problem,
    solve: Callable[[State, int], Solution],  # from a state, in the trial of a number
    growth: Growth,
    start: FarRows,
    first_scale: Callable[[int], float],  # of a cluster that starts at a row
) -> BestRun:
    """Clusters from the rows of `start` on, until `patience` trials in a row have found no further
    one.

    A trial solves from all clusters and a seed, the row farthest from them and from the seeds given
    up before. Where it ends with scales too small for any row, it has failed.
    """
    found = solve(_seeded(None, start, first_scale), 0)
    visits = start.passes * problem.n_rows + found.row_visits
    given_up: list[Centres] = []
    failures = trials = 0
    while failures < growth.patience and not found.ended and found.verdict is not Verdict.EMPTY:
        left = growth.max_clusters - len(found.state.centres)
        if left <= 0:
            break
        taken = Centres.stack([found.state.centres, *given_up])
        far = farthest_rows(problem, taken, min(growth.n_new, left), growth.seed_quantile)
        visits += far.passes * problem.n_rows
        if far.centres is None:
            break
        trials += 1
        trial = solve(_seeded(found.state, far, first_scale), trials)
        visits += 0 if trial.verdict is Verdict.EMPTY else trial.row_visits
        if len(trial.state.centres) > len(found.state.centres) and trial.verdict in (
            Verdict.GOES_ON,
            Verdict.CYCLE,
        ):
            found, failures = trial, 0
        else:
            failures += 1
            given_up.append(far.centres)
    return BestRun(found, None, visits)


def _zeros(start: int, stop: int) -> IntArray:
    return np.zeros(stop - start, np.intp)


def _seeded(state: State | None, far: FarRows, first_scale: Callable[[int], float]) -> State:
    """A state with clusters that start at rows."""
    assert far.centres is not None
    scales = np.array([first_scale(int(row)) for row in far.rows])
    if state is None:
        return State(far.centres, scales)
    return State(
        Centres.stack([state.centres, far.centres]), np.concatenate([state.known_scales(), scales])
    )
