"""Passes over rows where Dask holds them: passes are sent to the workers, and sums are returned."""

from __future__ import annotations

import itertools
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Self
from uuid import uuid4

from ...data.row_source import RowsError
from ..base import Chain, ChunkedRows, Engine, HasTasks, Pass, Result, Sum
from ..parts.beside import some_rows
from ..parts.checks import same_rows
from ..parts.columns import PartedKept, columns_of
from ..parts.orders import Answer
from .dask_api import has_killed_workers, is_connected, placed, settled
from .interrupts import unraised_interrupts
from .rows import DaskRows
from .shards import (
    Node,
    PreparedOnce,
    Shard,
    chunk_shard,
    climbed,
    folded,
    folded_and_kept,
    followed,
    mapped,
    unchanged,
)

PATIENCE = 2  # seconds between checks that all workers are alive
LOSSES = 5  # times that a pass is submitted
LOST_AFTER = 30.0  # seconds without a connection from which on a scheduler is gone
PAUSE = 0.1  # seconds between two looks at it
# seconds of chunks after which the state of a stream comes here; what a lost worker had done since
# is done again
SENT_FOR = 1.0
MOST_CHUNKS = 64  # of a stream, that are sent at once
SCHEDULER_GONE = (
    "the Dask scheduler is gone, and with it the rows on its workers; start a cluster and fit "
    "again, from a checkpoint where the fit had "
    "one (engine=cmeans.DaskEngine(checkpoint=cmeans.Checkpoint(path, resume=True)))."
)
ADVICE = "persist it first (x.persist())"
GIVE_MEMORY = "give them more memory, or smaller partitions"

# tasks by their keys, which end in the number of the partition that they run beside
Graph = dict[str, Any]


