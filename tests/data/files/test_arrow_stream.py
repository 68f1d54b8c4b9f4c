"""Tables that come by Arrow's C interface, whoever hands them over."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import cmeans
from cmeans import FuzzyCMeans
from cmeans.data.containers import comes_by_arrow
from cmeans.data.row_source import RowsError

X = np.vstack([np.random.default_rng(part).normal(size=(50, 3)) + 10 * part for part in range(2)])
TABLE = pa.table({name: X[:, at] for at, name in enumerate("abc")})
LISTS = [[1.0, 2.0], [3.0, 4.0], [5.0], None, [6.0, None], [7.0, 8.0]]


class Stream:
    """Somebody's table, of which nothing else is known."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


class Batch:
    def __init__(self, table: Any) -> None:
        [self.batch] = table.combine_chunks().to_batches()

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.batch.__arrow_c_array__(requested_schema)


def reader(table: Any) -> Any:
    empty = table.slice(0, 0).to_batches()
    parts = [*empty, *table.to_batches(max_chunksize=7), *empty]
    return pa.RecordBatchReader.from_batches(table.schema, parts)


def polars(table: Any) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def duckdb(table: Any) -> Any:
    return pytest.importorskip("duckdb").from_arrow(table)


def same(table: Any) -> Any:
    return table


def pandas(table: Any) -> Any:
    return table.to_pandas()


@pytest.mark.parametrize("given", [same, Stream, Batch, reader, polars, duckdb, pandas])
@pytest.mark.parametrize("kind", ["columns", "list", "fixed"])
def test_bits_of_the_rows(given: Any, kind: str) -> None:
    table = {
        "columns": TABLE,
        "list": pa.table({"v": X.tolist()}),
        "fixed": pa.table({"v": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)}),
    }[kind]
    model = FuzzyCMeans(2, random_state=0).fit(given(table))
    assert model.objective_ == FuzzyCMeans(2, random_state=0).fit(X).objective_
    names = ["a", "b", "c"] if kind == "columns" else ["v[0]", "v[1]", "v[2]"]
    assert model.feature_names_in_.tolist() == names
    assert np.array_equal(model.predict(given(table)), model.labels_)


def test_columns_weights_and_others() -> None:
    table = TABLE.append_column("name", pa.array(["x"] * 100)).append_column(
        "w", pa.array(range(100))
    )
    rows = cmeans.open_blocks(Stream(table), columns=["c", "a"], weight="w", dtype="float32")
    assert np.array_equal(rows.read(40, 60), X[40:60, [2, 0]].astype(np.float32))
    assert rows.weight is not None
    assert rows.weight.tolist() == list(range(100))
    with pytest.raises(RowsError, match=r"X \(Stream\): .*'name'"):
        cmeans.open_blocks(Stream(table), columns=["name"])


@pytest.mark.parametrize("given", [Stream, polars, duckdb, pandas])
def test_lists_of_other_lengths_and_missing_ones(given: Any) -> None:
    with pytest.raises(RowsError, match=r"'v' holds a list of 1 numbers in row 2 .* others hold 2"):
        FuzzyCMeans(2).fit(given(pa.table({"v": LISTS})))
    whole = given(pa.table({"v": LISTS[:2] + LISTS[3:]}))
    with pytest.raises(RowsError, match=r"column 'v\[0\]' is empty .* in row 2"):
        FuzzyCMeans(2).fit(whole)
    with pytest.warns(UserWarning, match="1 of 5 rows of X has no value"):
        model = FuzzyCMeans(2, random_state=0, missing="partial").fit(whole)
    assert model.labels_[2] == -1
    assert (np.delete(model.labels_, 2) >= 0).all()


def test_what_cannot_be_used_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    once = reader(TABLE)
    FuzzyCMeans(2).fit(once)
    with pytest.raises(RowsError, match=r"which gives its rows once\): has no rows"):
        FuzzyCMeans(2).fit(once)
    with pytest.raises(RowsError, match=r"X \(Stream\): no numeric columns"):
        FuzzyCMeans(2).fit(Stream(pa.table({"a": ["x", "y"]})))
    with pytest.raises(RowsError, match=r"X \(Stream\): cannot be read as Arrow"):
        FuzzyCMeans(2).fit(Stream(pa.chunked_array([[1.0, 2.0]])))
    monkeypatch.delitem(sys.modules, "cmeans.data.files.arrow_stream", raising=False)
    monkeypatch.delitem(sys.modules, "cmeans.data.arrow_library", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"X \(Stream\): Arrow is read through pyarrow; run:"):
        FuzzyCMeans(2).fit(Stream(TABLE))


def test_one_column_of_arrow_is_told_and_a_struct_is_a_table() -> None:
    for column in (TABLE["a"], TABLE["a"].combine_chunks(), pa.array(LISTS)):
        with pytest.raises(RowsError, match=r"^X \(\w+\): is one column \(.*\), and a table is"):
            FuzzyCMeans(2).fit(column)
    struct = TABLE.to_struct_array()
    expected = FuzzyCMeans(2, random_state=0).fit(TABLE).labels_
    for table in (struct, struct.combine_chunks()):
        np.testing.assert_array_equal(FuzzyCMeans(2, random_state=0).fit(table).labels_, expected)


def test_frames_of_numbers_are_taken_as_before() -> None:
    frame = pd.DataFrame(X, columns=list("abc"))
    assert not comes_by_arrow(frame)
    assert not comes_by_arrow(pytest.importorskip("polars").from_pandas(frame))


class Labelled:
    """An array with names as far as it is asked, which xarray hands over by Arrow as a column."""

    __arrow_c_stream__ = dims = data = sizes = None

    def __init__(self, data: Any, *dims: str) -> None:
        self.data, self.dims = data, dims
        self.sizes = dict(zip(dims, data.shape, strict=True))


def test_arrays_with_names_are_arrays() -> None:
    model = FuzzyCMeans(2, random_state=0).fit(Labelled(X, "pixel", "band"))
    assert model.objective_ == FuzzyCMeans(2, random_state=0).fit(X).objective_
    advice = r"X\.stack\(row=\['y', 'x'\]\)\.transpose\('row', 'band'\)"
    with pytest.raises(ValueError, match=advice):
        model.predict(Labelled(X.reshape(10, 10, 3), "y", "x", "band"))


def test_xarray_there_and_back() -> None:
    xarray = pytest.importorskip("xarray")
    cube = xarray.DataArray(X.T.reshape(3, 10, 10), dims=("band", "y", "x"))
    pixels = cube.stack(pixel=("y", "x")).transpose("pixel", "band")
    model = FuzzyCMeans(2, random_state=0).fit(pixels)
    found = pixels.isel(band=0, drop=True).copy(data=model.labels_).unstack("pixel")
    assert found.dims == ("y", "x")
    assert np.array_equal(found, model.labels_.reshape(10, 10))
    table = xarray.Dataset({name: ("row", X[:, at]) for at, name in enumerate("abc")})
    assert np.array_equal(model.predict(table), model.labels_)
