"""The nearest centres of rows, and the last pass of hard rules, by a search: through all centres,
or through groups of very many of them where that takes less time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .. import native
from ..data.arrays import Array, Float64, IntArray, numpy_dtype, rounding
from ..data.outputs import RowOutputs
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
    panels,
    search_argument,
    search_coordinates,
    total_distance,
)
from .represented_rows import RepresentedRows
from .state import State
from .statistics import FinalSums

# centres from which on groups of them can save time, and where bounds along directions save most
LEAST_GROUPED, LEAST_BOUNDED = 2048, 16_384
# rows for each centre from which on groups take little time against what they save: of full
# products, and of bounds along directions
ROWS_OF_PRODUCTS, ROWS_OF_BOUNDS = 2, 8
SAMPLE = 32  # rows that say what bounds leave open
JUDGING = 150  # times as long as they take at least, a search is where they are asked
GAIN = 0.9  # share of the time of a search through all centres that one by groups may take at most
# Time of a pair of a row and a centre, in multiplications of the fast products of two_levels.c
OF_A_BOUND, OF_A_GROUPED_BOUND = 12, 20  # beside those of each direction
OF_A_PRODUCT, OF_A_COLUMN = 105, 0.75  # of search.h, and for each column
OF_VERY_MANY, VERY_MANY = 2.2, 16_384  # times as long where there are more centres than that
DEAR = 6  # of a product by itself, in products
# squared distances, in means of some rows, from which on a row looks through more than a few groups
FAR = 1.5


class _FoundArgument(Structure):
    """struct found"""

    _fields_ = [
        (name, ADDRESS) for name in ("labels", "d2", "memberships", "mass", "totals", "moment")
    ]


class _CentreGroupsArgument(Structure):
    """struct groups"""

    _fields_ = [
        *((name, ADDRESS) for name in ("middles", "radius", "panels", "number", "first")),
        ("count", WHOLE),
        ("probes", WHOLE),
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
    """Finds the nearest centres of rows; with `probes`, among so many groups of them."""

    def __init__(self, dtype: Any, probes: int = 0) -> None:
        make = partial(probed_groups, probes) if probes else grouped_where_it_pays
        self._cache, self._groups = SearchCache(), StateCache(make)
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
    """The nearest centre of each row, and the squared distance to it; with `probes`, the nearest of
    those in so many groups whose middles are nearest, unless that is far."""

    def __init__(self, dtype: Any, probes: int = 0) -> None:
        self._finder = _Finder(dtype, probes)

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


def probed_groups(probes: int, rows: RepresentedRows, space: Space, state: State) -> _Grouped:
    """Return the centres in groups, of which each row looks through so many."""
    groups = CentreGroups.of(np.asarray(state.centres.coordinates, numpy_dtype(rows.blocks.x)))
    return _grouped(rows, space, state, groups, None, probes)


def grouped_where_it_pays(rows: RepresentedRows, space: Space, state: State) -> _Grouped | None:
    """Return the centres in groups; None where a search through all of them takes no longer, as a
    few rows tell."""
    n, c, columns = rows.n_rows, len(state.centres), space.size
    count = direction_count(space, n, c, once=not rows.training)
    is_short = n * (OF_A_BOUND + count) < JUDGING * SAMPLE * columns
    if c < LEAST_GROUPED or n < ROWS_OF_PRODUCTS * c or not count or is_short:
        return None
    directions = directions_of(rows, space, count)
    if directions is None:
        return None
    x, d2, open_share = _sample(rows, state.centres, directions)
    product = OF_A_PRODUCT + OF_A_COLUMN * columns
    full = product * (OF_VERY_MANY if c > VERY_MANY else 1.0)
    bounded = OF_A_BOUND + count + open_share * DEAR * product
    is_bounded = bounded < full
    if not len(x) or (is_bounded and (c < LEAST_BOUNDED or n < ROWS_OF_BOUNDS * c)):
        return None
    groups = CentreGroups.of(np.asarray(state.centres.coordinates, numpy_dtype(rows.blocks.x)))
    reached, middles = groups.reached(x, d2), columns * len(groups) / c
    by_bounds = reached * (OF_A_GROUPED_BOUND + count) + open_share * DEAR * product
    by_products = reached * columns
    if middles + min(by_bounds, by_products) > GAIN * min(bounded, full):
        return None
    chosen = directions if by_bounds < by_products else None
    return _grouped(rows, space, state, groups, chosen, len(groups))


def _sample(
    rows: RepresentedRows, centres: Centres, directions: Centres
) -> tuple[Float64, Float64, float]:
    """Return some rows (b, r), the squared distances to their nearest centres (b,), and the share
    of the centres that bounds along the directions leave open."""
    numbers = np.unique(np.linspace(0, rows.n_rows - 1, SAMPLE).astype(np.int64))
    known = numbers if rows.training else None
    x = rows.space.embed(rows.blocks.take(numbers), known).coordinates
    x = x[np.isfinite(x).all(axis=1)]
    if not len(x):
        return x, np.zeros(0), 1.0
    kxx, norms = np.einsum("ij,ij->i", x, x), centres.squared_norms()
    d2 = np.maximum(kxx[:, None] + norms - 2.0 * x @ centres.duals.T, 0.0).min(axis=1)
    z, p = x @ directions.duals.T, centres.coordinates @ directions.duals.T
    rests = np.sqrt(np.maximum(kxx - (z**2).sum(axis=1), 0.0))[:, None] * np.sqrt(
        np.maximum(norms - (p**2).sum(axis=1), 0.0)
    )
    low = kxx[:, None] + norms - 2.0 * (z @ p.T + rests)
    return x, d2, float((low <= d2[:, None]).mean())


def _grouped(
    rows: RepresentedRows,
    space: Space,
    state: State,
    groups: CentreGroups,
    directions: Centres | None,
    probes: int,
) -> _Grouped:
    """Return the centres of a state in groups, whose bounds are taken along the directions, or of
    all columns where there are none; a row looks through `probes` of them, or through all where it
    is far."""
    centres, norms, dtype = state.centres, state.centres.squared_norms(), groups.middles.dtype
    search = search_argument(rows, space, state, directions, panelled=False)
    lanes = LINE // dtype.itemsize
    number, first = groups.places(2 * lanes)
    lengths = np.einsum("ij,ij->i", groups.middles, groups.middles, dtype=np.float64)
    radius = np.zeros(-(-len(groups) // lanes) * lanes)
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
    margin = _margin(dtype, space.size)
    argument = _CentreGroupsArgument(*map(address, kept), len(groups), probes, FAR, margin)
    argument.kept = kept  # as long as a thread uses it
    return _Grouped(search, argument)


def _margin(dtype: Any, columns: int) -> float:
    """Share of k(x, x) + |v|^2 by which rounding may change a squared distance by products of all
    columns, summed one after the other, and by those in lanes."""
    unit = float(np.finfo(dtype).eps) / 2.0
    terms = columns * (1.0 + np.dtype(dtype).itemsize / LINE)
    return float(rounding(dtype) + 2.0 * unit * (terms + 16.0))


FOUND = pointer_to(_FoundArgument)
