"""Hard sweeps over wide rows that leave out the rows whose cluster cannot have changed.

Each row has an upper bound of its distance to its own centre and lower bounds of its distances to groups of other centres.
When centres move, the bounds are widened by the triangle inequality, which holds in feature space too; a row whose bounds still
do not overlap is not read. The sums are kept from the sweep before: only rows that change clusters alter them.
(Elkan 2003 keeps a bound for each centre, Hamerly 2010 one for all, Ding et al. 2015, Yinyang k-means, groups.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...data.arrays import Array, Float64, IntArray, itemsize
from ...data.blocks import Blocks
from ...rules import Rule
from ...spaces import Space
from ..represented_rows import RepresentedRows
from ..state import State
from ..statistics import Statistics
from . import wide
from .door import compiled, compiling, inlined, sources
from .passes import PreparedCentres
from .sweeps import CompiledChange, PreparedCentresCache, placeholder_centres
from .tiles import TILE, Tile, new_tile, read_only

BOUNDS_AT_ONCE = 256  # rows whose bounds are updated together
GROUPS = 8  # centre j belongs to group j modulo their number


class RowBounds(NamedTuple):
    """Bounds of the rows of one block."""

    label: Array  # (b,) own cluster, -1 before the first sweep
    upper: Array  # (b,) at least the distance to the own centre
    lower: Array  # (groups, b) at most the distance to any other centre of each group

    @classmethod
    def unknown(cls, n_rows: int, clusters: int, dtype: Any) -> RowBounds:
        """Return bounds before the first sweep."""
        return cls(np.full(n_rows, -1, np.int32), np.full(n_rows, np.inf, dtype), np.zeros((min(clusters, GROUPS), n_rows), dtype))


class ClusterSums(NamedTuple):
    """Sums over the rows of each cluster in one task."""

    count: Array  # (c,) of rows with positive weight
    mass: Array  # (c,) of weights
    kxx: Array  # (c,) of weight k(x, x)
    moment: Array  # (c, r) of weight g(x)

    @classmethod
    def none(cls, clusters: int, columns: int) -> ClusterSums:
        """Return sums of zero."""
        return cls(np.zeros(clusters, np.int64), np.zeros(clusters), np.zeros(clusters), np.zeros((clusters, columns)))


class Drift(NamedTuple):
    """Distances that centres have moved since the bounds were computed, rounded up."""

    cluster: Array  # (c,) of each centre
    group: Array  # (groups,) the largest of each group


@cache
def _compiled_pass(dtype: Any) -> Callable[..., int]:
    """Return the pass, compiled for one float type or read from Numba's cache."""
    compiled_sweep = bounded_pass()
    with compiling(f"the hard sweep for {dtype.name}"):
        no_drift = Drift(np.zeros(1, dtype), np.zeros(1, dtype))
        no_bounds, no_sums = RowBounds.unknown(0, 1, dtype), ClusterSums.none(1, 1)
        rows = read_only(np.empty((0, 1), dtype)), read_only(np.empty(0, dtype)), read_only(np.empty(0))
        compiled_sweep(*rows, placeholder_centres(dtype), no_drift, no_bounds, no_sums)
    return compiled_sweep


@inlined
def _rows_to_read(label: Array, upper: Array, lower: Array, drift: Drift, rounding: float, order: Array) -> int:
    """Widen the bounds by the drift of the centres; write the rows whose bounds overlap to `order`, and return their number."""
    real, count = upper.dtype.type, 0
    more, less = real(1 + rounding), real(1 - rounding)  # margins for the rounding of sums and differences
    margin = np.empty(BOUNDS_AT_ONCE, upper.dtype)
    for start in range(0, label.shape[0], BOUNDS_AT_ONCE):
        n = min(BOUNDS_AT_ONCE, label.shape[0] - start)
        for i in range(n):
            margin[i] = np.inf
        for h in range(lower.shape[0]):
            bound, drifted = lower[h, start : start + n], drift.group[h]
            for i in range(n):
                bound[i] = bound[i] * less - drifted
                margin[i] = bound[i] if bound[i] < margin[i] else margin[i]
        for i in range(start, start + n):
            cluster = max(label[i], 0)
            upper[i] = upper[i] * more + drift.cluster[cluster]
            order[count] = i
            count += not upper[i] < margin[i - start]
    return int(count)


