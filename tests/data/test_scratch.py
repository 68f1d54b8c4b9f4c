"""Room on the disk: it is there, nobody sees it, and a full disk is told before it hurts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cmeans.data.row_source import RowsError
from cmeans.data.scratch import Scratch, ScratchRows, room


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.iterdir()) == []  # nothing has a name


@pytest.mark.parametrize("n_rows", [None, 1_000])
@pytest.mark.parametrize("in_memory", [0, 5_000, 12_000])
def test_rows_are_appended_and_found_again(n_rows: int | None, in_memory: int) -> None:
    """On the disk, in memory as far as they fit, or all in memory."""
    x = np.random.default_rng(0).normal(size=(1_000, 3)).astype(np.float32)
    rows = ScratchRows("f", "abc", np.float32, n_rows, in_memory)
    for block in np.array_split(x, 7):
        rows.append(block)
    assert (rows.shape, rows.columns, rows.dtype) == ((1_000, 3), ("a", "b", "c"), np.float32)
    assert np.array_equal(rows.read(0, 1_000), x)
    assert np.array_equal(rows.read(990, 2_000), x[990:])
    assert np.array_equal(rows.take(np.array([5, 999, 5])), x[[5, 999, 5]])
    assert np.array_equal(rows.mapped(lambda block: 2 * block).read(3, 9), 2 * x[3:9])
    assert rows.read(4, 4).shape == (0, 3)
    assert np.array_equal(rows.loaded(0), x) if in_memory == 12_000 else rows.loaded(0) is rows
    assert np.array_equal(rows.loaded(12_000), x)


def test_the_file_is_closed_with_its_holder() -> None:
    held = Scratch()
    descriptor = held.descriptor
    os.fstat(descriptor)
    del held
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_room_is_memory_where_it_is_small_and_a_file_where_not() -> None:
    small = room((10, 3), np.float32, 200)
    assert (small.shape, small.dtype, small.base) == ((10, 3), np.float32, None)
    large = room((1_000, 3), np.float64, 200)
    assert type(large) is np.ndarray
    assert isinstance(large.base, np.memmap)
    large[...] = 7
    assert large.sum() == 21_000


def test_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        RowsError,
        match=r"no room for 1,000,000,000,000,000,000 bytes of scratch in .* \(set TMPDIR",
    ):
        Scratch(10**18)
    with pytest.raises(RowsError, match="no room"):
        room((10**9, 10**8), np.float64, 100)

    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(RowsError, match=r"no room for 800 bytes .*No space left on device"):
        room((100,), np.float64, 100)
