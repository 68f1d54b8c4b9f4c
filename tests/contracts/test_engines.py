"""Every engine keeps the contract."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from docs.extending.cluster import ExecutorEngine
from docs.extending.engine import SerialEngine

import cmeans
from cmeans.data.blocks import Blocks
from cmeans.engines import DaskEngine, Engine, ThreadEngine, count_threads, usable_cpus
from contracts.engine import EngineContract, RowsContract, two_blas_threads  # noqa: F401 - a fixture
from simulated import Simulated, SimulatedEngine, Weather


class TestThreads(EngineContract):
    def make(self, workers: int) -> AbstractContextManager[Engine]:
        return ThreadEngine(workers).opened()


class TestSerial(EngineContract):
    """The engine that the documentation shows has no more than `map`."""

    def make(self, workers: int) -> AbstractContextManager[Engine]:
        return SerialEngine().opened()


class TestRowsOfASerialEngine(RowsContract):
    @contextmanager
    def held(self, blocks: Blocks, workers: int) -> Iterator[tuple[Engine, Blocks]]:
        with SerialEngine().opened(blocks.x) as engine:
            yield engine, blocks


class TestRowsHere(RowsContract):
    @contextmanager
    def held(self, blocks: Blocks, workers: int) -> Iterator[tuple[Engine, Blocks]]:
        with ThreadEngine(workers).opened() as engine:
            yield engine, blocks


class HeldInParts(RowsContract):
    """In parts of several sizes, some without rows and one of a single row."""

    sizes = (70, 0, 49, 1, 110, 0)
    weather = Weather()

    @contextmanager
    def held(self, blocks: Blocks, workers: int) -> Iterator[tuple[Engine, Blocks]]:
        engine = SimulatedEngine(self.sizes, 3, self.weather, workers)
        rows = engine.held(Simulated(blocks.x), "Owner")
        with engine.opened(rows) as running:
            yield running, replace(blocks, x=rows)


class TestRowsOfAHolder(HeldInParts):
    pass


class TestRowsOfABadHolder(HeldInParts):
    """Answers are lost, late, out of order and come twice; workers die, and forget."""

    weather = Weather(lost=0.3, twice=0.5, late=0.5, dying=0.2, wandering=0.3)


class TestRowsOfAnExecutor(RowsContract):
    """The engine that the documentation shows, of threads here, over a file."""

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.file = tmp_path / "rows.npy"

    @contextmanager
    def held(self, blocks: Blocks, workers: int) -> Iterator[tuple[Engine, Blocks]]:
        np.save(self.file, blocks.x)
        with ThreadPoolExecutor(workers) as pool:
            rows = ExecutorEngine(pool).reader_of(cmeans.open_blocks(self.file), "Owner", 70)
            with ExecutorEngine(pool).opened(rows) as engine:
                yield engine, replace(blocks, x=rows)


@pytest.mark.slow
class TestRowsOnDask(RowsContract):
    """In partitions of several sizes, one of which is a single row, and with the weights on the
    workers too."""

    @contextmanager
    def held(self, blocks: Blocks, workers: int) -> Iterator[tuple[Engine, Blocks]]:
        distributed = pytest.importorskip(
            "distributed", reason="Dask's workers are not installed: pip install cmeans[dask]"
        )
        array = pytest.importorskip("dask.array")
        sizes, words = (
            (70, 49, 1, 110),
            {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"},
        )
        with (
            distributed.LocalCluster(n_workers=workers, **words) as cluster,
            distributed.Client(cluster) as client,
        ):
            rows = DaskEngine(client).held(
                array.from_array(blocks.x, chunks=(sizes, (1,))), "Owner"
            )
            weight = rows.partitions.column(
                array.from_array(blocks.weight, chunks=60),
                lambda part, _: np.asarray(part),
                "weights",
                "Owner",
            )
            with DaskEngine(client).opened(rows) as engine:
                yield engine, replace(blocks, x=rows, weight=weight)


@pytest.mark.parametrize(
    ("n_jobs", "threads"), [(None, usable_cpus()), (1, 1), (7, 7), (-1, usable_cpus()), (-1000, 1)]
)
def test_n_jobs_is_counted_as_scikit_learn_counts_but_none_is_all(n_jobs, threads):
    assert count_threads(n_jobs, "Owner") == threads


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two", True])
def test_n_jobs_that_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ValueError, match=r"Owner\(n_jobs=.*give a positive number"):
        count_threads(n_jobs, "Owner")


def threads_of(engine: ThreadEngine, n_tasks: int = 40) -> set[str]:
    """The names of the threads that have run tasks long enough for all to come."""

    def task(_: int) -> str:
        time.sleep(2e-3)
        return threading.current_thread().name

    with engine.opened() as running:
        return set(running.run(task, n_tasks))


def test_helpers_wait_for_the_next_engine_and_there_are_never_more_than_asked_for():
    helpers = threads_of(ThreadEngine(3)) - {threading.current_thread().name}
    assert 1 <= len(helpers) <= 2
    before = threading.active_count()
    for _ in range(5):
        threads_of(ThreadEngine(3))
    assert threading.active_count() <= before + 2
    assert threads_of(ThreadEngine(1)) == {threading.current_thread().name}


def test_little_work_wakes_nobody(monkeypatch):
    monkeypatch.setattr("cmeans.engines.threads.WORTH_SHARING", 60.0)
    assert threads_of(ThreadEngine(3)) == {threading.current_thread().name}


def test_engines_side_by_side_and_one_within_another():
    def sums(n: int) -> list[int]:
        with ThreadEngine(3).opened() as outer:
            return list(outer.run(lambda task: sum(within(task)), n))

    def within(task: int) -> list[int]:
        with ThreadEngine(4).opened() as inner:
            return list(inner.run(lambda k: task * k, 30))

    results: list[list[int]] = []
    threads = [threading.Thread(target=lambda: results.append(sums(25))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [[435 * task for task in range(25)]] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_helpers_of_its_own():
    threads_of(ThreadEngine(3))
    child = os.fork()
    if child == 0:
        names = threads_of(ThreadEngine(3))
        os._exit(0 if len(names) > 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
