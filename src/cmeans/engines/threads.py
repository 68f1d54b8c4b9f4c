"""Threads of this process, each with one BLAS thread."""

from __future__ import annotations

import numbers
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic

from ..data.arrays import is_foreign
from ..runtime.numerals import parse_budget
from ..runtime.parameter_object import ParameterObject
from .base import Engine, HasTasks, Pass, Result
from .one_blas_thread import limit_this_thread, one_blas_thread

# of one fit; a count by which memory is planned is one that a machine could have
MOST_THREADS = 1_024
WORTH_SHARING = 3e-4  # seconds of work from which it pays to wake another thread


def usable_cpus() -> int:
    """Number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def count_threads(n_jobs: int | None, estimator_name: str) -> int:
    """Return n_jobs as scikit-learn counts it, but None and -1 mean every usable CPU, -2 all but
    one, and k at most 1,024 threads."""
    if type(n_jobs) is int and n_jobs > 0:  # as an engine has it while it runs, asked at each pass
        return min(n_jobs, MOST_THREADS)
    if n_jobs is None:
        return usable_cpus()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(
            f"{estimator_name}(n_jobs={n_jobs!r}): give a positive number of threads, -1 for every "
            "CPU, or None."
        )
    n_jobs = int(n_jobs)
    return min(n_jobs, MOST_THREADS) if n_jobs > 0 else max(1, usable_cpus() + 1 + n_jobs)


@dataclass(frozen=True, repr=False)
class ThreadEngine(ParameterObject, Engine):
    """Threads of this process: that of the caller, and helpers that wait for work between fits.

    It is what estimators take without an engine; give one to say how much memory a fit may take, or
    where it keeps how far it has come. BLAS runs one thread for each of them: results have the same
    bits for any `n_jobs`.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Threads, as scikit-learn counts them, but None and -1 mean every CPU that the process may
        use, -2 all but one.
    memory_budget : int, str such as "4GB" or None, default=None
        Bytes that a fit may take; None: half of what is free. It never changes results: fewer bytes
        keep less between sweeps.
    checkpoint : path, Checkpoint or None, default=None
        A file that keeps how far a fit has come, from which it can go on.

    Raises
    ------
    ValueError
        Where `n_jobs` is no number of threads, or `memory_budget` no number of bytes.

    Examples
    --------
    >>> import cmeans
    >>> cmeans.FuzzyCMeans(3, engine=cmeans.ThreadEngine(memory_budget="4GB"))
    FuzzyCMeans(engine=ThreadEngine(memory_budget='4GB'), n_clusters=3)
    """

    n_jobs: int | None = None
    memory_budget: int | float | str | None = None
    checkpoint: Any = None

    def __post_init__(self) -> None:
        count_threads(self.n_jobs, "ThreadEngine")
        parse_budget(self.memory_budget, "ThreadEngine")

    @property
    def n_threads(self) -> int:
        return count_threads(self.n_jobs, "ThreadEngine")

    @contextmanager
    def opened(self, x: Any = None) -> Iterator[Engine]:
        """Provide an engine for rows `x` of as many threads as there are now; of one for arrays of
        libraries that have their own."""
        with one_blas_thread():
            yield replace(self, n_jobs=1 if is_foreign(x) else self.n_threads)

    def map(self, rows: HasTasks, over: Pass[Result]) -> Iterator[Result]:
        prepared = over.prepare(rows)
        return self.run(lambda task: over.work(rows, task, prepared), rows.n_tasks)

    def is_worth_sharing(self, seconds: float) -> bool:
        return self.n_threads > 1 and seconds > WORTH_SHARING

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        spent, task = 0.0, 0
        while task < n_tasks and not (
            task and self.is_worth_sharing(spent / task * (n_tasks - task))
        ):
            begun = time.perf_counter()
            result = function(task)
            spent += time.perf_counter() - begun
            task += 1
            yield result
        if task < n_tasks:
            yield from self._shared(lambda left: function(task + left), n_tasks - task)

    def _shared(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        helpers, ahead = min(self.n_threads, n_tasks) - 1, 2 * self.n_threads
        if n_tasks <= ahead:
            yield from self._few(function, n_tasks, helpers)
            return
        queue = _Queue(function, n_tasks, ahead)
        with self._beside(queue.work, helpers):
            try:
                for task in range(n_tasks):
                    yield queue.result(task)
            finally:
                queue.close()

    def ask_for_help(self, work: Callable[[], None], most: int) -> list[Future[None]]:
        return [
            _helpers.submit(work, self.n_threads - 1) for _ in range(min(self.n_threads - 1, most))
        ]

    @contextmanager
    def _beside(self, work: Callable[[], None], most: int) -> Iterator[None]:
        """In this context other threads do some work, which must end as the context does."""
        futures = self.ask_for_help(work, most)
        try:
            yield
        finally:
            # whoever has not begun need not
            errors = [None if future.cancel() else future.exception() for future in futures]
        for error in errors:
            if error is not None:
                raise error

    def _few(self, function: Callable[[int], Result], n_tasks: int, helpers: int) -> list[Result]:
        """Run tasks whose results may all wait for the first: whoever is free takes the next, and
        nothing is said between two."""
        left, lock, results = list(range(n_tasks))[::-1], threading.Lock(), {}

        def work() -> None:
            try:
                while True:
                    with lock:
                        if not left:
                            return
                        task = left.pop()
                    results[task] = function(task)
            except BaseException:
                with lock:
                    left.clear()
                raise

        with self._beside(work, helpers):
            work()
        return [results[task] for task in range(n_tasks)]


class _Helpers:
    """Threads of this process that wait for work: to start one takes longer than many passes. All
    engines share them, and none needs them: whoever asks does the work that no thread is free
    for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._size = 0

    def submit(self, work: Callable[[], None], size: int) -> Future[None]:
        """Have some work done by one of at least `size` threads."""
        with self._lock:
            if self._pool is None or self._size < size:
                self._pool, self._size = (
                    ThreadPoolExecutor(
                        size, thread_name_prefix="cmeans", initializer=limit_this_thread
                    ),
                    size,
                )
            return self._pool.submit(work)

    def forget(self) -> None:
        """Begin anew in a forked process, in which the threads are not."""
        self.__init__()  # type: ignore[misc]


