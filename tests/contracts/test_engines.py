"""Every engine keeps the contract."""

from __future__ import annotations

import pytest

from cmeans.engines import ThreadEngine, count_threads, usable_cpus
from contracts.engine import EngineContract, two_blas_threads  # noqa: F401 - a fixture


class TestThreads(EngineContract):
    def make(self, workers: int) -> ThreadEngine:
        return ThreadEngine(workers)


@pytest.mark.parametrize(("n_jobs", "threads"), [(None, usable_cpus()), (1, 1), (7, 7), (-1, usable_cpus()), (-1000, 1)])
def test_n_jobs_is_counted_as_scikit_learn_counts_but_none_is_all(n_jobs, threads):
    assert count_threads(n_jobs, "Owner") == threads


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two", True])
def test_n_jobs_that_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ValueError, match=r"Owner\(n_jobs=.*give a positive number"):
        count_threads(n_jobs, "Owner")
