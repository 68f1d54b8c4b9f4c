"""What engines hold at a time: results ahead of the one that is read, and a worker's partitions."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

from cmeans.engines import ThreadEngine, threads
from cmeans.engines.parts.orders import RECENT, Store
from cmeans.engines.parts.placement import AT_ONCE, groups_of
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


def test_a_task_sums_no_more_partitions_than_its_worker_has_memory_for() -> None:
    sizes = [100, 200, 300, 100, 100, 250, 900, 50]
    groups = groups_of(["a"] * 8, sizes, {"a": AT_ONCE * 400})
    assert groups == [[0, 1], [2, 3], [4, 5], [6], [7]]
    held = [sum(sizes[part] for part in group) for group in groups]
    assert all(count <= 400 or len(group) == 1 for count, group in zip(held, groups, strict=True))


def test_each_worker_by_its_own_memory() -> None:
    """One that says nothing of a limit sums all that it has."""
    groups = groups_of(["a", "b"] * 3, [100] * 6, {"a": AT_ONCE * 100, "b": 0})
    assert sorted(groups) == [[0], [1, 3, 5], [2], [4]]


def test_parts_share_what_is_kept_beside_them() -> None:
    """What is reserved is taken at once; what none of the latest orders has used makes room."""
    store = Store(100)
    assert [store.reserve(key, 60, "first") for key in "ab"] == [60, 40]
    assert store.reserve("c", 60, "first") == 0
    store.drop("a")
    assert store.reserve("d", 100, "first") == 60
    for number in range(RECENT):
        store.get("b", f"order {number}")
        store.reserve("c", 0, f"order {number}")
    assert store.reserve("e", 100, "last") == 60


def test_what_does_not_fit_beside_what_is_in_use_is_not_kept() -> None:
    """Else each pass over many parts would forget the first as it comes to the last."""
    store, rows = Store(100), np.zeros(5)
    for turn in range(2):
        for part in range(3):
            if store.get(part, f"order {turn}") is None:
                store.offer(part, rows, f"order {turn}")
    assert [store.get(part) is None for part in range(3)] == [False, False, True]


def test_the_store_of_a_worker_is_sent_where_no_task_runs_yet() -> None:
    """As when the other worker died: an error there would end no task, and nobody would know."""
    tasks = pytest.importorskip("cmeans.engines.dask.tasks", exc_type=ImportError)
    store = tasks.WorkerStore(100)
    store.put("a", np.zeros(5))
    sent = pickle.loads(pickle.dumps(store))
    assert sent.get("a") is None
    assert sent.reserve("b", 200) == 100
