"""Native passes in which a row has memberships in its nearest clusters alone (native/top_k.c)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import native
from ..data.arrays import Array, IntArray
from ..data.outputs import RowOutputs
from ..native.calls import (
    ADDRESS,
    INT,
    TEXT,
    WHOLE,
    Structure,
    address,
    byref,
    done,
    members,
    pointer_to,
)
from ..rules import Hard, Rule
from ..spaces import Space
from . import generic
from .bounded import BoundedSweep
from .native import CENTRES, ROWS, CentresCache, NewSums, SumsArgument
from .native_rows import NativeRows
from .nearest import SearchArgument, SearchCache, search_coordinates, total_distance
from .represented_rows import RepresentedRows
from .state import State
from .statistics import FinalSums, Statistics


class _TopAssignmentArgument(Structure):
    """struct top_assignment"""

    _fields_ = members("labels clusters memberships nearest mass spread totals moment", ADDRESS)


class _Finding:
    """The way to the nearest clusters: among all, or by a search."""

    def __init__(self, searched: bool) -> None:
        self._cache = SearchCache() if searched else None

    def argument(self, rows: RepresentedRows, space: Space, state: State) -> SearchArgument | None:
        """Return the search for rows in the clusters of a state."""
        return None if self._cache is None else self._cache.of(rows, space, state)

    def arguments(
        self, rows: RepresentedRows, here: NativeRows, search: SearchArgument | None
    ) -> tuple[Any, Any]:
        """Return what C reads of it, for one block."""
        if search is None:
            return (None, None)
        return (byref(search), search_coordinates(rows, here, search))


class NativeTopKSweep:
    """The sums over the rows of one task, for a rule that gives rows memberships in fewer clusters
    than there are."""

    def __init__(self, rule: Rule, dtype: Any, searched: bool = False) -> None:
        self._cache, self._finding = CentresCache(rule), _Finding(searched)
        self._pass = native.function(
            "sweep_top_k", dtype, (*ARGUMENTS, pointer_to(SumsArgument)), INT
        )

    def __call__(
        self,
        rows: RepresentedRows,
        rule: Rule,
        state: State,
        task: int,
        labels: IntArray | None = None,
    ) -> Statistics:
        if labels is not None:  # which hardly anybody asks for
            return generic.sweep(rows, rule, state, task, labels)
        name, most = self._cache.rule_name, rule.most_clusters
        assert most is not None, "the rule gives memberships in some clusters alone"
        sums = NewSums(rows, len(state.centres))
        search = self._finding.argument(rows, rows.space, state)
        for here, centres in self._cache.blocks(rows, rows.space, state, task):
            found = self._finding.arguments(rows, here, search)
            done(self._pass(here.argument, centres, name, most, *found, sums.argument))
        return sums.statistics(rows.task_weight(task))


class NativeTopKAssign:
    """The last pass: labels of one task's rows, and their memberships in so many clusters."""

    def __init__(self, rule: Rule, dtype: Any, searched: bool = False) -> None:
        self._cache, self._finding = CentresCache(rule), _Finding(searched)
        self._pass = native.function(
            "assign_top_k", dtype, (*ARGUMENTS, pointer_to(_TopAssignmentArgument)), INT
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
        assert out.clusters is not None, "there is room for the numbers of the clusters"
        search, most = self._finding.argument(rows, space, state), out.clusters.shape[1]
        mass = np.zeros(len(state.centres))
        spread = np.zeros(1)
        totals = np.zeros(2)
        moment = np.zeros(space.size)
        for here, centres in self._cache.blocks(rows, space, state, task):
            place = out.place(here.start, len(here))
            written = (
                out.labels[place],
                out.clusters[place],
                out.memberships[place],
                out.nearest[place],
                mass,
                spread,
                totals,
                moment,
            )
            to = _TopAssignmentArgument(*map(address, written))
            found = self._finding.arguments(rows, here, search)
            done(self._pass(here.argument, centres, self._cache.rule_name, most, *found, to))
        penalty, distance = map(float, totals)
        if search is not None:
            distance = total_distance(space, state, rows.task_weight(task), distance, moment)
        return FinalSums(float(spread[0]) + penalty, distance, mass)


class NativeFewNearest:
    """The clusters that have each of one task's rows for least by price, and squared distances."""

    def __init__(self, dtype: Any) -> None:
        self._cache = CentresCache(None)
        types = ROWS, CENTRES, WHOLE, ADDRESS, ADDRESS, ADDRESS
        self._pass = native.function("find_few", dtype, types, INT)

    def __call__(
        self, rows: RepresentedRows, space: Space, state: State, most: int, task: int
    ) -> tuple[IntArray, Array]:
        clusters, distances = [], []
        for here, centres in self._cache.blocks(rows, space, state, task):
            clusters.append(np.empty((len(here), most), np.int32))
            distances.append(np.empty((len(here), most), here.dtype))
            prices = state.known_scales().astype(here.dtype)
            to = address(prices), address(clusters[-1]), address(distances[-1])
            done(self._pass(here.argument, centres, most, *to))
        return np.concatenate(clusters), np.concatenate(distances)


class NativeAbout:
    """The same among the clusters (c, near) that lie about each row's nearest centre; it remembers
    bounds, as hard sweeps do."""

    def __init__(self, dtype: Any) -> None:
        self._cache, self._nearest = CentresCache(None), BoundedSweep(Hard(), dtype)
        types = ROWS, CENTRES, ADDRESS, WHOLE, *[ADDRESS] * 4
        self._pass = native.function("find_about", dtype, types, INT)

    def __call__(
        self,
        rows: RepresentedRows,
        state: State,
        about: npt.NDArray[np.int32],
        most: int,
        task: int,
    ) -> tuple[IntArray, Array]:
        clusters, distances = [], []
        blocks = self._cache.blocks(rows, rows.space, state, task)
        nearest_of_blocks = self._nearest.labels(rows, State(state.centres), task)
        for (here, centres), nearest in zip(blocks, nearest_of_blocks, strict=True):
            clusters.append(np.empty((len(here), most), np.int32))
            distances.append(np.empty((len(here), most), here.dtype))
            prices = state.known_scales().astype(here.dtype)
            arrays = map(address, (about, prices, clusters[-1], distances[-1]))
            done(self._pass(here.argument, centres, address(nearest), about.shape[1], *arrays))
        return np.concatenate(clusters), np.concatenate(distances)


ARGUMENTS = (ROWS, CENTRES, TEXT, WHOLE, pointer_to(SearchArgument), ADDRESS)
