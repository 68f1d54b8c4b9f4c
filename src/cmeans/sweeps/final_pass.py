"""The last pass: labels and memberships of every row, kept whole or handed on task by task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ..data.arrays import Array, Float64, IntArray, dense_like
from ..data.known_labels import LABEL, known_of
from ..data.outputs import RowOutputs, label_type
from ..data.partitions import one_hot
from ..data.precision import numpy_dtype
from ..engines import Engine, Pass
from ..rules import Rule
from ..runtime.progress import SILENT, Reporter
from ..spaces import Space
from .choice import AssignFunction, assign_for, labels_tell
from .represented_rows import RepresentedRows
from .state import State
from .statistics import FinalSums

Part = TypeVar("Part")
Put = Callable[[Any], None]


class Sink(Protocol[Part]):
    """Takes labels and memberships: `room` and `made` run where the rows are, `put` where the pass
    was started."""

    def room(self, first: int, last: int) -> RowOutputs:
        """Return the memory that rows first ... last - 1 are written to."""

    def made(self, out: RowOutputs) -> Part:
        """Return the part that is kept of them; called by the thread that has written them."""

    def put(self, part: Part) -> None:
        """Take one part after the other, in the order of the rows."""


class ArraySink:
    """Keeps everything in arrays."""

    def __init__(self, n_rows: int, n_clusters: int, like: Array, most: int | None = None) -> None:
        self.outputs = RowOutputs.empty(n_rows, n_clusters, like, most=most)

    def room(self, first: int, last: int) -> RowOutputs:
        return self.outputs

    def made(self, out: RowOutputs) -> None:
        return None

    def put(self, part: None) -> None: ...


class StreamSink(Generic[Part]):
    """Applies a function to each task's rows and hands its results on, one after the other."""

    def __init__(
        self,
        n_clusters: int,
        like: Array,
        function: Callable[[RowOutputs], Part],
        take: Callable[[Part], None],
        most: int | None = None,
    ) -> None:
        """`most` as of `RowOutputs.empty`."""
        self._n_clusters, self._like, self._most = n_clusters, like, most
        self.made = function
        self.put = take

    def room(self, first: int, last: int) -> RowOutputs:
        return RowOutputs.empty(last - first, self._n_clusters, self._like, first, self._most)

    def __reduce__(self) -> Any:
        return StreamSink, (self._n_clusters, self._like, self.made, _discard, self._most)


class RowTaker(Protocol):
    """Takes the results of all rows of a fit in its last pass."""

    def check(self, n_clusters: int, *, most: int | None = None) -> object:
        """Refuse, before the fit begins, what cannot be taken of at most so many clusters; `most`
        as of `begin`."""

    def check_room(
        self, n_rows: int, n_clusters: int, itemsize: int, is_soft: bool, most: int | None = None
    ) -> object:
        """Refuse, before the fit begins, results of so many rows and clusters that find no room;
        `is_soft`, `most` as of `begin`."""

    def begin(
        self,
        n_rows: int,
        n_clusters: int,
        dtype: npt.DTypeLike,
        is_soft: bool,
        most: int | None = None,
    ) -> tuple[Callable[[RowOutputs], Any], Put]:
        """Return a function of the results of a task, called where its rows are, and one that takes
        what it returned, in their order; `most` as of `RowOutputs.empty`."""


def _discard(part: Any) -> None:
    """Take nothing: parts are handed on where the pass was started."""


@dataclass(frozen=True)
class CompactLabels:
    """The labels alone, in few bytes."""

    dtype: Any

    def __call__(self, out: RowOutputs) -> npt.NDArray[Any]:
        return out.labels.astype(self.dtype)


@dataclass(frozen=True)
class LabelsAnd:
    """The labels alone, and what a function returns of all results."""

    labels: CompactLabels
    function: Callable[[RowOutputs], Any]

    def __call__(self, out: RowOutputs) -> tuple[npt.NDArray[Any], Any]:
        return self.labels(out), self.function(out)


@dataclass(frozen=True)
class Moves:
    """Rows whose cluster is not the one of the least distance and price, since bounds of sizes
    would be missed by that."""

    rows: IntArray  # (q,) numbers of rows, ascending
    sources: IntArray  # (q,) their clusters by the rule
    labels: IntArray  # (q,) their clusters
    d2: Float64  # (q, 2) squared distances to both
    of_all: ClassVar[bool] = False

    def excess(self, prices: Float64, weight: Float64) -> float:
        """Return by how much more the moved rows cost, less prices; `weight` of all rows."""
        net = self.d2 - np.stack([prices[self.sources], prices[self.labels]], axis=1)
        return float(weight[self.rows] @ (net[:, 1] - net[:, 0]))

    def between(self, first: int, last: int) -> Moves:
        """The moves of rows first ... last - 1, counted from the first of them."""
        start, stop = np.searchsorted(self.rows, [first, last])
        return Moves(
            self.rows[start:stop] - first,
            self.sources[start:stop],
            self.labels[start:stop],
            self.d2[start:stop],
        )

    def made(self, out: RowOutputs, first: int, weight: Float64, n_clusters: int) -> FinalSums:
        """Write the moves to the results of rows of these weights, the first of number `first`, and
        return how their sums change."""
        mass = np.zeros(n_clusters)
        at, weight = self.rows + (first - out.start), weight[self.rows]
        if out.memberships.shape[1]:
            out.memberships[at, self.sources], out.memberships[at, self.labels] = 0.0, 1.0
        np.subtract.at(mass, self.sources, weight)
        np.add.at(mass, self.labels, weight)
        out.labels[at], out.nearest[at] = self.labels, self.d2[:, 1]
        return FinalSums(float(weight @ (self.d2[:, 1] - self.d2[:, 0])), 0.0, mass)


