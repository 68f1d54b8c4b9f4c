"""The native forms of the passes in `generic.py` and `generic_measures.py`: same inputs, same
results up to rounding."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Array, Float64, IntArray
from ..data.outputs import RowOutputs
from ..data.precision import numpy_dtype, rounding
from ..native.calls import (
    ADDRESS,
    INT,
    REAL,
    TEXT,
    WHOLE,
    Structure,
    address,
    aligned_zeros,
    byref,
    done,
    members,
    pointer_to,
)
from ..rules import NativeFunctions, Rule
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError
from ..spaces import Metrics, Space
from . import generic, generic_measures
from .native_rows import NativeRows, RowsArgument, beside
from .represented_rows import RepresentedRows
from .second_moments import SecondMoments
from .state import State
from .statistics import (
    ClusterCosts,
    FinalSums,
    HardStatistics,
    Margins,
    PriceStatistics,
    Statistics,
)

PANEL = 4  # of native/metrics.h


class CentresArgument(Structure):
    """The arrays of the centres and their scales, as C reads them (struct centres)."""

    _fields_ = [
        *members("values norms scales", ADDRESS),
        *members("clusters pitch", WHOLE),
        *members("m power p noise rounding", REAL),
        *members("factors", ADDRESS),
        *members("diagonal", WHOLE),
    ]


class SumsArgument(Structure):
    """struct sums"""

    _fields_ = members(
        "mass spread moment penalty labels hard_mass hard_moment second pulled", ADDRESS
    )


class _AssignmentArgument(Structure):
    """struct assignment"""

    _fields_ = members("labels memberships nearest mass spread totals", ADDRESS)


class _MarginsArgument(Structure):
    """struct margins"""

    _fields_ = [(name, ADDRESS) for name in ("mass", "rows", "labels", "d2")]


class CentresCache:
    """The centres of the latest state as C reads them, made once for all tasks of a pass."""

    def __init__(self, rule: Rule | None) -> None:
        functions = NativeFunctions("none") if rule is None else rule.native_functions
        assert functions is not None
        self.functions, self._rule = functions, rule
        self.rule_name = functions.name.encode()  # by which C knows the rule
        self._lock = threading.Lock()
        self._latest: tuple[State, tuple[Any, bool], CentresArgument] | None = None

    def argument(self, space: Space, state: State, rows: NativeRows) -> CentresArgument:
        """Return the centres of a state as they meet such rows."""
        form = rows.dtype, rows.are_csr
        with self._lock:  # of wide rows they take a while, and other threads would make them too
            latest = self._latest
            if latest is not None and latest[0] is state and latest[1] == form:
                return latest[2]
            argument = self.new_argument(space, state, rows)
            self._latest = state, form, argument
            return argument

    def blocks(
        self, rows: RepresentedRows, space: Space, state: State, task: int
    ) -> Iterator[tuple[NativeRows, CentresArgument]]:
        """Yield the blocks of a task, with the centres as C reads them."""
        for here in rows.native_task(task):
            yield here, self.argument(space, state, here)

    def new_argument(self, space: Space, state: State, rows: NativeRows) -> CentresArgument:
        """Return the same, made anew; `kept` holds what it points to: values (c, r), of which each
        column is in one place for CSR rows, offsets (c,), numbers of the scales (k, c), and those
        of metrics."""
        dtype, c = rows.dtype, len(state.centres)
        coefficients = space.coefficients(state.centres)
        if rows.are_csr:
            apart = beside(c, dtype)
            d = coefficients.shape[1]
            values = aligned_zeros(d * apart, dtype).reshape(d, apart)[:, :c].T
            values[...] = coefficients
        else:
            values = np.ascontiguousarray(coefficients, dtype)
            apart = values.shape[1]
        norms = space.offsets(state.centres).astype(dtype, copy=False)
        scales = np.zeros((1, c), dtype)
        if state.scales is not None and self._rule is not None:
            numbers, errors = self._rule.numbers(state.scales), state.expected_errors
            if self._rule.has_tails:  # distances are so much larger
                numbers = np.stack([*numbers, np.zeros(c) if errors is None else errors])
            scales = np.ascontiguousarray(numbers, dtype)
        f = self.functions
        places = address(values), address(norms), address(scales)
        argument = CentresArgument(*places, c, apart, f.m, f.power, f.p, f.noise, rounding(dtype))
        factors = None if state.metrics is None else packed_factors(state.metrics, dtype)
        argument.factors = address(factors)
        argument.diagonal = state.metrics is not None and state.metrics.are_diagonal
        argument.kept = values, norms, scales, factors  # as long as a thread uses it
        return argument


def packed_factors(metrics: Metrics, dtype: Any) -> npt.NDArray[Any]:
    """Return the factors of metrics as C reads them: of triangles, PANEL rows at a time, the
    numbers of these rows in one column after the other."""
    factors = metrics.factors
    if metrics.are_diagonal:
        return np.ascontiguousarray(factors, dtype)
    r = factors.shape[1]
    panels = [
        np.swapaxes(factors[:, first : first + PANEL, : min(first + PANEL, r)], 1, 2)
        for first in range(0, r, PANEL)
    ]
    together = [panel.reshape(len(factors), -1) for panel in panels]
    return np.ascontiguousarray(np.concatenate(together, axis=1), dtype)


ROWS, CENTRES = pointer_to(RowsArgument), pointer_to(CentresArgument)


class NewSums:
    """Sums of zero as C adds to them, in one piece of memory; the moments of CSR rows column by
    column, as they meet the centres."""

    def __init__(self, rows: RepresentedRows, clusters: int) -> None:
        self._by_column = rows.are_csr
        shape = clusters, rows.space.moment_width
        if self._by_column:
            shape = shape[1], beside(clusters, numpy_dtype(rows.blocks.x))
        self.memory = np.zeros(2 * clusters + 1 + shape[0] * shape[1])
        self.mass, self.spread = self.memory[:clusters], self.memory[clusters : 2 * clusters]
        self.penalty = self.memory[2 * clusters : 2 * clusters + 1]
        self._moment = self.memory[2 * clusters + 1 :].reshape(shape)
        first = address(self.memory) or 0
        places = (
            first + self.memory.itemsize * start
            for start in (0, clusters, 2 * clusters + 1, 2 * clusters)
        )
        self.argument = SumsArgument(*places)

    @property
    def moment(self) -> Float64:
        """(c, width), of CSR rows a copy."""
        by_column, c = self._by_column, len(self.mass)
        return np.ascontiguousarray(self._moment[:, :c].T) if by_column else self._moment

    def statistics(
        self, weight: float, hard: HardStatistics | None = None, second: SecondMoments | None = None
    ) -> Statistics:
        """Return what has been added."""
        penalty = float(self.penalty[0])
        return Statistics(weight, self.mass, self.moment, self.spread, penalty, hard, second)


class NativeSweep:
    """The sums over the rows of one task; with labels, also those over each cluster's own rows."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self.cache = CentresCache(rule)
        self._pass = native.function(
            "sweep", dtype, (ROWS, CENTRES, TEXT, pointer_to(SumsArgument)), INT
        )

    def __call__(
        self,
        rows: RepresentedRows,
        rule: Rule,
        state: State,
        task: int,
        labels: IntArray | None = None,
    ) -> Statistics:
        if rows.are_csr and state.metrics is not None:  # native code measures them in no other
            return generic.sweep(rows, rule, state, task, labels)
        sums = NewSums(rows, len(state.centres))
        hard = None if labels is None else NewSums(rows, len(state.centres))
        second = SecondMoments.asked_by(state)
        if hard is not None:
            sums.argument.hard_mass = hard.argument.mass
            sums.argument.hard_moment = hard.argument.moment
        if second is not None:
            if rule.has_tails:
                second = replace(second, mass=np.zeros(len(state.centres)))
            sums.argument.second = address(second.values)
            sums.argument.pulled = address(second.mass)
        for here, centres in self.cache.blocks(rows, rows.space, state, task):
            if labels is not None:
                sums.argument.labels = address(labels[here.start : here.start + len(here)])
            done(self._pass(here.argument, centres, self.cache.rule_name, sums.argument))
            if second is not None:  # about the points as C has rounded them
                points = centres.kept[0].astype(np.float64, copy=False)
                second = replace(second, points=points)
        own = None if hard is None else HardStatistics(hard.mass, hard.moment)
        return sums.statistics(rows.task_weight(task), own, second)


