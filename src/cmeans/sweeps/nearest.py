"""Centres as the search for the nearest of many reads them (native/search.h says how it goes)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from .. import native
from ..data.arrays import Array, Float64, IntArray
from ..data.blocks import Blocks
from ..data.precision import itemsize, numpy_dtype, rounding
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
from ..spaces.spectrum import DIRECTING_ROWS, directing_rows, leading_directions
from .native_rows import NativeRows, RowsArgument
from .represented_rows import RepresentedRows
from .state import State
from .statistics import ClusterCosts

Made = TypeVar("Made")

STATES = 2  # whose centres are kept as C reads them
COLUMNS_A_DIRECTION = 12  # columns that a row has for each direction along which bounds are taken
MOST_DIRECTIONS = 128
LEAST_CLUSTERS = 48  # from which bounds can leave out enough to pay
# products of numbers of rows and centres, for which directions take less time than they save
LEAST_WORK = 2**30
# Of rows that are read once, one pass must save what it takes to find a direction: for each row of
# the sample, products with some 28 centres. More are asked for, as bounds may leave little out.
WORK_A_DIRECTION = 64


class SearchArgument(Structure):
    """struct search"""

    _fields_ = [
        ("values", ADDRESS),
        ("norms", ADDRESS),
        ("directions", ADDRESS),
        ("panels", ADDRESS),
        ("clusters", WHOLE),
        ("pitch", WHOLE),
        ("size", WHOLE),
        ("rounding", REAL),
        ("margin", REAL),
    ]


def direction_count(space: Space, n_rows: int, n_clusters: int, *, once: bool = False) -> int:
    """Number of directions along which distances of so many rows are bounded; 0 where that does not
    pay. `once`: the rows are read once, so that one pass must make up for finding these."""
    if n_clusters < LEAST_CLUSTERS or n_rows * n_clusters * space.size < LEAST_WORK:
        return 0
    even = 8 * round(space.size / (8 * COLUMNS_A_DIRECTION))
    count = min(max(even, 16), MOST_DIRECTIONS, space.size)
    pays = not once or n_rows * n_clusters >= WORK_A_DIRECTION * DIRECTING_ROWS * count
    return count if pays else 0


def coordinate_bytes(space: Space, blocks: Blocks, n_clusters: int) -> int:
    """Bytes of the coordinates of all rows along these."""
    count = direction_count(space, blocks.n_rows, n_clusters)
    return blocks.n_rows * itemsize(blocks.x) * (count + 2) if count else 0


class Directions:
    """Directions along which rows differ most, and the coordinates of the rows along them, which
    searches leave beside the rows."""

    def __init__(self, rows: RepresentedRows) -> None:
        self._space, self._blocks, self._training = rows.space, rows.blocks, rows.training
        self._kept = rows.keep_coordinates and rows.training
        self._found: dict[int, Centres | None] = {}
        # by the first row of a block and the number of directions
        self._coordinates: dict[tuple[int, int], Array] = {}
        self._lock = threading.Lock()

    def most(self, count: int) -> Centres | None:
        """At most `count` orthonormal directions, those of a sample; None in spaces without
        orthonormal coordinates."""
        with self._lock:
            if count not in self._found:
                self._found[count] = self._principal(count)
            return self._found[count]

    def coordinates(self, block: NativeRows, count: int) -> Array | None:
        """Room (b, count + 2) for the coordinates of a block's rows along so many directions, which
        a search fills and finds again: zeros where it has not been yet. None for rows that are read
        once, and where there is no room."""
        if not self._kept or not count:
            return None
        key = block.start, count
        if key not in self._coordinates:
            self._coordinates[key] = np.zeros((len(block), count + 2), block.dtype)
        return self._coordinates[key]

    def _principal(self, count: int) -> Centres | None:
        if not self._space.is_orthonormal:
            return None
        numbers = directing_rows(self._blocks.n_rows)
        sample = self._space.embed(self._blocks.take(numbers), numbers if self._training else None)
        x = sample.coordinates[np.isfinite(sample.coordinates).all(axis=1)]
        return Centres.orthonormal(leading_directions(x, count)) if len(x) else None


class StateCache(Generic[Made]):
    """Things made of the centres of the latest states, once for all tasks of a pass."""

    def __init__(self, make: Callable[[RepresentedRows, Space, State], Made]) -> None:
        self._make, self._lock = make, threading.Lock()
        self._latest: tuple[tuple[RepresentedRows, State, Made], ...] = ()

    def of(self, rows: RepresentedRows, space: Space, state: State) -> Made:
        """Return what is made of a state of `space`, for some rows."""
        with self._lock:
            for cached_rows, cached_state, made in self._latest:
                if cached_rows is rows and cached_state is state:
                    return made
            made = self._make(rows, space, state)
            self._latest = ((rows, state, made), *self._latest[: STATES - 1])
            return made


class SearchCache(StateCache[SearchArgument]):
    """The centres of the latest states as the search reads them."""

    def __init__(self) -> None:
        super().__init__(_search_argument)


def search_coordinates(rows: RepresentedRows, here: NativeRows, search: SearchArgument) -> Any:
    """Return the place of the coordinates of some rows along the directions of a search."""
    return address(rows.beside(Directions).coordinates(here, search.size))


def _search_argument(rows: RepresentedRows, space: Space, state: State) -> SearchArgument:
    count = direction_count(space, rows.n_rows, len(state.centres), once=not rows.training)
    return search_argument(rows, space, state, directions_of(rows, space, count), panelled=True)


def directions_of(rows: RepresentedRows, space: Space, count: int) -> Centres | None:
    """At most `count` directions for centres of `space`; None where there are none."""
    return rows.beside(Directions).most(count) if count and space is rows.space else None


def search_argument(
    rows: RepresentedRows,
    space: Space,
    state: State,
    directions: Centres | None,
    *,
    panelled: bool,
) -> SearchArgument:
    """Return the centres of a state as the search reads them, and, if they are `panelled`, what
    bounds are made of."""
    centres, dtype = state.centres, numpy_dtype(rows.blocks.x)
    values, norms = _in_lines(space.coefficients(centres), dtype), centres.squared_norms()
    size = 0 if directions is None else len(directions)
    margin = margin_of_bounds(dtype, values.shape[1], size)
    kept = [values, aligned(norms.astype(dtype))]
    if directions is not None:
        kept.append(_in_lines(space.coefficients(directions), dtype))
        if panelled:
            numbers = np.arange(len(norms))
            kept.append(panels(norms, along(centres, norms, directions, margin), numbers, dtype))
    places = [*map(address, kept), None, None][:4]
    argument = SearchArgument(*places, len(centres), values.shape[1], size, rounding(dtype), margin)
    argument.kept = kept  # as long as a thread uses it
    return argument


def margin_of_bounds(dtype: Any, columns: int, size: int) -> float:
    """Return the share of k(x, x) + |v|^2 by which rounding may change the bound of a squared
    distance by `size` directions, and below which distances tie.

    A product over `columns` is summed in lanes, so that few roundings follow each other; each
    coordinate errs by so much of |x|, all of them by sqrt(size) times that; the bound is summed
    over them one after the other.
    """
    lanes = columns * np.dtype(dtype).itemsize / LINE + 5.0
    return _share(dtype, (1.0 + size**0.5) * lanes + size + 8.0)


def margin_of_products(dtype: Any, columns: int) -> float:
    """Return the same of a squared distance by products of all columns, summed one after the other,
    beside one by products in lanes."""
    return _share(dtype, columns * (1.0 + np.dtype(dtype).itemsize / LINE) + 16.0)


def _share(dtype: Any, roundings: float) -> float:
    """Return the share of so many roundings, of 2^-24 each in float32."""
    unit = float(np.finfo(dtype).eps) / 2.0
    return float(rounding(dtype) + 2.0 * unit * roundings)


def along(centres: Centres, norms: Float64, directions: Centres, margin: float) -> Float64:
    """Return (c, size + 1) what bounds are made of beside |v|^2: -2 times the centres' coordinates
    along the directions and the lengths of their rests."""
    places = centres.coordinates @ directions.duals.T
    left = np.maximum(norms - np.einsum("ij,ij->i", places, places), 0.0)
    both: Float64 = -2.0 * np.column_stack([places, np.sqrt(left + margin * norms)])
    return both


def panels(norms: Float64, rest: Array, number: IntArray, dtype: Any) -> Array:
    """Return centres of some numbers (panels, 1 + k, lanes) side by side, an even number of panels:
    |v|^2, infinite where there is no centre (-1), and the rest (c, k) of what is known of each."""
    lanes = LINE // np.dtype(dtype).itemsize
    count = -(-len(number) // (2 * lanes)) * 2
    numbers = np.full(count * lanes, -1)
    numbers[: len(number)] = number
    table = np.zeros((count * lanes, 1 + rest.shape[1]), dtype)
    table[:, 0] = np.where(numbers >= 0, norms[numbers], np.inf)
    table[numbers >= 0, 1:] = rest[numbers[numbers >= 0]]
    return aligned(table.reshape(count, lanes, -1).transpose(0, 2, 1))


def _in_lines(points: Float64, dtype: Any) -> Array:
    """Return points (c, r) with zeros up to whole vectors."""
    lanes = LINE // np.dtype(dtype).itemsize
    padded = np.zeros((len(points), -(-points.shape[1] // lanes) * lanes), dtype)
    padded[:, : points.shape[1]] = points
    return aligned(padded)


def total_distance(
    space: Space, state: State, weight: float, square: float, moment: Float64
) -> float:
    """The weighted squared distances of rows to all centres, by the sums of weight, weight k(x, x)
    and weight g(x)."""
    norms, total = state.centres.squared_norms(), space.coefficients(state.centres).sum(axis=0)
    # sum_ij w_i |x_i - v_j|^2 = c sum_i w_i k(x_i, x_i) - 2 (sum_i w_i g(x_i)) . (sum_j a_j) +
    # sum_i w_i sum_j |v_j|^2
    return max(float(len(norms) * square - 2.0 * moment @ total + weight * norms.sum()), 0.0)


class SearchedCosts:
    """Errors and utilities of the clusters in one task's rows, each of which would go to its second
    nearest centre."""

    def __init__(self, dtype: Any) -> None:
        self._cache = SearchCache()
        self._pass = native.function("cost_nearest", dtype, (*SEARCHED, ADDRESS, ADDRESS), INT)

    def __call__(self, rows: RepresentedRows, rule: Rule, state: State, task: int) -> ClusterCosts:
        search = self._cache.of(rows, rows.space, state)
        costs = ClusterCosts(np.zeros(len(state.centres)), np.zeros(len(state.centres)))
        to = address(costs.error), address(costs.utility)
        for here in rows.native_task(task):
            done(self._pass(here.argument, search, search_coordinates(rows, here, search), *to))
        return costs


SEARCHED = (pointer_to(RowsArgument), pointer_to(SearchArgument), ADDRESS)
