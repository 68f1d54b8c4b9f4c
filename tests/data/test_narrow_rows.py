"""Numbers of one and two bytes: they stay as they are, and are clustered as float32 to the bit."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmeans
import every_estimator as every
from cmeans.data.blocks import Blocks
from cmeans.data.narrow_rows import NarrowRows, in_single
from limited import limited

N, D = 400, 6
UNFINISHED = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# sizes at which few rows are as many, none is read as a whole, and the last block is short
MANY = {"loaded_bytes": 0, "canonical_rows": 50, "block_rows": 64, "narrow_block_rows": 64}
KINDS = ["int8", "uint8", "float16", "two bytes", "bfloat16"]


@pytest.fixture(scope="module")
def whole() -> np.ndarray:
    """Whole numbers about three centres, the least and the largest of a byte among them."""
    rng = np.random.default_rng(0)
    x = rng.integers(-16, 17, size=(N, D)) + 100 * np.eye(D, dtype=int)[np.arange(N) % 3]
    x[0, :2] = -128, 127
    return x


def narrow(x: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows in one or two bytes, and in float32; bfloat16 is its upper half, which NumPy writes
    without a type."""
    single = x.astype(np.float32)
    if kind == "two bytes":
        return (single.view(np.uint32) >> 16).astype(np.uint16).view("V2"), single
    if kind == "bfloat16":
        return x.astype(pytest.importorskip("ml_dtypes").bfloat16), single
    shifted = x + 128 if kind == "uint8" else x
    return shifted.astype(kind), shifted.astype(np.float32)


def assert_same_fit(model: Any, expected: Any) -> None:
    """All fitted numbers, to the bit."""
    for name, value in vars(expected).items():
        if name.endswith("_") and isinstance(value, (np.ndarray, float, int)):
            found = getattr(model, name)
            assert np.asarray(found).dtype == np.asarray(value).dtype, name
            np.testing.assert_array_equal(found, value, name)


@pytest.mark.parametrize("name", every.EVERY_NAME)
def test_every_estimator_clusters_them_as_float32(
    name: str, whole: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, **MANY)
    x, single = narrow(whole[:90], "int8")
    model, expected = (every.build(name, kernel="linear").fit(rows) for rows in (x, single))
    assert_same_fit(model, expected)


@UNFINISHED
@pytest.mark.parametrize(
    ("model", "columns"),
    [
        (cmeans.KernelKMeans(12, kernel="linear", max_iter=6), 130),  # by bounds
        (cmeans.KernelKMeans(12, kernel="linear", metric="cosine", max_iter=6), 130),
        (cmeans.KernelKMeans(3, kernel="linear", sizes=cmeans.Sizes(most=1.2, of="mean")), 2),
        (cmeans.KernelKMeans(4, kernel="rbf", landmarks=20), 9),
        (cmeans.KernelKMeans(4, kernel="polynomial", landmarks=None), 9),
    ],
    ids=["wide", "spherical", "bounded sizes", "landmarks", "exact"],
)
def test_spaces_and_bounds_are_those_of_float32(
    model: Any, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, loaded_bytes=0, canonical_rows=50)
    rng = np.random.default_rng(1)
    x = rng.integers(0, 256, size=(350, columns), dtype=np.uint8)
    weight = rng.random(len(x))
    model.set_params(random_state=0, n_jobs=2)
    assert_same_fit(
        model.fit(x, sample_weight=weight), _copy(model).fit(x.astype("f"), None, weight)
    )
    np.testing.assert_array_equal(model.predict(x), model.predict(x.astype(np.float32)))


def test_few_rows_are_clustered_as_float32(whole: np.ndarray) -> None:
    x, single = narrow(whole, "uint8")
    model, expected = (cmeans.FuzzyCMeans(3, random_state=0).fit(rows) for rows in (x, single))
    assert_same_fit(model, expected)


