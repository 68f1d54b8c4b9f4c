"""Sweeps one after the other where rows stay in memory and nothing is asked between sweeps.

The numbers are those of the loop in `fixed_point.py`, to the bit; what falls away is what would
take longer there than such a sweep itself.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from ..data.arrays import Float64
from ..spaces.centres import Centres
from ..sweeps.choice import SweepFunction
from ..sweeps.native import NativeSweep, NewSums
from ..sweeps.problem import Problem
from ..sweeps.repeated import RepeatedSweep
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .stopping import ends_by_centres, is_rounding_only, relative_movement

MOST = 64  # sweeps in a row: an interrupt loses no more
# numbers of rows and clusters that they multiply together: a few hundredths of a second
MOST_VALUES = 2**28


@dataclass(frozen=True)
class Course:
    """Some sweeps, and where they led."""

    at: State  # where the last of them started
    sums: Statistics  # of the last
    state: State  # the next centres
    history: tuple[float, ...]  # of the objective, from the start of the run
    movements: tuple[float, ...]
    at_rest: bool
    floor: float | None


class SweepsInARow:
    """Sweeps in a row over the rows of a problem."""

    def __init__(
        self, problem: Problem, sweep: RepeatedSweep, scales: Float64 | None, most: int
    ) -> None:
        self._problem, self._sweep, self._scales, self._most = problem, sweep, scales, most
        # one after the other, as sweeps do; sum() corrects what it rounds since Python 3.12
        tasks = range(problem.rows.n_tasks)
        self._weight = reduce(add, (problem.rows.task_weight(task) for task in tasks), 0.0)

    @classmethod
    def of(cls, problem: Problem, state: State, function: SweepFunction) -> SweepsInARow | None:
        """Return the sweeps of a problem; None where rows leave memory, or a sweep takes so long
        that the loop does not show."""
        rows, c = problem.rows, len(state.centres)
        most = min(MOST, MOST_VALUES // (rows.n_rows * rows.width * c))
        if not isinstance(function, NativeSweep) or not rows.stay_in_memory or most < 2:
            return None
        return cls(
            problem, RepeatedSweep(function, rows, state, problem.engine), state.scales, most
        )

    def follow(
        self, state: State, history: tuple[float, ...], movements: tuple[float, ...]
    ) -> Course | None:
        """Sweep from a state until the centres are at rest, or the loop must look: some sweeps are
        over, or the next step is not the plain one, as sums make no centre of a cluster, or are no
        numbers. None where that is so for the first. Threads join where it takes long."""
        try:
            return self._follow(state, list(history), list(movements))
        finally:
            self._sweep.end()

    def _follow(self, state: State, objectives: list[float], moves: list[float]) -> Course | None:
        space, stopping = self._problem.space, self._problem.stopping
        most = min(stopping.max_iter, len(objectives) + self._most)
        last: tuple[Centres, NewSums] | None = None
        at = state.centres
        floor, ends, begun, alone = None, False, time.perf_counter(), True
        while not ends and len(objectives) < most:
            if alone and self._problem.engine.is_worth_sharing(time.perf_counter() - begun):
                self._sweep.ask_for_help()
                alone = False
            sums = self._sweep(space.coefficients(at), space.offsets(at))
            spread, penalty = float(sums.spread.sum()), float(sums.penalty[0])
            if not (math.isfinite(spread + penalty) and sums.mass.min() > 0):
                break
            new = space.next_centres(sums.mass, sums.moment, at)
            moved = float((new - at).squared_norms().max())
            if not math.isfinite(moved):
                break
            scale = (spread + max(penalty, 0.0)) / self._weight if self._weight > 0 else 0.0
            objectives.append(spread + penalty)
            moves.append(relative_movement(moved, scale))
            ends = ends_by_centres(stopping, moved, scale)
            if not ends:
                floor = is_rounding_only(
                    stopping, moves, objectives, self._problem.rows, abs(spread) + abs(penalty)
                )
                ends = floor is not None
            last = at, sums
            at = new
        if last is None:
            return None
        before, sums = last
        return Course(
            State(before, self._scales),
            _copied(sums.statistics(self._weight)),
            State(at, self._scales),
            tuple(objectives),
            tuple(moves),
            ends,
            floor,
        )


def _copied(sums: Statistics) -> Statistics:
    """Return sums that no later sweep writes over."""
    return Statistics(
        sums.weight, np.array(sums.mass), np.array(sums.moment), np.array(sums.spread), sums.penalty
    )
