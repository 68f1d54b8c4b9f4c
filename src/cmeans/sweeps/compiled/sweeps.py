"""The compiled forms of the passes in `generic.py`: same inputs, same results up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...data.arrays import Array, Float64, IntArray
from ...data.outputs import RowOutputs
from ...rules import Rule, TileFunctions
from ...runtime.user_warnings import NOT_FINITE
from ...spaces import Space
from ..generic import FinalSums
from ..represented_rows import Layout, RepresentedRows
from ..state import State
from ..statistics import HardStatistics, Statistics
from .door import compiling, is_open
from .elementary import format_of, integers_of
from .passes import SHAPES, PreparedCentres, assign_pass, change_pass, deviation_pass, measure_pass, sweep_pass
from .rules import RuleParameters
from .tiles import GROUP, centres_in_groups, read_only

_NO_LABELS = np.empty(0, np.intp)


def layout(shape: str) -> Layout | None:
    """Return the layout of rows for a shape, "narrow" or "wide"; None where Numba is turned off."""
    return Layout(shape, SHAPES[shape].arranged, keep=shape == "narrow") if is_open() else None


class CompiledSweep:
    """The sums over the rows of one task, for one shape and rule; sweeps with `labelling` are called with labels, others without."""

    def __init__(self, shape: str, rule: Rule, dtype: Any, *, labelling: bool = False) -> None:
        self._cache = PreparedCentresCache(rule)
        self._labelling = labelling
        self._pass = _ready_sweep(shape, self._cache.name, np.dtype(dtype), labelling)
        self._change = CompiledChange(shape, self._cache, dtype)

    def __call__(
        self, rows: RepresentedRows, rule: Rule, state: State, task: int, before: State | None = None, labels: IntArray | None = None
    ) -> Statistics:
        c, width = len(state.centres), rows.space.moment_width
        mass, spread, moment, penalty = np.zeros(c), np.zeros(c), np.zeros((c, width)), np.zeros(1)
        assert self._labelling == (labels is not None), "labels must be passed exactly where `labelling` is set"
        hard = HardStatistics(np.zeros(0), np.zeros((0, width))) if labels is None else HardStatistics(np.zeros(c), np.zeros((c, width)))
        for block in rows.task(task):
            block_rows: Any = block.rows
            prepared = self._cache.prepared(rows.space, state, block_rows.kxx)
            here = _NO_LABELS if labels is None else labels[block.start : block.start + len(block_rows.kxx)]
            written = mass, spread, moment, penalty, here, hard.mass, hard.moment
            self._pass(block_rows.data, block_rows.kxx, read_only(block.weight), prepared, *written)
        change = 0.0 if before is None else self._change(rows, state, before, task)
        return Statistics(rows.task_weight(task), mass, moment, spread, float(penalty[0]), change, None if labels is None else hard)


class CompiledDeviations:
    """Sums of the distances of each cluster's rows from given means."""

    def __init__(self, shape: str, power: int, dtype: Any) -> None:
        self._cache = PreparedCentresCache(None)
        self._pass = _ready_deviation(shape, power, np.dtype(dtype))

    def __call__(self, rows: RepresentedRows, means: State, labels: IntArray, power: int, task: int) -> Float64:
        total = np.zeros(len(means.centres))
        for block in rows.task(task):
            block_rows: Any = block.rows
            prepared = self._cache.prepared(rows.space, means, block_rows.kxx)
            self._pass(
                block_rows.data,
                block_rows.kxx,
                read_only(block.weight),
                prepared,
                labels[block.start : block.start + len(block_rows.kxx)],
                total,
            )
        return total


class CompiledChange:
    """The largest change of a membership between two states, for the stopping rule of the papers."""

    def __init__(self, shape: str, cache: PreparedCentresCache, dtype: Any) -> None:
        self._cache = cache  # that of the sweeps, which has both states
        self._shape, self._dtype = shape, np.dtype(dtype)

    def __call__(self, rows: RepresentedRows, state: State, before: State, task: int) -> float:
        compiled_change = _ready_change(self._shape, self._cache.name, self._dtype)
        change = 0.0
        for block in rows.task(task):
            block_rows: Any = block.rows
            now, then = (self._cache.prepared(rows.space, one, block_rows.kxx) for one in (state, before))
            change = max(change, compiled_change(block_rows.data, block_rows.kxx, read_only(block.weight), now, then))
        return change


class CompiledAssign:
    """The last pass: memberships and labels of one task's rows."""

    def __init__(self, layout: Layout, rule: Rule, dtype: Any) -> None:
        self._layout = layout
        self._cache = PreparedCentresCache(rule)
        self._pass = _ready_assign(layout.shape, self._cache.name, np.dtype(dtype))

    def __call__(self, rows: RepresentedRows, space: Space, rule: Rule, state: State, task: int, out: RowOutputs) -> FinalSums:
        mass, spread, totals = np.zeros(len(state.centres)), np.zeros(len(state.centres)), np.zeros(2)
        for block in rows.task(task):
            block_rows = _arranged(block.rows, rows, self._layout)
            prepared = self._cache.prepared(space, state, block_rows.kxx)
            place = out.place(block.start, len(block_rows.kxx))
            written = out.labels[place], out.memberships[place], out.nearest[place]
            self._pass(block_rows.data, block_rows.kxx, read_only(block.weight), prepared, *written, mass, spread, totals)
        penalty, distance = totals
        return FinalSums(float(spread.sum() + penalty), float(distance), mass)


