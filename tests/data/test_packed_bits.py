"""Packed bits are clustered as rows of zeros and ones, to the bit, in an eighth of a byte each."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmeans
from cmeans.data.row_source import RowsError
from file_formats import vector_file
from limited import limited

BITS = 21  # of three bytes, the last of them padded
MANY = {"loaded_bytes": 0, "canonical_rows": 50, "block_rows": 64, "narrow_block_rows": 64}


@pytest.fixture(scope="module")
def bits() -> np.ndarray:
    """Bits about three rows of them."""
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 2, size=(3, BITS), dtype=np.uint8)
    return centres[np.arange(400) % 3] ^ (rng.random((400, BITS)) < 0.1)


def packed(bits: np.ndarray, kind: str = "uint8") -> np.ndarray:
    """Bytes, the first column highest; signed ones as sentence-transformers makes them."""
    rows = np.zeros((len(bits), -(-bits.shape[1] // 8)), int)
    for column in range(bits.shape[1]):
        rows[:, column // 8] += bits[:, column].astype(int) << 7 - column % 8
    return (rows - 128 if kind == "int8" else rows).astype(kind)


def assert_same_fit(model: Any, expected: Any) -> None:
    for name in ("labels_", "cluster_centers_", "objective_", "n_iter_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(expected, name), name)


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_rows_are_their_bits(kind: str, bits: np.ndarray) -> None:
    rows = cmeans.packed_bits(packed(bits, kind), BITS)
    assert (rows.shape, rows.dtype) == (bits.shape, np.float32)
    np.testing.assert_array_equal(rows.read(0, 400), bits)
    some = rows.part(5, 300).selected(np.array([7, 0])).mapped(np.negative)
    np.testing.assert_array_equal(some.read(0, 2), -bits[[12, 5]].astype(float))
    np.testing.assert_array_equal(rows.take(np.array([399, 3, 3])), bits[[399, 3, 3]])
    assert cmeans.packed_bits(packed(bits)).shape == (400, 24)


def test_bytes_of_a_model_of_bits_are_told() -> None:
    model = cmeans.KernelKMeans(1, kernel="linear").fit(cmeans.packed_bits(np.eye(9, dtype="u1")))
    with pytest.raises(ValueError, match=r"packed bits, pass packed_bits\(X, 72\)\.$"):
        model.predict(np.eye(9, dtype="u1"))


@pytest.mark.parametrize(
    "model",
    [
        cmeans.KernelKMeans(3, kernel="linear"),
        cmeans.KernelKMeans(3, kernel="linear", metric="cosine"),
        cmeans.KernelKMeans(3, kernel="linear", sizes=cmeans.Sizes(most=1.1, of="mean")),
        cmeans.FuzzyCMeans(3, kernel="linear", m=1.2),
    ],
    ids=["hard", "cosine", "bounded sizes", "fuzzy"],
)
def test_fits_are_those_of_numbers(
    model: Any, bits: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, **MANY)
    rows, single = cmeans.packed_bits(packed(bits), BITS), bits.astype(np.float32)
    model.set_params(random_state=0)
    other = type(model)(**model.get_params(deep=False))
    assert_same_fit(model.fit(rows), other.fit(single))
    np.testing.assert_array_equal(model.predict(rows), other.predict(single))


def test_streams_are_those_of_numbers(bits: np.ndarray) -> None:
    words = {"n_clusters": 3, "kernel": "linear", "random_state": 0}
    model, expected = (cmeans.StreamingFuzzyCMeans(**words) for _ in range(2))
    for part in np.split(bits, 2):
        model.partial_fit(cmeans.packed_bits(packed(part), BITS))
        expected.partial_fit(part.astype(np.float32))
    np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)


@pytest.mark.parametrize("ending", ["npy", "by columns", "npz", "u8bin", "i8bin"])
def test_files_hold_the_same_rows(ending: str, bits: np.ndarray, tmp_path: Path) -> None:
    rows, file = packed(bits, "int8" if ending == "i8bin" else "uint8"), tmp_path / "x.npy"
    if ending == "npz":
        np.savez_compressed(file := tmp_path / "x.npz", rows)
    elif ending.endswith("bin"):
        file = vector_file(tmp_path, rows, ending)
    else:
        np.save(file, np.asfortranarray(rows) if ending == "by columns" else rows)
    read = cmeans.open_blocks(file, bits=BITS)
    assert (read.shape, read.dtype) == (bits.shape, np.float32)
    np.testing.assert_array_equal(read.read(3, 399), bits[3:399])
    some = cmeans.open_blocks(file, columns=[20, "0-1"], weight=8, bits=BITS)
    np.testing.assert_array_equal(some.read(0, 400), bits[:, [20, 0, 1]])
    np.testing.assert_array_equal(some.weight, bits[:, 8])
    assert read.again is not None
    np.testing.assert_array_equal(read.again().read(0, 9), bits[:9])


def test_no_bits_are_unpacked_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit takes less than a third of what the rows would as float32."""
    limited(monkeypatch, loaded_bytes=0, canonical_rows=50, block_rows=256, tasks=32)
    rows = np.random.default_rng(0).integers(0, 256, size=(20_000, 32), dtype=np.uint8)
    init = np.unpackbits(rows[:3], axis=1).astype(np.float64)
    model = cmeans.KernelKMeans(3, kernel="linear", init=init, n_jobs=1, tol=1.0)
    tracemalloc.start()
    model.fit(cmeans.packed_bits(rows))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * rows.size / 3


def test_what_is_not_packed_is_refused(bits: np.ndarray, tmp_path: Path) -> None:
    for x in (bits.tolist(), bits[0], bits[:0]):
        with pytest.raises(RowsError, match="give an array of rows of bytes"):
            cmeans.packed_bits(x)
    with pytest.raises(RowsError, match="X holds float64; packed bits are uint8, or int8"):
        cmeans.packed_bits(bits.astype(float))
    for n_bits in (0, 16, 25, -1):
        with pytest.raises(RowsError, match="X has 3 bytes a row, which are 24 bits"):
            cmeans.packed_bits(packed(bits), n_bits)
    np.save(tmp_path / "x.npy", packed(bits))
    with pytest.raises(RowsError, match=r"bits=32: .*has 3 bytes a row"):
        cmeans.open_blocks(tmp_path / "x.npy", bits=32)
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(RowsError, match=r"bits=16: .* is no array of bytes"):
        cmeans.open_blocks(tmp_path / "x.csv", bits=16)
