"""Parts of stored rows, rows that change as they come, and a few of them asked for again and
again."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.cluster import KMeans

import cmeans
from cmeans.data.limits import Limits
from cmeans.data.row_source import RowsError
from stored_rows import Kept

X = np.random.default_rng(0).normal(size=(1_000, 3))


def test_a_part_ends_where_it_ends() -> None:
    part = Kept(X).part(100, 200)
    assert len(part) == 100
    assert part.nbytes == 2_400
    np.testing.assert_array_equal(part.read(0, 100), X[100:200])
    np.testing.assert_array_equal(part.read(90, 300), X[190:200])
    assert part.read(100, 120).shape == (0, 3)
    np.testing.assert_array_equal(part.part(10, 20).take(np.array([9, 0, 9])), X[[119, 110, 119]])
    assert "100 x 3 float64 rows of far away" in repr(part)


def test_other_libraries_have_all_rows_in_memory() -> None:
    x = np.arange(12.0).reshape(6, 2)
    rows = Kept(x).mapped(lambda part: part + 1)
    np.testing.assert_array_equal(np.asarray(rows), x + 1)
    assert np.asarray(rows, np.float32).dtype == np.float32
    assert KMeans(2, n_init=1, random_state=0).fit(rows).labels_.shape == (6,)
    with pytest.raises(ValueError, match="leave copy=False out"):
        rows.__array__(copy=False)


def test_views_of_views() -> None:
    doubled = Kept(X).mapped(lambda rows: 2 * rows).part(5, 50).mapped(lambda rows: rows + 1)
    np.testing.assert_array_equal(doubled.read(3, 9), 2 * X[8:14] + 1)
    np.testing.assert_array_equal(doubled.take(np.array([44, 2])), 2 * X[[49, 7]] + 1)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("taken", [1, 10, 10_000])
def test_rows_are_taken_in_the_order_asked_for(taken: int, n_threads: int) -> None:
    for size in (0, 1, 2, 30, 300):
        chosen = np.random.default_rng(size).integers(0, 1_000, size=size)
        np.testing.assert_array_equal(
            Kept(X).take(chosen, Limits(read_rows=taken, cached_rows=50), n_threads), X[chosen]
        )


def test_threads_take_stretches_of_their_own() -> None:
    """Each row is read once, every thread a connected part of the rows, no more of them at once
    than asked for."""
    reads: list[tuple[str, int, int]] = []
    rows = Kept(X, lambda start, stop: reads.append((threading.current_thread().name, start, stop)))
    rows.take(np.arange(0, 1_000, 2), Limits(read_rows=100, cached_rows=50), 4)
    assert sorted(start for _, start, _ in reads) == [
        start for first in (0, 250, 500, 750) for start in (first, first + 100, first + 200)
    ]
    assert all(stop - start <= 100 for _, start, stop in reads)
    assert threading.current_thread().name not in {name for name, _, _ in reads}


def test_an_error_of_a_thread_that_takes_rows_is_raised() -> None:
    def fail(start: int, _: int) -> None:
        if start >= 500:
            raise RowsError("row 500 is damaged")

    with pytest.raises(RowsError, match="row 500"):
        Kept(X, fail).take(np.arange(1_000), Limits(read_rows=100, cached_rows=50), 2)


def test_few_samples_are_remembered() -> None:
    reads: list[int] = []
    rows = Kept(X, lambda start, _: reads.append(start))
    samples = [np.arange(at, at + 20) for at in range(6)]
    for _ in range(3):
        rows.take(samples[0])
    assert len(reads) == 1
    for sample in samples:
        rows.take(sample)
    assert len(rows.__dict__["_samples"]) == cmeans.data.row_source.REMEMBERED


def test_many_threads_may_take_many_samples() -> None:
    rows = Kept(X)

    def taken(number: int) -> bool:
        chosen = np.arange(number % 11, 1_000, 97)
        return bool((rows.take(chosen) == X[chosen]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(taken, range(4_000)))
    assert len(rows.__dict__["_samples"]) <= cmeans.data.row_source.REMEMBERED + 8
