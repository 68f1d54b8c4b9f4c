"""Sweeps that look through few groups of very many centres for each row, as many as some rows show
to be enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..sampling.drawing import weights_at
from ..sweeps.problem import Problem
from ..sweeps.state import State

JUDGED = 512  # rows by which it is found how many groups of centres sweeps are to probe: of these
PROBES = (4, 8, 16, 32)  # the first that leaves squared distances larger by no more than this
EXCESS = 0.005


def with_enough_probes(problem: Problem, state: State) -> Problem:
    """Return a problem whose sweeps probe with as many groups as some of its rows need."""
    suffice, (*fewer, most) = _judge(problem, state), PROBES
    return replace(problem, probes=next(filter(suffice, fewer), most))


def fewest_suffice(problem: Problem, state: State) -> bool:
    """True where the fewest groups are enough for some rows."""
    return _judge(problem, state)(PROBES[0])


def _judge(problem: Problem, state: State) -> Callable[[int], bool]:
    """Return what tells whether so many groups are enough for some rows."""
    few = some_rows(problem, JUDGED)
    enough = (1.0 + EXCESS) * replace(few, probes=0).sweep(state).objective
    return lambda probes: replace(few, probes=probes).sweep(state).objective <= enough


def some_rows(problem: Problem, size: int) -> Problem:
    """Return the problem over some rows, evenly spaced: to search all of them for all centres would
    take longer than a sweep that looks through few."""
    weight = problem.rows.blocks.weight
    numbers = np.unique(weights_at(weight).hit(np.arange(0.5, size) * (weight.sum() / size)))
    return replace(problem, rows=problem.rows.part(numbers, np.ones(len(numbers))))
