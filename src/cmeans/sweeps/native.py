"""The native forms of the passes in `generic.py`: same inputs, same results up to rounding."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .. import native
from ..data.arrays import Array, Float64, IntArray, rounding
from ..data.outputs import RowOutputs
from ..native.calls import POINTER, REAL, WHOLE, address, done, pitch, rows_in_order
from ..rules import Rule, TileFunctions
from ..runtime.user_warnings import NOT_FINITE
from ..spaces import Space
from .generic import FinalSums
from .represented_rows import RepresentedBlock, RepresentedRows
from .state import State
from .statistics import HardStatistics, Statistics

STATES = 2  # whose centres are kept as C reads them: the change of memberships compares two


class RowsArgument(ctypes.Structure):
    """struct rows"""

    _fields_ = [
        ("values", POINTER),
        ("shift", POINTER),
        ("kxx", POINTER),
        ("weight", POINTER),
        ("order", POINTER),
        ("count", WHOLE),
        ("columns", WHOLE),
        ("pitch", WHOLE),
        ("weight_step", WHOLE),
    ]


class CentresArgument(ctypes.Structure):
    """struct centres"""

    _fields_ = [
        ("values", POINTER),
        ("norms", POINTER),
        ("scales", POINTER),
        ("clusters", WHOLE),
        ("m", REAL),
        ("power", REAL),
        ("p", REAL),
        ("rounding", REAL),
    ]


class _SumsArgument(ctypes.Structure):
    """struct sums"""

    _fields_ = [(name, POINTER) for name in ("mass", "spread", "moment", "penalty", "labels", "hard_mass", "hard_moment")]


class _AssignmentArgument(ctypes.Structure):
    """struct assignment"""

    _fields_ = [(name, POINTER) for name in ("labels", "memberships", "nearest", "mass", "spread", "totals")]


class NativeRows:
    """The rows of a block as C reads them."""

    def __init__(self, block: RepresentedBlock) -> None:
        x, shift, kxx = block.rows.values()
        x = rows_in_order(x)
        shift = None if shift is None else np.ascontiguousarray(shift)
        kxx = None if kxx is None else np.ascontiguousarray(kxx)
        weight = block.weight if block.weight.strides == (0,) else np.ascontiguousarray(block.weight)
        self.count, self.dtype, self._kept = len(x), x.dtype, (x, shift, kxx, weight)
        step = weight.strides[0] // weight.itemsize
        self.argument = RowsArgument(address(x), address(shift), address(kxx), address(weight), None, len(x), x.shape[1], pitch(x), step)

    def __len__(self) -> int:
        return self.count


class CentresCache:
    """The centres of the latest states as C reads them, made once for all tasks of a pass."""

    def __init__(self, rule: Rule | None) -> None:
        functions = TileFunctions("none") if rule is None else rule.tile_functions
        assert functions is not None
        self.functions, self._rule = functions, rule
        self._latest: tuple[tuple[State, Any, CentresArgument, Any], ...] = ()

    @property
    def rule_name(self) -> bytes:
        """The name by which C knows the rule."""
        return self.functions.name.encode()

    def argument(self, space: Space, state: State, dtype: Any) -> CentresArgument:
        """Return the centres of a state, for rows of a dtype."""
        for cached_state, cached_dtype, argument, _ in self._latest:
            if cached_state is state and cached_dtype == dtype:
                return argument
        view = space.view(state.centres, np.empty(0, dtype))
        scales = np.zeros((1, len(state.centres)))
        if state.scales is not None and self._rule is not None:
            scales = self._rule.numbers(state.scales)
        kept = tuple(np.ascontiguousarray(part, dtype) for part in (view.coefficients, view.norms, scales))
        f = self.functions
        argument = CentresArgument(*map(address, kept), len(state.centres), f.m, f.power, f.p, rounding(dtype))
        others = [latest for latest in self._latest if latest[0] is not state]  # another thread may have added it
        self._latest = ((state, dtype, argument, kept), *others[: STATES - 1])
        return argument


class NativeSweep:
    """The sums over the rows of one task; with labels, also those over each cluster's own rows."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = CentresCache(rule)
        self._pass = native.function("sweep", dtype, (POINTER, POINTER, ctypes.c_char_p, POINTER), ctypes.c_int)
        self._change = NativeChange(self._cache, dtype)

    def __call__(
        self, rows: RepresentedRows, rule: Rule, state: State, task: int, before: State | None = None, labels: IntArray | None = None
    ) -> Statistics:
        c, width = len(state.centres), rows.space.moment_width
        mass, spread, moment, penalty = np.zeros(c), np.zeros(c), np.zeros((c, width)), np.zeros(1)
        hard = None if labels is None else HardStatistics(np.zeros(c), np.zeros((c, width)))
        written = [address(part) for part in (mass, spread, moment, penalty)]
        for block in rows.task(task):
            here = NativeRows(block)
            more: list[int | None] = [None] * 3
            if hard is not None and labels is not None:
                more = [address(labels[block.start : block.start + len(here)]), address(hard.mass), address(hard.moment)]
            centres, sums = self._cache.argument(rows.space, state, here.dtype), _SumsArgument(*written, *more)
            done(self._pass(ctypes.byref(here.argument), ctypes.byref(centres), self._cache.rule_name, ctypes.byref(sums)))
        change = 0.0 if before is None else self._change(rows, state, before, task)
        return Statistics(rows.task_weight(task), mass, moment, spread, float(penalty[0]), change, hard)


