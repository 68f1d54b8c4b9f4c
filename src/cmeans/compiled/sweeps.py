"""The compiled twins of `sweep.sweep` and `sweep.assign`: same inputs, same results up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..arrays import Array, Float64, IntArray
from ..complaints import NOT_FINITE
from ..rules import Rule, Twin
from ..spaces import Space
from ..statistics import Own, Statistics
from ..sweep import Outputs, State, Tally
from ..table import Layout, Table
from .door import compiling, is_open
from .elementary import format_of, integers_of
from .passes import SHAPES, Standing, assign_pass, change_pass, deviation_pass, measure_pass, sweep_pass
from .rules import Words
from .tiles import GROUP, centres_in_groups, read_only

_NO_OWNERS = np.empty(0, np.intp)


def layout(shape: str) -> Layout | None:
    """How rows lie for one of the shapes, "narrow" or "wide"; None where Numba is turned off."""
    return Layout(shape, SHAPES[shape].arranged, keep=shape == "narrow") if is_open() else None


class Sweep:
    """What the rows of one task say about all clusters, for one shape and rule; `owned` sweeps are called with owners, others without."""

    def __init__(self, shape: str, rule: Rule, dtype: Any, *, owned: bool = False) -> None:
        self._standings = Standings(rule)
        self._owned = owned
        self._pass = _ready_sweep(shape, self._standings.name, np.dtype(dtype), owned)
        self._change = Change(shape, self._standings, dtype)

    def __call__(
        self, table: Table, rule: Rule, state: State, task: int, before: State | None = None, owners: IntArray | None = None
    ) -> Statistics:
        c, width = len(state.centres), table.space.moment_width
        mass, spread, moment, penalty = np.zeros(c), np.zeros(c), np.zeros((c, width)), np.zeros(1)
        assert self._owned == (owners is not None), "memory for owners is there exactly where they are noted"
        own = Own(np.zeros(0), np.zeros((0, width))) if owners is None else Own(np.zeros(c), np.zeros((c, width)))
        for piece in table.pieces(task):
            rows: Any = piece.rows
            at = self._standings.of(table.space, state, rows.kxx)
            labels = _NO_OWNERS if owners is None else owners[piece.start : piece.start + len(rows.kxx)]
            written = mass, spread, moment, penalty, labels, own.mass, own.moment
            self._pass(rows.data, rows.kxx, read_only(piece.weight), at, *written)
        change = 0.0 if before is None else self._change(table, state, before, task)
        return Statistics(table.task_weight(task), mass, moment, spread, float(penalty[0]), change, None if owners is None else own)


class Deviations:
    """How far each cluster's own rows are from given means."""

    def __init__(self, shape: str, power: int, dtype: Any) -> None:
        self._standings = Standings(None)
        self._pass = _ready_deviation(shape, power, np.dtype(dtype))

    def __call__(self, table: Table, means: State, owners: IntArray, power: int, task: int) -> Float64:
        total = np.zeros(len(means.centres))
        for piece in table.pieces(task):
            rows: Any = piece.rows
            at = self._standings.of(table.space, means, rows.kxx)
            self._pass(rows.data, rows.kxx, read_only(piece.weight), at, owners[piece.start : piece.start + len(rows.kxx)], total)
        return total


class Change:
    """The largest change of a membership between two states, for the papers' own stopping rule."""

    def __init__(self, shape: str, standings: Standings, dtype: Any) -> None:
        self._standings = standings  # those of the sweeps: they have met both states
        self._shape, self._dtype = shape, np.dtype(dtype)

    def __call__(self, table: Table, state: State, before: State, task: int) -> float:
        run = _ready_change(self._shape, self._standings.name, self._dtype)
        change = 0.0
        for piece in table.pieces(task):
            rows: Any = piece.rows
            now, then = (self._standings.of(table.space, at, rows.kxx) for at in (state, before))
            change = max(change, run(rows.data, rows.kxx, read_only(piece.weight), now, then))
        return change


class Assign:
    """The last pass: memberships and labels of one task's rows."""

    def __init__(self, layout: Layout, rule: Rule, dtype: Any) -> None:
        self._layout = layout
        self._standings = Standings(rule)
        self._pass = _ready_assign(layout.shape, self._standings.name, np.dtype(dtype))

    def __call__(self, table: Table, space: Space, rule: Rule, state: State, task: int, out: Outputs) -> Tally:
        mass, spread, totals = np.zeros(len(state.centres)), np.zeros(len(state.centres)), np.zeros(2)
        for piece in table.pieces(task):
            rows = _laid_out(piece.rows, table, self._layout)
            at = self._standings.of(space, state, rows.kxx)
            here = out.place(piece.start, len(rows.kxx))
            written = out.labels[here], out.memberships[here], out.nearest[here]
            self._pass(rows.data, rows.kxx, read_only(piece.weight), at, *written, mass, spread, totals)
        penalty, distance = totals
        return Tally(float(spread.sum() + penalty), float(distance), mass)


