"""Files of vector indexes hold the rows that their bytes say, and are refused where these cannot be
true."""

from __future__ import annotations

import gzip
import re
import struct
from pathlib import Path

import numpy as np
import pytest

import cmeans
from cmeans.data.files import raw_arrays, vectors
from cmeans.data.row_source import RowsError
from file_formats import VECTORS, vector_file

ROWS = np.random.default_rng(0).integers(0, 100, size=(83, 5))


@pytest.mark.parametrize("kind", VECTORS)
def test_rows_are_those_of_the_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room in (raw_arrays, vectors):
        monkeypatch.setattr(room, "PIECE_BYTES", 100)  # so that a few rows are read at a time
    rows = cmeans.open_blocks(vector_file(tmp_path, ROWS, kind))
    assert rows.shape == ROWS.shape
    assert rows.dtype == (np.float64 if kind in ("ivecs", "ibin") else np.float32)
    np.testing.assert_array_equal(rows.read(0, 83), ROWS)
    np.testing.assert_array_equal(rows.read(40, 47), ROWS[40:47])
    np.testing.assert_array_equal(rows.take(np.array([82, 0, 7])), ROWS[[82, 0, 7]])
    some = cmeans.open_blocks(rows.files, columns=[3, "0-1"], weight=2, dtype="float64")
    np.testing.assert_array_equal(some.read(9, 83), ROWS[9:, [3, 0, 1]])
    np.testing.assert_array_equal(some.weight, ROWS[:, 2])


def test_numbers_have_the_order_of_bytes_that_the_format_has(tmp_path: Path) -> None:
    """Written by hand, of whole numbers and one that only float32 tells from its neighbours."""
    file = tmp_path / "x.fvecs"
    file.write_bytes(struct.pack("<i2fi2f", 2, 1.5, 0.1, 2, -3, 4))
    np.testing.assert_array_equal(
        cmeans.open_blocks(file).read(0, 2), np.float32([[1.5, 0.1], [-3, 4]])
    )
    file = tmp_path / "x.i8bin"
    file.write_bytes(struct.pack("<ii4b", 2, 2, -128, 127, 0, -1))
    np.testing.assert_array_equal(cmeans.open_blocks(file).read(0, 2), [[-128, 127], [0, -1]])


def test_an_ending_says_more_than_first_bytes(tmp_path: Path) -> None:
    """35,615 rows are the two bytes that gzip begins with."""
    file = tmp_path / "X.U8BIN"
    file.write_bytes(struct.pack("<ii", 35_615, 1) + bytes(35_615))
    assert file.read_bytes().startswith(b"\x1f\x8b")
    assert cmeans.open_blocks(file).shape == (35_615, 1)


@pytest.mark.parametrize("name", ["x.fvecs.gz", "x.npy.gz"])
def test_only_tables_are_unpacked_as_they_are_read(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress(struct.pack("<i2f", 2, 1.5, 0.1), mtime=0))
    message = f"{file}: is packed by gzip; unpack it first (zcat FILE > NEW)."
    with pytest.raises(RowsError, match=f"^{re.escape(message)}$"):
        cmeans.open_blocks(file)


def test_fits_are_those_of_arrays(tmp_path: Path) -> None:
    files = [
        vector_file(tmp_path / part, x, "bvecs")
        for part, x in zip("ab", np.split(ROWS, [30]), strict=True)
    ]
    words = {"n_clusters": 3, "kernel": "linear", "random_state": 0}
    model = cmeans.KernelKMeans(**words).fit(cmeans.open_blocks(files))
    expected = cmeans.KernelKMeans(**words).fit(ROWS.astype(np.float32))
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(str(tmp_path / "?" / "*.bvecs")), expected.labels_)


def test_addresses_are_read(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    file = vector_file(tmp_path, ROWS, "bvecs")
    store = fsspec.filesystem("memory")
    store.pipe("/vectors/x.bvecs", file.read_bytes())
    try:
        rows = cmeans.open_blocks("memory://vectors/x.bvecs")
        np.testing.assert_array_equal(rows.read(3, 83), ROWS[3:])
    finally:
        store.rm("/vectors", recursive=True)


def all_rows(file: Path) -> np.ndarray:
    rows = cmeans.open_blocks(file)
    return rows.read(0, len(rows))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.fvecs", struct.pack("<i", 0), "says that its rows have 0 numbers"),
        ("x.fvecs", struct.pack("<if", -1, 0), "says that its rows have -1 numbers"),
        ("x.fvecs", struct.pack("<i", 2**31 - 1), "has 2,147,483,647 columns"),
        ("x.fvecs", struct.pack("<i2fi", 2, 0, 0, 2), "16 bytes are no whole number of rows of 2"),
        ("x.bvecs", b"ab", "is truncated"),
        ("x.bvecs", b"", "is empty"),
        ("x.fbin", struct.pack("<iif", 2, 1, 0), "take 16 bytes, and it has 12"),
        ("x.fbin", struct.pack("<ii3f", 2, 1, 0, 0, 0), "take 16 bytes, and it has 20"),
        ("x.fbin", struct.pack("<iif", -1, 1, 0), "says that it has -1 rows"),
        ("x.fbin", struct.pack("<ii", 3, 0), "says that its rows have 0 numbers"),
        ("x.fbin", struct.pack("<ii", 2**31 - 1, 2**20), "take 9,007,199,250,546,696 bytes"),
        ("x.u8bin", struct.pack("<ii", 0, 3), "has no rows"),
        ("x.fbin", struct.pack("<ii2f", 2, 1, 0, np.nan), "not a number (NaN) in row 1"),
        (
            "x.bvecs",
            bytes([1, 0, 0, 0, 7, 2, 0, 0, 0, 7]),
            "row 1 (rows count from 0) says that it has 2",
        ),
    ],
)
def test_what_cannot_be_true_is_refused(
    name: str, data: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(RowsError, match=re.escape(message)) as refused:
        all_rows(tmp_path / name)
    assert str(tmp_path / name) in str(refused.value)
