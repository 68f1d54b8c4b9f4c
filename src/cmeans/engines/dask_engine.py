"""Passes over rows where Dask holds them: jobs go to the workers, sums come back."""

from __future__ import annotations

import itertools
import numbers
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Self
from uuid import uuid4

from ..stored import RowsError, StoredRows
from .base import Engine, Job, Result, Sum, Tasks
from .dask_door import default_client, in_parts, is_client, placed
from .dask_rows import DaskRows
from .interrupts import unraised_interrupts
from .shards import Errand, Shard, as_it_is, folded, piece_of_file, said, total
from .threads import ThreadEngine

ARITY = 8  # sums that are added in one task
READ_TOGETHER = 2**18  # rows of files that become one partition
PATIENCE = 2  # seconds after which one looks whether all workers are there
LOSSES = 5  # times that a pass is asked for


class DaskEngine:
    """Who runs a fit on a Dask array or data frame: the workers of a cluster, each over the partitions it holds.

    Every sweep minimises what it would on an array, as it adds the same sums: centres and scales go to each worker once, and one set of
    sums comes back. Use it to name the client or to bound the workers' memory; a fit on a Dask collection without it takes the client
    that was started last. Rows in memory are clustered by threads here, whatever the engine.

    Parameters
    ----------
    client : distributed.Client, default=None
        Whose workers hold the rows; None: the client that was started last.
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

    def rows(self, x: Any, owner: str) -> DaskRows:
        """A Dask collection as rows that stay on the workers; `owner` is named in complaints."""
        client = self._known_client(owner, "X is a Dask collection", "or pass the array: X.compute()")
        return DaskRows(x, client, owner, self.memory_per_worker)

    def read(self, rows: StoredRows, owner: str) -> StoredRows:
        """Rows of files as rows that workers read, part by part; they must find the files where this process does. What cannot be
        opened again, and what has few rows, stays here."""
        if rows.again is None or len(rows) <= READ_TOGETHER:
            return rows
        client = self._known_client(owner, "engine is a DaskEngine", "or take engine=None")
        held = DaskRows(in_parts(piece_of_file, rows, READ_TOGETHER), client, owner, self.memory_per_worker)
        held.where, held.columns, held.weight = rows.where, rows.columns, rows.weight
        return held

    def _known_client(self, owner: str, why: str, otherwise: str) -> Any:
        client = default_client() if self.client is None else self.client
        if client is None:
            raise ValueError(
                f"{owner}: {why} and no Dask client is there; start one (distributed.Client()), name one "
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
    """The engine of one fit: jobs over tables of its rows run on the workers, all others in threads here."""

    def __init__(self, here: ThreadEngine, rows: DaskRows) -> None:
        self.n_threads = here.n_threads
        self._here = here
        self._rows = rows
        self._client = rows.client
        self._shards: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        self._places: list[str] = []  # the worker of each shard
        self._name, self._numbers = uuid4().hex, itertools.count()  # of graphs: no two may share a key
        self._struck: list[bool] = []
        self._listening = ExitStack()

    def __enter__(self) -> Self:
        self._struck = self._listening.enter_context(unraised_interrupts())
        return self

    def __exit__(self, *_: object) -> None:
        self._shards.clear()
        self._listening.close()

    def map(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        return self._here.map(function, n_tasks)

    def each(self, table: Tasks, job: Job[Result]) -> Iterator[Result]:
        if not self._holds(table):
            return super().each(table, job)
        return self._each(table, job)

    def fold(self, table: Tasks, job: Job[Sum], done: Callable[[int], None] | None = None) -> Sum:
        if not self._holds(table):
            return super().fold(table, job, done)

        def ask() -> list[Any]:
            tasks = self._tasks(folded, table, job, range(len(self._rows.parts)))
            level = [key for key, task in tasks.items() if task[0] is folded]
            while len(level) > 1:
                groups = [level[start : start + ARITY] for start in range(0, len(level), ARITY)]
                level = [f"{group[0]}+" for group in groups]
                tasks |= {key: (total, group) for key, group in zip(level, groups, strict=True)}
            return self._started(tasks, level)

        summed: Sum = self._answers(ask)[0]
        if done is not None:
            done(table.n_tasks - 1)
        return summed

    def _each(self, table: Tasks, job: Job[Result]) -> Iterator[Result]:
        count = len(self._rows.parts)
        step = 2 * max(1, sum(self._client.nthreads().values()))
        for start in range(0, count, step):

            def ask(start: int = start) -> list[Any]:
                tasks = self._tasks(said, table, job, range(start, min(start + step, count)))
                return self._started(tasks, [key for key, task in tasks.items() if task[0] is said])

            for answers in self._answers(ask):
                yield from answers

    def _answers(self, ask: Callable[[], list[Any]]) -> list[Any]:
        """What futures come to, asked for again where workers are gone; they are cancelled where nobody will read them."""
        if self._struck:
            self._struck.clear()
            raise KeyboardInterrupt
        for _ in range(LOSSES):
            futures = ask()
            try:
                if self._wait_for(futures):
                    return [future.result() for future in futures]
            except BaseException:
                self._client.cancel(futures)
                raise
            self._client.cancel(futures)
            self._shards.clear()
        raise RowsError(f"{LOSSES} times in one pass workers have died; give them more memory, or smaller partitions.")

    def _wait_for(self, futures: list[Any]) -> bool:
        """Whether all futures have come to something, and not one of the workers that hold shards is gone."""
        for future in futures:
            while not future.done():
                try:
                    future.result(timeout=PATIENCE)
                except TimeoutError:
                    if not set(self._places) <= set(self._client.nthreads()):
                        return False
        return not any(future.cancelled() for future in futures)

    def _holds(self, table: Any) -> bool:
        return getattr(table, "blocks", None) is not None and table.blocks.x is self._rows

    def _tasks(self, function: Callable[..., Any], table: Any, job: Job[Any], shards: range) -> dict[str, Any]:
        """A graph that asks some shards a job, which goes to each worker once unless it holds something of every row."""
        held, number = self._shards_of(table), f"{self._name}-{next(self._numbers)}"
        parts = [job.part(int(self._rows.starts[k]), int(self._rows.starts[k + 1])) for k in shards]
        tasks: dict[str, Any] = {}
        errands: list[Any] = [Errand(part) for part in parts]
        if all(part is job for part in parts):
            errands = [f"cmeans-errand-{number}-all"] * len(parts)
            tasks[errands[0]] = (as_it_is, Errand(job))
        for k, errand in zip(shards, errands, strict=True):
            tasks[f"cmeans-{function.__name__}-{number}-{k}"] = (function, held[k], errand)
        return tasks

    def _started(self, tasks: dict[str, Any], wanted: list[str]) -> list[Any]:
        """Futures of the wanted keys of a graph, whose tasks run where the shards are."""
        where = {key: [self._places[int(number)]] for key in tasks if (number := key.rpartition("-")[2].rstrip("+")).isdigit()}
        with placed(where):
            started: list[Any] = self._client.get(tasks, wanted, sync=False)
        return started

    def _shards_of(self, table: Any) -> list[Any]:
        if table not in self._shards:
            parts, starts, blocks = self._rows.parts, self._rows.starts, table.blocks
            self._places = self._rows.places()
            weights = [None if blocks.alike else blocks.weight[starts[k] : starts[k + 1]] for k in range(len(parts))]
            number = f"{self._name}-{next(self._numbers)}"
            kind = f"cmeans-kind-{number}-all"
            tasks = {
                f"cmeans-shard-{number}-{k}": (Shard, parts[k], weights[k], kind, self._rows.memory_per_worker) for k in range(len(parts))
            }
            self._shards[table] = self._started({kind: (as_it_is, table.kind), **tasks}, list(tasks))
        return self._shards[table]
