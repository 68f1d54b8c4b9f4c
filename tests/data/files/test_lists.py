"""Columns of lists of numbers, as embeddings are stored, are as many columns as the lists hold."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cmeans
from cmeans.data.files import group_cache
from cmeans.data.row_source import RowsError, StoredRows
from file_formats import as_lists, lists
from limited import limited
from sweep_choices import pairs

N, D = 503, 12
ENDINGS = ("parquet", "arrow", "arrows")
KINDS = ("fixed", "plain", "large")


@pytest.fixture(autouse=True)
def tiny_slabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_cache, "LEAST", 2_000)


@pytest.fixture(scope="module")
def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)


def opened(path: object, **words: object) -> StoredRows:
    rows = cmeans.open_blocks(path, **words)
    assert isinstance(rows, StoredRows)
    return rows


@pytest.mark.parametrize(
    ("kind", "ending", "dtype"), pairs(KINDS, ENDINGS, ["float16", "float32", "float64", "int8"])
)
def test_they_are_rows(kind: str, ending: str, dtype: str, tmp_path: Path, x: np.ndarray) -> None:
    x = (10 * x).astype(dtype)
    rows = opened(lists(tmp_path, x, kind, ending))
    assert rows.shape == (N, D)
    assert rows.dtype == (np.float64 if dtype == "float64" else np.float32)
    assert rows.columns == tuple(f"vector[{at}]" for at in range(D))
    np.testing.assert_array_equal(rows.read(0, N), x.astype(rows.dtype))
    few = np.array([502, 3, 36, 37, 41, 100])
    np.testing.assert_array_equal(rows.take(few), x[few].astype(rows.dtype))
    again = pickle.loads(pickle.dumps(rows.again))()
    np.testing.assert_array_equal(again.read(30, 90), x[30:90].astype(rows.dtype))


@pytest.mark.parametrize("ending", ENDINGS)
def test_beside_other_columns_they_are_named(ending: str, tmp_path: Path, x: np.ndarray) -> None:
    number, weight = pa.array(np.arange(N)), pa.array(np.linspace(0, 2, N))
    file = lists(tmp_path, x, "plain", ending, number=number, text=pa.array(["a"] * N), w=weight)
    message = (
        "column 'vector' holds lists of numbers, and there are numbers beside it; say which "
        "columns are data, e.g. columns=['vector']"
    )
    with pytest.raises(RowsError, match=re.escape(message)):
        cmeans.open_blocks(file)
    rows = opened(file, columns="vector", weight="w")
    np.testing.assert_array_equal(rows.read(0, N), x)
    np.testing.assert_array_equal(rows.weight, weight)
    both = opened(file, columns=["number", "vector"])
    np.testing.assert_array_equal(both.read(40, 80), np.column_stack([np.arange(40, 80), x[40:80]]))
    few = opened(file, columns=["vector[3]", "w", "vector[0]"])
    np.testing.assert_array_equal(
        few.read(40, 80), np.column_stack([x[40:80, 3], weight[40:80], x[40:80, 0]])
    )
    with pytest.raises(
        RowsError,
        match=re.escape(
            "column 'vector' holds lists of numbers, of which one is needed, e.g. 'vector[0]'"
        ),
    ):
        cmeans.open_blocks(file, columns="number", weight="vector")


def test_two_columns_of_lists_are_not_joined_unasked(tmp_path: Path, x: np.ndarray) -> None:
    pq.write_table(pa.table({"a": as_lists(x), "b": as_lists(x[:, :3])}), tmp_path / "x.parquet")
    with pytest.raises(
        RowsError, match="column 'a' holds lists of numbers, and there are numbers beside it"
    ):
        cmeans.open_blocks(tmp_path / "x.parquet")
    np.testing.assert_array_equal(
        opened(tmp_path / "x.parquet", columns=["b", "a"]).read(0, N), np.hstack([x[:, :3], x])
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_lists_of_other_lengths_are_refused(ending: str, tmp_path: Path) -> None:
    made = pa.table({"vector": pa.array([[1.0, 2, 3]] * 90 + [[1.0, 2]] + [[4.0, 5, 6]] * 9)})
    file = tmp_path / f"x.{ending}"
    if ending == "parquet":
        pq.write_table(made, file, row_group_size=37)
    else:
        with {"arrow": pa.ipc.new_file, "arrows": pa.ipc.new_stream}[ending](
            file, made.schema
        ) as writer:
            writer.write_table(made, max_chunksize=41)
    message = (
        r"column 'vector' holds a list of 2 numbers in row 90 \(rows count from 0\), where "
        r"others hold 3; all must be of one length"
    )
    with pytest.raises(RowsError, match=message):
        opened(file).read(0, 100)


@pytest.mark.parametrize(
    "of", [pa.list_(pa.float32()), pa.list_(pa.float32(), 3), pa.large_list(pa.int16())]
)
def test_missing_lists_and_numbers_are_refused(of: pa.DataType, tmp_path: Path) -> None:
    for hole, column in (([None], 0), ([[7, None, 7]], 1)):
        pq.write_table(
            pa.table({"v": pa.array([[1, 2, 3]] * 50 + hole + [[4, 5, 6]] * 9, type=of)}),
            tmp_path / "x.parquet",
        )
        with pytest.raises(
            RowsError, match=rf"column 'v\[{column}\]' is empty or not a number \(NaN\) in row 50"
        ):
            opened(tmp_path / "x.parquet").read(0, 60)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[[1.0]], [[2.0]]]),
        pa.array([["a"], ["b"]]),
        pa.array([[], []], type=pa.list_(pa.float32())),
        pa.array([[None]] * 2),
    ],
)
def test_other_lists_hold_no_numbers(column: pa.Array, tmp_path: Path) -> None:
    pq.write_table(pa.table({"v": column, "a": pa.array([1.0, 2.0])}), tmp_path / "x.parquet")
    with pytest.raises(RowsError, match=r"column 'v' \((fixed_size_)?list<.*\) holds no numbers"):
        cmeans.open_blocks(tmp_path / "x.parquet")
    with pytest.raises(RowsError, match=r"column 'v' \((fixed_size_)?list<.*\) holds no numbers"):
        cmeans.open_blocks(tmp_path / "x.parquet", columns="v")


def test_lists_of_any_length_are_not_believed(tmp_path: Path) -> None:
    with pa.ipc.new_file(tmp_path / "x.arrow", pa.schema({"v": pa.list_(pa.float32(), 2**31 - 1)})):
        pass
    with pytest.raises(
        RowsError,
        match="column 'v' holds lists of 2,147,483,647 numbers, and at most 131,072 are read",
    ):
        cmeans.open_blocks(tmp_path / "x.arrow")


def test_files_of_lists_follow_each_other(tmp_path: Path, x: np.ndarray) -> None:
    pq.write_table(pa.table({"v": as_lists(x[:200], "plain")}), tmp_path / "1.parquet")
    pq.write_table(
        pa.table({"more": pa.array(["a"] * (N - 200)), "v": as_lists(x[200:].astype(np.float64))}),
        tmp_path / "2.parquet",
    )
    rows = opened(str(tmp_path / "*.parquet"), columns="v")
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows.read(0, N), x)
    pq.write_table(pa.table({"v": as_lists(x[:, :5])}), tmp_path / "3.parquet")
    with pytest.raises(
        RowsError,
        match=r"3.parquet: column 'v\[0\]' is one of 5 numbers here and one of 12 numbers in "
        r".*1.parquet",
    ):
        cmeans.open_blocks(str(tmp_path / "*.parquet"), columns="v")


@pytest.mark.parametrize("ending", ENDINGS)
def test_fits_read_them(
    ending: str, tmp_path: Path, x: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, loaded_bytes=0, canonical_rows=50, block_rows=64)
    rows = x + 5 * np.repeat(np.eye(D, dtype=np.float32)[:3], -(-N // 3), axis=0)[:N]
    words = {"n_clusters": 3, "metric": "cosine", "kernel": "linear", "random_state": 0}
    model = cmeans.KernelKMeans(**words).fit(str(lists(tmp_path, rows, "fixed", ending)))
    expected = cmeans.KernelKMeans(**words).fit(rows)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    assert list(model.feature_names_in_) == [f"vector[{at}]" for at in range(D)]
    other = lists(tmp_path, rows, "plain", "arrow", id=pa.array(np.arange(N)))
    np.testing.assert_array_equal(model.predict(str(other)), model.labels_)  # found by name
