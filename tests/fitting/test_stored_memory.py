"""Rows that stay in their files must not come into memory by another door."""

from __future__ import annotations

import re
import threading
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

from cmeans import (
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    Search,
    StreamingFuzzyCMeans,
    ThreadEngine,
    TwoStepKernelKMeans,
)
from cmeans.data.limits import Limits
from cmeans.data.row_source import StoredRows
from cmeans.sampling.population import Population, draw
from limited import limited

# a few sweeps show it all
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
D, C, BLOCK = 4, 3, 2_048
LINEAR: dict[str, Any] = {
    "kernel": "linear",
    "random_state": 0,
    "engine": ThreadEngine(1),
    "max_iter": 2,
}
LANDMARKS: dict[str, Any] = {
    "kernel": "rbf",
    "gamma": 0.05,
    "landmarks": 10,
    "random_state": 0,
    "engine": ThreadEngine(1),
    "max_iter": 2,
}


def pattern(n: int = 4_999) -> np.ndarray:
    """Groups far apart."""
    rng = np.random.default_rng(0)
    return (8 * np.eye(C, D)[rng.integers(C, size=n)] + rng.normal(size=(n, D))).astype(np.float32)


PATTERN = pattern()


class Endless(StoredRows):
    """The same rows again and again, that know how many bytes of themselves are alive."""

    def __init__(self, n: int) -> None:
        super().__init__("nowhere", range(D), np.float32, n)
        self.alive = self.most = self.largest = 0
        self._lock = threading.RLock()  # a collection may come while it is held

    def memory(self, n_threads: int) -> int:
        return 0

    def _read(self, start: int, stop: int) -> np.ndarray:
        x = PATTERN[np.arange(start, stop) % len(PATTERN)]
        with self._lock:
            self.alive += x.nbytes
            self.most, self.largest = max(self.most, self.alive), max(self.largest, x.nbytes)
        weakref.finalize(x, self._gone, x.nbytes)
        return x

    def _gone(self, nbytes: int) -> None:
        with self._lock:
            self.alive -= nbytes


@pytest.fixture(autouse=True)
def _nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stays constant is small beside what could grow, so that growth shows."""
    limited(
        monkeypatch,
        **dict.fromkeys(
            ("task_rows", "rows_at_once", "read_rows", "drawn_rows", "last_sample_rows"), BLOCK
        ),
        loaded_bytes=0,
        array_bytes=16 * BLOCK,
        fixed_rows=200,
        seeding_rows=200,
    )


FITS: dict[str, Any] = {
    "hard": lambda: KernelKMeans(C, search=Search(progressive=False), **LINEAR),
    "fuzzy": lambda: FuzzyCMeans(C, m=1.5, search=Search(progressive=False), **LANDMARKS),
    "in samples": lambda: FuzzyCMeans(C, m=1.5, search=Search(progressive=True), **LINEAR),
    "possibilistic": lambda: PossibilisticCMeans(
        C, eta_scale=0.3, search=Search(progressive=False), **LINEAR
    ),
    "any rule": lambda: CMeans(C, search=Search(progressive=False), **LANDMARKS),
    "random rows": lambda: KernelKMeans(
        C, init="random", search=Search(progressive=False), **LINEAR
    ),
    "two-step": lambda: TwoStepKernelKMeans(C, **LANDMARKS),
    "probabilistic": lambda: ProbabilisticKMeans(C, quantile=0.5, **LINEAR),
    "stream": lambda: StreamingFuzzyCMeans(C, chunk_size=2_000, n_init=1, **LINEAR),
}


def least(model: Any, n: int, n_jobs: int = 1, **words: Any) -> int:
    """The least budget that a fit of so many rows says would do."""
    with pytest.raises(
        ValueError,
        match=rf"{n} rows, {C} clusters and a basis of \d+ need at least \d+ "
        r"bytes.*memory_budget=1\.",
    ) as told:
        model.set_params(engine=ThreadEngine(n_jobs, memory_budget=1)).fit(Endless(n), **words)
    found = re.search(r"need at least (\d+) bytes", str(told.value))
    assert found is not None
    return int(found[1])


# which plans for one chunk at a time
@pytest.mark.parametrize("name", [name for name in FITS if name != "stream"])
def test_the_least_budget_that_is_told_does(name: str) -> None:
    n, model = 10_000, FITS[name]()
    needed = least(model, n)
    with pytest.raises(ValueError, match=f"need at least {needed} bytes"):
        model.set_params(engine=ThreadEngine(1, memory_budget=needed - 1)).fit(Endless(n))
    rows = Endless(n)
    model.set_params(engine=ThreadEngine(1, memory_budget=needed)).fit(rows)
    other = FITS[name]().fit(Endless(n))
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert model.objective_ == other.objective_


@pytest.mark.parametrize("name", FITS)
def test_few_blocks_are_alive_at_once(name: str) -> None:
    """However many rows there are: with the least budget nothing is kept, and what is drawn is a
    sample."""
    most = []
    for n in (5_000, 15_000):
        rows, model = Endless(n), FITS[name]()
        if name != "stream":
            model.set_params(engine=ThreadEngine(1, memory_budget=least(model, n)))
        model.fit(rows)
        rows.__dict__.pop("_samples", None)
        most.append(rows.most)
        assert rows.alive == 0
    assert most[1] <= 1.1 * most[0] + BLOCK * D * 4


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_alive_grow_with_threads_only(n_jobs: int) -> None:
    rows = Endless(100_000)
    model = KernelKMeans(C, init=np.arange(C), search=Search(progressive=False), **LINEAR)
    model.set_params(engine=ThreadEngine(n_jobs, memory_budget=least(model, 100_000, n_jobs))).fit(
        rows
    )
    sample = 1_000 * D * 4  # one stays, as it is asked for again and again
    assert rows.most <= sample + BLOCK * D * 4 * (2 + 2 * n_jobs)


def peak(model: Any, rows: StoredRows, **words: Any) -> int:
    tracemalloc.start()
    try:
        model.fit(rows, **words)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", FITS)
def test_memory_does_not_grow_with_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a row: labels, samples and distributions are on the disk. Hard partitions are moved
    about in memory, a byte a row."""
    small, large = 25_000, 75_000
    budgets = {}
    for n in (small, large):
        model = FITS[name]()
        budgets[n] = None if name == "stream" else least(model, n)
    FITS[name]().fit(Endless(small))  # what is imported or compiled is so now
    peaks = [
        peak(FITS[name]().set_params(engine=ThreadEngine(1, memory_budget=budgets[n])), Endless(n))
        for n in (small, large)
    ]
    a_row = (peaks[1] - peaks[0]) / (large - small)
    assert a_row < (2 if name == "probabilistic" else 1), f"{a_row:.1f} bytes a row"


