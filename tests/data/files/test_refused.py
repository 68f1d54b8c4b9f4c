"""Files that cannot be read, or do not belong together: one line that names the file and what is
wrong with it."""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cmeans
from cmeans.data.files import group_cache, tables
from cmeans.data.row_source import RowsError
from file_formats import (
    EVERY,
    NAMED,
    Written,
    csv,
    csv_folder,
    ipc,
    ipc_stream,
    npy,
    npy_by_columns,
    npz,
    packed_csv,
    packed_npz,
    parquet,
)


@pytest.fixture(autouse=True)
def tiny_slabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_cache, "LEAST", 2_000)


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(1_000, 4))


def written_parquet(file: Path, **columns: object) -> Path:
    file.parent.mkdir(exist_ok=True, parents=True)
    pq.write_table(pa.table(columns), file)
    return file


@pytest.mark.parametrize(
    "written", [parquet, ipc, ipc_stream, packed_csv, npy, npy_by_columns, npz, packed_npz]
)
@pytest.mark.parametrize("part", [0.5, 0.97])
def test_truncated(written: Written, part: float, tmp_path: Path, x: np.ndarray) -> None:
    file = Path(str(written(tmp_path, x)))
    file.write_bytes(file.read_bytes()[: int(part * file.stat().st_size)])
    with pytest.raises(
        RowsError,
        match=rf"{file.name}: cannot be read as .*; it is (truncated|damaged) or not such a file",
    ):
        cmeans.open_blocks(file)


LARGE, HUGE = 10**10, 10**30
SHAPES = [
    "(-4, 3)",
    "(4, -3)",
    "(-4, -3)",
    "(True, 3)",
    f"(0, {HUGE})",
    f"(0, {LARGE})",
    f"({HUGE}, 0)",
    f"({HUGE}, 3)",
    f"({2**62}, 4)",
]