@dataclass(frozen=True)
class GivenLabels:
    """Clusters of all rows, which the last pass writes where it would ask for distances else."""

    labels: IntArray  # (n,)
    d2: Float64  # (n,) squared distances to their centres
    beyond: float  # as `excess`
    of_all: ClassVar[bool] = True

    def excess(self, prices: Float64, weight: Float64) -> float:
        """As of `Moves`."""
        return self.beyond

    def between(self, first: int, last: int) -> GivenLabels:
        """The clusters of rows first ... last - 1."""
        return replace(self, labels=self.labels[first:last], d2=self.d2[first:last])

    def made(self, out: RowOutputs, first: int, weight: Float64, n_clusters: int) -> FinalSums:
        """Write them to the results of rows of these weights, the first of number `first`, and
        return their sums, of which the distances to all centres are not known."""
        here = out.place(first, len(self.labels))
        if out.memberships.shape[1]:
            out.memberships[here, ...] = one_hot(self.labels, n_clusters, out.memberships)
        out.labels[here], out.nearest[here] = self.labels, self.d2
        mass = np.bincount(self.labels, weight, n_clusters).astype(np.float64)
        return FinalSums(float(weight @ self.d2), 0.0, mass)


@dataclass(frozen=True)
class FinalPass(Pass[tuple[FinalSums, Any, int]]):
    """The last pass: its sums, what a sink keeps of the rows, and how many they were. What is known
    of rows is written over what the rule says of them."""

    sink: Sink[Any]
    rule: Rule
    state: State
    space: Space | None  # of the centres, where it is not the rows' own
    moves: Moves | GivenLabels | None = None

    def prepare(self, rows: RepresentedRows) -> AssignFunction:
        return assign_for(rows, self.space or rows.space, self.rule, len(self.state.centres))

    def work(
        self, rows: RepresentedRows, task: int, prepared: AssignFunction
    ) -> tuple[FinalSums, Any, int]:
        first, last = rows.task_range(task)
        out, space = self.sink.room(first, last), self.space or rows.space
        moves, sums = self.moves, FinalSums(0.0, 0.0, np.zeros(len(self.state.centres)))
        if moves is None or not moves.of_all:
            sums = prepared(rows, space, self.rule, self.state, task, out)
        if moves is not None:
            weight = rows.blocks.weight[first:last]
            sums += moves.between(first, last).made(out, first, weight, len(sums.mass))
        empty, nowhere = rows.empty_rows(task), 0
        if len(empty):
            out.leave_out(empty)
        if rows.blocks.columns and (known := known_of(rows.blocks)) is not None:
            known[first:last].overwrite(out.between(first, last))
        if self.rule.leaves_rows_out:
            nowhere = int(
                np.count_nonzero(
                    np.delete(out.labels[out.place(first, last - first)], empty - first) < 0
                )
            )
        return replace(sums, nowhere=nowhere, empty=len(empty)), self.sink.made(out), last - first

    def part(self, start: int, stop: int) -> FinalPass:
        return self if self.moves is None else replace(self, moves=self.moves.between(start, stop))


@dataclass
class CompactKept:
    """Labels (n,) that a pass leaves beside the rows."""

    labels: npt.NDArray[Any]


@dataclass(frozen=True)
class LabelsPass(Pass[FinalSums]):
    """The last pass, which leaves labels where the rows are: its sums."""

    final: FinalPass  # whose sink makes labels

    def begin(self, rows: RepresentedRows) -> CompactKept:
        return CompactKept(rows.blocks.by_row(label_type(len(self.final.state.centres))))

    def work(self, rows: RepresentedRows, task: int, kept: CompactKept) -> FinalSums:
        first, last = rows.task_range(task)
        sums, kept.labels[first:last], _ = self.final.work(rows, task, self.final.prepare(rows))
        return sums

    def part(self, start: int, stop: int) -> LabelsPass:
        final = self.final.part(start, stop)
        return self if final is self.final else LabelsPass(final)


