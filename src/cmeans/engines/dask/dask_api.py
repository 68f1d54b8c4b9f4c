"""All calls of Dask's API: its clients, the partitions of its collections, and lazy arrays."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..parts.engine import PartsOfFiles

HELD = 2  # a worker's free memory, divided by this, may keep represented rows


def is_collection(x: Any) -> bool:
    """True where x is a Dask collection, as Dask itself says; it need not be installed."""
    graph = getattr(type(x), "__dask_graph__", None)
    if not callable(graph):
        return False
    # Dask's own always have a graph, which may take long to make; what others wrap need not be
    # Dask's.
    return type(x).__module__.startswith("dask") or graph(x) is not None


def is_frame(x: Any) -> bool:
    """True where a collection has named columns."""
    return hasattr(type(x), "to_dask_array")


def is_array(x: Any) -> bool:
    """True where a collection is an array in chunks."""
    return hasattr(type(x), "map_blocks")


def empty_chunk(x: Any) -> Any:
    """Return an empty array of the kind that the chunks of an array are."""
    from dask.array.utils import meta_from_array

    return meta_from_array(x)


def default_client() -> Any | None:
    """Return the client that was started last, if there is any."""
    try:
        from distributed import default_client as latest
    except ImportError:
        return None
    try:
        return latest()
    except ValueError:
        return None


def is_client(value: Any) -> bool:
    """True where a value can run tasks as a Dask client does."""
    return all(
        callable(getattr(value, name, None))
        for name in ("submit", "map", "gather", "cancel", "who_has", "nthreads")
    )


def is_future(value: Any) -> bool:
    """True where a value stands for one that workers have, or will have."""
    return type(value).__module__ == "distributed.client"


class WorkerPlacement:
    """The workers that the tasks of a graph should run on, by key; called by the scheduler."""

    def __init__(self, workers: dict[str, list[str]]) -> None:
        self._workers = workers

    def __call__(self, key: str) -> list[str]:
        return self._workers.get(key, [])


@contextmanager
def placed(workers: dict[str, list[str]]) -> Iterator[None]:
    """Run graphs that are sent inside on these workers, elsewhere only where these are gone; else
    the scheduler would move large results.

    Graphs that contain a space or a state are large on purpose, and sent once.
    """
    import dask

    quiet = dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})
    with quiet, dask.annotate(workers=WorkerPlacement(workers), allow_other_workers=True):
        yield


def free(client: Any, futures: list[Any]) -> None:
    """Let the tasks of results that are there run anywhere, once they have to run again."""
    anywhere: dict[Any, list[str]] = {future.key: [] for future in futures}
    client.sync(client.scheduler.set_restrictions, worker=anywhere)


def settled(client: Any, futures: list[Any], seconds: float) -> bool:
    """Wait so many seconds at most; True where all futures of a client have finished, failed or
    been cancelled."""
    from distributed import wait

    with client.as_current():
        try:
            wait(futures, timeout=seconds)
        except TimeoutError:
            return False
        except (concurrent.futures.CancelledError, asyncio.CancelledError):
            return True
    return True


@contextmanager
def gathering(client: Any, futures: list[Any]) -> Iterator[concurrent.futures.Future[list[Any]]]:
    """Provide what will have the results of futures, which a client brings meanwhile."""
    coming = asyncio.run_coroutine_threadsafe(
        client.gather(futures, asynchronous=True), client.loop.asyncio_loop
    )
    try:
        yield coming
    finally:
        coming.cancel()


def has_come(coming: concurrent.futures.Future[Any], seconds: float) -> bool:
    """Wait so many seconds at most; True where what should come is there, or an error."""
    return bool(concurrent.futures.wait([coming], seconds).done)


def is_connected(client: Any) -> bool:
    """True while a client has a connection to its scheduler."""
    return getattr(client, "status", "running") == "running"


def memory_limits(client: Any) -> dict[str, int]:
    """Bytes that each worker may use; 0 where nothing bounds them."""
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # releases that always tell of all workers
        workers = client.scheduler_info()["workers"]
    return {address: int(worker["memory_limit"] or 0) for address, worker in workers.items()}


def has_killed_workers(error: BaseException) -> bool:
    """True of the error of a task whose workers died, as often as the scheduler tries."""
    from distributed.scheduler import KilledWorker

    return isinstance(error, KilledWorker)


def started(client: Any, x: Any, function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return futures of a function of each partition of a collection of rows, in order; lost ones
    are computed again."""
    import dask

    whole = x if is_frame(x) else x.rechunk({1: -1})
    partitions = np.ravel(whole.to_delayed())
    work = dask.delayed(function, pure=False)
    futures: list[Any] = client.compute([work(partition, *arguments) for partition in partitions])
    return futures


def column_in_parts(client: Any, values: Any, sizes: list[int]) -> list[Any] | tuple[Any, ...]:
    """Return futures of arrays of these sizes that a Dask array or series is made of; its shape
    where that is another."""
    with client.as_current():
        whole = values.to_dask_array() if is_frame(values) else values
        if any(size != size for size in whole.shape):  # not known yet
            whole = whole.persist().compute_chunk_sizes()
        if whole.shape != (sum(sizes),):
            return tuple(whole.shape)
        futures: list[Any] = client.compute(list(whole.rechunk((tuple(sizes),)).to_delayed()))
        return futures


def row_by_row(
    x: Any, function: Callable[..., Any], n_columns: int | None, dtype: Any, **words: Any
) -> Any:
    """Return a Dask array of a function of blocks of rows, (n,) or (n, n_columns), computed
    lazily."""
    import dask

    whole = (x.to_dask_array() if is_frame(x) else x).rechunk({1: -1})
    # in the graph once, not once a block
    words = {name: dask.delayed(word, pure=False) for name, word in words.items()}
    if n_columns is None:
        return whole.map_blocks(
            function, **words, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype)
        )
    return whole.map_blocks(
        function,
        **words,
        dtype=dtype,
        chunks=(whole.chunks[0], (n_columns,)),
        meta=np.empty((0, 0), dtype),
    )


def by_row(parts: list[Any], sizes: list[int], dtype: Any, client: Any) -> Any:
    """Return a Dask array (n,) of parts that are on workers, from their futures."""
    import dask.array

    with client.as_current():
        arrays = [
            dask.array.from_delayed(part, (size,), dtype)
            for part, size in zip(parts, sizes, strict=True)
        ]
        return dask.array.concatenate(arrays)


def read_by_number(client: Any, files: PartsOfFiles) -> list[Any]:
    """Return futures of the parts of files, which workers read."""
    import dask

    read, whole = dask.delayed(PartsOfFiles.read, pure=False), dask.delayed(files, pure=False)
    futures: list[Any] = client.compute([read(whole, number) for number in range(len(files))])
    return futures


def connected(address: str) -> Any:
    """Return a client of the scheduler at an address; the caller closes it."""
    from distributed import Client

    return Client(address, timeout="15s", set_as_default=False)


def this_worker() -> Any:
    """Return the worker that runs the calling task."""
    from distributed import get_worker

    return get_worker()


def threads_of(worker: Any) -> int:
    """Number of threads of a worker."""
    return int(worker.state.nthreads)


def spare_memory(worker: Any) -> int:
    """Bytes that a worker may use for data that can be recomputed."""
    import psutil

    limit = worker.memory_manager.memory_limit
    free = int(psutil.virtual_memory().available)
    if limit:
        free = min(free, int(limit) - int(psutil.Process().memory_info().rss))
    return max(free // HELD, 0)