class NativeAssign:
    """The last pass: memberships and labels of one task's rows."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = CentresCache(rule)
        self._pass = native.function(
            "assign", dtype, (ROWS, CENTRES, TEXT, pointer_to(_AssignmentArgument)), INT
        )

    def __call__(
        self,
        rows: RepresentedRows,
        space: Space,
        rule: Rule,
        state: State,
        task: int,
        out: RowOutputs,
    ) -> FinalSums:
        if rows.are_csr and state.metrics is not None:
            return generic.assign(rows, space, rule, state, task, out)
        mass = np.zeros(len(state.centres))
        spread = np.zeros(len(state.centres))
        totals = np.zeros(2)
        for here, centres in self._cache.blocks(rows, space, state, task):
            place = out.place(here.start, len(here))
            written = (
                out.labels[place],
                out.memberships[place] if out.memberships.shape[1] else None,
                out.nearest[place],
                mass,
                spread,
                totals,
            )
            to = _AssignmentArgument(*map(address, written))
            done(self._pass(here.argument, centres, self._cache.rule_name, to))
        penalty, distance = totals
        return FinalSums(float(spread.sum() + penalty), float(distance), mass)


class NativeMeasure:
    """Distances of one task's rows to the centres, square roots taken."""

    def __init__(self, dtype: Any) -> None:
        self._cache = CentresCache(None)
        self._pass = native.function("measure", dtype, (ROWS, CENTRES, ADDRESS, ADDRESS), INT)

    def __call__(self, rows: RepresentedRows, space: Space, state: State, task: int) -> Array:
        if rows.are_csr and state.metrics is not None:
            return generic_measures.distances(rows, space, state, task)
        parts, finite = [], INT(1)
        for here, centres in self._cache.blocks(rows, space, state, task):
            out = np.empty((len(here), len(state.centres)), here.dtype)
            done(self._pass(here.argument, centres, address(out), byref(finite)))
            parts.append(out)
        if not finite.value:
            raise OutOfRangeError(NOT_FINITE)
        return np.concatenate(parts)


