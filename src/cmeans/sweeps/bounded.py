"""Hard sweeps over wide rows that leave out the rows whose cluster cannot have changed
(native/bounded.c says how)."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import native
from ..data.arrays import Array, IntArray
from ..data.blocks import Blocks
from ..data.precision import itemsize
from ..native.calls import ADDRESS, WHOLE, Structure, address, done, pointer_to
from ..rules import Rule
from ..spaces import Space
from .cluster_sums import MOVES, BlockMoves, ClusterSums, MovedRows, rows_may_go
from .native_rows import NativeRows, RowsArgument
from .nearest import SearchArgument, SearchCache, coordinate_bytes, search_coordinates
from .nearest_of_many import ProbedSearch
from .represented_rows import RepresentedRows
from .state import State
from .statistics import Statistics

ALL = -1  # the number under which the sums of several tasks are kept
GROUPS = 8  # centre j belongs to group j modulo their number


class _BoundsArgument(Structure):
    """The arrays of bounds on each row's distances, as C reads them (struct bounds)."""

    _fields_ = [("label", ADDRESS), ("upper", ADDRESS), ("lower", ADDRESS), ("groups", WHOLE)]


class _DriftArgument(Structure):
    """struct drift"""

    _fields_ = [("cluster", ADDRESS), ("group", ADDRESS)]


@dataclass(frozen=True)
class SearchMemory:
    """Bytes of what sweeps may keep of all rows, which changes time alone."""

    bounds: int = 0  # with sums, where these are kept too
    coordinates: int = 0  # along the directions of the search

    def within(self, most: int) -> SearchMemory:
        """Return as much of it as there is room for; bounds save more than coordinates do."""
        fits = self.total <= most
        return SearchMemory(
            self.bounds if self.bounds <= most else 0, self.coordinates if fits else 0
        )

    @property
    def total(self) -> int:
        """Bytes of all."""
        return self.bounds + self.coordinates


@dataclass(frozen=True)
class RowBounds:
    """Bounds of the rows of one block."""

    label: Array  # (b,) own cluster, -1 before the first sweep
    upper: Array  # (b,) at least the distance to the own centre
    lower: Array  # (groups, b) at most the distance to any other centre of each group

    @classmethod
    def unknown(cls, n_rows: int, clusters: int, dtype: Any) -> RowBounds:
        """Return bounds before the first sweep."""
        return cls(
            np.full(n_rows, -1, np.int32),
            np.full(n_rows, np.inf, dtype),
            np.zeros((min(clusters, GROUPS), n_rows), dtype),
        )

    def of_fewer(self, number: Array) -> RowBounds:
        """Return what is known where clusters have other numbers (c,), which may be in other
        groups, or are gone (-1)."""
        label = np.where(self.label < 0, np.int32(-1), number[self.label])
        upper = np.where(label < 0, self.upper.dtype.type(np.inf), self.upper)
        lower = np.tile(self.lower.min(axis=0), (min(int(number.max()) + 1, GROUPS), 1))
        return RowBounds(label, upper, lower)


@dataclass(frozen=True)
class Drift:
    """Distances that centres have moved since the bounds were computed, rounded up."""

    cluster: Array  # (c,) of each centre
    group: Array  # (groups,) the largest of each group


@dataclass
class _TaskMemory:
    """State and bounds of one task after its last sweep, and the moves that its sums lack; both by
    the first row of a block."""

    state: State
    bounds: dict[int, RowBounds] = field(default_factory=dict)
    moves: dict[int, BlockMoves] = field(default_factory=dict)


@dataclass
class _SweepMemory:
    """The bounds that a sweep keeps of some rows, by task; sums of most tasks are together."""

    tasks: dict[int, _TaskMemory] = field(default_factory=dict)
    sums: dict[int, ClusterSums] = field(default_factory=dict)

    def sums_of(self, rows: RepresentedRows, state: State, task: int = ALL) -> ClusterSums:
        """Return the sums over all rows that are kept, or over those of one task."""
        if task not in self.sums:
            self.sums[task] = ClusterSums.none(len(state.centres), rows.space.moment_width)
        return self.sums[task]

    def of_fewer(self, kept: IntArray) -> _SweepMemory:
        """Return what is known of some of the clusters, numbered anew."""
        fewer = _SweepMemory(sums={task: sums[kept] for task, sums in self.sums.items()})
        for task, memory in self.tasks.items():
            number = np.full(len(memory.state.centres), -1, np.int32)
            number[kept] = np.arange(len(kept))
            bounds = {start: one.of_fewer(number) for start, one in memory.bounds.items()}
            fewer.tasks[task] = _TaskMemory(State(memory.state.centres[kept]), bounds)
        return fewer