_helpers = _Helpers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.forget)


class _Queue(Generic[Result]):
    """Tasks taken in order by free threads, at most `ahead` of them before the one whose result is
    read next."""

    def __init__(self, function: Callable[[int], Result], n_tasks: int, ahead: int) -> None:
        self._function = function
        self._n_tasks = n_tasks
        self._ahead = ahead
        self._next = 0  # the first task not yet taken
        self._read = 0  # the task whose result is read next
        self._results: dict[int, Result] = {}
        self._error: BaseException | None = None
        self._changed = threading.Condition()

    def work(self) -> None:
        """Run tasks until there are none left."""
        while (task := self._take(wait=True)) is not None:
            self._run(task)

    def result(self, task: int) -> Result:
        """Return the result of the next task; run other tasks until it is there."""
        while True:
            with self._changed:
                if self._error is not None:
                    raise self._error
                if task in self._results:
                    self._read = task + 1
                    self._changed.notify_all()
                    return self._results.pop(task)
            mine = self._take(wait=False)
            if mine is not None:
                self._run(mine)
                continue
            with self._changed:
                self._changed.wait_for(lambda: self._error is not None or task in self._results)

    def close(self) -> None:
        """Begin no further task."""
        with self._changed:
            self._n_tasks = 0
            self._changed.notify_all()

    def _take(self, *, wait: bool) -> int | None:
        with self._changed:
            if wait:
                self._changed.wait_for(
                    lambda: self._next >= self._n_tasks or self._next <= self._read + self._ahead
                )
            if self._next >= self._n_tasks or self._next > self._read + self._ahead:
                return None
            self._next += 1
            return self._next - 1

    def _run(self, task: int) -> None:
        try:
            result = self._function(task)
        except BaseException as error:
            with self._changed:
                self._error = self._error or error
                self._n_tasks = 0
                self._changed.notify_all()
            return
        with self._changed:
            self._results[task] = result
            self._changed.notify_all()
