from __future__ import annotations

import gzip
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cmeans.cli.output.results import read_labels
from cmeans.cli.rows import ReadOptions, read_rows
from cmeans.data.files import arrow_columns, row_table
from cmeans.data.outputs import RowOutputs
from cmeans.data.row_source import RowsError
from cmeans.storage.row_writer import OutputColumns, row_file

pytestmark = pytest.mark.slow


def write_table(file: Path, labels: np.ndarray, u: np.ndarray | None) -> None:
    """Labels and memberships, three rows at a time."""
    columns = OutputColumns(0 if u is None else u.shape[1], u is not None)
    u = np.empty((len(labels), 0)) if u is None else u
    with row_file(file, len(labels), columns, u.dtype) as append:
        for start in range(0, len(labels), 3):
            part = slice(start, start + 3)
            append(columns.of(RowOutputs(labels[part], u[part], np.empty(0))))


def written(folder: Path, text: str, name: str = "data.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def parquet(folder: Path, **columns: object) -> Path:
    file = folder / "data.parquet"
    pq.write_table(pa.table(columns), file, row_group_size=3)
    return file


class TestParquet:
    def test_numbers_of_every_kind(self, tmp_path: Path) -> None:
        file = parquet(
            tmp_path,
            whole=pa.array([1, 2, 3, 4], pa.int8()),
            truth=[True, False, True, True],
            half=pa.array(np.array([0.5, 1, 2, 4], np.float16)),
            decimal=[Decimal("1.25"), Decimal("2.50"), Decimal("-1.00"), Decimal("0.00")],
        )
        rows = read_rows(ReadOptions(file))
        assert rows.columns == ("whole", "truth", "half", "decimal")
        assert rows.x.dtype == np.float64
        assert rows.x.tolist() == [[1, 1, 0.5, 1.25], [2, 0, 1, 2.5], [3, 1, 2, -1], [4, 1, 4, 0]]

    @pytest.mark.parametrize(
        ("columns", "asked", "dtype"),
        [
            (("s",), None, np.float32),
            (("s", "d"), None, np.float64),
            (("d",), "float32", np.float32),
            (("s",), "float64", np.float64),
        ],
    )
    def test_single_precision_is_kept_where_all_is_single(
        self, tmp_path: Path, columns: tuple[str, ...], asked: str | None, dtype: type
    ) -> None:
        file = parquet(tmp_path, s=np.ones(4, np.float32), d=np.ones(4))
        assert read_rows(ReadOptions(file, columns, dtype=asked)).x.dtype == dtype

    def test_many_batches_and_a_weight(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(arrow_columns, "ROWS", 7)
        x = np.arange(60.0).reshape(20, 3)
        file = parquet(tmp_path, a=x[:, 0], b=x[:, 1], w=x[:, 2])
        rows = read_rows(ReadOptions(file, ("b", "a"), weight="w"))
        assert np.array_equal(rows.x, x[:, [1, 0]])
        assert rows.weight is not None
        assert np.array_equal(rows.weight, x[:, 2])
        assert read_rows(ReadOptions(file, weight="w")).columns == ("a", "b")

    def test_the_index_of_a_frame_is_no_data(self, tmp_path: Path) -> None:
        frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [3.0, 4.0, 5.0]}, index=[7, 9, 8])
        frame.to_parquet(tmp_path / "frame.parquet")
        assert read_rows(ReadOptions(tmp_path / "frame.parquet")).columns == ("a", "b")

    def test_dots_in_names(self, tmp_path: Path) -> None:
        file = parquet(tmp_path, **{"a": [1.0, 2.0], "a.b": [3.0, 4.0]})
        assert read_rows(ReadOptions(file)).x.tolist() == [[1, 3], [2, 4]]
        assert read_rows(ReadOptions(file, ("a.b",))).x.tolist() == [[3], [4]]

    @pytest.mark.parametrize(
        ("hole", "words"),
        [
            (None, "is empty or not a number"),
            (np.nan, "is empty or not a number"),
            (np.inf, "is infinite or too large for float64"),
        ],
    )
    def test_a_hole_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hole: float | None, words: str
    ) -> None:
        monkeypatch.setattr(arrow_columns, "ROWS", 2)
        file = parquet(tmp_path, a=[1.0] * 5, b=[1.0, 1.0, 1.0, hole, 1.0])
        with pytest.raises(
            RowsError, match=rf"data\.parquet: column 'b' {words}.* in row 3 \(rows count from 0\)"
        ):
            read_rows(ReadOptions(file))

    def test_an_empty_cell_among_whole_numbers_and_truths(self, tmp_path: Path) -> None:
        for column in (
            [1, None, 3],
            [True, None, False],
            pa.array([Decimal("1.0"), None, Decimal("2.0")]),
            pa.nulls(3),
        ):
            with pytest.raises(RowsError, match="column 'a' is empty or not a number"):
                read_rows(ReadOptions(parquet(tmp_path, a=column)))

    def test_too_large_for_single_precision(self, tmp_path: Path) -> None:
        with pytest.raises(
            RowsError, match="column 'a' is infinite or too large for float32 in row 1"
        ):
            read_rows(ReadOptions(parquet(tmp_path, a=[1.0, 1e300]), dtype="float32"))

    @pytest.mark.parametrize(
        ("weight", "words"), [(-1.0, "is -1"), (None, "is empty"), (np.inf, "is infinite")]
    )
    def test_wrong_weights(self, tmp_path: Path, weight: float | None, words: str) -> None:
        file = parquet(tmp_path, a=[1.0, 2.0], w=[1.0, weight])
        with pytest.raises(
            RowsError, match=rf"weight column 'w' {words}.* in row 1 .*; weights are 0 or more"
        ):
            read_rows(ReadOptions(file, weight="w"))

    def test_damaged_files(self, tmp_path: Path) -> None:
        file = parquet(tmp_path, a=np.arange(10_000.0))
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(
            RowsError, match="cannot be read as Parquet; it is damaged or not such a file"
        ):
            read_rows(ReadOptions(file))
        start = bytearray(whole)
        start[4:2000] = bytes(1996)  # the footer is whole, the data are not
        file.write_bytes(start)
        with pytest.raises(RowsError, match="cannot be read as Parquet"):
            read_rows(ReadOptions(file))

    def test_text_dates_and_lists_are_no_numbers(self, tmp_path: Path) -> None:
        file = parquet(tmp_path, a=[1.0], t=["x"], d=pa.array([0], pa.date32()), e=[["x"]])
        rows = read_rows(ReadOptions(file))
        assert (rows.columns, [field.label for field in rows.left_out]) == (("a",), ["t", "d", "e"])
        with pytest.raises(
            RowsError,
            match=r"columns 't' \(text\), 'd' \(date32\[day\]\), 'e' \(list<.*>\) hold no numbers",
        ):
            read_rows(ReadOptions(file, ("a,t,d,e",)))
        with pytest.raises(RowsError, match="--weight t: the column holds text, no numbers"):
            read_rows(ReadOptions(file, ("a",), weight="t"))

    def test_no_rows_and_names_given_twice(self, tmp_path: Path) -> None:
        with pytest.raises(RowsError, match="has no rows"):
            read_rows(ReadOptions(parquet(tmp_path, a=pa.array([], pa.float64()))))
        pq.write_table(
            pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]),
            tmp_path / "twice.parquet",
        )
        with pytest.raises(RowsError, match="column 'a' occurs 2 times"):
            read_rows(ReadOptions(tmp_path / "twice.parquet"))


