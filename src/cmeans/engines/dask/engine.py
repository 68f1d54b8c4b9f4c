"""Passes over rows where Dask holds them: passes are sent to the workers, and sums are returned."""

from __future__ import annotations

import itertools
import numbers
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import Any, Self, cast
from uuid import uuid4

import numpy as np

from ...data.blocks import Blocks
from ...data.row_source import RowsError, StoredRows
from ..base import Chain, Engine, HasTasks, Pass, Result, Span, Sum
from ..threads import ThreadEngine
from .chunks import in_a_row, side_by_side
from .columns import DaskKept
from .dask_api import by_row, default_client, has_killed_workers, in_parts, is_client, is_connected, placed, settled
from .interrupts import unraised_interrupts
from .rows import DaskRows, type_and_columns
from .shards import Node, PreparedOnce, Shard, climbed, folded, folded_and_kept, followed, joined, mapped, read_part, summed, unchanged

PATIENCE = 2  # seconds between checks that all workers are alive
LOSSES = 5  # times that a pass is submitted
LOST_AFTER = 30.0  # seconds without a connection from which on a scheduler is gone
PAUSE = 0.1  # seconds between two looks at it
SENT_FOR = 1.0  # seconds of chunks after which the state of a stream comes here; what a lost worker had done since is done again
MOST_CHUNKS = 64  # of a stream, that are sent at once
SCHEDULER_GONE = (
    "the Dask scheduler is gone, and with it the rows on its workers; start a cluster and fit again, from a checkpoint where the fit had "
    "one (checkpoint=cmeans.Checkpoint(path, resume=True))."
)
GIVE_MEMORY = "give them more memory, or smaller partitions"


class DaskEngine:
    """Engine of a fit on a Dask array or data frame: the workers of a cluster, each over the partitions it holds.

    Every sweep minimises what it would on an array, as it adds the same sums: centres and scales go to each worker once, and its sums
    come back. `labels_` is a Dask array whose chunks stay on the workers; a collection of at most 16 MB is read and clustered here. Use it
    to name the client or to bound the workers' memory; a fit on a Dask collection without it takes the client that was started last. Rows
    in memory are clustered by threads here, whatever the engine.

    Parameters
    ----------
    client : distributed.Client, default=None
        The client whose workers hold the rows; None: the one that was started last.
    memory_per_worker : int, default=None
        Bytes in which a worker may keep rows represented between sweeps; None: half of what it has free. It never changes results.

    Raises
    ------
    ValueError
        Where `client` is no client, or `memory_per_worker` no number of bytes.

    Notes
    -----
    Results do not depend on the number of workers, to the last bit: a partition is folded in one order, and partitions are added in
    a tree whose shape depends on their number alone. Other partitions of the same rows change rounding. Partitions of 50,000 to
    1,000,000 rows, and at least one for each thread of the cluster, suit. A model that is copied keeps its client; one that is pickled
    or saved does not.

    Examples
    --------
    >>> import cmeans
    >>> cmeans.FuzzyCMeans(3, engine=cmeans.DaskEngine(memory_per_worker=2 * 10**9))
    FuzzyCMeans(engine=DaskEngine(memory_per_worker=2000000000), n_clusters=3)
    """

    def __init__(self, client: Any = None, memory_per_worker: int | None = None) -> None:
        if client is not None and not is_client(client):
            raise ValueError(f"DaskEngine(client={client!r}): give a distributed.Client, or None for the one that was started last.")
        whole = isinstance(memory_per_worker, numbers.Integral) and not isinstance(memory_per_worker, bool)
        if memory_per_worker is not None and not (whole and memory_per_worker >= 0):
            raise ValueError(f"DaskEngine(memory_per_worker={memory_per_worker!r}): give a number of bytes, or None.")
        self.client = client
        self.memory_per_worker = memory_per_worker

    def rows(self, x: Any, estimator_name: str, *, holes: bool = False) -> DaskRows:
        """Return a Dask collection `x` as rows that stay on the workers; `holes`: values may be missing. Errors name `estimator_name`."""
        type_and_columns(x, estimator_name)
        client = self._known_client(estimator_name, "X is a Dask collection", "or pass the array: X.compute()")
        return DaskRows(x, client, estimator_name, self.memory_per_worker, holes=holes)

    def read(self, rows: StoredRows, estimator_name: str, partition_rows: int) -> StoredRows:
        """Return rows of files as rows that workers read, `partition_rows` at a time; the files need the same paths there.

        Files that cannot be opened again, or have no more rows than a partition, are read in this process; errors name `estimator_name`.
        """
        if rows.again is None or len(rows) <= partition_rows:
            return rows
        client = self._known_client(estimator_name, "engine is a DaskEngine", "or take engine=None")
        parts = in_parts(read_part, rows, partition_rows)
        held = DaskRows(parts, client, estimator_name, self.memory_per_worker, holes=rows.holes)
        held.where, held.columns, held.weight, held.answers_stay = rows.where, rows.columns, rows.weight, False
        return held

    def _known_client(self, estimator_name: str, why: str, otherwise: str) -> Any:
        client = default_client() if self.client is None else self.client
        if client is None:
            raise ValueError(
                f"{estimator_name}: {why} and no Dask client is there; start one (distributed.Client()), name one "
                f"(engine=cmeans.DaskEngine(client)), {otherwise}."
            )
        return client

    def __repr__(self) -> str:
        words = {"client": self.client, "memory_per_worker": self.memory_per_worker}
        return f"DaskEngine({', '.join(f'{name}={value!r}' for name, value in words.items() if value is not None)})"

    def __deepcopy__(self, memo: dict[int, Any]) -> DaskEngine:
        return DaskEngine(self.client, self.memory_per_worker)  # a client is a connection: copies share it

    def __reduce__(self) -> Any:
        return DaskEngine, (None, self.memory_per_worker)


