"""Hard sweeps over wide rows that leave out the rows whose cluster cannot have changed.

Each row keeps an upper bound of its distance to its own centre and lower ones of its distances to groups of other centres.
When centres move, the triangle inequality, which holds in feature space too, says by how much the bounds must give; a row
whose bounds still do not meet needs not be read. Its sums are there from before: only rows that change clusters move them.
(Elkan 2003 keeps a bound for each centre, Hamerly 2010 one for all, Ding et al. 2015, Yinyang k-means, groups.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Float64, IntArray, itemsize
from ..blocks import Blocks
from ..rules import Rule
from ..spaces import Space
from ..statistics import Statistics
from ..sweep import State
from ..table import Table
from . import wide
from .door import compiled, compiling, inlined, sources
from .passes import Standing
from .sweeps import Change, Standings, nowhere
from .tiles import TILE, Tile, new_tile, read_only

SPAN = 256  # rows whose bounds are looked at together
GROUPS = 8  # centre j belongs to group j modulo their number


class RowBounds(NamedTuple):
    """What is known of the rows of one block."""

    label: Array  # (b,) own cluster, -1 before the first look
    upper: Array  # (b,) at least the distance to the own centre
    lower: Array  # (groups, b) at most the distance to any other centre of each group

    @classmethod
    def unknown(cls, n_rows: int, clusters: int, dtype: Any) -> RowBounds:
        """Rows not looked at yet."""
        return cls(np.full(n_rows, -1, np.int32), np.full(n_rows, np.inf, dtype), np.zeros((min(clusters, GROUPS), n_rows), dtype))


class OwnSums(NamedTuple):
    """Sums over the rows of each cluster in one task."""

    count: Array  # (c,) of rows with positive weight
    mass: Array  # (c,) of weights
    kxx: Array  # (c,) of weight k(x, x)
    moment: Array  # (c, r) of weight g(x)

    @classmethod
    def none(cls, clusters: int, columns: int) -> OwnSums:
        """Nothing summed yet."""
        return cls(np.zeros(clusters, np.int64), np.zeros(clusters), np.zeros(clusters), np.zeros((clusters, columns)))


class Drift(NamedTuple):
    """How far centres have moved since the bounds were true, rounded up."""

    own: Array  # (c,) each
    group: Array  # (groups,) the farthest of each group


@cache
def _ready(dtype: Any) -> Callable[..., int]:
    """The pass, compiled for one float type or read from Numba's cache."""
    made = bounded_pass()
    with compiling(f"the hard sweep for {dtype.name}"):
        still = Drift(np.zeros(1, dtype), np.zeros(1, dtype))
        nobody, nothing = RowBounds.unknown(0, 1, dtype), OwnSums.none(1, 1)
        rows = read_only(np.empty((0, 1), dtype)), read_only(np.empty(0, dtype)), read_only(np.empty(0))
        made(*rows, nowhere(dtype), still, nobody, nothing)
    return made


@inlined
def _to_be_read(label: Array, upper: Array, lower: Array, drift: Drift, rounding: float, order: Array) -> int:
    """Bounds give as centres have moved; the rows whose bounds do not tell them apart any more are put in order, and counted."""
    real, count = upper.dtype.type, 0
    more, less = real(1 + rounding), real(1 - rounding)  # what adding and subtracting may round away
    margin = np.empty(SPAN, upper.dtype)
    for start in range(0, label.shape[0], SPAN):
        n = min(SPAN, label.shape[0] - start)
        for i in range(n):
            margin[i] = np.inf
        for h in range(lower.shape[0]):
            bound, gives = lower[h, start : start + n], drift.group[h]
            for i in range(n):
                bound[i] = bound[i] * less - gives
                margin[i] = bound[i] if bound[i] < margin[i] else margin[i]
        for i in range(start, start + n):
            own = max(label[i], 0)
            upper[i] = upper[i] * more + drift.own[own]
            order[count] = i
            count += not upper[i] < margin[i - start]
    return int(count)


@inlined
def _nearest_others(tile: Tile, clusters: int, others: Array) -> None:
    """The smallest distance (groups, TILE) of each row to a centre that is not its own."""
    real, groups = others.dtype.type, others.shape[0]
    for h in range(groups):
        for t in range(TILE):
            others[h, t] = real(np.inf)
        for j in range(h, clusters, groups):
            for t in range(TILE):
                d2 = tile.d2[j, t]
                others[h, t] = d2 if tile.label[t] != j and d2 < others[h, t] else others[h, t]


@inlined
def _change_owner(sums: OwnSums, old: int, new: int, w: float, kxx: float, row: Array) -> None:
    """A row leaves its cluster, if it had one, and joins another."""
    counts = 1 if w > 0 else 0
    sums.count[new] += counts
    sums.mass[new] += w
    sums.kxx[new] += w * kxx
    # In float64 to the last digit, so that a cluster that loses nearly all its rows keeps those of the rest.
    into = sums.moment[new]
    for f in range(row.shape[0]):
        into[f] += w * row[f]
    if old >= 0:
        sums.count[old] -= counts
        sums.mass[old] -= w
        sums.kxx[old] -= w * kxx
        out = sums.moment[old]
        for f in range(row.shape[0]):
            out[f] -= w * row[f]


@inlined
def _empty_exactly(sums: OwnSums) -> None:
    """A cluster without rows sums to nothing, not to what rounding leaves of it."""
    for j in range(sums.count.shape[0]):
        if sums.count[j] == 0:
            sums.mass[j], sums.kxx[j] = 0.0, 0.0
            for f in range(sums.moment.shape[1]):
                sums.moment[j, f] = 0.0