@inlined
def _nearest_others(tile: Tile, clusters: int, others: Array) -> None:
    """Set `others` (groups, TILE) to the smallest squared distance of each row to a centre other than its own."""
    real, groups = others.dtype.type, others.shape[0]
    for h in range(groups):
        for t in range(TILE):
            others[h, t] = real(np.inf)
        for j in range(h, clusters, groups):
            for t in range(TILE):
                d2 = tile.d2[j, t]
                others[h, t] = d2 if tile.label[t] != j and d2 < others[h, t] else others[h, t]


@inlined
def _move_row(sums: ClusterSums, old: int, new: int, w: float, kxx: float, row: Array) -> None:
    """Move a row from its cluster, if it had one, to another."""
    counted = 1 if w > 0 else 0
    sums.count[new] += counted
    sums.mass[new] += w
    sums.kxx[new] += w * kxx
    # In float64, so that a cluster that loses nearly all its rows keeps the digits of the rest.
    joined = sums.moment[new]
    for f in range(row.shape[0]):
        joined[f] += w * row[f]
    if old >= 0:
        sums.count[old] -= counted
        sums.mass[old] -= w
        sums.kxx[old] -= w * kxx
        left = sums.moment[old]
        for f in range(row.shape[0]):
            left[f] -= w * row[f]


@inlined
def _clear_empty_clusters(sums: ClusterSums) -> None:
    """Set the sums of clusters without rows to zero, without the rest that rounding leaves."""
    for j in range(sums.count.shape[0]):
        if sums.count[j] == 0:
            sums.mass[j], sums.kxx[j] = 0.0, 0.0
            for f in range(sums.moment.shape[1]):
                sums.moment[j, f] = 0.0