class NativeCosts:
    """Errors and utilities of the clusters in one task's rows."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = CentresCache(rule)
        self._pass = native.function("cost", dtype, (ROWS, CENTRES, TEXT, ADDRESS, ADDRESS), INT)

    def __call__(self, rows: RepresentedRows, rule: Rule, state: State, task: int) -> ClusterCosts:
        costs = ClusterCosts(np.zeros(len(state.centres)), np.zeros(len(state.centres)))
        to = address(costs.error), address(costs.utility)
        for here, centres in self._cache.blocks(rows, rows.space, state, task):
            done(self._pass(here.argument, centres, self._cache.rule_name, *to))
        return costs


class NativeNearest:
    """The nearest centre of each of one task's rows, and the squared distance to it."""

    def __init__(self, dtype: Any) -> None:
        self._cache = CentresCache(None)
        self._pass = native.function("find_nearest", dtype, (ROWS, CENTRES, ADDRESS, ADDRESS), INT)

    def __call__(self, rows: RepresentedRows, state: State, task: int) -> tuple[IntArray, Float64]:
        labels, distances = [], []
        for here, centres in self._cache.blocks(rows, rows.space, state, task):
            labels.append(np.empty(len(here), np.int64))
            distances.append(np.empty(len(here)))
            done(self._pass(here.argument, centres, address(labels[-1]), address(distances[-1])))
        return np.concatenate(labels), np.concatenate(distances)


class NativeDeviations:
    """Sums of the distances of each cluster's rows from given means."""

    def __init__(self, dtype: Any) -> None:
        self._cache = CentresCache(None)
        self._pass = native.function("deviate", dtype, (ROWS, CENTRES, ADDRESS, INT, ADDRESS), INT)

    def __call__(
        self, rows: RepresentedRows, means: State, labels: IntArray, power: int, task: int
    ) -> Float64:
        total = np.zeros(len(means.centres))
        for here, centres in self._cache.blocks(rows, rows.space, means, task):
            own = address(labels[here.start : here.start + len(here)])
            done(self._pass(here.argument, centres, own, power == 2, address(total)))
        return total


class NativePrices:
    """Masses of clusters under their prices in one task's rows, and how they change with these."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = CentresCache(rule)
        self._pass = native.function(
            "price", dtype, (ROWS, CENTRES, TEXT, ADDRESS, ADDRESS, ADDRESS), INT
        )

    def __call__(
        self, rows: RepresentedRows, rule: Rule, state: State, task: int
    ) -> PriceStatistics:
        c = len(state.centres)
        sums = cost, mass, coupling = np.zeros(1), np.zeros(c), np.zeros((c, c))
        to = tuple(map(address, sums))
        for here, centres in self._cache.blocks(rows, rows.space, state, task):
            done(self._pass(here.argument, centres, self._cache.rule_name, *to))
        return PriceStatistics(float(cost[0]), mass, coupling + coupling.T)


class NativeMargins:
    """Clusters of one task's rows by price, and the rows that another cluster would have for little
    more."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = CentresCache(rule)
        self._pass = native.function(
            "find_margins", dtype, (ROWS, CENTRES, TEXT, REAL, pointer_to(_MarginsArgument)), WHOLE
        )

    def __call__(
        self, rows: RepresentedRows, space: Space, rule: Rule, state: State, width: float, task: int
    ) -> Margins:
        c = len(state.centres)
        mass, found = np.zeros(c), list[tuple[IntArray, IntArray, Float64]]()
        for here, centres in self._cache.blocks(rows, space, state, task):
            near = np.empty(len(here), np.int64)
            labels = np.empty(len(here), np.int64)
            d2 = np.empty((len(here), c), here.dtype)
            to = _MarginsArgument(*map(address, (mass, near, labels, d2)))
            count = done(self._pass(here.argument, centres, self._cache.rule_name, width, to))
            found.append(
                (here.start + near[:count], labels[:count].copy(), d2[:count].astype(np.float64))
            )
        return Margins(mass, tuple(found))