class DaskSession(Engine):
    """The engine of one fit: passes over its rows run on the workers, all others in threads here."""

    def __init__(self, here: ThreadEngine, rows: DaskRows) -> None:
        self.n_threads = here.n_threads
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
        return self._map_on_workers(rows, over) if self._holds(rows) else super().map(rows, over)

    def fold(self, rows: HasTasks, over: Pass[Sum], done: Callable[[int], None] | None = None, kept: Any = None) -> Sum:
        if not self._holds(rows):
            return super().fold(rows, over, done, kept)
        total = self._added(self._results(lambda: self._wanted(self._fold_graph(rows, over, folded, kept))))
        if done is not None:
            done(rows.n_tasks - 1)
        return over.conclude(total)

    def keep(self, rows: HasTasks, over: Pass[Sum], kept: Any = None) -> tuple[Sum, Any]:
        if not self._holds(rows):
            return super().keep(rows, over, kept)
        parts: list[Any] = []

        def submit() -> list[Any]:
            tasks = self._fold_graph(rows, over, folded_and_kept, kept)
            sums = {key.replace("folded", "sums"): (itemgetter(0), key) for key in tasks}
            beside = {f"{key.replace('folded', 'kept')}-{k}": (_of_one, key, k) for key, task in tasks.items() for k in task[2]}
            order = sorted(beside, key=lambda key: int(key.rpartition("-")[2]))
            started = self._started(tasks | sums | beside, [*sums, *order])
            parts[:] = started[len(sums) :]
            return started[: len(sums)]

        return over.conclude(self._added(self._results(submit))), DaskKept(self._rows, parts)

    def follow(self, rows: HasTasks, chain: Chain[Result], state: Result, kept: Any) -> tuple[Result, Any]:
        if not self._holds(rows):
            return super().follow(rows, chain, state, kept)
        parts: list[Any] = []

        def submit() -> list[Any]:
            held, number, count = self._shards_of(rows), f"{self._name}-{next(self._numbers)}", len(self._rows.parts)
            tasks, latest = dict[str, Any](), cast(Any, state)
            for k, (shard, beside) in enumerate(zip(held, kept.parts, strict=True)):
                step = f"cmeans-followed-{number}-{k}"
                tasks[step] = (followed, shard, chain, beside, latest)
                latest = f"cmeans-state-{number}-{k}"
                tasks[latest] = (itemgetter(0), step)
                tasks[f"cmeans-kept-{number}-{k}"] = (itemgetter(1), step)
            started = self._started(tasks, [latest, *(f"cmeans-kept-{number}-{k}" for k in range(count))])
            parts[:] = started[1:]
            return started[:1]

        return self._results(submit)[0], DaskKept(self._rows, parts)

    def follow_chunks(
        self, blocks: Blocks, spans: Sequence[Span], step: Callable[[Result | None, Blocks, Engine], Result], state: Result | None
    ) -> Iterator[Result]:
        if blocks.x is not self._rows:
            yield from super().follow_chunks(blocks, spans, step, state)
            return
        at, count = 0, 1
        while at < len(spans):
            begun = time.monotonic()
            (answer,) = self._results(partial(self._sent, in_a_row, blocks, spans[at : at + count], step, state))
            state, at = answer.told(), at + count
            count = max(1, min(2 * count, int(count * SENT_FOR / (time.monotonic() - begun)), MOST_CHUNKS))
            yield state

    def map_chunks(self, blocks: Blocks, spans: Mapping[int, Span], function: Callable[[Blocks, int], Result]) -> Iterator[Result]:
        if blocks.x is not self._rows:
            yield from super().map_chunks(blocks, spans, function)
            return
        numbers, at_once = list(spans), self._at_once
        for at in range(0, len(numbers), at_once):
            some = {number: spans[number] for number in numbers[at : at + at_once]}
            for answer in self._results(partial(self._sent, side_by_side, blocks, some, function)):
                yield answer.told()

    def _sent(self, tasks_of: Callable[..., tuple[dict[str, Any], list[str]]], *words: Any) -> list[Any]:
        self._place()
        return self._started(*tasks_of(f"{self._name}-{next(self._numbers)}", *words))

    def _added(self, parts: list[dict[Node, Any]]) -> Any:
        """Return the sum of those of all workers."""
        sums = {node: one for part in parts for node, one in part.items()}
        return next(iter(climbed(sums, len(self._rows.parts)).values()))

    def _fold_graph(self, rows: Any, over: Pass[Any], function: Callable[..., Any], kept: Any) -> dict[str, Any]:
        """Return the tasks of a pass: one a worker, told the pass and asked for its sums in one message each."""
        held, number, count = self._shards_of(rows), f"{self._name}-{next(self._numbers)}", len(self._rows.parts)
        passes, whole = self._parts_of(over), PreparedOnce(over)
        tasks: dict[str, Any] = {}
        for group in self._groups:
            sent = [PreparedOnce(passes[k]) for k in group] if passes else whole
            beside = None if kept is None else [kept.parts[k] for k in group]
            tasks[f"cmeans-folded-{number}-{group[0]}"] = (function, [held[k] for k in group], group, sent, count, beside)
        return tasks

    def _wanted(self, tasks: dict[str, Any]) -> list[Any]:
        """Return futures of tasks, all of which are wanted."""
        return self._started(tasks, list(tasks))

    def _map_on_workers(self, rows: HasTasks, over: Pass[Result]) -> Iterator[Result]:
        count, step = len(self._rows.parts), self._at_once
        for start in range(0, count, step):

            def submit(start: int = start) -> list[Any]:
                tasks = self._map_graph(rows, over, range(start, min(start + step, count)))
                return self._started(tasks, [key for key, task in tasks.items() if task[0] is mapped])

            for results in self._results(submit):
                yield from results

    @property
    def _at_once(self) -> int:
        """Number of tasks that keep all workers busy."""
        return int(2 * max(1, sum(self._client.nthreads().values())))

    def _map_graph(self, rows: Any, over: Pass[Any], shards: range) -> dict[str, Any]:
        """Return the tasks of a pass over some shards; the pass is sent to each worker once unless it holds data of single rows."""
        held, number, passes = self._shards_of(rows), f"{self._name}-{next(self._numbers)}", self._parts_of(over)
        shared = f"cmeans-pass-{number}-all"
        tasks: dict[str, Any] = {} if passes else {shared: (unchanged, PreparedOnce(over))}
        for k in shards:
            tasks[f"cmeans-mapped-{number}-{k}"] = (mapped, held[k], PreparedOnce(passes[k]) if passes else shared)
        return tasks

    def left_there(self, rows: Any, over: Pass[tuple[Any, Any, int]]) -> tuple[Any, Any] | None:
        if not self._rows.answers_stay or not self._holds(rows):
            return None
        arrays: list[Any] = []

        def submit() -> list[Any]:
            tasks = self._map_graph(rows, over, range(len(self._rows.parts)))
            mapped_keys = [key for key, task in tasks.items() if task[0] is mapped]
            sums = {key.replace("mapped", "sums"): (summed, key) for key in mapped_keys}
            parts = {key.replace("mapped", "part"): (joined, key) for key in mapped_keys}
            started = self._started(tasks | sums | parts, [*sums, *parts])
            arrays[:] = started[len(sums) :]
            return started[: len(sums)]

        total = self._added([{Node(0, number): one} for number, one in enumerate(self._results(submit))])
        return by_row(arrays, [int(size) for size in np.diff(self._rows.starts)], self._client), total

    def _parts_of(self, over: Pass[Any]) -> list[Pass[Any]]:
        """Return the pass for each shard; none where it is the same for all."""
        parts = [over.part(int(start), int(stop)) for start, stop in pairwise(self._rows.starts)]
        return [] if all(part is over for part in parts) else parts

    def _results(self, submit: Callable[[], list[Any]]) -> list[Any]:
        """Return the results of futures, submitted again where workers are lost; cancelled where they will not be read."""
        if self._struck:
            self._struck.clear()
            raise KeyboardInterrupt
        for _ in range(LOSSES):
            self._require_scheduler()
            futures: list[Any] = []
            try:
                futures = submit()
                self._read.clear()  # now, as a message that says so would hold up the one that asks for results
                if self._wait_for(futures):
                    results: list[Any] = self._client.gather(futures)
                    self._read = futures
                    return results
            except BaseException as error:
                self._drop(futures)
                if isinstance(error, Exception):
                    self._require_scheduler()
                if has_killed_workers(error):
                    raise RowsError(f"workers died again and again of the same partitions; {GIVE_MEMORY}.") from error
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
        return getattr(rows, "blocks", None) is not None and getattr(rows.blocks.x, "parts", None) is self._rows.parts

    def _started(self, tasks: dict[str, Any], wanted: list[str]) -> list[Any]:
        """Return futures of the wanted keys of a graph, whose tasks run where the shards are."""
        where = {key: [self._places[int(number)]] for key in tasks if (number := key.rpartition("-")[2]).isdigit()}
        with placed(where):
            started: list[Any] = self._client.get(tasks, wanted, sync=False)
        return started

    def _forget_places(self) -> None:
        self._shards.clear()
        self._places = []

    def _place(self) -> None:
        """Find the workers of the partitions, at first and where one is lost."""
        if self._places and time.monotonic() - self._looked > PATIENCE and not self._all_there():
            self._forget_places()  # tasks of a lost worker have run elsewhere since: all are placed anew
        if not self._places:
            self._require_scheduler()
            self._places = self._rows.places()
            self._groups = self._rows.groups(self._places)

    def _shards_of(self, rows: Any) -> list[Any]:
        self._place()
        if rows not in self._shards:
            parts, blocks = self._rows.parts, rows.blocks
            weights = [None] * len(parts) if blocks.alike else self._rows.parts_of(blocks.weight)
            columns = [self._rows.parts_of(column) for column in blocks.columns.values()]
            number = f"{self._name}-{next(self._numbers)}"
            spec = f"cmeans-spec-{number}-all"
            tasks = {
                f"cmeans-shard-{number}-{k}": (Shard, part, blocks.x.function, spec, self._rows.memory_per_worker, *beside)
                for k, (part, *beside) in enumerate(zip(parts, weights, *columns, strict=True))
            }
            of_one = replace(rows.spec, blocks=rows.spec.blocks.one_of(len(parts)))
            self._shards[rows] = self._started({spec: (unchanged, of_one), **tasks}, list(tasks))
        return self._shards[rows]


def _of_one(folded: tuple[Any, dict[int, Any]], number: int) -> Any:
    """Return what a pass has written beside one shard."""
    return folded[1][number]