class CompiledMeasure:
    """Distances of one task's rows to the centres, square roots taken."""

    def __init__(self, layout: Layout, dtype: Any) -> None:
        self._layout = layout
        self._cache = PreparedCentresCache(None)
        self._pass = _ready_measure(layout.shape, np.dtype(dtype))

    def __call__(self, rows: RepresentedRows, space: Space, state: State, task: int) -> Array:
        parts = []
        for block in rows.task(task):
            block_rows = _arranged(block.rows, rows, self._layout)
            out = np.empty((len(block_rows.kxx), len(state.centres)), dtype=block_rows.kxx.dtype)
            if not self._pass(
                block_rows.data, block_rows.kxx, read_only(block.weight), self._cache.prepared(space, state, block_rows.kxx), out
            ):
                raise ValueError(NOT_FINITE)
            parts.append(out)
        return np.concatenate(parts)


def _arranged(block_rows: Any, rows: RepresentedRows, layout: Layout) -> Any:
    """Return rows in the layout of the passes, where the sweeps of the rows use another one (exact spaces)."""
    return block_rows if rows.layout is not None else layout.arrange(block_rows)


class PreparedCentresCache:
    """Cache of prepared centres, made once for all tasks of a pass; those of the latest two states are kept."""

    def __init__(self, rule: Rule | None) -> None:
        functions = TileFunctions("none") if rule is None else rule.tile_functions
        assert functions is not None
        self.name = functions.name
        self._rule = rule
        self._parameters = RuleParameters(m=functions.m, power=functions.power, p=functions.p)
        self._latest: tuple[tuple[State, PreparedCentres], ...] = ()

    def prepared(self, space: Space, state: State, like: Array) -> PreparedCentres:
        """Return the prepared centres of a state, for rows of the dtype of `like`."""
        for cached_state, cached in self._latest:
            if cached_state is state:
                return cached
        centres, norms = centres_in_groups(space.view(state.centres, like))
        scales = np.zeros((1, len(state.centres)))
        if state.scales is not None and self._rule is not None:
            scales = self._rule.numbers(state.scales)
        compiled = _prepared_centres(centres, norms, scales.astype(like.dtype), self._parameters)
        self._latest = ((state, compiled), *[pair for pair in self._latest if pair[0] is not state][:1])  # another thread may have added it
        return compiled


def placeholder_centres(dtype: Any) -> PreparedCentres:
    """Return prepared centres for a call that only compiles."""
    return _prepared_centres(
        np.zeros((GROUP, 1), dtype), np.zeros(GROUP, dtype), np.zeros((1, 1), dtype), RuleParameters(m=2.0, power=1.0, p=0.5)
    )


def _prepared_centres(centres: Array, norms: Array, scales: Array, parameters: RuleParameters) -> PreparedCentres:
    return PreparedCentres(centres, norms, scales, parameters, format_of(norms.dtype), np.empty(0, integers_of(norms.dtype)))


def _empty_arguments(shape: str, dtype: Any) -> tuple[Any, Array, Array, PreparedCentres]:
    """Return arguments without rows, for a call that only compiles."""
    return SHAPES[shape].empty_rows(dtype), read_only(np.empty(0, dtype)), read_only(np.empty(0)), placeholder_centres(dtype)


@cache
def _ready_sweep(shape: str, rule: str, dtype: Any, labelling: bool) -> Callable[..., None]:
    """Return the sweep of one shape and rule, compiled for one float type or read from Numba's cache."""
    compiled = sweep_pass(shape, rule, labelling=labelling)
    with compiling(f"the {rule} sweep{' with hard statistics' if labelling else ''} for {dtype.name}"):
        no_hard_sums = _NO_LABELS, np.zeros(1), np.zeros((1, 1))
        compiled(*_empty_arguments(shape, dtype), np.zeros(1), np.zeros(1), np.zeros((1, 1)), np.zeros(1), *no_hard_sums)
    return compiled


@cache
def _ready_deviation(shape: str, power: int, dtype: Any) -> Callable[..., None]:
    compiled = deviation_pass(shape, power)
    with compiling(f"deviations for {dtype.name}"):
        compiled(*_empty_arguments(shape, dtype), _NO_LABELS, np.zeros(1))
    return compiled


@cache
def _ready_assign(shape: str, rule: str, dtype: Any) -> Callable[..., None]:
    compiled = assign_pass(shape, rule)
    with compiling(f"the {rule} assignment for {dtype.name}"):
        written = np.empty(0, np.intp), np.empty((0, 1), dtype), np.empty(0)
        compiled(*_empty_arguments(shape, dtype), *written, np.zeros(1), np.zeros(1), np.zeros(2))
    return compiled


@cache
def _ready_change(shape: str, rule: str, dtype: Any) -> Callable[..., float]:
    compiled = change_pass(shape, rule)
    with compiling(f"the change of {rule} memberships for {dtype.name}"):
        compiled(*_empty_arguments(shape, dtype), placeholder_centres(dtype))
    return compiled


@cache
def _ready_measure(shape: str, dtype: Any) -> Callable[..., bool]:
    compiled = measure_pass(shape)
    with compiling(f"distances for {dtype.name}"):
        compiled(*_empty_arguments(shape, dtype), np.empty((0, 1), dtype))
    return compiled