@pytest.mark.parametrize(
    "shape",
    [*SHAPES, "(4, 3.0)", "[4, 3]", "4", "None", "(4, None)", "((4,), 3)", "()", "(4, 3, 1)"],
)
@pytest.mark.parametrize("where", ["npy", "npz", "packed npz", "weights"])
def test_shapes_that_are_none(shape: str, where: str, tmp_path: Path) -> None:
    """What the header of an npy says is believed only as far as the file bears it."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    data = b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode() + bytes(96)
    file = tmp_path / ("x.npy" if where == "npy" else "x.npz")
    if where == "npy":
        file.write_bytes(data)
    else:
        with zipfile.ZipFile(
            file, "w", zipfile.ZIP_DEFLATED if where == "packed npz" else zipfile.ZIP_STORED
        ) as archive:
            archive.writestr("w.npy" if where == "weights" else "X.npy", data)
            if where == "weights":
                archive.writestr("X.npy", npy(tmp_path, np.eye(4)).read_bytes())
    with pytest.raises(RowsError, match=rf"{file.name}: ") as caught:
        cmeans.open_blocks(file, weight="w" if where == "weights" else None)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "weights",
    [np.array(list("abcd")), np.ones(4, complex), np.zeros(4, "M8[s]"), np.zeros(4, [("a", "f8")])],
)
def test_weights_beside_the_rows_that_are_no_numbers(weights: np.ndarray, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", X=np.eye(4), w=weights)
    with pytest.raises(RowsError, match=r"x\.npz: the weights 'w' are .*, no numbers\."):
        cmeans.open_blocks(tmp_path / "x.npz", weight="w")


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")
def test_links_in_a_circle(tmp_path: Path, x: np.ndarray) -> None:
    (tmp_path / "rows").mkdir()
    npy(tmp_path / "rows", x)
    os.symlink(tmp_path / "rows", tmp_path / "rows" / "self")
    os.symlink(tmp_path / "circle.npy", tmp_path / "circle.npy")
    assert cmeans.open_blocks(tmp_path / "rows").shape == x.shape
    with pytest.raises(
        RowsError,
        match=r"self is a link to a folder that it lies in; remove it, or give a pattern without "
        r"it",
    ):
        cmeans.open_blocks(str(tmp_path / "rows" / "**" / "*.npy"))
    for path in ("circle.npy", "circle.npy/x.npy"):
        with pytest.raises(RowsError, match=r"npy: no such file"):
            cmeans.open_blocks(tmp_path / path)
    os.symlink(tmp_path / "rows", tmp_path / "elsewhere")
    assert cmeans.open_blocks(str(tmp_path / "elsewhere" / "*.npy")).shape == x.shape


@pytest.mark.parametrize("written", [parquet, ipc, npy, npy_by_columns, npz])
@pytest.mark.parametrize("what", ["gone", "shorter", "replaced"])
def test_changed_between_reads(written: Written, what: str, tmp_path: Path, x: np.ndarray) -> None:
    file = Path(str(written(tmp_path, x)))
    rows = cmeans.open_blocks(file)
    rows.read(0, 10)
    if what == "gone":
        file.unlink()
    elif what == "shorter":
        os.truncate(file, file.stat().st_size // 2)
    else:
        other = tmp_path / "other"
        other.write_bytes(file.read_bytes())
        other.replace(file)
    with pytest.raises(
        RowsError, match=rf"{file.name}: changed \(or disappeared\) while it was being read"
    ):
        rows.read(900, 1_000)


@pytest.mark.parametrize("written", [ipc_stream, csv, packed_npz])
def test_what_lies_in_scratch_outlives_its_file(
    written: Written, tmp_path: Path, x: np.ndarray
) -> None:
    file = Path(str(written(tmp_path, x)))
    rows = cmeans.open_blocks(file)
    file.unlink()
    assert np.array_equal(rows.read(500, 600), x[500:600])


def test_damaged_inside(tmp_path: Path, x: np.ndarray) -> None:
    file = parquet(tmp_path, x)
    content = bytearray(file.read_bytes())
    content[9_000:12_000] = bytes(3_000)
    file.write_bytes(content)
    with pytest.raises(
        RowsError, match=r"x\.parquet: (cannot be read as Parquet; it is damaged|column)"
    ):
        cmeans.open_blocks(file).read(0, 1_000)


@pytest.mark.parametrize("written", [ipc, ipc_stream])
def test_damaged_names(written: Written, tmp_path: Path, x: np.ndarray) -> None:
    file = written(tmp_path, x)
    rows = pa.table({"some name": x[:, 0]})
    with (pa.ipc.new_file if written is ipc else pa.ipc.new_stream)(file, rows.schema) as writer:
        writer.write_table(rows)
    file.write_bytes(file.read_bytes().replace(b"some name", b"some\xffname"))
    with pytest.raises(
        RowsError, match=rf"{file.name}: cannot be read as Arrow; it is damaged or not such a file"
    ):
        cmeans.open_blocks(file)


@pytest.mark.parametrize(
    "error", [pa.ArrowMemoryError("malloc of size 3377699720528384 failed"), MemoryError()]
)
def test_damaged_lengths(
    tmp_path: Path, x: np.ndarray, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """They may ask for more memory than any machine has."""

    def open_file(*_: object, **__: object) -> None:
        raise error

    file = ipc(tmp_path, x)
    monkeypatch.setattr("pyarrow.ipc.open_file", open_file)
    with pytest.raises(
        RowsError,
        match=r"x\.arrow: asks for more memory than there is \(.+\); it is damaged, or too large "
        r"to be read\.",
    ):
        cmeans.open_blocks(file)


def test_a_header_of_npy_that_does_not_end(tmp_path: Path, x: np.ndarray) -> None:
    file = npy(tmp_path, x)
    file.write_bytes(file.read_bytes().replace(b")", b"(", 1))
    with pytest.raises(
        RowsError, match=r"x\.npy: cannot be read as npy; it is truncated or not such a file"
    ):
        cmeans.open_blocks(file)


class TestFilesThatDiffer:
    def test_a_missing_column(self, tmp_path: Path) -> None:
        written_parquet(tmp_path / "1.parquet", a=[1.0], b=[2.0])
        written_parquet(tmp_path / "2.parquet", a=[1.0], c=[2.0])
        with pytest.raises(
            RowsError,
            match=r"2\.parquet: lacks column 'b', which .*1\.parquet has; it has columns 'a', 'c'",
        ):
            cmeans.open_blocks(tmp_path)
        assert cmeans.open_blocks(tmp_path, columns="a").read(0, 2).tolist() == [[1], [1]]

    def test_a_column_of_text(self, tmp_path: Path) -> None:
        written_parquet(tmp_path / "1.parquet", a=[1.0], b=[2.0])
        written_parquet(tmp_path / "2.parquet", a=[1.0], b=["2"])
        with pytest.raises(
            RowsError, match=r"2\.parquet: column 'b' is text here and double in .*1\.parquet"
        ):
            cmeans.open_blocks(tmp_path)

    def test_single_precision_in_some_of_them(self, tmp_path: Path) -> None:
        written_parquet(tmp_path / "1.parquet", a=np.ones(2, np.float32), b=np.ones(2, np.float32))
        written_parquet(tmp_path / "2.parquet", b=np.ones(2), a=np.ones(2, np.float32))
        assert cmeans.open_blocks(tmp_path).dtype == np.float64
        assert cmeans.open_blocks(tmp_path, columns="a").dtype == np.float32

    def test_kinds_and_widths(self, tmp_path: Path, x: np.ndarray) -> None:
        files = [npy(tmp_path, x), parquet(tmp_path, x)]
        with pytest.raises(
            RowsError, match=r"x\.parquet: is Parquet, but .*x\.npy is npy; give files of one kind"
        ):
            cmeans.open_blocks(files)
        with pytest.raises(
            RowsError, match=r"holds files of several kinds \(npy, parquet\); give a pattern"
        ):
            cmeans.open_blocks(tmp_path)
        np.save(tmp_path / "y.npy", x[:, 1:])
        with pytest.raises(RowsError, match=r"y\.npy: has 3 columns, but .*x\.npy has 4"):
            cmeans.open_blocks(str(tmp_path / "*.npy"))


class TestFolders:
    def test_keys_are_columns_where_they_are_named(self, tmp_path: Path) -> None:
        for year in (2001, 2002):
            for place in ("north", "south"):
                written_parquet(
                    tmp_path / f"year={year}" / f"place={place}" / "0.parquet",
                    a=[1.0, 2.0],
                    w=[year / 2, 1.0],
                )
        assert cmeans.open_blocks(tmp_path).columns == ("a", "w")
        rows = cmeans.open_blocks(tmp_path, columns=["year", "a"], weight="w")
        assert rows.read(0, 8).tolist() == [[2001, 1], [2001, 2]] * 2 + [[2002, 1], [2002, 2]] * 2
        assert rows.weight.tolist() == [1000.5, 1.0] * 2 + [1001, 1] * 2
        assert cmeans.open_blocks(tmp_path, columns="year").read(3, 5).tolist() == [[2001], [2002]]
        with pytest.raises(
            RowsError, match=r"column 'place' \(key of a folder, 'north'\) holds no numbers"
        ):
            cmeans.open_blocks(tmp_path, columns=["a", "place"])

    def test_patterns_of_folders(self, tmp_path: Path) -> None:
        for year in range(2001, 2005):
            written_parquet(tmp_path / f"year={year}" / "0.parquet", a=[1.0, 2.0])
        rows = cmeans.open_blocks(str(tmp_path / "year=*[13]"), columns=["year"])
        assert rows.read(0, 4).tolist() == [[2001], [2001], [2003], [2003]]

    def test_nothing_in_them(self, tmp_path: Path) -> None:
        with pytest.raises(RowsError, match="holds no files of rows"):
            cmeans.open_blocks(tmp_path)
        with pytest.raises(RowsError, match=r"\*\.parquet: matches no file"):
            cmeans.open_blocks(tmp_path / "*.parquet")
        with pytest.raises(RowsError, match="no such file"):
            cmeans.open_blocks(tmp_path / "x.parquet")
        with pytest.raises(RowsError, match="names no file"):
            cmeans.open_blocks([])
        written_parquet(tmp_path / "1.parquet", a=pa.array([], pa.float64()))
        with pytest.raises(RowsError, match="has no rows"):
            cmeans.open_blocks(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.arange(3.0), r"holds an array of shape \(3,\); rows and columns are needed"),
        (np.zeros((2, 2, 2)), r"holds an array of shape \(2, 2, 2\)"),
        (np.empty((0, 3)), "has no rows"),
        (np.array([["a", "b"]]), "no numeric columns"),
        (np.array([[1j, 2]]), r"no numeric columns \(it has columns 0 \(complex128\)"),
        (np.array([[1, "a"]], dtype=object), "cannot be read as npy.*Python objects"),
    ],
)
def test_arrays_that_are_no_rows(tmp_path: Path, content: np.ndarray, message: str) -> None:
    np.save(tmp_path / "x.npy", content, allow_pickle=True)
    with pytest.raises(RowsError, match=message):
        cmeans.open_blocks(tmp_path / "x.npy")


def test_messages_speak_python(tmp_path: Path, x: np.ndarray) -> None:
    file = written_parquet(tmp_path / "t.parquet", a=[1.0], b=[2.0], t=["x"])
    array = npy(tmp_path, x)
    (tmp_path / "e.csv").write_text("")
    (tmp_path / "h.csv").write_text("0,1,2\n5,6,7\n")
    for path, words, message in (
        (
            file,
            {},
            r"column 't' \(text\) holds no numbers\. Choose the columns .* e\.g\. columns=\['a', "
            r"'b'\] of cmeans\.open_blocks\.",
        ),
        (file, {"columns": ["a", "a"]}, r"columns: column 'a' named twice\."),
        (file, {"columns": "z"}, r"there is no column 'z'; it has columns 'a', 'b', 't'\."),
        (file, {"columns": []}, r"columns=\[\]: names no column"),
        (
            file,
            {"columns": "a", "weight": "a"},
            r"weight: column 'a' is also in columns; it is a weight or it is data\.",
        ),
        (file, {"columns": "a", "weight": "t"}, r"weight='t': the column holds text, no numbers\."),
        (
            file,
            {"columns": "a", "weight": 9},
            r"weight=9: .*there is no column 9; it has 3 columns",
        ),
        (file, {"columns": "a", "dtype": "int8"}, r"dtype='int8': rows are float32 or float64\."),
        (file, {"array": "X"}, r"array='X': only npz files hold several arrays"),
        (array, {"header": True}, r"header: only CSV files need to be told, and .*x\.npy is npy\."),
        (array, {"columns": -1}, r"there is no column '-1'"),
        (tmp_path / "e.csv", {}, r"e\.csv: is empty\."),
        (tmp_path / "h.csv", {}, r"may be names or data; add header=True or header=False\."),
    ):
        with pytest.raises(RowsError, match=message):
            cmeans.open_blocks(path, **words)
    assert cmeans.open_blocks(tmp_path / "h.csv", header=False).shape == (2, 3)


@pytest.mark.parametrize("written", NAMED, ids=lambda written: written.__name__)
@pytest.mark.parametrize(
    ("wrong", "words"), [(-1.0, "is -1"), (np.nan, "is empty"), (np.inf, "is infinite")]
)
def test_wrong_weights(
    written: Written, tmp_path: Path, x: np.ndarray, wrong: float, words: str
) -> None:
    x = np.abs(x)
    x[600, 3] = wrong
    path = written(tmp_path, x)
    with pytest.raises(
        RowsError, match=rf"weight column 'd' {words}.* in row \d+ .*; weights are 0 or more"
    ):
        cmeans.open_blocks(path, weight="d")


@pytest.mark.parametrize("written", EVERY, ids=lambda written: written.__name__)
def test_weights_that_are_all_zero(written: Written, tmp_path: Path, x: np.ndarray) -> None:
    x[:, 3] = 0
    with pytest.raises(RowsError, match=r"weight column .* is zero in every row"):
        cmeans.open_blocks(written(tmp_path, x), weight=3)


@pytest.mark.parametrize("written", [parquet, ipc])
def test_groups_too_large_to_seek_in_lie_in_scratch(
    written: Written, tmp_path: Path, x: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_cache, "LARGEST", 41 * 3 * 8 - 1)
    x = np.abs(x)
    file = Path(str(written(tmp_path, x)))
    rows = cmeans.open_blocks(file, weight="d")
    assert isinstance(rows, tables.ScratchRows) == (written is ipc)  # of 41 rows, and of 37
    assert np.array_equal(rows.read(0, 1_000), x[:, :3])
    assert np.array_equal(rows.weight, x[:, 3])


def test_only_the_file_with_a_huge_group_is_spooled(
    tmp_path: Path, x: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_cache, "LARGEST", 100 * 4 * 8)
    small, huge, last = np.split(x, [300, 700])
    files = [
        parquet(tmp_path, small, "1.parquet"),
        parquet(tmp_path, huge, "2.parquet", 400),
        parquet(tmp_path, last, "3.parquet"),
    ]
    spooled: list[int] = []
    append = tables.ScratchRows.append
    monkeypatch.setattr(
        tables.ScratchRows,
        "append",
        lambda self, rows: (spooled.append(len(rows)), append(self, rows))[1],
    )
    rows = cmeans.open_blocks(files)
    assert sum(spooled) == 400
    assert np.array_equal(rows.read(0, 1_000), x)
    assert np.array_equal(rows.read(650, 720), x[650:720])


@pytest.mark.parametrize("written", [csv, csv_folder, packed_npz, ipc_stream])
def test_a_full_disk(
    written: Written, tmp_path: Path, x: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, x)

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cmeans.data.scratch.os.write", full)
    with pytest.raises(
        RowsError,
        match=r"no room for [\d,]+ bytes of scratch in .* \(set TMPDIR .*No space left on device\)",
    ):
        cmeans.open_blocks(path)


@pytest.mark.parametrize(("bits", "dtype"), [(0x7FF0000000000001, "f8"), (0x7F800001, "f4")])
def test_a_signalling_nan_is_none_but_a_nan(bits: int, dtype: str, tmp_path: Path) -> None:
    """A processor tells of one that is converted, which is no reason to warn."""
    x = np.arange(80, dtype=dtype).reshape(40, 2)
    x.view(dtype.replace("f", "u"))[3, 1] = bits
    other = "float32" if dtype == "f8" else "float64"
    for file in (npy(tmp_path, x), parquet(tmp_path, x)):
        with pytest.raises(RowsError, match=r"is empty or not a number \(NaN\) in row 3"):
            cmeans.open_blocks(file, dtype=other).read(0, 40)
        rows = cmeans.open_blocks(file, dtype=other, missing="partial")
        assert np.isnan(rows.read(0, 40)[3]).tolist() == [False, True]
    with pytest.raises(ValueError, match=r"sample_weight\[3\] is nan"):
        cmeans.FuzzyCMeans(2).fit(np.arange(80.0).reshape(40, 2), sample_weight=x[:, 1])


def test_without_pyarrow(tmp_path: Path, x: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [parquet(tmp_path, x), npy(tmp_path, x)]
    for name in [
        name
        for name in sys.modules
        if name.partition(".")[0] == "pyarrow" or name.startswith("cmeans.data.")
    ]:
        if name.rpartition(".")[2] in (
            "pyarrow",
            "arrow",
            "arrow_library",
            "csv",
        ) or name.startswith("pyarrow"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError,
        match=r"x\.parquet: Parquet is read through pyarrow; run: python -m pip install pyarrow",
    ):
        cmeans.open_blocks(files[0])
    assert cmeans.open_blocks(files[1]).shape == x.shape


def test_no_temporary_file_is_made_in_vain(
    tmp_path: Path, x: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert cmeans.open_blocks(parquet(tmp_path, x)).read(0, 1_000).shape == x.shape
    with pytest.raises(RowsError, match=r"no room for .* in .*nowhere"):
        cmeans.open_blocks(csv(tmp_path, x))
