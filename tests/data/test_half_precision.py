"""Floats of two bytes: read as float32, block by block, wherever they are."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import cmeans
from cmeans.data.half_precision import HalfRows, in_single
from cmeans.data.row_source import RowsError
from limited import limited

N, D = 400, 6


@pytest.fixture(scope="module")
def x() -> np.ndarray:
    """Rows about three centres that both types hold exactly."""
    rng = np.random.default_rng(0)
    return rng.integers(-16, 17, size=(N, D)) / 32 + 4.0 * np.eye(D)[np.arange(N) % 3]


def half(x: np.ndarray, kind: str) -> np.ndarray:
    """The same numbers in two bytes; bfloat16 is the upper half of float32, which NumPy writes
    without a type."""
    if kind == "float16":
        return x.astype(np.float16)
    if kind == "two bytes":
        return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view("V2")
    return x.astype(pytest.importorskip("ml_dtypes").bfloat16)


KINDS = ["float16", "two bytes", "bfloat16"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", ["array", "memory map", "npy", "by columns", "npz"])
@pytest.mark.parametrize("small", [True, False])
def test_they_are_clustered_as_float32(
    kind: str, where: str, small: bool, x: np.ndarray, tmp_path: Path, monkeypatch
) -> None:
    if not small:
        limited(monkeypatch, loaded_bytes=0, canonical_rows=50, block_rows=64)
    rows, file = half(x, kind), tmp_path / "x.npy"
    if where == "by columns":
        rows = np.asfortranarray(rows)
    if where == "npz":
        np.savez(file := tmp_path / "x.npz", X=rows)
    elif where != "array":
        np.save(file, rows)
    given = (
        rows
        if where == "array"
        else np.load(file, mmap_mode="r")
        if where == "memory map"
        else str(file)
    )
    words = {"n_clusters": 3, "m": 1.5, "random_state": 0, "init": np.array([0, 1, 2])}
    model, expected = (
        cmeans.FuzzyCMeans(**words).fit(given),
        cmeans.FuzzyCMeans(**words).fit(x.astype(np.float32)),
    )
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-5)
    # as of files: those of many rows are written by `predict_to`
    assert hasattr(model, "memberships_") == small
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    assert model.memberships(given).dtype == np.float32


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_the_same_to_the_bit(kind: str, x: np.ndarray) -> None:
    rows = HalfRows(half(x, kind))
    assert (rows.shape, rows.dtype) == ((N, D), np.float32)
    np.testing.assert_array_equal(rows.read(7, 99), x[7:99])
    np.testing.assert_array_equal(rows.take(np.array([5, 399, 5])), x[[5, 399, 5]])
    every = np.arange(2**16, dtype=np.uint16)
    np.testing.assert_array_equal(in_single(every.view("V2")).view(np.uint32) >> 16, every)


def test_no_copy_of_all_rows_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, loaded_bytes=0)
    rows = np.random.default_rng(0).normal(size=(40_000, 64)).astype(np.float16)
    model = cmeans.KernelKMeans(4, kernel="linear", random_state=0, n_jobs=1).fit(rows[:500])
    tracemalloc.start()
    model.predict(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < rows.size * 4 / 2


def test_what_is_no_number_is_named(x: np.ndarray) -> None:
    rows = x.astype(np.float16)
    rows[31, 2] = np.inf
    with pytest.raises(
        RowsError, match=r"X \(float16\): contains infinity, first at row 31, column 2"
    ):
        cmeans.KernelKMeans(2, kernel="linear").fit(rows)