@dataclass(frozen=True)
class Assignment:
    """Labels of all rows, and what goes with them."""

    labels: Any  # (n,) a Dask array for rows on workers, unless labels are asked for here
    # (n, c) in the rows' library and dtype; None where labels tell them, and for rows that are not
    # in memory
    memberships: Array | None
    nearest: Float64 | None  # (n,) squared distance to the centre of the row's label
    objective: float
    total_distance: float  # sum_ij weight_i d2_ij
    mass: Float64  # (c,) sum_i weight_i u_ij
    nowhere: int | None = None  # rows without a label, where labels are not here to be counted
    clusters: npt.NDArray[np.int32] | None = None  # of the memberships, as of `RowOutputs`
    empty: int = 0  # rows that say nothing of where they belong

    def all_memberships(self, like: Array) -> Array:
        """Return memberships (n, c), where labels tell them too, in the library and dtype of
        `like`."""
        if self.memberships is None:
            return one_hot(self.labels, len(self.mass), like)
        return self.memberships

    @classmethod
    def of(
        cls, sums: FinalSums, labels: Any, memberships: Any = None, nearest: Any = None, **more: Any
    ) -> Assignment:
        """Return what a last pass with these sums has said of the rows."""
        totals = sums.objective, sums.total_distance, sums.mass
        return cls(labels, memberships, nearest, *totals, empty=sums.empty, **more)

    def with_sums(self, sums: FinalSums, unit: float) -> Assignment:
        """Return the same with further sums, in the rows' unit of weight."""
        objective = self.objective + sums.objective * unit
        distance = self.total_distance + sums.total_distance
        return replace(
            self, objective=objective, total_distance=distance, mass=self.mass + sums.mass
        )


def assign_all(
    rows: RepresentedRows,
    space: Space,
    rule: Rule,
    state: State,
    engine: Engine,
    reporter: Reporter = SILENT,
    taker: RowTaker | None = None,
    moves: Moves | GivenLabels | None = None,
    *,
    here: bool = True,
) -> Assignment:
    """Labels and memberships of all rows for centres of `space` (the rows' own, or its portable
    twin), after `moves`.

    Of rows that are not in memory labels alone are kept, in the smallest integers that hold them; a
    taker is given all else. Unless they are needed `here`, labels of rows on other machines stay
    there.
    """
    c, like, most = len(state.centres), dense_like(rows.blocks.x), rule.most_clusters
    told = LABEL not in rows.blocks.columns and labels_tell(rows.blocks, rule)
    whole = rows.blocks.in_full(lambda: ArraySink(rows.n_rows, 0 if told else c, like, most))
    if whole is not None:
        sums = assign_into(whole, rows, space, rule, state, engine, reporter, moves)
        out = whole.outputs
        memberships = None if told else out.memberships
        return Assignment.of(
            sums, out.labels, memberships=memberships, nearest=out.nearest, clusters=out.clusters
        )
    compact = CompactLabels(label_type(c))
    if not here and taker is None and rows.blocks.answers_stay:
        left = StreamSink(0 if told else c, like, compact, _discard, most)
        final = FinalPass(left, rule, state, None if space is rows.space else space, moves)
        sums, kept = engine.keep(rows, LabelsPass(final))
        sums = sums.checked(rows.blocks.unit)
        return Assignment.of(sums, kept.answer("labels"), nowhere=sums.nowhere)
    labels, done = rows.blocks.empty_labels(c), 0

    def keep(part: npt.NDArray[Any]) -> None:
        nonlocal done
        labels[done : done + len(part)] = part
        done += len(part)

    if taker is None:
        sink: StreamSink[Any] = StreamSink(0 if told else c, like, compact, keep, most)
    else:
        function, put = taker.begin(rows.n_rows, c, numpy_dtype(like), rule.is_soft, most)

        def keep_and_put(part: tuple[npt.NDArray[Any], Any]) -> None:
            keep(part[0])
            put(part[1])

        sink = StreamSink(c, like, LabelsAnd(compact, function), keep_and_put, most)
    sums = assign_into(sink, rows, space, rule, state, engine, reporter, moves)
    return Assignment.of(sums, labels)


def assign_into(
    sink: Sink[Any],
    rows: RepresentedRows,
    space: Space,
    rule: Rule,
    state: State,
    engine: Engine,
    reporter: Reporter = SILENT,
    moves: Moves | GivenLabels | None = None,
) -> FinalSums:
    """The last pass over all rows, with its sums; the objective is in the user's unit of weight."""
    final = FinalPass(sink, rule, state, None if space is rows.space else space, moves)
    total: FinalSums | None = None
    done = 0
    for sums, part, count in engine.map(rows, final):
        total = sums if total is None else total + sums
        sink.put(part)
        done += count
        reporter.emit("assign", 1, 1, done, rows.n_rows)
    assert total is not None, "there is always a task"
    return total.checked(rows.blocks.unit)