def _copy(model: Any) -> Any:
    return type(model)(**model.get_params(deep=False)).set_params(n_jobs=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", ["array", "memory map", "npy", "by columns", "npz"])
def test_they_are_clustered_wherever_they_are(
    kind: str, where: str, whole: np.ndarray, tmp_path: Path, monkeypatch
) -> None:
    limited(monkeypatch, **MANY)
    (rows, single), file = narrow(whole, kind), tmp_path / "x.npy"
    if where == "by columns":
        rows = np.asfortranarray(rows)
    if where == "npz":
        np.savez(file := tmp_path / "x.npz", X=rows)
    elif where != "array":
        np.save(file, rows)
    here = where in ("array", "by columns", "memory map")
    mapped = where == "memory map"
    given = np.load(file, mmap_mode="r") if mapped else rows if here else str(file)
    words = {"n_clusters": 3, "m": 1.5, "random_state": 0, "init": np.array([0, 1, 2])}
    model, expected = (cmeans.FuzzyCMeans(**words).fit(x) for x in (given, single))
    if here:  # of large files labels are of the smallest integers
        assert_same_fit(model, expected)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.objective_ == expected.objective_
    # of large files memberships are written by `predict_to`
    assert hasattr(model, "memberships_") == here
    np.testing.assert_array_equal(model.memberships(given), expected.memberships_)


@pytest.mark.parametrize("type_name", ["int8", "uint8", "float16"])
def test_tables_of_them_are_read_as_float32(type_name: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    column = np.array([0, 3, 127], type_name)
    parquet.write_table(pa.table({"a": column, "b": column[::-1].copy()}), tmp_path / "x.parquet")
    rows = cmeans.open_blocks(tmp_path / "x.parquet")
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows.read(0, 3), [[0, 127], [3, 3], [127, 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_the_same_to_the_bit(kind: str, whole: np.ndarray) -> None:
    x, single = narrow(whole, kind)
    rows = NarrowRows(x)
    assert (rows.shape, rows.dtype) == ((N, D), np.float32)
    np.testing.assert_array_equal(rows.read(7, 99), single[7:99])
    np.testing.assert_array_equal(rows.take(np.array([5, 399, 5])), single[[5, 399, 5]])
    some = rows.mapped(np.negative).part(100, 200).selected(np.array([3, 1]))
    np.testing.assert_array_equal(some.read(0, 2), -single[[103, 101]])


def test_bfloat16_is_the_upper_half_of_float32() -> None:
    numbers = np.arange(2**16, dtype=np.uint16)
    np.testing.assert_array_equal(in_single(numbers.view("V2")).view(np.uint32) >> 16, numbers)


def test_large_samples_stay_narrow() -> None:
    blocks = Blocks(NarrowRows(np.ones((5_000, 2_000), np.int8)), np.ones(5_000))
    some = blocks.part(np.arange(0, 5_000, 2), np.ones(2_500))
    assert isinstance(some.x, NarrowRows)
    assert isinstance(blocks.part(np.arange(9), np.ones(9)).x, np.ndarray)


@UNFINISHED
@pytest.mark.parametrize(
    "model",
    [
        cmeans.KernelKMeans(4, kernel="linear"),
        cmeans.KernelKMeans(4, kernel="linear", metric="cosine"),
        cmeans.FuzzyCMeans(4, kernel="linear", m=1.1),
    ],
    ids=["hard", "spherical", "fuzzy"],
)
def test_no_copy_of_all_rows_is_made(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, sums, labels and memberships take little more than half of what the rows
    would as float32, and no copy of them comes to it."""
    limited(monkeypatch, loaded_bytes=0, canonical_rows=50, block_rows=512, tasks=32)
    rows = np.random.default_rng(0).integers(-128, 128, size=(20_000, 136), dtype=np.int8)
    model.set_params(init=rows[:4].astype(np.float64), n_jobs=1, max_iter=3)
    tracemalloc.start()
    model.fit(rows).predict(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * rows.size * 0.55


def test_sums_of_many_large_numbers_are_exact() -> None:
    """Of 70,000 rows of 255 and one of 0, whose sums pass 2^24 by far."""
    x = np.full((70_001, 3), 255, np.uint8)
    x[-1] = 0
    model = cmeans.KernelKMeans(2, kernel="linear", init=np.array([0, 70_000])).fit(x)
    np.testing.assert_array_equal(model.cluster_centers_, [[255] * 3, [0] * 3])
    assert model.objective_ == 0


def test_missing_values_are_left_out_where_they_may_be(
    whole: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, **MANY)
    x, _ = narrow(whole, "float16")
    x[::7, 2] = np.nan
    model, expected = (
        cmeans.FuzzyCMeans(3, kernel="linear", missing="partial", random_state=0).fit(rows)
        for rows in (x, x.astype(np.float32))
    )
    assert_same_fit(model, expected)
    np.testing.assert_array_equal(model._nearest, expected._nearest)


def test_what_is_no_number_is_named(whole: np.ndarray) -> None:
    rows = whole.astype(np.float16)
    rows[31, 2] = np.inf
    with pytest.raises(ValueError, match="contains infinity, first at row 31, column 2"):
        cmeans.KernelKMeans(2, kernel="linear").fit(rows)


def test_matrices_of_kernel_values_are_taken_too(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, **MANY)
    gram = np.kron(np.eye(2), np.ones((60, 60)))
    words = {"kernel": "precomputed", "random_state": 0}
    for kind in ("int8", "float16"):
        labels = cmeans.KernelKMeans(2, **words).fit(gram.astype(kind)).labels_
        assert len(set(labels[:60])) == len(set(labels[60:])) == 1 != len(set(labels))
