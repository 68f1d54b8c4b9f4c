"""Decoded once, a few kept, the next one ahead."""

from __future__ import annotations

import gc
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cmeans
import file_formats as formats
from cmeans.data.files import group_cache
from cmeans.data.files.arrow import IpcTable, ParquetTable
from cmeans.data.files.group_cache import Group, RowGroups
from cmeans.data.files.tables import FileTable
from cmeans.data.row_source import RowArray, RowsError
from full_disk import files_end_at

WIDE = 3


class Decoder:
    """Groups of rows that hold their own numbers, and how often each was decoded."""

    def __init__(self, sizes: list[int], before: Callable[[int], None] | None = None) -> None:
        self.count: Counter[int] = Counter()
        self.threads: dict[int, str] = {}
        self._before = before
        starts = np.cumsum([0, *sizes])
        self.n_rows = int(starts[-1])
        self.groups = [
            Group(size, self._filling(at, int(starts[at]))) for at, size in enumerate(sizes)
        ]

    def _filling(self, number: int, start: int) -> Callable[[RowArray], None]:
        def fill(x: RowArray) -> None:
            self.count[number] += 1
            self.threads[number] = threading.current_thread().name
            if self._before is not None:
                self._before(number)
            x[...] = np.arange(start, start + len(x))[:, None]

        return fill

    def rows(self, most_copied: int = 0) -> RowGroups:
        least = 10 * WIDE * 8  # bytes of 10 rows
        return RowGroups(
            "somewhere", "abc", np.float64, self.groups, least=least, most_copied=most_copied
        )


