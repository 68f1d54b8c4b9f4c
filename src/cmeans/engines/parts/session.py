"""Passes over rows that a holder has: they are sent to the parts, and sums come back."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

from ...data.blocks import Blocks
from ..base import Chain, ChunkedRows, Engine, HasTasks, Pass, Result, Sum
from .beside import folded, kept_pass, kept_steps, mapped, represented
from .columns import PartedKept, columns_of
from .orders import Each, Made, Room, StepBeside, WrittenBeside
from .rows import HeldRows, of_pair


class BroughtChunks(ChunkedRows):
    """Chunks that come here one by one."""

    def chunk(self, task: int) -> Blocks:
        return super().chunk(task).in_memory()


class HeldSession(Engine):
    """The engine of one fit: passes over its rows are asked of their holder, all others run in
    threads here. Sums of parts are added in the order of the parts, so that bits depend on the
    partition alone; where parts are the tasks that rows in memory have, they are those of
    memory."""

    def __init__(self, here: Engine, rows: HeldRows) -> None:
        self._here, self._rows, self._partitions = here, rows, rows.partitions
        self._represented: weakref.WeakKeyDictionary[Any, Made] = weakref.WeakKeyDictionary()
        self._name, self._numbers = uuid4().hex, itertools.count()

    @property
    def n_threads(self) -> int:
        return self._here.n_threads

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        return self._here.run(function, n_tasks)

    def map(self, rows: HasTasks, over: Pass[Result]) -> Iterator[Result]:
        if not self._holds(rows):
            yield from self._here.map(self._brought(rows), over)
            return
        count, at_once = len(self._partitions.sizes), self._partitions.holder.at_once
        step = count if at_once is None else at_once
        asked = Made(mapped, (self._in_space(rows), self._part_of(over)))
        for start in range(0, count, step):
            some = range(start, min(start + step, count))
            for results in self._partitions.in_order(asked, some):
                yield from results

    def fold(
        self,
        rows: HasTasks,
        over: Pass[Sum],
        done: Callable[[int], None] | None = None,
        kept: Any = None,
    ) -> Sum:
        if not self._holds(rows):
            return super().fold(rows, over, done, kept)
        beside = None if kept is None else kept.parts
        asked = Made(folded, (self._in_space(rows), self._part_of(over), beside))
        total: Sum = self._partitions.total(asked)
        if done is not None:
            done(rows.n_tasks - 1)
        return over.conclude(total)

    def keep(self, rows: HasTasks, over: Pass[Sum], kept: Any = None) -> tuple[Sum, Any]:
        if not self._holds(rows):
            return super().keep(rows, over, kept)
        pair = self._written(rows, kept, kept_pass, self._part_of(over))
        total: Sum = self._partitions.total(of_pair(pair, 0))
        return over.conclude(total), PartedKept(self._partitions, of_pair(pair, 1))

    def follow(
        self, rows: HasTasks, chain: Chain[Result], state: Result, kept: Any = None
    ) -> Iterator[tuple[Result, Any]]:
        if not self._holds(rows):
            yield from super().follow(self._brought(rows), chain, state, kept)
            return
        before: list[Any] = []  # the state in which each part was reached
        pair = self._written(rows, kept, kept_steps, chain.sent(), Each(before))
        for part in range(len(self._partitions.sizes)):
            before.append(state)
            (state,) = self._partitions.in_order(of_pair(pair, 0), [part])
            state = chain.heard(state)
        yield state, None if kept is None else PartedKept(self._partitions, of_pair(pair, 1))

    def _written(self, rows: Any, kept: Any, function: Any, *arguments: Any) -> WrittenBeside:
        """Return what a step leaves beside the rows, after those that have been taken."""
        steps = () if kept is None else kept.parts.arguments[0].steps
        step = StepBeside(self._new_key("step"), function, arguments)
        return WrittenBeside(self._in_space(rows), (*steps, step))

    def _in_space(self, rows: Any) -> Made:
        """Return what stands for the parts in their space, which are kept there while there is
        room."""
        if rows not in self._represented:
            partitions, blocks = self._partitions, rows.blocks
            cut = blocks.spec.cut_as(blocks.block_rows(rows.width), len(partitions.sizes))
            spec = replace(rows.spec, blocks=cut)
            columns = map(partitions.parts_of, columns_of(blocks))
            most = self._rows.engine.memory_per_part
            self._represented[rows] = Made(
                represented,
                (self._rows.parts, blocks.x.function, spec, most, Room(), *columns),
                self._new_key("rows"),
            )
        return self._represented[rows]

    def _part_of(self, over: Pass[Any]) -> Any:
        """Return the pass for each part."""
        starts = self._partitions.starts
        parts = [over.part(int(start), int(stop)) for start, stop in pairwise(starts)]
        return over if all(part is over for part in parts) else Each(parts)

    def _holds(self, rows: Any) -> bool:
        """True of rows that the holder has, but for chunks, which come here one by one."""
        return self._are_of_holder(rows) and not isinstance(rows, ChunkedRows)

    def _are_of_holder(self, rows: Any) -> bool:
        x = getattr(getattr(rows, "blocks", None), "x", None)
        return getattr(x, "partitions", None) is self._partitions

    def _brought(self, rows: Any) -> Any:
        """Return chunks of the holder's rows as some that are in memory when they are asked for;
        other rows as they are."""
        if not self._are_of_holder(rows):
            return rows
        return BroughtChunks(rows.blocks, rows.spans, rows.numbers)

    def _new_key(self, what: str) -> str:
        return f"{self._name}-{what}-{next(self._numbers)}"
