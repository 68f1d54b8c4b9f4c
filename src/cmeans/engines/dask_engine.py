"""Passes over rows where Dask holds them: jobs go to the workers, sums come back."""

from __future__ import annotations

import numbers
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from ..stored import StoredRows
from .base import Engine, Job, Result, Sum, Tasks
from .dask_door import default_client, in_parts, is_client, no_word_of_size
from .dask_rows import DaskRows
from .shards import Errand, Shard, as_it_is, folded, piece_of_file, said, total
from .threads import ThreadEngine

ARITY = 8  # sums that are added in one task
READ_TOGETHER = 2**18  # rows of files that become one partition


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
        with no_word_of_size():
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
        self._places: list[str | None] = []  # the worker of each partition, as far as is known

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shards.clear()

    def map(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        return self._here.map(function, n_tasks)

    def each(self, table: Tasks, job: Job[Result]) -> Iterator[Result]:
        if not self._holds(table):
            return super().each(table, job)
        return self._each(table, job)

    def fold(self, table: Tasks, job: Job[Sum], done: Callable[[int], None] | None = None) -> Sum:
        if not self._holds(table):
            return super().fold(table, job, done)
        with self._outstanding() as started:
            parts = self._run(folded, table, job, range(len(self._rows.parts)))
            started += parts
            while len(parts) > 1:
                groups = [parts[start : start + ARITY] for start in range(0, len(parts), ARITY)]
                parts = self._client.map(total, groups, pure=False)
                started += parts
            summed: Sum = parts[0].result()
        if done is not None:
            done(table.n_tasks - 1)
        return summed

    def _each(self, table: Tasks, job: Job[Result]) -> Iterator[Result]:
        count = len(self._rows.parts)
        step = 2 * max(1, sum(self._client.nthreads().values()))
        with self._outstanding() as started:
            waiting: deque[Any] = deque()
            for start in range(0, count + step, step):  # one group of shards is read while the next is at work
                more = self._run(said, table, job, range(start, min(start + step, count))) if start < count else []
                started += more
                for future in waiting:
                    yield from future.result()
                del started[: len(waiting)]
                waiting = deque(more)

    def _holds(self, table: Any) -> bool:
        return getattr(table, "blocks", None) is not None and table.blocks.x is self._rows

    def _run(self, function: Callable[..., Any], table: Any, job: Job[Any], shards: range) -> list[Any]:
        """Futures of a function of some shards and a job, which goes to each worker once unless it holds something of every row."""
        held = self._shards_of(table)
        parts = [job.part(int(self._rows.starts[k]), int(self._rows.starts[k + 1])) for k in shards]
        if all(part is job for part in parts):
            errand = self._sent(Errand(job))
            return self._mapped(function, [[held[k] for k in shards]], shards, errand=errand)
        return self._mapped(function, [[held[k] for k in shards], [Errand(part) for part in parts]], shards)

    def _shards_of(self, table: Any) -> list[Any]:
        if table not in self._shards:
            parts, starts, blocks = self._rows.parts, self._rows.starts, table.blocks
            where = self._client.who_has(parts)
            self._places = [next(iter(where.get(part.key) or ()), None) for part in parts]
            weights = [None if blocks.alike else blocks.weight[starts[k] : starts[k + 1]] for k in range(len(parts))]
            words = {"kind": self._sent(table.kind), "limit": self._rows.memory_per_worker}
            self._shards[table] = self._mapped(Shard, [parts, weights], range(len(parts)), **words)
        return self._shards[table]

    def _sent(self, value: Any) -> Any:
        """A value as the result of a task, which workers hand on to each other, and which is there again if one of them dies."""
        with no_word_of_size():
            return self._client.submit(as_it_is, value, pure=False)

    def _mapped(self, function: Callable[..., Any], arguments: list[list[Any]], shards: range, **words: Any) -> list[Any]:
        """Futures of a function of each shard's arguments, on the worker that holds it as long as that lives."""
        futures: dict[int, Any] = {}
        places = [self._places[k] for k in shards]
        for place in dict.fromkeys(places):
            here = [number for number, other in enumerate(places) if other == place]
            bound = {} if place is None else {"workers": [place], "allow_other_workers": True}
            with no_word_of_size():
                some = self._client.map(function, *([values[k] for k in here] for values in arguments), pure=False, **bound, **words)
            futures.update(zip(here, some, strict=True))
        return [futures[number] for number in range(len(places))]

    @contextmanager
    def _outstanding(self) -> Iterator[list[Any]]:
        """Futures that are cancelled where nobody will read them."""
        futures: list[Any] = []
        try:
            yield futures
        except BaseException:
            self._client.cancel(futures)
            raise