class DaskSession(Engine):
    """The engine of one fit: passes over its rows run on the workers, all others in threads
    here."""

    def __init__(self, here: Engine, rows: DaskRows) -> None:
        self._here = here
        self._rows = rows
        self._client = rows.client
        self._shards: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        self._places: list[str] = []  # the worker of each shard
        self._groups: list[list[int]] = []  # shards that one task of a worker sums
        self._name, self._numbers = uuid4().hex, itertools.count()  # make the keys of graphs unique
        self._looked = 0.0  # when it was last asked which workers there are
        self._read: list[Any] = []  # futures whose results have been read
        self._struck: list[bool] = []
        self._listening = ExitStack()

    @property
    def n_threads(self) -> int:
        return self._here.n_threads

    def __enter__(self) -> Self:
        self._struck = self._listening.enter_context(unraised_interrupts())
        return self

    def __exit__(self, *_: object) -> None:
        self._shards.clear()
        self._read.clear()
        self._listening.close()

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        return self._here.run(function, n_tasks)

    def map(self, rows: HasTasks, over: Pass[Result]) -> Iterator[Result]:
        return self._map_on_workers(rows, over) if self._holds(rows) else self._here.map(rows, over)

    def fold(
        self,
        rows: HasTasks,
        over: Pass[Sum],
        done: Callable[[int], None] | None = None,
        kept: Any = None,
    ) -> Sum:
        if not self._holds(rows):
            return super().fold(rows, over, done, kept)
        total = self._added(
            self._results(lambda: self._wanted(self._fold_graph(rows, over, folded, kept)))
        )
        if done is not None:
            done(rows.n_tasks - 1)
        return over.conclude(total)

    def keep(self, rows: HasTasks, over: Pass[Sum], kept: Any = None) -> tuple[Sum, Any]:
        if not self._holds(rows):
            return super().keep(rows, over, kept)
        beside: list[Any] = []

        def submit() -> list[Any]:
            tasks = self._fold_graph(rows, over, folded_and_kept, kept)
            sums = {key.replace("folded", "sums"): (itemgetter(0), key) for key in tasks}
            parts = {
                f"{key.replace('folded', 'kept')}-{k}": (_of_one, key, k)
                for key, task in tasks.items()
                for k in task[2]
            }
            order = sorted(parts, key=lambda key: int(key.rpartition("-")[2]))
            started = self._started(tasks | sums | parts, [*sums, *order])
            beside[:] = started[len(sums) :]
            return started[: len(sums)]

        return over.conclude(self._added(self._results(submit))), PartedKept(
            self._rows.partitions, beside
        )

    def follow(
        self, rows: HasTasks, chain: Chain[Result], state: Result, kept: Any = None
    ) -> Iterator[tuple[Result, Any]]:
        if not self._holds(rows):
            yield from super().follow(rows, chain, state, kept)
            return
        n_steps = rows.n_tasks if isinstance(rows, ChunkedRows) else len(self._rows.parts)
        at, count = 0, 1 if kept is None else n_steps  # what is kept is written by one graph
        sent = chain.sent()
        while at < n_steps:
            begun = time.monotonic()
            beside = list[Any]()
            steps = range(at, min(at + count, n_steps))
            (answer,) = self._results(
                partial(self._follow, rows, steps, sent, Answer(state), kept, beside)
            )
            state, at = answer.told(), at + count
            kept = None if kept is None else PartedKept(self._rows.partitions, beside)
            count = max(
                1, min(2 * count, int(count * SENT_FOR / (time.monotonic() - begun)), MOST_CHUNKS)
            )
            yield chain.heard(state), kept

    def _follow(
        self, rows: Any, steps: range, chain: Chain[Any], before: Any, kept: Any, beside: list[Any]
    ) -> list[Any]:
        """Send consecutive steps of a chain; return the state after them, and put what they keep
        into `beside`."""
        name, written = self._new_name(), list[str]()
        shared = f"cmeans-chain-{name}-all"
        tasks: Graph = {shared: (unchanged, chain)}
        for shard, number, home in self._steps_of(rows, steps, name, tasks):
            step = f"cmeans-followed-{name}-{number}-{home}"
            state = f"cmeans-state-{name}-{number}-{home}"
            tasks[step] = (
                followed,
                shard,
                shared,
                None if kept is None else kept.parts[number],
                before,
            )
            tasks[state], before = (itemgetter(0), step), state
            if kept is not None:
                written.append(f"cmeans-kept-{name}-{number}-{home}")
                tasks[written[-1]] = (itemgetter(1), step)
        started = self._started(tasks, [before, *written])
        beside[:] = started[1:]
        return started[:1]

    def _steps_of(
        self, rows: Any, steps: range, name: str, tasks: Graph
    ) -> list[tuple[Any, int, int]]:
        """Return the shard of each step, its number and its partition; consecutive chunks of the
        same partitions are one step."""
        if not isinstance(rows, ChunkedRows):
            held = self._shards_of(rows)
            return [(held[k], k, k) for k in steps]
        self._place()
        between = self._rows.partitions.between
        groups = groupby(steps, key=lambda k: [part for part, _ in between(*rows.spans[k])])
        return [self._chunk_shard(rows, list(some), name, tasks) for _, some in groups]

    def _chunk_shard(
        self, rows: ChunkedRows, some: list[int], name: str, tasks: Graph
    ) -> tuple[str, int, int]:
        """Add the tasks that cut consecutive chunks out of the partitions; return the key of their
        shard, the number of the first chunk, and the partition that holds most of their rows."""
        (start, _), (_, stop) = rows.spans[some[0]], rows.spans[some[-1]]
        wanted, pieces = self._rows.partitions.between(start, stop), list[Any]()
        for what, values in enumerate([self._rows, *columns_of(rows.blocks)]):
            if hasattr(values, "parts"):
                keys = [f"cmeans-cut{what}-{name}-{some[0]}-{part}" for part, _ in wanted]
                tasks |= {
                    key: (some_rows, values.parts[part], which)
                    for key, (part, which) in zip(keys, wanted, strict=True)
                }
                pieces.append(keys)
            else:
                pieces.append(None if values is None else [values[start:stop]])
        home = max(wanted, key=lambda piece: piece[1].stop - piece[1].start)[0]
        spans = [(first - start, last - start) for first, last in (rows.spans[k] for k in some)]
        key = f"cmeans-chunks-{name}-{some[0]}-{home}"
        tasks[key] = (
            chunk_shard,
            rows.blocks.spec,
            rows.blocks.x.function,
            spans,
            [rows.numbers[k] for k in some],
            *pieces,
        )
        return key, some[0], home

    def _map_on_workers(self, rows: Any, over: Pass[Result]) -> Iterator[Result]:
        count = rows.n_tasks if isinstance(rows, ChunkedRows) else len(self._rows.parts)
        for start in range(0, count, self._at_once):
            some = range(start, min(start + self._at_once, count))
            for answer in self._results(partial(self._submit_map, rows, over, some)):
                yield from answer.told()

    @property
    def _at_once(self) -> int:
        """Number of tasks that keep all workers busy."""
        return int(2 * max(1, sum(self._client.nthreads().values())))

    def _submit_map(self, rows: Any, over: Pass[Any], some: range) -> list[Any]:
        """Send a pass over some shards: to each worker once, unless it holds data of single
        rows."""
        name, chunked = self._new_name(), isinstance(rows, ChunkedRows)
        shared, passes = f"cmeans-pass-{name}-all", [] if chunked else self._parts_of(over)
        tasks: Graph = {} if passes else {shared: (unchanged, PreparedOnce(over))}
        wanted = list[str]()
        for k in some:
            ((shard, _, home),) = self._steps_of(rows, range(k, k + 1), name, tasks)
            wanted.append(f"cmeans-mapped-{name}-{k}-{home}")
            tasks[wanted[-1]] = (mapped, shard, PreparedOnce(passes[k]) if passes else shared)
        return self._started(tasks, wanted)

    def _added(self, parts: list[dict[Node, Any]]) -> Any:
        """Return the sum of those of all workers."""
        sums = {node: one for part in parts for node, one in part.items()}
        return next(iter(climbed(sums, len(self._rows.parts)).values()))

    def _fold_graph(
        self, rows: Any, over: Pass[Any], function: Callable[..., Any], kept: Any
    ) -> Graph:
        """Return the tasks of a pass: one a worker, told the pass and asked for its sums in one
        message each."""
        held, name, count = self._shards_of(rows), self._new_name(), len(self._rows.parts)
        passes, whole = self._parts_of(over), PreparedOnce(over)
        tasks = Graph()
        for group in self._groups:
            sent = [PreparedOnce(passes[k]) for k in group] if passes else whole
            beside = None if kept is None else [kept.parts[k] for k in group]
            tasks[f"cmeans-folded-{name}-{group[0]}"] = (
                function,
                [held[k] for k in group],
                group,
                sent,
                count,
                beside,
            )
        return tasks

    def _parts_of(self, over: Pass[Any]) -> list[Pass[Any]]:
        """Return the pass for each shard; none where it is the same for all."""
        parts = [over.part(int(start), int(stop)) for start, stop in pairwise(self._rows.starts)]
        return [] if all(part is over for part in parts) else parts

    def _results(self, submit: Callable[[], list[Any]]) -> list[Any]:
        """Return the results of futures, submitted again where workers are lost; cancelled where
        they will not be read."""
        if self._struck:
            self._struck.clear()
            raise KeyboardInterrupt
        for _ in range(LOSSES):
            self._require_scheduler()
            futures: list[Any] = []
            try:
                futures = submit()
                # now, as a message that says so would hold up the one that asks for results
                self._read.clear()
                if self._wait_for(futures):
                    results: list[Any] = self._client.gather(futures)
                    self._read = futures
                    return results
            except BaseException as error:
                self._drop(futures)
                if isinstance(error, Exception):
                    self._require_scheduler()
                if has_killed_workers(error):
                    raise RowsError(
                        f"workers died again and again of the same partitions; {GIVE_MEMORY}."
                    ) from error
                raise
            self._drop(futures)
            self._forget_places()
        raise RowsError(f"{LOSSES} times in one pass workers have died; {GIVE_MEMORY}.")

    def _drop(self, futures: list[Any]) -> None:
        """Cancel what will not be read."""
        if futures and is_connected(self._client):
            self._client.cancel(futures)

    def _wait_for(self, futures: list[Any]) -> bool:
        """Return True when all futures are done, False where a worker that holds shards is lost."""
        while not settled(self._client, futures, PATIENCE):
            self._require_scheduler()
            if not self._all_there():
                return False
        return not any(future.cancelled() for future in futures)

    def _all_there(self) -> bool:
        """True while every worker that holds shards is there."""
        self._looked = time.monotonic()
        return set(self._places) <= set(self._client.nthreads())

    def _require_scheduler(self) -> None:
        """Wait for the scheduler, if it does not answer; raise an error where it is gone."""
        waited = 0.0
        while not is_connected(self._client):
            if waited >= LOST_AFTER or self._client.status == "closed":
                raise RowsError(SCHEDULER_GONE)
            time.sleep(PAUSE)
            waited += PAUSE

    def _holds(self, rows: Any) -> bool:
        """True for rows that lie on the workers."""
        return (
            getattr(rows, "blocks", None) is not None
            and getattr(rows.blocks.x, "parts", None) is self._rows.parts
        )

    def _new_name(self) -> str:
        """Return what makes the keys of one graph its own."""
        return f"{self._name}-{next(self._numbers)}"

    def _wanted(self, tasks: Graph) -> list[Any]:
        """Return futures of tasks, all of which are wanted."""
        return self._started(tasks, list(tasks))

    def _started(self, tasks: Graph, wanted: list[str]) -> list[Any]:
        """Return futures of the wanted keys of a graph, whose tasks run where the shards are."""
        where = {
            key: [self._places[int(number)]]
            for key in tasks
            if (number := key.rpartition("-")[2]).isdigit()
        }
        with placed(where):
            started: list[Any] = self._client.get(tasks, wanted, sync=False)
        return started

    def _forget_places(self) -> None:
        self._shards.clear()
        self._places = []

    def _place(self) -> None:
        """Find the workers of the partitions, at first and where one is lost."""
        if self._places and time.monotonic() - self._looked > PATIENCE and not self._all_there():
            # tasks of a lost worker have run elsewhere since: all are placed anew
            self._forget_places()
        if not self._places:
            self._require_scheduler()
            self._places = self._rows.places()
            self._groups = self._rows.groups(self._places)

    def _shards_of(self, rows: Any) -> list[Any]:
        """Return futures of the partitions in their space, which stay on their workers as long as
        the rows are in use."""
        self._place()
        if rows not in self._shards:
            parts, name = self._rows.parts, self._new_name()
            columns = [self._rows.partitions.parts_of(values) for values in columns_of(rows.blocks)]
            spec = f"cmeans-spec-{name}-all"
            of_one = replace(rows.spec, blocks=rows.spec.blocks.one_of(len(parts)))
            tasks = {
                f"cmeans-shard-{name}-{k}": (
                    Shard,
                    (same_rows, part, *mark, ADVICE),
                    rows.blocks.x.function,
                    spec,
                    self._rows.memory_per_worker,
                    *beside,
                )
                for k, (part, mark, *beside) in enumerate(
                    zip(parts, self._rows.marks, *columns, strict=True)
                )
            }
            self._shards[rows] = self._started({spec: (unchanged, of_one), **tasks}, list(tasks))
        return self._shards[rows]


def _of_one(folded: tuple[Any, dict[int, Any]], number: int) -> Any:
    """Return what a pass has written beside one shard."""
    return folded[1][number]
