"""Engines over rows that others hold, on a simulated cluster: the bits of rows in memory whatever
becomes of messages and workers."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

import cmeans
from cmeans.data.row_source import RowsError
from cmeans.engines.parts.orders import Store
from cmeans.engines.parts.rows import HeldRows
from limited import limited
from simulated import Simulated, SimulatedEngine, SimulatedHolder, Weather, schedule

rng = np.random.default_rng(5)
N, TASKS = 1000, 8
X = rng.normal(size=(N, 3)) + 6.0 * rng.normal(size=(4, 3))[rng.integers(4, size=N)]
START = X[[5, 300, 600, 900]]
BAD = Weather(lost=0.2, twice=0.3, late=0.5, dying=0.1, wandering=0.2)
SIZES = [0, *[N // TASKS] * TASKS, 0]


@pytest.fixture(autouse=True)
def tasks_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in memory are cut into as many tasks whatever they are asked, as a partition is."""
    limited(
        monkeypatch, loaded_bytes=0, canonical_rows=0, tasks=TASKS, task_values=1, least_task_rows=1
    )


def model(**words: Any) -> Any:
    return cmeans.FuzzyCMeans(4, **{"init": START, "kernel": "linear", "tol": 1e-2, **words})


def test_schedules_end_with_the_bits_of_memory() -> None:
    """Some of the many that `python -m tests.simulated` runs."""
    for seed in range(30):
        schedule(seed)


@pytest.mark.minutes
@pytest.mark.parametrize("first", range(0, 100_000, 5000))
def test_a_hundred_thousand_schedules_end_with_the_bits_of_memory(first: int) -> None:
    """A quarter of an hour of one processor."""
    for seed in range(first, first + 5000):
        schedule(seed, 10_000)


@pytest.mark.parametrize("words", [{}, {"kernel": "rbf", "landmarks": X[::50]}, {"m": 1.4}])
def test_fits_have_the_bits_of_memory(words: dict[str, Any]) -> None:
    here = model(**words).fit(X)
    there = model(**words, engine=SimulatedEngine(SIZES, 1, BAD)).fit(Simulated(X))
    assert there.objective_ == here.objective_
    np.testing.assert_array_equal(there.objective_history_, here.objective_history_)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.labels_.shape == (N,)


def test_ten_thousand_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    x, sizes = X[:60], [1] * 60
    limited(monkeypatch, tasks=60)
    here = model().fit(x)
    there = model(engine=SimulatedEngine(sizes, 2, BAD, 10_000)).fit(Simulated(x))
    assert there.objective_ == here.objective_
    np.testing.assert_array_equal(there.labels_, here.labels_)


def test_what_others_ask_of_rows_elsewhere_is_right() -> None:
    """Draws, samples and weights, of which bits depend on the partition."""
    weight = rng.integers(1, 4, N).astype(float)
    words = {"init": "k-means++", "kernel": "rbf", "landmarks": 20, "random_state": 0}
    here = model(**words).fit(X, sample_weight=weight)
    there = model(**words, engine=SimulatedEngine([300, 1, 0, 699], 3, BAD)).fit(
        Simulated(X), sample_weight=weight
    )
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-12)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.predict(Simulated(X[:50])), here.predict(X[:50]))


def test_files_that_workers_read(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, partition_rows=N // TASKS)
    np.save(tmp_path / "rows.npy", X)
    here = model().fit(X)
    there = model(engine=SimulatedEngine(None, 4, BAD)).fit(tmp_path / "rows.npy")
    assert there.objective_ == here.objective_
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.predict(tmp_path / "rows.npy"), here.labels_)


@pytest.mark.parametrize("in_other_order", [False, True])
def test_rows_that_change_are_one_line(
    in_other_order: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns, parts = count(), SimulatedHolder.ask

    def ask(self: Any, work: Any, arguments: Any) -> Any:
        seed = next(turns)
        changed = np.random.default_rng(seed)
        rows = changed.permutation(X[100:200]) if in_other_order else changed.normal(size=(100, 3))
        self.parts = [X[:100], rows]
        return parts(self, work, arguments)

    monkeypatch.setattr(SimulatedHolder, "ask", ask)
    with pytest.raises(
        RowsError,
        match=r"partition 1 of a simulated cluster has other rows than when it was first read, so "
        r"that no result could be true; keep them first",
    ):
        model(engine=SimulatedEngine([100, 100])).fit(Simulated(X[:200]))


def test_answers_that_never_come_are_one_line() -> None:
    class Gone(SimulatedHolder):
        def ask(self, work: Any, arguments: Any) -> Any:
            return iter(())

    engine = SimulatedEngine([N])
    with pytest.raises(RowsError, match="5 times in one pass no answer has come of 1 parts of"):
        HeldRows(Gone([X], rng), (0, 1, 2), X.dtype, "Owner", engine)


def test_bad_numbers_are_named_by_partition_and_row() -> None:
    bad = X.copy()
    bad[700, 1] = np.inf
    with pytest.raises(
        ValueError, match=r"infinity, first in partition 1 at its row 200 \(row 700"
    ):
        model(engine=SimulatedEngine([500, 500])).fit(Simulated(bad))


def test_kept_numbers_are_forgotten_where_memory_is_short() -> None:
    store = Store(100)
    for number in range(3):
        store.put(number, np.zeros(10))
    assert [store.get(number) is None for number in range(3)] == [True, True, False]
