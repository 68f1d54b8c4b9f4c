"""Hard sweeps over wide rows that leave out the rows whose cluster cannot have changed (native/bounded.c says how)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import native
from ..data.arrays import Array, Float64, IntArray, itemsize
from ..data.blocks import Blocks
from ..native.calls import ADDRESS, WHOLE, Structure, address, done, pointer_to
from ..rules import Rule
from ..spaces import Space
from .native import CentresArgument, CentresCache, NativeChange
from .native_rows import RowsArgument
from .represented_rows import RepresentedRows
from .state import State
from .statistics import Statistics

GROUPS = 8  # centre j belongs to group j modulo their number


class _BoundsArgument(Structure):
    """struct bounds"""

    _fields_ = [("label", ADDRESS), ("upper", ADDRESS), ("lower", ADDRESS), ("groups", WHOLE)]


class _DriftArgument(Structure):
    """struct drift"""

    _fields_ = [("cluster", ADDRESS), ("group", ADDRESS)]


class _ClusterSumsArgument(Structure):
    """struct cluster_sums"""

    _fields_ = [("count", ADDRESS), ("mass", ADDRESS), ("kxx", ADDRESS), ("moment", ADDRESS)]


@dataclass(frozen=True)
class RowBounds:
    """Bounds of the rows of one block."""

    label: Array  # (b,) own cluster, -1 before the first sweep
    upper: Array  # (b,) at least the distance to the own centre
    lower: Array  # (groups, b) at most the distance to any other centre of each group

    @classmethod
    def unknown(cls, n_rows: int, clusters: int, dtype: Any) -> RowBounds:
        """Return bounds before the first sweep."""
        return cls(np.full(n_rows, -1, np.int32), np.full(n_rows, np.inf, dtype), np.zeros((min(clusters, GROUPS), n_rows), dtype))


@dataclass(frozen=True)
class ClusterSums:
    """Sums over the rows of each cluster in one task."""

    count: Array  # (c,) of rows with positive weight
    mass: Array  # (c,) of weights
    kxx: Array  # (c,) of weight k(x, x)
    moment: Array  # (c, r) of weight g(x)

    @classmethod
    def none(cls, clusters: int, columns: int) -> ClusterSums:
        """Return sums of zero."""
        return cls(np.zeros(clusters, np.int64), np.zeros(clusters), np.zeros(clusters), np.zeros((clusters, columns)))


@dataclass(frozen=True)
class Drift:
    """Distances that centres have moved since the bounds were computed, rounded up."""

    cluster: Array  # (c,) of each centre
    group: Array  # (groups,) the largest of each group


@dataclass
class _TaskMemory:
    """State, bounds and sums of one task after its last sweep."""

    state: State
    bounds: dict[int, RowBounds]  # by the first row of a block
    sums: ClusterSums


class BoundedSweep:
    """The sweep for the hard rule on wide rows; it keeps its last sweep's bounds and sums, so an object is for one run only."""

    def __init__(self, rule: Rule, dtype: Any) -> None:
        self._cache = CentresCache(rule)
        self._pass = native.function(
            "sweep_bounded",
            dtype,
            ARGUMENTS,
            WHOLE,
        )
        self._change = NativeChange(self._cache, dtype)
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
        for here in rows.native_task(task):
            if here.start not in memory.bounds:
                memory.bounds[here.start] = RowBounds.unknown(len(here), c, here.dtype)
            bounds, drift = memory.bounds[here.start], self._drift(memory.state, state, here.dtype)
            arguments = (
                here.argument,
                self._cache.argument(rows.space, state, here.dtype),
                _DriftArgument(address(drift.cluster), address(drift.group)),
                _BoundsArgument(address(bounds.label), address(bounds.upper), address(bounds.lower), len(bounds.lower)),
                _ClusterSumsArgument(*map(address, (memory.sums.count, memory.sums.mass, memory.sums.kxx, memory.sums.moment))),
            )
            done(self._pass(*arguments))
        memory.state = state
        self._memory[key] = memory
        change = 0.0 if before is None else self._change(rows, state, before, task)
        return _statistics(rows.task_weight(task), memory.sums, *self._exact_centres(rows.space, state), change)

    def _exact_centres(self, space: Space, state: State) -> tuple[Float64, Float64]:
        """Return coefficients (c, r) and offsets (c,) of the centres, computed once for all tasks of a sweep."""
        latest = self._latest_centres
        if latest is None or latest[0] is not state:
            latest = state, space.coefficients(state.centres), space.offsets(state.centres)
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


ARGUMENTS = tuple(map(pointer_to, (RowsArgument, CentresArgument, _DriftArgument, _BoundsArgument, _ClusterSumsArgument)))


def _statistics(weight: float, sums: ClusterSums, coefficients: Float64, norms: Float64, change: float) -> Statistics:
    """Return the statistics, with the sums of distances  sum_i w_i |x_i - v|^2 = sum_i w_i k(x_i, x_i) - 2 moment.a + mass |v|^2."""
    cross: Float64 = np.einsum("ij,ij->i", sums.moment, coefficients)
    spread = np.maximum(sums.kxx - 2.0 * cross + sums.mass * norms, 0.0)
    return Statistics(weight, sums.mass.copy(), sums.moment.copy(), spread, change=change)
