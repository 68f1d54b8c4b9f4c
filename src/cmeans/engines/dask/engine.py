"""Passes over rows where Dask holds them: passes are sent to the workers, and sums are returned."""

from __future__ import annotations

import itertools
import numbers
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Self
from uuid import uuid4

from ...data.row_source import RowsError, StoredRows
from ..base import Engine, HasTasks, Pass, Result, Sum
from ..threads import ThreadEngine
from .dask_api import default_client, in_parts, is_client, placed
from .interrupts import unraised_interrupts
from .rows import DaskRows
from .shards import PreparedOnce, Shard, folded, mapped, read_part, total, unchanged

ARITY = 8  # sums that are added in one task
PATIENCE = 2  # seconds between checks that all workers are alive
LOSSES = 5  # times that a pass is submitted


class DaskEngine:
    """Engine of a fit on a Dask array or data frame: the workers of a cluster, each over the partitions it holds.

    Every sweep minimises what it would on an array, as it adds the same sums: centres and scales go to each worker once, and one set of
    sums comes back. Use it to name the client or to bound the workers' memory; a fit on a Dask collection without it takes the client
    that was started last. Rows in memory are clustered by threads here, whatever the engine.

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
        """Return a Dask collection as rows that stay on the workers; error messages name `estimator_name`, and `holes` says whether values
        may be missing."""
        client = self._known_client(estimator_name, "X is a Dask collection", "or pass the array: X.compute()")
        return DaskRows(x, client, estimator_name, self.memory_per_worker, holes=holes)

    def read(self, rows: StoredRows, estimator_name: str, partition_rows: int) -> StoredRows:
        """Return rows of files as rows that workers read part by part; the files need the same paths there. Files that cannot be opened
        again, or have no more rows than a partition, are read in this process."""
        if rows.again is None or len(rows) <= partition_rows:
            return rows
        client = self._known_client(estimator_name, "engine is a DaskEngine", "or take engine=None")
        parts = in_parts(read_part, rows, partition_rows)
        held = DaskRows(parts, client, estimator_name, self.memory_per_worker, holes=rows.holes)
        held.where, held.columns, held.weight = rows.where, rows.columns, rows.weight
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
        self._name, self._numbers = uuid4().hex, itertools.count()  # make the keys of graphs unique
        self._struck: list[bool] = []
        self._listening = ExitStack()

    def __enter__(self) -> Self:
        self._struck = self._listening.enter_context(unraised_interrupts())
        return self

    def __exit__(self, *_: object) -> None:
        self._shards.clear()
        self._listening.close()

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        return self._here.run(function, n_tasks)

    def map(self, rows: HasTasks, over: Pass[Result]) -> Iterator[Result]:
        return self._map_on_workers(rows, over) if self._holds(rows) else super().map(rows, over)

    def fold(self, rows: HasTasks, over: Pass[Sum], done: Callable[[int], None] | None = None) -> Sum:
        if not self._holds(rows):
            return super().fold(rows, over, done)

        def submit() -> list[Any]:
            tasks = self._graph(folded, rows, over, range(len(self._rows.parts)))
            level = [key for key, task in tasks.items() if task[0] is folded]
            while len(level) > 1:
                groups = [level[start : start + ARITY] for start in range(0, len(level), ARITY)]
                level = [f"{group[0]}+" for group in groups]
                tasks |= {key: (total, group) for key, group in zip(level, groups, strict=True)}
            return self._started(tasks, level)

        summed: Sum = self._results(submit)[0]
        if done is not None:
            done(rows.n_tasks - 1)
        return over.conclude(summed)

    def _map_on_workers(self, rows: HasTasks, over: Pass[Result]) -> Iterator[Result]:
        count = len(self._rows.parts)
        step = 2 * max(1, sum(self._client.nthreads().values()))
        for start in range(0, count, step):

            def submit(start: int = start) -> list[Any]:
                tasks = self._graph(mapped, rows, over, range(start, min(start + step, count)))
                return self._started(tasks, [key for key, task in tasks.items() if task[0] is mapped])

            for results in self._results(submit):
                yield from results

    def _results(self, submit: Callable[[], list[Any]]) -> list[Any]:
        """Return the results of futures, submitted again where workers are lost; cancelled where they will not be read."""
        if self._struck:
            self._struck.clear()
            raise KeyboardInterrupt
        for _ in range(LOSSES):
            futures = submit()
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
        """Return True when all futures are done, False where a worker that holds shards is lost."""
        for future in futures:
            while not future.done():
                try:
                    future.result(timeout=PATIENCE)
                except TimeoutError:
                    if not set(self._places) <= set(self._client.nthreads()):
                        return False
        return not any(future.cancelled() for future in futures)

    def _holds(self, rows: Any) -> bool:
        """True for rows that lie on the workers."""
        return getattr(rows, "blocks", None) is not None and rows.blocks.x is self._rows

    def _graph(self, function: Callable[..., Any], rows: Any, over: Pass[Any], shards: range) -> dict[str, Any]:
        """Return the tasks of a pass over some shards; the pass is sent to each worker once unless it holds data of single rows."""
        held, number = self._shards_of(rows), f"{self._name}-{next(self._numbers)}"
        parts = [over.part(int(self._rows.starts[k]), int(self._rows.starts[k + 1])) for k in shards]
        tasks: dict[str, Any] = {}
        passes: list[Any] = [PreparedOnce(part) for part in parts]
        if all(part is over for part in parts):
            passes = [f"cmeans-pass-{number}-all"] * len(parts)
            tasks[passes[0]] = (unchanged, PreparedOnce(over))
        for k, prepared in zip(shards, passes, strict=True):
            tasks[f"cmeans-{function.__name__}-{number}-{k}"] = (function, held[k], prepared)
        return tasks

    def _started(self, tasks: dict[str, Any], wanted: list[str]) -> list[Any]:
        """Return futures of the wanted keys of a graph, whose tasks run where the shards are."""
        where = {key: [self._places[int(number)]] for key in tasks if (number := key.rpartition("-")[2].rstrip("+")).isdigit()}
        with placed(where):
            started: list[Any] = self._client.get(tasks, wanted, sync=False)
        return started

    def _shards_of(self, rows: Any) -> list[Any]:
        if rows not in self._shards:
            parts, starts, blocks = self._rows.parts, self._rows.starts, rows.blocks
            self._places = self._rows.places()
            weights = [None if blocks.alike else blocks.weight[starts[k] : starts[k + 1]] for k in range(len(parts))]
            number = f"{self._name}-{next(self._numbers)}"
            spec = f"cmeans-spec-{number}-all"
            tasks = {
                f"cmeans-shard-{number}-{k}": (Shard, parts[k], weights[k], spec, self._rows.memory_per_worker) for k in range(len(parts))
            }
            self._shards[rows] = self._started({spec: (unchanged, rows.spec), **tasks}, list(tasks))
        return self._shards[rows]
