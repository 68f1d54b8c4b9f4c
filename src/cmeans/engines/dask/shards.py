"""Code that runs on a worker: a partition as represented rows, and passes over them."""

from __future__ import annotations

import copy
import functools
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.arrays import masked_entries
from ...data.blocks import BlocksSpec
from ...data.row_source import StoredRows
from ...runtime.user_warnings import collected
from ..base import Chain, ChunkedRows, Engine, Kept, Pass
from ..parts.orders import Answer
from ..threads import ThreadEngine
from .dask_api import spare_memory, this_worker, threads_of


def as_rows(partition: Any, dtype: Any, estimator_name: str) -> Any:
    """Return a partition, an array or a pandas frame, as rows (b, d) of the given float type."""
    if hasattr(partition, "to_numpy"):
        partition = partition.to_numpy(dtype=dtype, na_value=np.nan)
    hidden = masked_entries(partition)
    if hidden:
        raise ValueError(
            f"{estimator_name}: X has masked entries ({hidden} in one of its chunks). Impute them "
            "(x.map_blocks(...)), or drop their rows."
        )
    return np.ascontiguousarray(partition, dtype=dtype)


@functools.lru_cache(maxsize=4)
def _opened(again: Callable[[], StoredRows]) -> StoredRows:
    return again()


def read_part(again: Callable[[], StoredRows], start: int, stop: int) -> Any:
    """Return rows start ... stop - 1 of files that a worker opens once."""
    return _opened(again).read(start, stop)


class WorkerMemory:
    """A worker's memory for represented rows, which all its shards share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used = self._limit = 0

    def take(self, wanted: int, limit: int | None, spare: Callable[[], int]) -> int:
        """Reserve up to the wanted bytes and return their number; `limit` bounds the total."""
        with self._lock:
            if not self._used:
                self._limit = spare() if limit is None else limit
            taken = max(0, min(wanted, self._limit - self._used))
            self._used += taken
            return taken

    def give_back(self, taken: int) -> None:
        """Release bytes."""
        with self._lock:
            self._used -= taken


# by worker: several may live in one process
_memories: weakref.WeakKeyDictionary[Any, WorkerMemory] = weakref.WeakKeyDictionary()
_making = threading.Lock()


class Shard:
    """One partition in its space, on its worker. Sent to another worker, it is rebuilt by the first
    task there that needs it."""

    def __init__(
        self,
        partition: Any,
        function: Any,
        spec: Any,
        limit: int | None,
        weight: Any,
        *columns: Any,
    ) -> None:
        self._made_of = partition, function, spec, limit, weight, *columns
        self._lock = threading.Lock()
        self._rows: Any = None

    @property
    def rows(self) -> Any:
        """The partition in its space."""
        with self._lock:
            if self._rows is None:
                partition, function, spec, limit, weight, *columns = self._made_of
                worker = this_worker()
                with _making:
                    memory = _memories.setdefault(worker, WorkerMemory())
                kept = memory.take(
                    spec.bytes_to_keep(partition), limit, lambda: spare_memory(worker)
                )
                weakref.finalize(self, memory.give_back, kept)
                partition = partition if function is None else function(partition)
                self._rows = spec.over(spec.blocks.over(partition, weight, *columns), kept)
            return self._rows

    def __sizeof__(self) -> int:
        partition, _, spec, *_ = self._made_of
        return int(partition.nbytes + spec.bytes_to_keep(partition))

    def __reduce__(self) -> Any:
        return Shard, self._made_of


@dataclass(frozen=True)
class ChunkShard:
    """Consecutive chunks of rows, cut out of partitions for one task."""

    rows: ChunkedRows


def chunk_shard(
    spec: BlocksSpec, function: Any, spans: Any, numbers: Any, *pieces: Any
) -> ChunkShard:
    """Join pieces of partitions, and of the columns beside them, as chunks."""
    x, *columns = (
        None if some is None else some[0] if len(some) == 1 else np.concatenate(some)
        for some in pieces
    )
    return ChunkShard(
        ChunkedRows(spec.over(x if function is None else function(x), *columns), spans, numbers)
    )


def engine_here(n_threads: int | None = None) -> AbstractContextManager[Engine]:
    """Provide an engine of the worker's threads, or of so many."""
    return ThreadEngine(threads_of(this_worker()) if n_threads is None else n_threads).opened()