def waited_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not what():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_tiny_groups_are_joined_and_large_ones_stand_alone() -> None:
    decoder = Decoder([1] * 25 + [40] + [3] * 4)
    rows = decoder.rows()
    assert group_cache.joined([group.rows for group in decoder.groups], 10) == [
        (0, 10),
        (10, 20),
        (20, 26),
        (26, 30),
    ]
    assert group_cache.joined([], 10) == []
    assert np.array_equal(rows.read(0, decoder.n_rows)[:, 0], np.arange(decoder.n_rows))


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_a_file_is_opened_once_for_its_tiny_groups(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time all that is said of all groups is read again: 50,000 of one row took half a minute,
    columns of 20,000 as long."""
    x = np.random.default_rng(0).normal(size=(300, 600))
    file = (formats.ipc if kind == "arrow" else formats.parquet)(tmp_path, x[:, :3])
    assert len(opened_times(file, monkeypatch)) == 1
    table = pa.table({f"c{at}": x[:3, at] for at in range(600)})
    if kind == "parquet":
        pq.write_table(table, file)
        assert len(opened_times(file, monkeypatch)) == 60


def opened_times(file: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Read the rows of a file, and return for which columns it was opened."""
    seen = list[object]()
    with monkeypatch.context() as patch:
        for kind in (IpcTable, ParquetTable):

            def blocks(
                self: FileTable,
                places: object,
                groups: object = None,
                whole: Callable = kind.blocks,
            ) -> object:
                seen.append(places)
                return whole(self, places, groups)

            patch.setattr(kind, "blocks", blocks)
        rows = cmeans.open_blocks(file)
        assert np.isfinite(rows.read(0, len(rows))).all()
    return seen


@pytest.mark.parametrize("n_threads", [1, 4])
def test_passes_decode_each_group_once(n_threads: int) -> None:
    decoder = Decoder([10] * 80)
    rows = decoder.rows()

    def walked(begin: int) -> bool:
        return all(
            rows.read(start, min(start + 4, begin + 50))[0, 0] == start
            for start in range(begin, begin + 50, 4)
        )

    for number in (1, 2, 3):
        with ThreadPoolExecutor(n_threads) as pool:
            assert all(pool.map(walked, range(0, 800, 50)))
        if n_threads == 1:
            assert decoder.count == dict.fromkeys(range(80), number)
        # a thread may look beyond the end of its own stretch
        assert decoder.count.total() <= number * (80 + 16)


def test_nobody_looks_ahead_to_where_another_thread_has_just_been() -> None:
    decoder = Decoder([10] * 20)
    rows = decoder.rows()
    for number in (1, 2, 3, 4, 5, 0):
        rows.read(10 * number, 10 * number + 5)
    time.sleep(0.02)
    assert decoder.count[1] == 1


def test_threads_that_want_the_same_wait_for_one_of_them() -> None:
    decoder = Decoder([10] * 3, lambda _: time.sleep(0.02))
    rows = decoder.rows()
    with ThreadPoolExecutor(8) as pool:
        assert (
            len({block.tobytes() for block in pool.map(lambda _: rows.read(12, 18), range(16))})
            == 1
        )
    assert decoder.count[1] == 1


def test_few_are_kept() -> None:
    decoder = Decoder([10] * 50)
    rows = decoder.rows()
    most = 0
    for start in range(0, 500, 5):
        rows.read(start, start + 5)
        most = max(most, len(rows._kept._slabs))
    assert most <= 4
    assert most * rows._largest <= rows.memory(1)


def test_the_next_one_is_read_ahead_and_no_further() -> None:
    decoder = Decoder([10] * 9)
    rows = decoder.rows()
    rows.read(0, 3)
    waited_for(lambda: decoder.count[1] == 1)
    assert decoder.threads[1] == "cmeans-reader"
    time.sleep(0.02)
    assert decoder.count[2] == 0


def test_an_error_ahead_surfaces_where_it_is_asked_for() -> None:
    def broken(number: int) -> None:
        if number == 1:
            raise RowsError("that one is damaged")

    decoder = Decoder([10] * 4, broken)
    rows = decoder.rows()
    rows.read(0, 3)
    waited_for(lambda: decoder.count[1] == 1)
    assert rows.read(5, 10)[0, 0] == 5
    for _ in range(2):
        with pytest.raises(RowsError, match="that one is damaged"):
            rows.read(8, 12)
    assert rows.read(20, 25)[0, 0] == 20


def test_what_fails_for_a_reason_of_the_system_is_tried_again() -> None:
    failing = [2]

    def flaky(number: int) -> None:
        if number == 2 and failing[0]:
            failing[0] -= 1
            raise OSError(5, "Input/output error", "the-file")

    assert (
        Decoder([10] * 4, lambda number: flaky(number) if failing[0] == 1 else None)
        .rows()
        .read(20, 22)[0, 0]
        == 20
    )
    rows = Decoder([10] * 4, flaky).rows()
    with pytest.raises(
        RowsError,
        match=r"the-file: rows 20 to 21 cannot be read, tried twice \(Input/output error\)",
    ):
        rows.read(20, 22)
    assert rows.read(20, 22)[0, 0] == 20


def test_the_reader_ends_with_the_rows() -> None:
    decoder = Decoder([10] * 9)
    rows = decoder.rows()
    rows.read(0, 3)
    reader = rows._kept._reader
    assert reader is not None
    del rows
    gc.collect()
    reader.join(10)
    assert not reader.is_alive()


@pytest.mark.parametrize("n_threads", [1, 4])
def test_rows_that_are_copied_are_decoded_in_the_first_sweep(n_threads: int) -> None:
    decoder = Decoder([10] * 40)
    rows = decoder.rows(400 * WIDE * 8)
    rows.for_sweeps()

    def walked(begin: int) -> bool:
        return all(rows.read(at, at + 7)[6, 0] == at + 6 for at in range(begin, begin + 93, 5))

    for sweep in range(3):
        with ThreadPoolExecutor(n_threads) as pool:
            assert all(pool.map(walked, range(0, 400, 100)))
        waited_for(lambda: len(rows._kept.copy.slabs) == 40)
        if sweep < 2:  # once threads that were late in the first have ended
            first = decoder.count.copy()
    assert decoder.count == first
    # threads that meet at a slab may both decode it
    assert sum(first.values()) == 40 or n_threads > 1
    assert np.array_equal(
        rows.part(15, 99).mapped(np.negative).read(0, 50)[:, 2], -np.arange(15, 65)
    )


def test_rows_are_decoded_again_where_they_are_too_many_or_the_disk_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoder = Decoder([10] * 40)
    rows = decoder.rows(400 * WIDE * 8 - 1)
    rows.for_sweeps()
    assert rows._kept.copy is None
    rows = decoder.rows(400 * WIDE * 8)
    with monkeypatch.context() as patch:
        patch.setattr(group_cache, "has_room", lambda _: False)
        rows.for_sweeps()
    assert rows._kept.copy is None
    rows.part(3, 7).for_sweeps()
    with files_end_at(200 * WIDE * 8 + 5):
        for _ in range(2):
            assert np.array_equal(rows.read(0, 400)[:, 1], np.arange(400))
    assert rows._kept.copy.slabs == set(range(20))


def test_what_comes_may_be_written_to() -> None:
    rows = Decoder([10] * 2).rows()
    rows.read(0, 5)[...] = -1
    assert rows.read(0, 5)[0, 0] == 0
