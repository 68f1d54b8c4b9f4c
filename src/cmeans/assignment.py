"""The last pass: what centres say of every row, kept whole or handed on piece by piece."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from .arrays import Array, Float64, dense_like
from .choice import assign_for
from .complaints import NOT_FINITE
from .engines import Engine, Job
from .progress import FIT, Place, Progress, anybody_listens, tell
from .rules import Rule
from .scratch import room
from .spaces import Space
from .sweep import Outputs, State, Tally
from .table import Table

Part = TypeVar("Part")


class Sink(Protocol[Part]):
    """What becomes of labels and memberships: `room` and `made` where the rows are, `put` where the pass was asked for."""

    def room(self, first: int, last: int) -> Outputs:
        """Where rows first ... last - 1 are written."""

    def made(self, out: Outputs) -> Part:
        """What is left of them; called by whichever thread has written them."""

    def put(self, part: Part) -> None:
        """One part after the other, in the order of the rows."""


class Whole:
    """Everything is kept in arrays."""

    def __init__(self, n_rows: int, n_clusters: int, like: Array) -> None:
        self.outputs = Outputs.empty(n_rows, n_clusters, like)

    def room(self, first: int, last: int) -> Outputs:
        return self.outputs

    def made(self, out: Outputs) -> None:
        return None

    def put(self, part: None) -> None: ...


class Pieces(Generic[Part]):
    """A function of each task's rows, whose results somebody takes one after the other."""

    def __init__(self, n_clusters: int, like: Array, function: Callable[[Outputs], Part], take: Callable[[Part], None]) -> None:
        self._n_clusters, self._like = n_clusters, like
        self.made = function
        self.put = take

    def room(self, first: int, last: int) -> Outputs:
        return Outputs.empty(last - first, self._n_clusters, self._like, first)

    def __reduce__(self) -> Any:
        return Pieces, (self._n_clusters, self._like, self.made, _nobody)


def _nobody(part: Any) -> None:
    """Who takes parts stays at home."""


@dataclass(frozen=True)
class Labels:
    """The labels alone, in few bytes."""

    kind: Any

    def __call__(self, out: Outputs) -> npt.NDArray[Any]:
        return out.labels.astype(self.kind)


@dataclass(frozen=True)
class Assigning(Job[tuple[Tally, Any, int]]):
    """The last pass: its sums, what a sink makes of the rows, and how many they were."""

    sink: Sink[Any]
    rule: Rule
    state: State
    space: Space | None  # of the centres, where it is not the table's own

    def over(self, table: Table) -> Callable[[Table, int], tuple[Tally, Any, int]]:
        space = table.space if self.space is None else self.space
        assign = assign_for(table, space, self.rule, len(self.state.centres))

        def work(table: Table, task: int) -> tuple[Tally, Any, int]:
            first, last = table.blocks.task_range(task, table.space.size)
            out = self.sink.room(first, last)
            return assign(table, space, self.rule, self.state, task, out), self.sink.made(out), last - first

        return work


@dataclass(frozen=True)
class Assignment:
    """What the last pass says of every row."""

    labels: npt.NDArray[Any]  # (n,)
    memberships: Array | None  # (n, c) in the rows' library and dtype; None for rows that are not in memory
    nearest: Float64 | None  # (n,) squared distance to the centre of the row's label
    objective: float
    total_distance: float  # sum_ij weight_i d2_ij
    mass: Float64  # (c,) sum_i weight_i u_ij


def assign_all(table: Table, space: Space, rule: Rule, state: State, engine: Engine, place: Place = FIT) -> Assignment:
    """Labels and memberships of all rows of a table for centres of `space` (the table's own, or its portable twin).

    Of rows that are not in memory labels alone are kept, in the smallest integers that hold them.
    """
    c, like = len(state.centres), dense_like(table.blocks.x)
    if not table.blocks.are_stored:
        whole = Whole(table.n_rows, c, like)
        tally = assign_into(whole, table, space, rule, state, engine, place)
        out = whole.outputs
        return Assignment(out.labels, out.memberships, out.nearest, tally.objective, tally.total_distance, tally.mass)
    kind = label_type(c)
    labels, done = room((table.n_rows,), kind), 0

    def keep(part: npt.NDArray[Any]) -> None:
        nonlocal done
        labels[done : done + len(part)] = part
        done += len(part)

    sink = Pieces(c, like, Labels(kind), keep)
    tally = assign_into(sink, table, space, rule, state, engine, place)
    return Assignment(labels, None, None, tally.objective, tally.total_distance, tally.mass)


def assign_into(sink: Sink[Any], table: Table, space: Space, rule: Rule, state: State, engine: Engine, place: Place = FIT) -> Tally:
    """The last pass over all rows of a table, with its sums; the objective is in the user's unit of weight."""
    assigning = Assigning(sink, rule, state, None if space is table.space else space)
    total: Tally | None = None
    done = 0
    for tally, part, count in engine.each(table, assigning):
        total = tally if total is None else total + tally
        sink.put(part)
        done += count
        if anybody_listens():
            tell(Progress("assign", place.run, place.n_runs, 1, 1, done, table.n_rows))
    assert total is not None, "there is always a task"
    if not math.isfinite(total.objective):
        raise ValueError(NOT_FINITE)
    return Tally(total.objective * table.blocks.unit, total.total_distance, total.mass)


def label_type(n_clusters: int) -> Any:
    """The smallest signed integers that number so many clusters, and -1."""
    return next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if n_clusters - 1 <= np.iinfo(kind).max)