@pytest.mark.parametrize("name", ["hard", "fuzzy", "probabilistic"])
@pytest.mark.parametrize("zeros", [False, True])
def test_weights_take_what_the_plan_says(name: str, zeros: bool) -> None:
    """A copy of them, and what it takes to draw in proportion to them; more where some rows must be
    left out."""
    budgets, peaks = [], []
    for n in (15_000, 45_000):
        weight = 1.0 + np.arange(n) % 5 - zeros
        model = FITS[name]()
        budgets.append(least(model, n, sample_weight=weight))
        peaks.append(
            peak(
                model.set_params(engine=ThreadEngine(1, memory_budget=budgets[-1])),
                Endless(n),
                sample_weight=weight,
            )
        )
    assert peaks[1] - peaks[0] < budgets[1] - budgets[0] + 30_000 * (
        2 if name == "probabilistic" else 1
    )


# ------------------------------------------------------------------------------------------- chance


@pytest.mark.parametrize(
    ("together", "size"),
    [(1, 5), *((step, size) for step in (7, 100, 10**6) for size in (1, 5, 99, 1_000, 2_000))],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_draws_a_few_rows_at_a_time_are_those_of_all_at_once(
    together: int, size: int, weighted: bool
) -> None:
    n = 1_000
    weights = np.random.default_rng(0).uniform(0.1, 9, size=n) if weighted else np.ones(n)
    drawn = draw(
        Population(None, weights, None, n, Limits(drawn_rows=together)),
        size,
        np.random.RandomState(3),
    )
    keys = np.random.RandomState(3).exponential(size=n) / weights
    np.testing.assert_array_equal(drawn, np.argsort(keys, kind="stable")[:size])


def test_equal_lots_keep_the_order_of_rows() -> None:
    class Alike(np.random.RandomState):
        def exponential(self, scale: float = 1.0, size: Any = None) -> Any:
            return np.ones(size)

    population = Population(None, np.ones(50), None, 50, Limits(drawn_rows=7))
    np.testing.assert_array_equal(draw(population, 20, Alike(0)), np.arange(20))