class TestCsv:
    @pytest.mark.parametrize(
        ("text", "columns"),
        [
            ("a,b\n1,2.5\n3,4\n", ("a", "b")),
            ("1,2.5\n3,4\n", (0, 1)),
            ("1,2.5\n3,4", (0, 1)),
            ("\n\na, b\n1, 2.5\n3, 4\n\n", ("a", "b")),
            ("\ufeffa;b\n1;2.5\n3;4\n", ("a", "b")),
            ("a\tb\r\n1\t2.5\r\n3\t4\r\n", ("a", "b")),
            ('"a,x",b\n1,2.5\n3,4\n', ("a,x", "b")),
            ("1|2.5\n3|4\n", (0, 1)),
        ],
    )
    def test_with_and_without_names(
        self, tmp_path: Path, text: str, columns: tuple[str | int, ...]
    ) -> None:
        rows = read_rows(ReadOptions(written(tmp_path, text)))
        assert rows.columns == columns
        assert rows.x.dtype == np.float64
        assert rows.x.tolist() == [[1, 2.5], [3, 4]]

    def test_packed(self, tmp_path: Path) -> None:
        (tmp_path / "data.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2.5\n3,4\n"))
        assert read_rows(ReadOptions(tmp_path / "data.csv.gz")).x.tolist() == [[1, 2.5], [3, 4]]

    def test_truths_and_picked_columns(self, tmp_path: Path) -> None:
        file = written(tmp_path, "name,a,ok,w\nx,1,true,1\ny,2,false,0.5\n")
        rows = read_rows(ReadOptions(file, ("ok,a",), weight="w"))
        assert rows.x.tolist() == [[1, 1], [0, 2]]
        assert rows.weight is not None
        assert rows.weight.tolist() == [1, 0.5]

    def test_a_fraction_after_the_first_block_and_a_growing_array(self, tmp_path: Path) -> None:
        n = 400_000  # several of pyarrow's blocks of a megabyte
        file = written(tmp_path, "a,b\n" + "1,2\n" * n + "0.5,2\n")
        rows = read_rows(ReadOptions(file, weight="b"))
        assert rows.x.shape == (n + 1, 1)
        assert rows.x.sum() == n + 0.5
        assert rows.weight is not None
        assert len(rows.weight) == n + 1

    def test_text_after_the_first_block(self, tmp_path: Path) -> None:
        file = written(tmp_path, "a,b\n" + f"1{'0' * 98},2\n" * 12_000 + "x,2\n")
        with pytest.raises(RowsError, match=r"line 12002: column 'a' holds 'x', no number\."):
            read_rows(ReadOptions(file))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", r"data\.csv: is empty\."),
            ("\n\n", r"data\.csv: is empty\."),
            ("a,b\n", r"data\.csv: has no rows\."),
            ("a,b\n1,2\n3\n", r"data\.csv: line 3: has 1 field where 2 belong\."),
            ("a,b\n1,\n", r"column 'b' is empty or not a number \(NaN\) in row 0"),
            ("a,b\n1,2\n3,NA\n", r"column 'b' is empty or not a number \(NaN\) in row 1"),
            ("a\n1\n\n3\n", r"column 'a' is empty or not a number \(NaN\) in row 1"),
            ("a,b\nx,y\n", r"no numeric columns \(it has columns 'a' \(text\), 'b' \(text\)\)"),
            ("a,b\n1,2\n3,x\n", r"data\.csv: line 3: column 'b' holds 'x', no number\."),
            (",a\n0,5\n1,6\n", r"column 0 has no name"),
            (
                "5.1,3.5,setosa\n4.9,3.0,setosa\n",
                r"the first line \(5.1,3.5,setosa\) may be names or data; add --header or "
                r"--no-header\.",
            ),
            ("0,1,2\n5,6,7\n", r"the first line \(0,1,2\) may be names or data"),
            ("2001,2002,2003\n5,6,7\n", r"the first line \(2001,2002,2003\) may be names or data"),
        ],
    )
    def test_what_cannot_be_read(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(RowsError, match=message):
            read_rows(ReadOptions(written(tmp_path, text)))

    def test_the_user_says_whether_the_first_line_holds_names(self, tmp_path: Path) -> None:
        file = written(tmp_path, "0,1,2\n5,6,7\n")
        assert read_rows(ReadOptions(file, header=True)).columns == ("0", "1", "2")
        assert read_rows(ReadOptions(file, header=False)).x.tolist() == [[0, 1, 2], [5, 6, 7]]
        # as data may begin too
        for numbers in ("1,2,3", "2001,2002", "2001,2003,2005", "7001,7002,7003"):
            assert len(read_rows(ReadOptions(written(tmp_path, f"{numbers}\n{numbers}\n"))).x) == 2
        iris = written(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n", "iris.data")
        assert read_rows(ReadOptions(iris, ("0-1",), header=False)).x.tolist() == [
            [5.1, 3.5],
            [4.9, 3.0],
        ]


class TestResults:
    def test_parquet_in_pieces(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(row_table, "ROWS", 7)
        u = np.random.default_rng(0).random((20, 3), np.float32)
        write_table(tmp_path / "l.parquet", u.argmax(1), u)
        table = pq.read_table(tmp_path / "l.parquet")
        assert pq.ParquetFile(tmp_path / "l.parquet").metadata.num_row_groups == 3
        assert table.schema.names == ["label", "u0", "u1", "u2"]
        assert table.schema.types == [pa.int32(), *[pa.float32()] * 3]
        assert np.array_equal(np.column_stack([table[f"u{j}"] for j in range(3)]), u)
        assert np.array_equal(read_labels(tmp_path / "l.parquet"), u.argmax(1))

    def test_csv_and_labels_alone(self, tmp_path: Path) -> None:
        write_table(
            tmp_path / "l.csv", np.array([1, 0, -1]), np.array([[0.25, 0.75], [1, 0], [0, 0]])
        )
        assert pa.csv.read_csv(tmp_path / "l.csv").to_pydict() == {
            "label": [1, 0, -1],
            "u0": [0.25, 1, 0],
            "u1": [0.75, 0, 0],
        }
        write_table(tmp_path / "l.parquet", np.array([1, 0, -1]), None)
        assert pq.read_table(tmp_path / "l.parquet").to_pydict() == {"label": [1, 0, -1]}
