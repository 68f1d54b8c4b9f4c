"""What engines hold at a time: results ahead of the one that is read, and a worker's partitions."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from cmeans.engines import ThreadEngine, threads
from cmeans.engines.dask import rows as dask_rows
from cmeans.engines.dask.rows import AT_ONCE, DaskRows
from cmeans.engines.dask.shards import WorkerMemory
from cmeans.fitting.memory import waiting_sums

MANY = 60  # tasks, far more than may wait


class Counted:
    """A task that counts how many results there are that nobody has read."""

    def __init__(self) -> None:
        self.waiting, self.changed = 0, threading.Condition()

    def __call__(self, task: int) -> int:
        with self.changed:
            self.waiting += 1
            self.changed.notify_all()
        return task

    def exceeds(self, most: int) -> bool:
        """Wait until there are more, as long as any could still come."""
        with self.changed:
            return self.changed.wait_for(lambda: self.waiting > most, timeout=0.1)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_results_wait_for_their_reader_up_to_a_bound(
    n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of each thread and one more: what the plan of a fit counts as sums that wait."""
    monkeypatch.setattr(threads, "WORTH_SHARING", -1.0)
    work, read = Counted(), []
    for result in ThreadEngine(n_threads).run(work, MANY):
        if len(read) in (1, MANY // 2):  # a reader that takes its time
            assert not work.exceeds(2 * n_threads + 2)
        read.append(result)
        work.waiting -= 1
    assert read == list(range(MANY))


def test_while_one_task_takes_long_neither_its_reader_nor_a_helper_goes_far_ahead() -> None:
    """And the helper waits for more work, rather than leave it all to the reader."""
    ahead, begun, go_on = 4, threading.Semaphore(0), threading.Event()

    def function(task: int) -> int:
        begun.release()
        if task == 0:
            go_on.wait(10.0)
        return task

    queue = threads._Queue(function, MANY, ahead)
    helpers = [threading.Thread(target=queue.work) for _ in range(2)]
    helpers[0].start()
    begun.acquire()  # the first task is under way
    read: list[int] = []
    reader = threading.Thread(target=lambda: read.extend(map(queue.result, range(MANY))))
    for thread in (reader, helpers[1]):
        thread.start()
    for _ in range(ahead):
        assert begun.acquire(timeout=10.0)
    assert not begun.acquire(timeout=0.1)
    assert helpers[1].is_alive()
    go_on.set()
    for thread in (reader, *helpers):
        thread.join()
    assert read == list(range(MANY))


def test_the_plan_counts_all_sums_that_may_wait() -> None:
    """Beside those of the bound the total, and the one that is added to it."""
    assert [waiting_sums(n_threads) for n_threads in (1, 2, 8)] == [5, 7, 19]


def grouped(
    monkeypatch: pytest.MonkeyPatch, places: list[str], n_rows: list[int], **limits: int
) -> list[list[int]]:
    """The groups of partitions of so many rows of 8 bytes on workers of some memory."""
    rows = object.__new__(DaskRows)
    rows.client, rows.dtype = None, np.dtype("float64")
    rows.shape = (sum(n_rows), 1)
    monkeypatch.setattr(DaskRows, "starts", np.cumsum([0, *n_rows]), raising=False)
    monkeypatch.setattr(dask_rows, "memory_limits", lambda _: limits)
    return rows.groups(places)


def test_a_task_sums_no_more_partitions_than_its_worker_has_memory_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = [100, 200, 300, 100, 100, 250, 900, 50]
    groups = grouped(monkeypatch, ["a"] * 8, sizes, a=AT_ONCE * 8 * 400)
    assert groups == [[0, 1], [2, 3], [4, 5], [6], [7]]
    held = [sum(sizes[part] for part in group) for group in groups]
    assert all(count <= 400 or len(group) == 1 for count, group in zip(held, groups, strict=True))


def test_each_worker_by_its_own_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that says nothing of a limit sums all that it has."""
    groups = grouped(monkeypatch, ["a", "b"] * 3, [100] * 6, a=AT_ONCE * 8 * 100, b=0)
    assert sorted(groups) == [[0], [1, 3, 5], [2], [4]]


def test_shards_share_what_their_worker_has() -> None:
    memory = WorkerMemory()

    def never() -> Any:
        raise AssertionError("a limit is given")

    assert [memory.take(60, 100, never), memory.take(60, 100, never)] == [60, 40]
    assert memory.take(60, 100, never) == 0
    memory.give_back(60)
    assert memory.take(100, 100, never) == 60


def test_without_a_limit_they_share_what_is_spare() -> None:
    memory = WorkerMemory()
    assert memory.take(10, None, lambda: 25) == 10
    assert memory.take(100, None, lambda: 1_000) == 15