class BoundedSweep:
    """The sweep for the hard rule on wide rows; it keeps its last sweep's bounds and sums, so an
    object is for one run only, or runs that follow each other from near centres.

    With `probes`, rows go to the nearest of the centres in so many groups, without bounds.
    """

    def __init__(self, rule: Rule, dtype: Any, probes: int = 0) -> None:
        self._made_from = rule, dtype, probes
        self._search = SearchCache()
        self._probed = ProbedSearch(dtype, probes) if probes else None
        self._pass = native.function("sweep_bounded", dtype, ARGUMENTS, WHOLE)
        # On a worker one sweep serves several partitions; what it knows of rows dies with them.
        self._known: weakref.WeakKeyDictionary[RepresentedRows, _SweepMemory] = (
            weakref.WeakKeyDictionary()
        )
        self._latest_drift: tuple[State, State, Drift] | None = None

    @staticmethod
    def memory(space: Space, blocks: Blocks, n_clusters: int) -> SearchMemory:
        """Bytes that may be kept between sweeps."""
        bounds = blocks.n_rows * (4 + itemsize(blocks.x) * (1 + min(n_clusters, GROUPS)))
        if blocks.skipping_pays:
            sums = 1 + blocks.n_tasks(space.size) * rows_may_go(space, blocks)
            bounds += sums * 8 * n_clusters * (space.size + 3)
        return SearchMemory(bounds, coordinate_bytes(space, blocks, n_clusters))

    def __call__(
        self,
        rows: RepresentedRows,
        rule: Rule,
        state: State,
        task: int,
        labels: IntArray | None = None,
    ) -> MovedRows | Statistics:
        assert labels is None, "the hard rule needs no labels"
        known = self._known.setdefault(rows, _SweepMemory())
        memory = known.tasks.get(task) or _TaskMemory(state)
        own = None
        if not rows.blocks.skipping_pays:
            own = ClusterSums.none(len(state.centres), rows.space.moment_width)
        for here in rows.native_task(task):
            moves, bounds = self._followed(rows, here, memory, state)
            # as all rows are read in every sweep, their sums take little more, and do not depend on
            # sweeps before
            if own is not None:
                own.add(here, BlockMoves.into(bounds.label))
            elif len(moves.rows) and rows_may_go(rows.space, rows.blocks):
                known.sums_of(rows, state, task).add(here, moves)
            elif len(moves.rows):
                memory.moves[here.start] = moves
        memory.state = state
        known.tasks[task] = memory
        if own is not None:
            return own.statistics(rows.space, state, rows.task_weight(task))
        return MovedRows(self, rows, state, rows.task_weight(task))

    def labels(self, rows: RepresentedRows, state: State, task: int) -> Iterator[Array]:
        """Return the nearest centres of each block of a task, without sums."""
        known = self._known.setdefault(rows, _SweepMemory())
        memory = known.tasks.setdefault(task, _TaskMemory(state))
        for here in rows.native_task(task):
            yield self._followed(rows, here, memory, state)[1].label
        memory.state = state

    def _followed(
        self, rows: RepresentedRows, here: NativeRows, memory: _TaskMemory, state: State
    ) -> tuple[BlockMoves, RowBounds]:
        """Return the rows of a block that change clusters, and what is known of all."""
        bounds = memory.bounds.get(here.start) or RowBounds.unknown(
            len(here), len(state.centres), here.dtype
        )
        if rows.keep_bounds:
            memory.bounds[here.start] = bounds
        return self._moves(rows, here, memory.state, state, bounds), bounds

    def _moves(
        self,
        rows: RepresentedRows,
        here: NativeRows,
        before: State,
        state: State,
        bounds: RowBounds,
    ) -> BlockMoves:
        """Find the labels of a block, and leave them and bounds in what is known since a state
        before; return the rows that change clusters."""
        if self._probed is not None:
            moves = BlockMoves.between(bounds.label, self._probed(rows, state, here))
            bounds.label[moves.rows] = moves.after
            return moves
        search, drift = self._search.of(rows, rows.space, state), self._drift(before, state, here)
        moves = BlockMoves.room(len(here))
        argument = moves.argument()
        arguments = (
            here.argument,
            search,
            _DriftArgument(address(drift.cluster), address(drift.group)),
            _BoundsArgument(
                *map(address, (bounds.label, bounds.upper, bounds.lower)), len(bounds.lower)
            ),
            search_coordinates(rows, here, search),
            argument,
        )
        done(self._pass(*arguments))
        return moves.first(argument.count)

    def of_fewer(self, kept: IntArray) -> BoundedSweep:
        """Return the sweep of some of the clusters, numbered anew, which knows what this one does
        of them after a whole sweep."""
        fewer = BoundedSweep(*self._made_from)
        for rows, known in self._known.items():
            fewer._known[rows] = known.of_fewer(kept)
        return fewer

    def statistics(self, moved: MovedRows) -> Statistics:
        """Return the statistics of all rows that sweeps have seen, at the state of the last."""
        rows, state = moved.rows, moved.state
        assert state is not None, "a sweep is from a state"
        known = self._known.setdefault(rows, _SweepMemory())
        total = known.sums_of(rows, state)
        for task in range(rows.n_tasks):
            memory = known.tasks.get(task)
            if memory is not None and memory.moves:
                for here in rows.native_task(task):
                    if here.start in memory.moves:
                        total.add(here, memory.moves.pop(here.start))
        for task in range(rows.n_tasks):
            total = total + known.sums[task] if task in known.sums else total
        return replace(total, mass=total.mass.copy(), moment=total.moment.copy()).statistics(
            rows.space, state, moved.weight
        )

    def _drift(self, old: State, new: State, here: NativeRows) -> Drift:
        """Return the drift between two states, computed once for all tasks of a sweep."""
        latest = self._latest_drift
        if latest is None or latest[0] is not old or latest[1] is not new:
            # bounds may be float32
            moved = np.sqrt((new.centres - old.centres).squared_norms()) * (1 + 1e-6)
            groups = min(len(moved), GROUPS)
            farthest = np.array([moved[h::groups].max() for h in range(groups)])
            latest = old, new, Drift(moved.astype(here.dtype), farthest.astype(here.dtype))
            self._latest_drift = latest
        return latest[2]


def sweep_of_fewer(sweep: object, kept: IntArray) -> BoundedSweep | None:
    """Return the sweep of some of the clusters, with what one of all has found of them; None where
    that one remembers nothing."""
    return sweep.of_fewer(kept) if isinstance(sweep, BoundedSweep) else None


ARGUMENTS = (
    *map(pointer_to, (RowsArgument, SearchArgument, _DriftArgument, _BoundsArgument)),
    ADDRESS,
    MOVES,
)
