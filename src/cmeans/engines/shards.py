"""What happens on a worker: a partition becomes rows, rows a table, and a table says what a job asks of it."""

from __future__ import annotations

import functools
import operator
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Float64
from ..stored import StoredRows
from .base import Job
from .dask_door import spare_memory, this_worker
from .threads import ThreadEngine


def as_rows(partition: Any, dtype: Any) -> Any:
    """A partition, an array or a pandas frame, as rows (b, d) of the given float type."""
    if hasattr(partition, "to_numpy"):
        partition = partition.to_numpy(dtype=dtype, na_value=np.nan)
    return np.ascontiguousarray(partition, dtype=dtype)


@functools.lru_cache(maxsize=4)
def _opened(again: Callable[[], StoredRows]) -> StoredRows:
    return again()


def piece_of_file(again: Callable[[], StoredRows], start: int, stop: int) -> Any:
    """Rows start ... stop - 1 of files that a worker opens once."""
    return _opened(again).read(start, stop)


@dataclass(frozen=True)
class Look:
    """What there is to know of a partition."""

    shape: tuple[int, ...]
    bad: tuple[int, int, str] | None  # row, column and kind of the first number that is none


def look(rows: Any) -> Look:
    """Whether all rows of a partition can be used."""
    with np.errstate(all="ignore"):
        total = rows.sum()
    if np.isfinite(total) or rows.ndim != 2:
        return Look(rows.shape, None)
    bad = np.argwhere(~np.isfinite(rows))
    if not len(bad):
        return Look(rows.shape, None)
    row, column = map(int, bad[0])
    return Look(rows.shape, (row, column, "NaN" if np.isnan(rows[row, column]) else "infinity"))


def some_rows(rows: Any, which: Any) -> Any:
    """The named rows of a partition, by numbers or a slice."""
    return rows[which]


class Room:
    """A worker's memory for represented rows, which all its shards share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used = self._limit = 0

    def take(self, wanted: int, limit: int | None, spare: Callable[[], int]) -> int:
        """How many of the wanted bytes there are; `limit`: of all that may be taken."""
        with self._lock:
            if not self._used:
                self._limit = spare() if limit is None else limit
            taken = max(0, min(wanted, self._limit - self._used))
            self._used += taken
            return taken

    def give_back(self, taken: int) -> None:
        """Bytes that are free again."""
        with self._lock:
            self._used -= taken


_rooms: weakref.WeakKeyDictionary[Any, Room] = weakref.WeakKeyDictionary()  # by worker: several may live in one process
_making = threading.Lock()


class Shard:
    """One partition as a table where it lies. Sent to another worker, it is made anew there, by the first task that asks."""

    def __init__(self, rows: Any, weight: Float64 | None, kind: Any, limit: int | None) -> None:
        self._made_of = rows, weight, kind, limit
        self._lock = threading.Lock()
        self._table: Any = None

    @property
    def table(self) -> Any:
        """The partition in its space."""
        with self._lock:
            if self._table is None:
                rows, weight, kind, limit = self._made_of
                worker = this_worker()
                with _making:
                    room = _rooms.setdefault(worker, Room())
                kept = room.take(kind.bytes_to_keep(rows), limit, lambda: spare_memory(worker))
                weakref.finalize(self, room.give_back, kept)
                self._table = kind.over(rows, weight, kept)
            return self._table

    def __sizeof__(self) -> int:
        rows, _, kind, _ = self._made_of
        return int(rows.nbytes + kind.bytes_to_keep(rows))

    def __reduce__(self) -> Any:
        return Shard, self._made_of


class Errand:
    """A job on its way. What is chosen and compiled for it on a worker serves all shards there."""

    def __init__(self, job: Job[Any]) -> None:
        self._job = job
        self._work: Callable[[Any, int], Any] | None = None
        self._lock = threading.Lock()

    def over(self, table: Any) -> Callable[[Any, int], Any]:
        """The job's function for any shard that lies like this one."""
        with self._lock:
            if self._work is None:
                self._work = self._job.over(table)
            return self._work

    def __reduce__(self) -> Any:
        return Errand, (self._job,)


def as_it_is(value: Any) -> Any:
    """What workers hand on to each other."""
    return value


def folded(shard: Shard, errand: Errand) -> Any:
    """The sum over a shard's tasks, in their order."""
    return total(said(shard, errand))


def said(shard: Shard, errand: Errand) -> list[Any]:
    """What a shard's tasks say, in their order."""
    with ThreadEngine(1) as engine:
        work = errand.over(shard.table)
        return list(engine.map(lambda task: work(shard.table, task), shard.table.n_tasks))


def total(parts: list[Any]) -> Any:
    """The sum of a few parts, in their order."""
    return functools.reduce(operator.add, parts)
