"""Partitions that Dask's workers hold, and how they are asked."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from ...data.row_source import RowsError
from ..parts.holder import Holder
from ..parts.orders import Answer, Work
from ..parts.placement import fair_places, groups_of
from .dask_api import (
    free,
    gathering,
    has_come,
    has_killed_workers,
    is_connected,
    is_future,
    memory_limits,
    placed,
    settled,
)
from .tasks import Opaque, answered, worker_store

PATIENCE = 2  # seconds between looks at the scheduler and at who is there
LOST_AFTER = 30.0  # seconds without a connection from which on a scheduler is gone
ALONE_FOR = 600.0  # seconds in which a cluster without workers, which may grow, has to get one
LOSSES = 5  # times that a graph is made anew, as workers which it names are lost
PAUSE = 0.1  # seconds between two looks at it
SCHEDULER_GONE = (
    "the Dask scheduler is gone, and with it the rows on its workers; start a cluster and fit "
    "again, from a checkpoint where the fit had "
    "one (engine=cmeans.DaskEngine(checkpoint=cmeans.Checkpoint(path, resume=True)))."
)

WORKERS_DIE = (
    "workers died again and again of the same partitions; give them more memory, or smaller "
    "partitions."
)

# tasks by their keys, which end in the number of the partition that they run beside
Graph = dict[str, Any]
Found = TypeVar("Found")


class LostWorkersError(Exception):
    """Nobody works at a graph, as workers are gone that it names."""


class DaskHolder(Holder):
    """Futures of partitions (b, d), which have the graph that made them: those lost with a worker
    are computed again. An order is one task for each worker, which works its partitions by all its
    threads."""

    advice = "persist it first (x.persist())"

    def __init__(self, client: Any, parts: list[Any], where: str, most: int | None) -> None:
        """`most`: bytes that a worker may keep beside its partitions; None: half of its free
        memory."""
        self.client, self.parts, self.where, self._most = client, parts, where, most
        self.n_parts = len(parts)
        self.sizes = dict[int, int]()  # bytes of partitions with rows, as soon as they are known
        self._places = dict[int, str]()  # the worker of each
        self._groups: list[list[int]] = []  # those that one task works
        self.stores = dict[str, Any]()
        self._name, self._numbers = uuid4().hex, itertools.count()
        self._looked = 0.0  # when it was last asked which workers there are
        self._read: list[Any] = []  # futures whose results have been read

    @property
    def at_once(self) -> int:  # type: ignore[override]
        """Number of parts that keep all workers busy."""
        return int(2 * max(1, sum(self.client.nthreads().values())))

    def ask(
        self, work: Work, arguments: Mapping[int, tuple[Any, ...]]
    ) -> Iterator[tuple[int, Answer]]:
        def graph() -> tuple[Graph, list[str]]:
            name, wanted = self.new_name(), set(arguments)
            tasks = {
                f"cmeans-asked-{name}-{some[0]}": self.task(work, some, arguments)
                for group in self._groups or [[number] for number in range(self.n_parts)]
                if (some := [number for number in group if number in wanted])
            }
            return tasks, list(tasks)

        for answers in self.results(graph):
            yield from answers

    def task(
        self, work: Any, numbers: list[int], arguments: Mapping[int, tuple[Any, ...]]
    ) -> tuple[Any, ...]:
        """Return the task that works some partitions of one worker; `work`: an order, or its key
        where it reads."""
        reads = not isinstance(work, Work) or work.reads
        parts = [self.parts[number] for number in numbers] if reads else None
        slots = [
            list(values) if is_future(values[0]) else Opaque(values)
            for values in zip(*(arguments[number] for number in numbers), strict=True)
        ]
        store = self.stores.get(self._places.get(numbers[0], ""))
        order = Opaque(work) if isinstance(work, Work) else work
        return answered, order, numbers, parts, slots, store

    def results(self, graph: Callable[[], tuple[Graph, list[str]]]) -> list[Any]:
        """Return the results of some keys of a graph, which `graph()` makes with them."""
        return self._placed(lambda: self.gathered(*graph()))

    def free(self) -> None:
        """Place the partitions, and let what workers keep beside them be made anywhere once its
        worker is gone."""
        self._placed(self._freed)

    def _freed(self) -> None:
        stores = list(self.stores.values())
        self._await(partial(settled, self.client, stores))
        free(self.client, stores)
        if self._have_lost(self.client.nthreads()):  # perhaps before it was free
            raise LostWorkersError

    def _placed(self, ask: Callable[[], Found]) -> Found:
        """Ask workers where partitions are: once more where one that is named is lost, so that
        nobody works at it."""
        for _ in range(LOSSES):
            self.place()
            try:
                return ask()
            except LostWorkersError:
                self.release()
        raise RowsError(WORKERS_DIE)

    def gathered(self, tasks: Graph, wanted: list[str]) -> list[Any]:
        """Return the results of tasks of a graph; they are cancelled where they will not be
        read."""
        self._require_scheduler()
        futures: list[Any] = []
        try:
            futures = self.started(tasks, wanted)
            # now, as a message that says so would hold up the one that asks for results
            self._read.clear()
            self._await(partial(settled, self.client, futures))
            self._refuse_lost(futures)
            with gathering(self.client, futures) as coming:
                self._await(partial(has_come, coming))  # a result may be lost with its worker
                results: list[Any] = coming.result()
        except BaseException as error:
            if futures and is_connected(self.client):
                self.client.cancel(futures)
            if isinstance(error, Exception):
                self._require_scheduler()
            if has_killed_workers(error):
                raise RowsError(WORKERS_DIE) from error
            raise
        self._read = futures
        return results

    def _await(self, has_come: Callable[[float], bool]) -> None:
        """Wait for something, in steps of so many seconds, as long as there is a scheduler, and
        workers that could do it."""
        alone_since = time.monotonic()
        while not has_come(PATIENCE):
            self._require_scheduler()
            there = self.client.nthreads()
            if there:
                alone_since = time.monotonic()
            if time.monotonic() - alone_since > ALONE_FOR:
                raise RowsError(
                    "no Dask worker is left; start some, with enough memory for the partitions, "
                    "and fit again."
                )
            # The scheduler never comes back to tasks for workers that were gone at a moment when
            # no other could run them, though they may run anywhere.
            if there and self._have_lost(there) and not any(self.client.processing().values()):
                raise LostWorkersError

    def _are_held(self, parts: list[Any], seconds: float) -> bool:
        """Wait so many seconds at most; True where workers have the parts, or have failed."""
        if settled(self.client, parts, seconds) and self.client.nthreads():
            return True
        time.sleep(PAUSE)
        return False

    def _have_lost(self, there: Mapping[str, int]) -> bool:
        return not self.stores.keys() <= there.keys()

    def started(
        self, tasks: Graph, wanted: list[str], places: Mapping[int, str] | None = None
    ) -> list[Any]:
        """Return futures of the wanted keys of a graph, whose tasks run where the partitions are,
        or at `places`."""
        places = self._places if places is None else places
        with placed(
            {key: [places[number]] for key in tasks if (number := _number_in(key)) in places}
        ):
            futures: list[Any] = self.client.get(tasks, wanted, sync=False)
        return futures

    def release(self) -> None:
        self._places, self._groups, self.stores = {}, [], {}
        self._read.clear()

    def new_name(self) -> str:
        """Return what makes the keys of one graph its own."""
        return f"{self._name}-{next(self._numbers)}"

    def place(self) -> None:
        """Find the workers of the partitions, at first and where one is lost."""
        now = time.monotonic()
        if self._places and now - self._looked > PATIENCE:
            self._looked = now
            if self._have_lost(self.client.nthreads()):
                # tasks of a lost worker have run elsewhere since: all are placed anew
                self.release()
        if self.sizes and not self._places:
            self._require_scheduler()
            self._looked, numbers = now, list(self.sizes)
            sizes = list(self.sizes.values())
            parts = [self.parts[number] for number in numbers]
            # those of a lost worker are being recomputed
            self._await(partial(self._are_held, parts))
            self._refuse_lost(parts)
            where, threads = self.client.who_has(parts), self.client.nthreads()
            places = fair_places([where.get(part.key) or () for part in parts], sizes, threads)
            groups = groups_of(places, sizes, memory_limits(self.client))
            self._groups = [[numbers[at] for at in group] for group in groups]
            self._places = dict(zip(numbers, places, strict=True))
            for place in dict.fromkeys(places):
                self.stores[place] = self.client.submit(
                    worker_store, self._most, workers=[place], allow_other_workers=True, pure=False
                )

    def _refuse_lost(self, futures: list[Any]) -> None:
        if any(future.cancelled() for future in futures):
            raise RowsError(
                f"the rows of {self.where} are lost: their scheduler was restarted; fit again."
            )

    def _require_scheduler(self) -> None:
        """Wait for the scheduler, if it does not answer; raise an error where it is gone."""
        waited = 0.0
        while not is_connected(self.client):
            if waited >= LOST_AFTER or self.client.status == "closed":
                raise RowsError(SCHEDULER_GONE)
            time.sleep(PAUSE)
            waited += PAUSE


def _number_in(key: str) -> int:
    """Return the number of the partition that a task runs beside, -1 where it runs anywhere."""
    number = key.rpartition("-")[2]
    return int(number) if number.isdigit() else -1