@cache
def bounded_pass() -> Callable[..., int]:
    """Return the pass, made once; it compiles at its first call for each float type."""
    version = sources()

    @compiled
    def bounded(
        g: Array,  # (b, r)
        kxx: Array,  # (b,)
        weight: Array,  # (b,)
        prepared: PreparedCentres,
        drift: Drift,
        bounds: RowBounds,  # changed
        sums: ClusterSums,  # changed
    ) -> int:
        """Return the number of rows read."""
        _ = version
        real = kxx.dtype.type
        clusters = sums.moment.shape[0]
        label, upper, lower = bounds
        order, groups = np.empty(kxx.shape[0], np.int64), lower.shape[0]
        count: int = _rows_to_read(label, upper, lower, drift, prepared.form.rounding, order)
        rows = g, order[:count]
        tile = new_tile(prepared.centres.shape[0], clusters, kxx, prepared.bits)
        others = np.empty((groups, TILE), kxx.dtype)
        largest = prepared.norms[:clusters].max()
        for number in range((count + TILE - 1) // TILE):
            start = number * TILE
            for t in range(TILE):
                tile.kxx[t] = kxx[order[min(start + t, count - 1)]]
                tile.low[t] = real(np.inf)
            wide.nearest(rows, number, prepared.centres, prepared.norms, prepared.form.rounding, tile)
            _nearest_others(tile, clusters, others)
            for t in range(min(TILE, count - start)):
                wide.prefetch_next(rows, number, t)
                i = order[start + t]
                slack = real(prepared.form.rounding) * (kxx[i] + largest)
                upper[i] = np.sqrt(tile.low[t] + slack)
                for h in range(groups):
                    lower[h, i] = np.sqrt(max(others[h, t] - slack, real(0)))
                if label[i] != tile.label[t]:
                    _move_row(sums, label[i], tile.label[t], weight[i], kxx[i], g[i])
                    label[i] = tile.label[t]
        _clear_empty_clusters(sums)
        return count

    return bounded


@dataclass
class _TaskMemory:
    """State, bounds and sums of one task after its last sweep."""

    state: State
    bounds: dict[int, RowBounds]  # by the first row of a block
    sums: ClusterSums


class BoundedSweep:
    """The sweep for the hard rule on wide rows; it keeps its last sweep's bounds and sums, so an object is for one run only."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = PreparedCentresCache(rule)
        self._pass = _compiled_pass(np.dtype(dtype))
        self._change = CompiledChange("wide", self._cache, dtype)
        self._memory: dict[tuple[int, int], _TaskMemory] = {}  # by rows and task: on a worker one sweep serves several partitions
        self._latest_drift: tuple[State, State, Drift] | None = None
        self._latest_centres: tuple[State, Float64, Float64] | None = None

    @staticmethod
    def memory(blocks: Blocks, basis_size: int, n_clusters: int) -> int:
        """Bytes that are kept between sweeps."""
        per_row = 4 + itemsize(blocks.x) * (1 + min(n_clusters, GROUPS))
        return blocks.n_rows * per_row + blocks.n_tasks(basis_size) * 8 * n_clusters * (basis_size + 2)

    def __call__(
        self, rows: RepresentedRows, rule: Rule, state: State, task: int, before: State | None = None, labels: IntArray | None = None
    ) -> Statistics:
        assert labels is None, "the hard rule needs no labels"
        c, key = len(state.centres), (id(rows), task)
        memory = self._memory.get(key)
        if memory is None:
            memory = _TaskMemory(state, {}, ClusterSums.none(c, rows.space.moment_width))
        for block in rows.task(task):
            block_rows: Any = block.rows
            if block.start not in memory.bounds:
                memory.bounds[block.start] = RowBounds.unknown(len(block_rows.kxx), c, block_rows.kxx.dtype)
            bounds = memory.bounds[block.start]
            prepared = self._cache.prepared(rows.space, state, block_rows.kxx)
            drift = self._drift(memory.state, state, block_rows.kxx.dtype)
            self._pass(block_rows.g, block_rows.kxx, read_only(block.weight), prepared, drift, bounds, memory.sums)
        memory.state = state
        self._memory[key] = memory
        change = 0.0 if before is None else self._change(rows, state, before, task)
        return _statistics(rows.task_weight(task), memory.sums, *self._exact_centres(rows.space, state), change)

    def _exact_centres(self, space: Space, state: State) -> tuple[Float64, Float64]:
        """Return coefficients (c, r) and squared norms (c,) of the centres, computed once for all tasks of a sweep."""
        latest = self._latest_centres
        if latest is None or latest[0] is not state:
            latest = state, space.coefficients(state.centres), state.centres.squared_norms()
            self._latest_centres = latest
        return latest[1], latest[2]

    def _drift(self, old: State, new: State, dtype: Any) -> Drift:
        """Return the drift between two states, computed once for all tasks of a sweep."""
        latest = self._latest_drift
        if latest is None or latest[0] is not old or latest[1] is not new:
            moved = np.sqrt((new.centres - old.centres).squared_norms()) * (1 + 1e-6)  # bounds may be float32
            groups = min(len(moved), GROUPS)
            farthest = np.array([moved[h::groups].max() for h in range(groups)])
            latest = old, new, Drift(moved.astype(dtype), farthest.astype(dtype))
            self._latest_drift = latest
        return latest[2]


def _statistics(weight: float, sums: ClusterSums, coefficients: Float64, norms: Float64, change: float) -> Statistics:
    """Return the statistics, with the sums of distances  sum_i w_i |x_i - v|^2 = sum_i w_i k(x_i, x_i) - 2 moment.a + mass |v|^2."""
    cross: Float64 = np.einsum("ij,ij->i", sums.moment, coefficients)
    spread = np.maximum(sums.kxx - 2.0 * cross + sums.mass * norms, 0.0)
    return Statistics(weight, sums.mass.copy(), sums.moment.copy(), spread, change=change)