class NativeChange:
    """The largest change of a membership between two states, for the stopping rule of the papers."""

    def __init__(self, cache: CentresCache, dtype: Any) -> None:
        self._cache = cache  # that of the sweeps, which has both states
        self._pass = native.function("change", dtype, (POINTER, POINTER, POINTER, ctypes.c_char_p, POINTER), ctypes.c_int)

    def __call__(self, rows: RepresentedRows, state: State, before: State, task: int) -> float:
        largest = ctypes.c_double(0.0)
        for block in rows.task(task):
            here = NativeRows(block)
            now, then = (self._cache.argument(rows.space, one, here.dtype) for one in (state, before))
            both = ctypes.byref(now), ctypes.byref(then)
            done(self._pass(ctypes.byref(here.argument), *both, self._cache.rule_name, ctypes.byref(largest)))
        return largest.value


class NativeAssign:
    """The last pass: memberships and labels of one task's rows."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = CentresCache(rule)
        self._pass = native.function("assign", dtype, (POINTER, POINTER, ctypes.c_char_p, POINTER), ctypes.c_int)

    def __call__(self, rows: RepresentedRows, space: Space, rule: Rule, state: State, task: int, out: RowOutputs) -> FinalSums:
        mass, spread, totals = np.zeros(len(state.centres)), np.zeros(len(state.centres)), np.zeros(2)
        for block in rows.task(task):
            here = NativeRows(block)
            place = out.place(block.start, len(here))
            written = out.labels[place], out.memberships[place], out.nearest[place], mass, spread, totals
            to, centres = _AssignmentArgument(*map(address, written)), self._cache.argument(space, state, here.dtype)
            done(self._pass(ctypes.byref(here.argument), ctypes.byref(centres), self._cache.rule_name, ctypes.byref(to)))
        penalty, distance = totals
        return FinalSums(float(spread.sum() + penalty), float(distance), mass)


class NativeMeasure:
    """Distances of one task's rows to the centres, square roots taken."""

    def __init__(self, dtype: Any) -> None:
        self._cache = CentresCache(None)
        self._pass = native.function("measure", dtype, (POINTER, POINTER, POINTER, POINTER), ctypes.c_int)

    def __call__(self, rows: RepresentedRows, space: Space, state: State, task: int) -> Array:
        parts, finite = [], ctypes.c_int(1)
        for block in rows.task(task):
            here = NativeRows(block)
            out = np.empty((len(here), len(state.centres)), here.dtype)
            centres = self._cache.argument(space, state, here.dtype)
            done(self._pass(ctypes.byref(here.argument), ctypes.byref(centres), address(out), ctypes.byref(finite)))
            parts.append(out)
        if not finite.value:
            raise ValueError(NOT_FINITE)
        return np.concatenate(parts)


class NativeDeviations:
    """Sums of the distances of each cluster's rows from given means."""

    def __init__(self, dtype: Any) -> None:
        self._cache = CentresCache(None)
        self._pass = native.function("deviate", dtype, (POINTER, POINTER, POINTER, ctypes.c_int, POINTER), ctypes.c_int)

    def __call__(self, rows: RepresentedRows, means: State, labels: IntArray, power: int, task: int) -> Float64:
        total = np.zeros(len(means.centres))
        for block in rows.task(task):
            here = NativeRows(block)
            centres = self._cache.argument(rows.space, means, here.dtype)
            own = address(labels[block.start : block.start + len(here)])
            done(self._pass(ctypes.byref(here.argument), ctypes.byref(centres), own, power == 2, address(total)))
        return total