class PreparedOnce:
    """A pass to be sent to workers. On each it is prepared once, for all shards there."""

    def __init__(self, over: Pass[Any]) -> None:
        self.over = over
        self._lock = threading.Lock()
        self._prepared: tuple[Any] | None = None

    def prepared(self, rows: Any) -> Any:
        """Return the data that the pass prepares for rows like these."""
        with self._lock:
            if self._prepared is None:
                self._prepared = (self.over.prepare(rows),)
            return self._prepared[0]

    def __reduce__(self) -> Any:
        return PreparedOnce, (self.over,)


def unchanged(value: Any) -> Any:
    """Return the value itself: the task by which a worker passes it on to others."""
    return value


@dataclass(frozen=True)
class Node:
    """A place in the tree by which sums of partitions are added: two neighbours make one of the
    next level, whoever holds them."""

    level: int
    number: int


def climbed(sums: dict[Node, Any], n_leaves: int) -> dict[Node, Any]:
    """Return the same sums with every two neighbours added, as far up as they are here; the tree
    depends on the number of leaves alone."""
    level, width, found = 0, n_leaves, dict(sums)
    while width > 1:
        for node in sorted(
            (node for node in found if node.level == level and node.number % 2 == 0),
            key=lambda node: node.number,
        ):
            other = Node(level, node.number + 1)
            if node.number + 1 == width:  # the last one has no neighbour
                found[Node(level + 1, node.number // 2)] = found.pop(node)
            elif other in found:
                found[Node(level + 1, node.number // 2)] = found.pop(node) + found.pop(other)
        level, width = level + 1, (width + 1) // 2
    return found


def folded(
    shards: list[Shard],
    numbers: list[int],
    over: PreparedOnce | list[PreparedOnce],
    n_leaves: int,
    kept: list[Any] | None = None,
) -> dict[Node, Any]:
    """Return the sums over some shards of one worker by the threads it has, each over its tasks in
    their order; `kept` beside each."""
    passes = over if isinstance(over, list) else [over] * len(shards)
    places = [(at, task) for at, shard in enumerate(shards) for task in range(shard.rows.n_tasks)]
    sums: dict[Node, Any] = {}
    with engine_here() as engine:

        def work(place: int) -> Any:
            at, task = places[place]
            rows = shards[at].rows
            return passes[at].over.work(
                rows, task, passes[at].prepared(rows) if kept is None else kept[at]
            )

        for (at, _), result in zip(places, engine.run(work, len(places)), strict=True):
            node = Node(0, numbers[at])
            sums[node] = sums[node] + result if node in sums else result
    return climbed(sums, n_leaves)


def folded_and_kept(
    shards: list[Shard],
    numbers: list[int],
    over: PreparedOnce | list[PreparedOnce],
    n_leaves: int,
    kept: list[Any] | None,
) -> tuple[dict[Node, Any], dict[int, Any]]:
    """Return the same sums, and what the pass has written beside each shard: to copies, as tasks
    may run again."""
    passes = over if isinstance(over, list) else [over] * len(shards)
    written = (
        [one.over.begin(shard.rows) for one, shard in zip(passes, shards, strict=True)]
        if kept is None
        else copy.deepcopy(kept)
    )
    return folded(shards, numbers, over, n_leaves, written), dict(
        zip(numbers, written, strict=True)
    )


def followed(
    shard: Shard | ChunkShard, chain: Chain[Any], kept: Any, before: Answer
) -> tuple[Answer, Any]:
    """Return the state of a chain after a shard, and what it has written beside it."""
    written = Kept(copy.deepcopy(kept))
    with engine_here() as engine, collected() as messages:
        ((state, _),) = deque(engine.follow(shard.rows, chain, before.value, written), maxlen=1)
    return Answer(state, (*before.warnings, *messages)), written.here


def mapped(shard: Shard | ChunkShard, over: PreparedOnce) -> Answer:
    """Return the results of a shard's tasks, in their order."""
    with engine_here(1) as engine, collected() as messages:
        prepared = over.prepared(shard.rows)
        results = list(
            engine.run(lambda task: over.over.work(shard.rows, task, prepared), shard.rows.n_tasks)
        )
    return Answer(results, tuple(messages))
