"""Streams over rows that Dask holds: chunks are cut out of partitions where they lie."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any

import numpy as np

from ...runtime.user_warnings import collected
from ..base import Chain, ChunkedRows, Engine, HasTasks, Pass, Result
from ..parts.columns import columns_of
from ..parts.orders import Answer, Made
from ..parts.session import HeldSession
from ..threads import ThreadEngine
from .holder import DaskHolder, Graph
from .rows import DaskPartitions
from .tasks import Opaque, engine_here, taken, value_of

# seconds of chunks after which the state of a stream comes here; what a lost worker had done since
# is done again
SENT_FOR = 1.0
MOST_CHUNKS = 64  # of a stream, that are sent at once


class DaskSession(HeldSession):
    """The engine of one fit, whose chunks stay on the workers as well."""

    _partitions: DaskPartitions

    @property
    def _holder(self) -> DaskHolder:
        return self._partitions.holder

    @cached_property
    def _parts(self) -> Made:
        """The parts of the partitions, held against the first reading once."""
        parts: Made = self._rows.parts
        return replace(parts, key=self._new_key("parts"))

    def map(self, rows: HasTasks, over: Pass[Result]) -> Iterator[Result]:
        if not (isinstance(rows, ChunkedRows) and self._are_of_holder(rows)):
            yield from super().map(rows, over)
            return
        at_once = self._holder.at_once
        for start in range(0, rows.n_tasks, at_once):
            some = range(start, min(start + at_once, rows.n_tasks))
            for answer in self._holder.results(partial(self._mapped, rows, some, over)):
                yield from answer.told()

    def _mapped(self, rows: ChunkedRows, some: range, over: Pass[Any]) -> tuple[Graph, list[str]]:
        """Return a graph of a pass over some chunks, and the keys of its results."""
        name, wanted = self._holder.new_name(), list[str]()
        shared = f"cmeans-pass-{name}-all"
        tasks: Graph = {shared: (taken, Opaque(over))}
        for k in some:
            chunks, home = self._chunks(rows, [k], name, tasks)
            wanted.append(f"cmeans-mapped-{name}-{k}-{home}")
            tasks[wanted[-1]] = (mapped, chunks, shared)
        return tasks, wanted

    def follow(
        self, rows: HasTasks, chain: Chain[Result], state: Result, kept: Any = None
    ) -> Iterator[tuple[Result, Any]]:
        if not (isinstance(rows, ChunkedRows) and self._are_of_holder(rows)):
            yield from super().follow(rows, chain, state, kept)
            return
        at, count, sent = 0, 1, chain.sent()
        while at < rows.n_tasks:
            begun = time.monotonic()
            steps = range(at, min(at + count, rows.n_tasks))
            (answer,) = self._holder.results(
                partial(self._followed, rows, steps, sent, Opaque(Answer(state)))
            )
            state, at = answer.told(), at + count
            due = int(count * SENT_FOR / (time.monotonic() - begun))
            count = max(1, min(2 * count, due, MOST_CHUNKS))
            yield chain.heard(state), kept

    def _followed(
        self, rows: ChunkedRows, steps: range, chain: Chain[Any], before: Any
    ) -> tuple[Graph, list[str]]:
        """Return a graph that gives consecutive chunks to a chain, and the key of the state after
        them. Those of the same partitions are one step."""
        name = self._holder.new_name()
        shared = f"cmeans-chain-{name}-all"
        tasks: Graph = {shared: (taken, Opaque(chain))}

        def parts_of(chunk: int) -> list[int]:
            return [part for part, _ in self._partitions.between(*rows.spans[chunk])]

        for _, some in groupby(steps, key=parts_of):
            chunks, _ = self._chunks(rows, list(some), name, tasks)
            step = chunks.replace("chunks", "followed")
            tasks[step], before = (followed, chunks, shared, before), step
        return tasks, [before]

    def _chunks(
        self, rows: ChunkedRows, some: list[int], name: str, tasks: Graph
    ) -> tuple[str, int]:
        """Add the tasks that cut consecutive chunks out of the partitions; return their key, and
        the partition that holds most of their rows, by the holder's number."""
        (start, _), (_, stop) = rows.spans[some[0]], rows.spans[some[-1]]
        wanted = self._partitions.between(start, stop)
        pieces = [
            self._cut(self._parts, wanted, f"rows-{name}-{some[0]}", tasks),
            *(
                self._cut(values.parts, wanted, f"column{at}-{name}-{some[0]}", tasks)
                if hasattr(values, "parts")
                else None
                if values is None
                else [Opaque(values[start:stop])]
                for at, values in enumerate(columns_of(rows.blocks))
            ),
        ]
        home = self._partitions.numbers[max(wanted, key=lambda one: one[1].stop - one[1].start)[0]]
        spans = [(first - start, last - start) for first, last in (rows.spans[k] for k in some)]
        key = f"cmeans-chunks-{name}-{some[0]}-{home}"
        blocks, numbers = rows.blocks, [rows.numbers[k] for k in some]
        what = Opaque((blocks.spec, blocks.x.function, spans, numbers))
        tasks[key] = (joined, what, *pieces)
        return key, home

    def _cut(
        self, parts: Any, wanted: list[tuple[int, slice]], name: str, tasks: Graph
    ) -> list[str]:
        """Add the tasks that cut some rows out of some partitions, and return their keys."""
        asked = self._partitions.cut(parts, wanted)
        work, arguments = self._partitions.order(asked, frozenset(), dict(wanted))
        keys = [f"cmeans-cut-{name}-{number}" for number in arguments]
        for key, number in zip(keys, arguments, strict=True):
            tasks[key] = (value_of, self._holder.task(work, [number], arguments))
        return keys


def joined(what: Opaque, *pieces: Any) -> ChunkedRows:
    """Join pieces of partitions, and of the columns beside them, as chunks, on a worker."""
    spec, function, spans, numbers = what.value
    x, *columns = map(_whole, pieces)
    x = x if function is None else function(x)
    return ChunkedRows(spec.over(x, *columns), spans, numbers)


def _whole(pieces: Any) -> Any:
    if pieces is None or len(pieces) > 1:
        return None if pieces is None else np.concatenate(pieces)
    return pieces[0].value if isinstance(pieces[0], Opaque) else pieces[0]


def followed(rows: ChunkedRows, chain: Chain[Any], given: Any) -> Answer:
    """Return the state of a chain after some chunks, on a worker."""
    before: Answer = given.value if isinstance(given, Opaque) else given
    with engine_here() as engine, collected() as messages:
        ((state, _),) = deque(engine.follow(rows, chain, before.value), maxlen=1)
    return Answer(state, (*before.warnings, *messages))


def mapped(rows: ChunkedRows, over: Pass[Any]) -> Answer:
    """Return the results of some chunks, on a worker."""
    one: AbstractContextManager[Engine] = ThreadEngine(1).opened()
    with one as engine, collected() as messages:
        results = list(engine.map(rows, over))
    return Answer(results, tuple(messages))