class Measure:
    """Distances of one task's rows to the centres, square roots taken."""

    def __init__(self, layout: Layout, dtype: Any) -> None:
        self._layout = layout
        self._standings = Standings(None)
        self._pass = _ready_measure(layout.shape, np.dtype(dtype))

    def __call__(self, table: Table, space: Space, state: State, task: int) -> Array:
        parts = []
        for piece in table.pieces(task):
            rows = _laid_out(piece.rows, table, self._layout)
            out = np.empty((len(rows.kxx), len(state.centres)), dtype=rows.kxx.dtype)
            if not self._pass(rows.data, rows.kxx, read_only(piece.weight), self._standings.of(space, state, rows.kxx), out):
                raise ValueError(NOT_FINITE)
            parts.append(out)
        return np.concatenate(parts)


def _laid_out(rows: Any, table: Table, layout: Layout) -> Any:
    """Rows as the passes read them, wherever the table's own sweeps read them otherwise (exact spaces)."""
    return rows if table.layout is not None else layout.arrange(rows)


class Standings:
    """Centres as the passes want them, made once for all tasks of a pass; those of the latest two states are kept."""

    def __init__(self, rule: Rule | None) -> None:
        twin = Twin("none") if rule is None else rule.twin
        assert twin is not None
        self.name = twin.name
        self._rule = rule
        self._words = Words(twin.m, twin.power)
        self._latest: tuple[tuple[State, Standing], ...] = ()

    def of(self, space: Space, state: State, like: Array) -> Standing:
        """The standing of a run at `state`, for rows of the dtype of `like`."""
        for known, standing in self._latest:
            if known is state:
                return standing
        centres, norms = centres_in_groups(space.view(state.centres, like))
        scales = np.zeros((1, len(state.centres)))
        if state.scales is not None and self._rule is not None:
            scales = self._rule.numbers(state.scales)
        made = _standing(centres, norms, scales.astype(like.dtype), self._words)
        self._latest = ((state, made), *[pair for pair in self._latest if pair[0] is not state][:1])  # another thread may have been first
        return made


def nowhere(dtype: Any) -> Standing:
    """A standing to compile with."""
    return _standing(np.zeros((GROUP, 1), dtype), np.zeros(GROUP, dtype), np.zeros((1, 1), dtype), Words(2.0, 1.0))


def _standing(centres: Array, norms: Array, scales: Array, words: Words) -> Standing:
    return Standing(centres, norms, scales, words, format_of(norms.dtype), np.empty(0, integers_of(norms.dtype)))


def _nothing(shape: str, dtype: Any) -> tuple[Any, Array, Array, Standing]:
    """No rows, to compile with."""
    return SHAPES[shape].nothing(dtype), read_only(np.empty(0, dtype)), read_only(np.empty(0)), nowhere(dtype)


@cache
def _ready_sweep(shape: str, rule: str, dtype: Any, owned: bool) -> Callable[..., None]:
    """The sweep of one shape and rule, compiled for one float type or read from Numba's cache."""
    made = sweep_pass(shape, rule, owned=owned)
    with compiling(f"the {rule} sweep{' that notes owners' if owned else ''} for {dtype.name}"):
        nothing_owned = _NO_OWNERS, np.zeros(1), np.zeros((1, 1))
        made(*_nothing(shape, dtype), np.zeros(1), np.zeros(1), np.zeros((1, 1)), np.zeros(1), *nothing_owned)
    return made


@cache
def _ready_deviation(shape: str, power: int, dtype: Any) -> Callable[..., None]:
    made = deviation_pass(shape, power)
    with compiling(f"deviations for {dtype.name}"):
        made(*_nothing(shape, dtype), _NO_OWNERS, np.zeros(1))
    return made


@cache
def _ready_assign(shape: str, rule: str, dtype: Any) -> Callable[..., None]:
    made = assign_pass(shape, rule)
    with compiling(f"the {rule} assignment for {dtype.name}"):
        written = np.empty(0, np.intp), np.empty((0, 1), dtype), np.empty(0)
        made(*_nothing(shape, dtype), *written, np.zeros(1), np.zeros(1), np.zeros(2))
    return made


@cache
def _ready_change(shape: str, rule: str, dtype: Any) -> Callable[..., float]:
    made = change_pass(shape, rule)
    with compiling(f"the change of {rule} memberships for {dtype.name}"):
        made(*_nothing(shape, dtype), nowhere(dtype))
    return made


@cache
def _ready_measure(shape: str, dtype: Any) -> Callable[..., bool]:
    made = measure_pass(shape)
    with compiling(f"distances for {dtype.name}"):
        made(*_nothing(shape, dtype), np.empty((0, 1), dtype))
    return made
