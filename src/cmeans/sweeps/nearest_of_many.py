"""The nearest centres of rows, and the last pass of hard rules, by a search: through all centres,
or through groups of very many of them where that takes less time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .. import native
from ..data.arrays import Array, Float64, IntArray
from ..data.outputs import RowOutputs
from ..data.precision import numpy_dtype
from ..native.calls import (
    ADDRESS,
    INT,
    LINE,
    REAL,
    WHOLE,
    Structure,
    address,
    aligned,
    done,
    members,
    pointer_to,
)
from ..rules import Rule
from ..spaces import Space
from ..spaces.centres import Centres
from .centre_groups import CentreGroups
from .native_rows import NativeRows
from .nearest import (
    SEARCHED,
    SearchArgument,
    SearchCache,
    StateCache,
    along,
    direction_count,
    directions_of,
    margin_of_products,
    panels,
    search_argument,
    search_coordinates,
    total_distance,
)
from .represented_rows import RepresentedRows
from .search_costs import SearchCosts, SearchSample
from .state import State
from .statistics import FinalSums

# squared distances, in means of some rows, from which on a row looks through more than a few groups
FAR, MORE = 1.5, 16
PROBED_MEMBERS = 32  # centres of a group that rows probe, on average


class _FoundArgument(Structure):
    """struct found"""

    _fields_ = [
        (name, ADDRESS) for name in ("labels", "d2", "memberships", "mass", "totals", "moment")
    ]


class _CentreGroupsArgument(Structure):
    """struct groups"""

    _fields_ = [
        *((name, ADDRESS) for name in ("middles", "radius", "panels", "number", "first")),
        *members("count probes more", WHOLE),
        ("far", REAL),
        ("margin", REAL),
    ]


@dataclass(frozen=True)
class _Grouped:
    """Centres in groups, as the search reads them."""

    search: SearchArgument
    groups: _CentreGroupsArgument


class _FoundSums:
    """Sums over the rows of a task while their nearest centres are found."""

    def __init__(self, clusters: int, columns: int) -> None:
        self.mass, self.totals, self.moment = np.zeros(clusters), np.zeros(2), np.zeros(columns)

    def argument(self, labels: IntArray, d2: Float64, memberships: Array | None) -> _FoundArgument:
        """Return the place of what is found of some rows."""
        return _FoundArgument(
            *map(address, (labels, d2, memberships, self.mass, self.totals, self.moment))
        )


class _Finder:
    """Finds the nearest centres of rows."""

    def __init__(self, dtype: Any) -> None:
        self._cache, self._groups = SearchCache(), StateCache(grouped_where_it_pays)
        self._through_all = native.function("assign_nearest", dtype, (*SEARCHED, FOUND), INT)
        arguments = (*SEARCHED[:2], pointer_to(_CentreGroupsArgument), FOUND)
        self._through_groups = native.function("assign_in_groups", dtype, arguments, INT)

    def find(
        self,
        rows: RepresentedRows,
        space: Space,
        state: State,
        here: NativeRows,
        to: _FoundArgument,
    ) -> None:
        """Find the nearest centres of one block of rows."""
        grouped = self._groups.of(rows, space, state)
        if grouped is not None:
            done(self._through_groups(here.argument, grouped.search, grouped.groups, to))
            return
        search = self._cache.of(rows, space, state)
        done(self._through_all(here.argument, search, search_coordinates(rows, here, search), to))


class NearestAssign:
    """The last pass of the hard rule: labels of one task's rows, and memberships where there is
    room for them."""

    def __init__(self, dtype: Any) -> None:
        self._finder = _Finder(dtype)

    def __call__(
        self,
        rows: RepresentedRows,
        space: Space,
        rule: Rule,
        state: State,
        task: int,
        out: RowOutputs,
    ) -> FinalSums:
        sums = _FoundSums(len(state.centres), space.size)
        for here in rows.native_task(task):
            place = out.place(here.start, len(here))
            memberships = out.memberships[place] if out.memberships.shape[1] else None
            to = sums.argument(out.labels[place], out.nearest[place], memberships)
            self._finder.find(rows, space, state, here, to)
        objective, square = sums.totals
        return FinalSums(
            float(objective),
            total_distance(space, state, sums.mass.sum(), square, sums.moment),
            sums.mass,
        )


class NearestSearch:
    """The nearest centre of each row, and the squared distance to it."""

    def __init__(self, dtype: Any) -> None:
        self._finder = _Finder(dtype)

    def __call__(self, rows: RepresentedRows, state: State, task: int) -> tuple[IntArray, Float64]:
        found = [self.of_block(rows, state, here) for here in rows.native_task(task)]
        labels, distances = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return labels, distances

    def of_block(
        self, rows: RepresentedRows, state: State, here: NativeRows
    ) -> tuple[IntArray, Float64]:
        """Return the same of one block."""
        labels, distances = np.empty(len(here), np.int64), np.empty(len(here))
        sums = _FoundSums(len(state.centres), rows.space.size)  # as long as they are written to
        self._finder.find(rows, rows.space, state, here, sums.argument(labels, distances, None))
        return labels, distances


class ProbedSearch:
    """The nearest of those centres of each row that are in so many groups whose middles are nearest
    to it, or of all where that is far."""

    def __init__(self, dtype: Any, probes: int) -> None:
        self._groups = StateCache(partial(probed_groups, probes))
        arguments = (SEARCHED[0], pointer_to(_CentreGroupsArgument), ADDRESS)
        self._probe = native.function("probe_groups", dtype, arguments, INT)

    def __call__(self, rows: RepresentedRows, state: State, here: NativeRows) -> IntArray:
        """Return their numbers, of one block of rows."""
        labels: IntArray = np.empty(len(here), np.int64)
        groups = self._groups.of(rows, rows.space, state).groups
        done(self._probe(here.argument, groups, address(labels)))
        return labels


def probed_groups(probes: int, rows: RepresentedRows, space: Space, state: State) -> _Grouped:
    """Return the centres in groups, of which each row looks through so many."""
    values = np.asarray(state.centres.coordinates, numpy_dtype(rows.blocks.x))
    groups = CentreGroups.of(values, PROBED_MEMBERS)
    return _grouped(rows, space, state, groups, None, min(probes, len(groups)))


def grouped_where_it_pays(rows: RepresentedRows, space: Space, state: State) -> _Grouped | None:
    """Return the centres in groups; None where a search through all of them takes no longer, as a
    few rows tell."""
    n, c = rows.n_rows, len(state.centres)
    count = direction_count(space, n, c, once=not rows.training)
    costs = SearchCosts(n, c, space.size, count)
    directions = directions_of(rows, space, count) if costs.are_worth_asking else None
    if directions is None:
        return None
    sample = SearchSample.of(rows, state.centres, directions)
    if not costs.are_worth_groups(sample):
        return None
    groups = CentreGroups.of(np.asarray(state.centres.coordinates, numpy_dtype(rows.blocks.x)))
    by_products, by_bounds = times = costs.through_groups(sample, groups)
    if not costs.fall_to(times, sample):
        return None
    chosen = directions if by_bounds < by_products else None
    return _grouped(rows, space, state, groups, chosen, len(groups))


def _grouped(
    rows: RepresentedRows,
    space: Space,
    state: State,
    groups: CentreGroups,
    directions: Centres | None,
    probes: int,
) -> _Grouped:
    """Return the centres of a state in groups, whose bounds are taken along the directions, or of
    all columns where there are none; rows that probe look through so many of them."""
    centres, norms, dtype = state.centres, state.centres.squared_norms(), groups.middles.dtype
    search = search_argument(rows, space, state, directions, panelled=False)
    lanes = LINE // dtype.itemsize
    number, first = groups.places(2 * lanes)
    lengths = np.einsum("ij,ij->i", groups.middles, groups.middles, dtype=np.float64)
    radius = np.zeros(-(-len(groups) // lanes) * lanes)
    if probes == len(groups):  # else none is left out
        radius[: len(groups)] = groups.radius
    rest = (
        -2.0 * centres.coordinates
        if directions is None
        else along(centres, norms, directions, search.margin)
    )
    kept = [
        panels(lengths, -2.0 * groups.middles, np.arange(len(groups)), dtype),
        aligned(radius.astype(dtype)),
        panels(norms, rest, number, dtype),
        aligned(number.astype(np.int32)),
        aligned(first.astype(np.int64)),
    ]
    margin = margin_of_products(dtype, space.size)
    argument = _CentreGroupsArgument(*map(address, kept), len(groups), probes, MORE, FAR, margin)
    argument.kept = kept  # as long as a thread uses it
    return _Grouped(search, argument)


FOUND = pointer_to(_FoundArgument)
