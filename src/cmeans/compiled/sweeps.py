"""The compiled twins of `sweep.sweep` and `sweep.assign`: same inputs, same results up to rounding."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..arrays import Array
from ..rules import Rule
from ..spaces import Space
from ..statistics import Statistics
from ..sweep import Outputs, State, Tally
from ..table import Layout, Table
from .door import compiling, is_open
from .elementary import format_of, integers_of
from .passes import SHAPES, Passes, Standing, passes
from .rules import Words
from .tiles import centres_in_groups


def layout(shape: str) -> Layout | None:
    """How rows lie for one of the shapes, "narrow" or "wide"; None where Numba is turned off."""
    return Layout(shape, SHAPES[shape].arranged) if is_open() else None


@cache
def ready(shape: str, rule: str, dtype: Any) -> Passes:
    """The passes of one shape and rule, compiled for one float type or read from Numba's cache."""
    made = passes(shape, rule)
    room, c = SHAPES[shape], 1
    form = format_of(dtype)
    numbers = [np.empty((0,) * room.DIMENSIONS, dtype), np.empty(0, dtype), np.empty(0)]  # rows, k(x, x), weights
    centres, norms, scales = np.zeros((4, 1), dtype), np.zeros(4, dtype), np.zeros(c, dtype)
    at = Standing(centres, norms, scales, Words(2.0, 1.0), form, np.empty(0, integers_of(dtype)))
    with compiling(f"the {rule} sweep for {np.dtype(dtype).name}"):
        made.sweep(*numbers, at, np.zeros(c), np.zeros(c), np.zeros((c, 1)))
        made.assign(*numbers, at, np.empty(0, np.intp), np.empty((0, c), dtype), np.empty(0), np.zeros(c))
    return made


class Sweeps:
    """The passes of one shape and rule, as the solver calls them."""

    def __init__(self, shape: str, rule: Rule, dtype: Any) -> None:
        assert rule.twin is not None
        name, m = rule.twin
        self._passes = ready(shape, name, np.dtype(dtype))
        self._words = Words(m, 1.0 / (m - 1.0) if m > 1 else 1.0)
        self._latest: tuple[State, Standing] | None = None

    def sweep(self, table: Table, rule: Rule, state: State, task: int, before: State | None = None) -> Statistics:
        """What the rows of one task say about all clusters."""
        assert before is None, "changes of memberships are the generic sweep's business"
        c = len(state.centres)
        mass, spread, moment = np.zeros(c), np.zeros(c), np.zeros((c, table.space.moment_width))
        weight = penalty = 0.0
        for piece in table.pieces(task):
            rows: Any = piece.rows
            at = self._standing(table.space, state, rows.kxx)
            penalty += self._passes.sweep(rows.data, rows.kxx, piece.weight, at, mass, spread, moment)
            weight += float(piece.weight.sum())
        return Statistics(weight, mass, moment, spread, penalty)

    def assign(self, table: Table, space: Space, rule: Rule, state: State, task: int, out: Outputs) -> Tally:
        """Memberships and labels of one task's rows."""
        objective = total_distance = 0.0
        mass = np.zeros(len(state.centres))
        for piece in table.pieces(task):
            rows: Any = piece.rows
            at = self._standing(space, state, rows.kxx)
            here = slice(piece.start, piece.start + len(rows.kxx))
            written = out.labels[here], out.memberships[here], out.nearest[here]
            cost, distance = self._passes.assign(rows.data, rows.kxx, piece.weight, at, *written, mass)
            objective += cost
            total_distance += distance
        return Tally(objective, total_distance, mass)

    def _standing(self, space: Space, state: State, like: Array) -> Standing:
        """The centres as the passes want them, made once for all tasks of a pass."""
        latest = self._latest
        if latest is None or latest[0] is not state:
            centres, norms = centres_in_groups(space.view(state.centres, like))
            scales = np.zeros(len(state.centres)) if state.scales is None else state.scales
            bits = np.empty(0, integers_of(like.dtype))
            latest = state, Standing(centres, norms, scales.astype(like.dtype), self._words, format_of(like.dtype), bits)
            self._latest = latest
        return latest[1]