@cache
def bounded_pass() -> Callable[..., int]:
    """Made once; compiles at its first call for each float type."""
    version = sources()

    @compiled
    def bounded(
        g: Array,  # (b, r)
        kxx: Array,  # (b,)
        weight: Array,  # (b,)
        at: Standing,
        drift: Drift,
        known: RowBounds,  # changed
        sums: OwnSums,  # changed
    ) -> int:
        """Returns how many rows were read."""
        _ = version
        real = kxx.dtype.type
        clusters = sums.moment.shape[0]
        label, upper, lower = known
        order, groups = np.empty(kxx.shape[0], np.int64), lower.shape[0]
        count: int = _to_be_read(label, upper, lower, drift, at.form.rounding, order)
        rows = g, order[:count]
        tile = new_tile(at.centres.shape[0], clusters, kxx, at.bits)
        others = np.empty((groups, TILE), kxx.dtype)
        largest = at.norms[:clusters].max()
        for number in range((count + TILE - 1) // TILE):
            start = number * TILE
            for t in range(TILE):
                tile.kxx[t] = kxx[order[min(start + t, count - 1)]]
                tile.low[t] = real(np.inf)
            wide.nearest(rows, number, at.centres, at.norms, at.form.rounding, tile)
            _nearest_others(tile, clusters, others)
            for t in range(min(TILE, count - start)):
                wide.ask(rows, number, t)
                i = order[start + t]
                slack = real(at.form.rounding) * (kxx[i] + largest)
                upper[i] = np.sqrt(tile.low[t] + slack)
                for h in range(groups):
                    lower[h, i] = np.sqrt(max(others[h, t] - slack, real(0)))
                if label[i] != tile.label[t]:
                    _change_owner(sums, label[i], tile.label[t], weight[i], kxx[i], g[i])
                    label[i] = tile.label[t]
        _empty_exactly(sums)
        return count

    return bounded


@dataclass
class _Memory:
    """What one task knows from its last sweep."""

    state: State
    bounds: dict[int, RowBounds]  # by the first row of a block
    sums: OwnSums


class BoundedSweep:
    """The same for the hard rule on wide rows; it remembers its last sweep, so one object serves one run."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._standings = Standings(rule)
        self._pass = _ready(np.dtype(dtype))
        self._change = Change("wide", self._standings, dtype)
        self._memory: dict[int, _Memory] = {}
        self._latest_drift: tuple[State, State, Drift] | None = None
        self._latest_centres: tuple[State, Float64, Float64] | None = None

    @staticmethod
    def memory(blocks: Blocks, basis_size: int, n_clusters: int) -> int:
        """Bytes that it remembers."""
        per_row = 4 + itemsize(blocks.x) * (1 + min(n_clusters, GROUPS))
        return blocks.n_rows * per_row + blocks.n_tasks(basis_size) * 8 * n_clusters * (basis_size + 2)

    def __call__(
        self, table: Table, rule: Rule, state: State, task: int, before: State | None = None, owners: IntArray | None = None
    ) -> Statistics:
        assert owners is None, "hard clusters have no rows but their own"
        c, memory = len(state.centres), self._memory.get(task)
        if memory is None:
            memory = _Memory(state, {}, OwnSums.none(c, table.space.moment_width))
        for piece in table.pieces(task):
            rows: Any = piece.rows
            if piece.start not in memory.bounds:
                memory.bounds[piece.start] = RowBounds.unknown(len(rows.kxx), c, rows.kxx.dtype)
            known = memory.bounds[piece.start]
            at = self._standings.of(table.space, state, rows.kxx)
            self._pass(rows.g, rows.kxx, read_only(piece.weight), at, self._drift(memory.state, state, rows.kxx.dtype), known, memory.sums)
        memory.state = state
        self._memory[task] = memory
        change = 0.0 if before is None else self._change(table, state, before, task)
        return _statistics(table.task_weight(task), memory.sums, *self._exactly(table.space, state), change)

    def _exactly(self, space: Space, state: State) -> tuple[Float64, Float64]:
        """Coefficients (c, r) and squared norms (c,) of the centres, made once for all tasks of a sweep."""
        latest = self._latest_centres
        if latest is None or latest[0] is not state:
            latest = state, space.coefficients(state.centres), state.centres.squared_norms()
            self._latest_centres = latest
        return latest[1], latest[2]

    def _drift(self, old: State, new: State, dtype: Any) -> Drift:
        """Made once for all tasks of a sweep."""
        latest = self._latest_drift
        if latest is None or latest[0] is not old or latest[1] is not new:
            moved = np.sqrt((new.centres - old.centres).squared_norms()) * (1 + 1e-6)  # bounds may be float32
            groups = min(len(moved), GROUPS)
            farthest = np.array([moved[h::groups].max() for h in range(groups)])
            latest = old, new, Drift(moved.astype(dtype), farthest.astype(dtype))
            self._latest_drift = latest
        return latest[2]


def _statistics(weight: float, sums: OwnSums, coefficients: Float64, norms: Float64, change: float) -> Statistics:
    """The distances' sums follow from the others: sum_i w_i |x_i - v|^2 = sum_i w_i k(x_i, x_i) - 2 moment.a + mass |v|^2."""
    cross: Float64 = np.einsum("ij,ij->i", sums.moment, coefficients)
    spread = np.maximum(sums.kxx - 2.0 * cross + sums.mass * norms, 0.0)
    return Statistics(weight, sums.mass.copy(), sums.moment.copy(), spread, change=change)
