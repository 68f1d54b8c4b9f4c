"""Sweeps one after the other where few rows are one task and nothing is asked between sweeps.

The numbers are those of the loop in `fixed_point.py`, to the bit; what falls away is what would take longer there than such a sweep itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Float64
from ..spaces.centres import Centres
from ..sweeps.choice import SweepFunction
from ..sweeps.native import NativeSweep, NewSums, RepeatedSweep
from ..sweeps.problem import Problem
from ..sweeps.state import State
from ..sweeps.statistics import Statistics
from .stopping import ends_by_centres, is_rounding_only, relative_movement

MOST = 64  # sweeps in a row: an interrupt loses no more


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


class SingleTask:
    """Sweeps in a row over the rows of a problem."""

    def __init__(self, problem: Problem, sweep: RepeatedSweep, scales: Float64 | None) -> None:
        self._problem, self._sweep, self._scales = problem, sweep, scales
        self._weight = problem.rows.task_weight(0)

    @classmethod
    def of(cls, problem: Problem, state: State, function: SweepFunction) -> SingleTask | None:
        """Return the sweeps of a problem; None where it has several tasks, or its centres are no plain means."""
        rows = problem.rows
        if not isinstance(function, NativeSweep) or rows.n_tasks > 1 or not (rows.blocks.are_views and rows.space.centres_are_means):
            return None
        return cls(problem, function.repeated(rows, state), state.scales)

    def follow(self, state: State, history: tuple[float, ...], movements: tuple[float, ...]) -> Course | None:
        """Sweep from a state until the centres are at rest, or the loop must look: some sweeps are over, or the next step is not the
        plain one, as a cluster is empty or a sum is no number. None where that is so for the first."""
        stopping, objectives, moves = self._problem.stopping, list(history), list(movements)
        most = min(stopping.max_iter, len(history) + MOST)
        last: tuple[Float64, NewSums] | None = None
        at, norms = state.centres.coordinates, state.centres.squared_norms()
        floor, ends = None, False
        while not ends and len(objectives) < most:
            sums = self._sweep(at, norms)
            new = sums.moment / sums.mass[:, None]
            step = Centres.orthonormal(new - at)
            moved, spread = float(step.squared_norms().max()), float(sums.spread.sum())
            penalty = float(sums.penalty[0])
            if not (math.isfinite(moved + spread + penalty) and sums.mass.min() > 0):
                break
            scale = (spread + max(penalty, 0.0)) / self._weight if self._weight > 0 else 0.0
            objectives.append(spread + penalty)
            moves.append(relative_movement(moved, scale))
            ends = ends_by_centres(stopping, moved, scale)
            if not ends:
                floor = is_rounding_only(stopping, moves, objectives, self._problem.rows, abs(spread) + abs(penalty))
                ends = floor is not None
            last = at, sums
            at, norms = new, Centres.orthonormal(new).squared_norms()
        if last is None:
            return None
        before, sums = last
        return Course(
            State(Centres.orthonormal(before), self._scales),
            _copied(sums.statistics(self._weight)),
            State(Centres.orthonormal(at), self._scales),
            tuple(objectives),
            tuple(moves),
            ends,
            floor,
        )


def _copied(sums: Statistics) -> Statistics:
    """Return sums that no later sweep writes over."""
    return Statistics(sums.weight, np.array(sums.mass), np.array(sums.moment), np.array(sums.spread), sums.penalty)
