"""Native passes in which a row has memberships in its nearest clusters alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import native
from ..data.arrays import IntArray
from ..data.outputs import RowOutputs
from ..native.calls import ADDRESS, INT, TEXT, WHOLE, Structure, address, done, pointer_to
from ..rules import Rule
from ..spaces import Space
from . import generic
from .native import CENTRES, ROWS, CentresCache, NewSums, SumsArgument
from .represented_rows import RepresentedRows
from .state import State
from .statistics import FinalSums, Statistics


class _TopAssignmentArgument(Structure):
    """struct top_assignment"""

    _fields_ = [(name, ADDRESS) for name in ("labels", "clusters", "memberships", "nearest", "mass", "spread", "totals")]


class NativeTopKSweep:
    """The sums over the rows of one task, for a rule that gives rows memberships in fewer clusters than there are."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = CentresCache(rule)
        self._pass = native.function("sweep_top_k", dtype, (ROWS, CENTRES, TEXT, WHOLE, pointer_to(SumsArgument)), INT)

    def __call__(
        self, rows: RepresentedRows, rule: Rule, state: State, task: int, before: State | None = None, labels: IntArray | None = None
    ) -> Statistics:
        if before is not None or labels is not None:  # which hardly anybody asks for
            return generic.sweep(rows, rule, state, task, before, labels)
        assert rule.most_clusters is not None, "the rule gives memberships in some clusters alone"
        sums = NewSums(len(state.centres), rows.space.moment_width)
        for here in rows.native_task(task):
            centres = self._cache.argument(rows.space, state, here.dtype)
            done(self._pass(here.argument, centres, self._cache.rule_name, rule.most_clusters, sums.argument))
        return sums.statistics(rows.task_weight(task))


class NativeTopKAssign:
    """The last pass: labels of one task's rows, and their memberships in so many clusters."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = CentresCache(rule)
        self._pass = native.function("assign_top_k", dtype, (ROWS, CENTRES, TEXT, WHOLE, pointer_to(_TopAssignmentArgument)), INT)

    def __call__(self, rows: RepresentedRows, space: Space, rule: Rule, state: State, task: int, out: RowOutputs) -> FinalSums:
        assert out.clusters is not None, "there is room for the numbers of the clusters"
        mass, spread, totals, most = np.zeros(len(state.centres)), np.zeros(1), np.zeros(2), out.clusters.shape[1]
        for here in rows.native_task(task):
            place = out.place(here.start, len(here))
            written = out.labels[place], out.clusters[place], out.memberships[place], out.nearest[place], mass, spread, totals
            to, centres = _TopAssignmentArgument(*map(address, written)), self._cache.argument(space, state, here.dtype)
            done(self._pass(here.argument, centres, self._cache.rule_name, most, to))
        penalty, distance = totals
        return FinalSums(float(spread[0] + penalty), float(distance), mass)
