from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from cmeans.cli.rows import ReadOptions, read_rows
from cmeans.data.row_source import RowsError, StoredRows


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(20_000, 3))


def saved(folder: Path, x: object, name: str = "x.npy") -> Path:
    np.save(folder / name, x, allow_pickle=True)
    return folder / name


@pytest.mark.parametrize(
    "dtype", [np.uint8, np.int64, np.float32, np.float64, bool, ">f8", np.float16]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path: Path, x: np.ndarray, dtype: type, order: str) -> None:
    stored = np.asarray(np.abs(x) * 50, dtype=dtype, order=order)
    rows = read_rows(ReadOptions(saved(tmp_path, stored)))
    assert rows.columns == (0, 1, 2)
    assert rows.x.dtype == (
        np.float32 if np.dtype(dtype) in (np.uint8, np.float16, np.float32) else np.float64
    )
    assert rows.x.dtype.isnative
    assert rows.x.flags.c_contiguous
    assert np.array_equal(rows.x, stored)


def test_no_file_is_mapped(tmp_path: Path, x: np.ndarray) -> None:
    """A map of a file that shrinks would kill the process."""
    file = saved(tmp_path, x)
    for asked in (
        ReadOptions(file),
        ReadOptions(file, ("0-1",)),
        ReadOptions(saved(tmp_path, np.asfortranarray(x), "f.npy")),
    ):
        rows = read_rows(asked)
        assert not isinstance(rows.x, np.memmap)
        assert rows.x.flags.owndata
        assert isinstance(read_rows(asked, most=0).x, StoredRows)


def test_columns_and_weights(tmp_path: Path, x: np.ndarray) -> None:
    rows = read_rows(ReadOptions(saved(tmp_path, np.abs(x)), ("2,0",), weight="1"))
    assert rows.columns == (2, 0)
    assert np.array_equal(rows.x, np.abs(x)[:, [2, 0]])
    assert rows.weight is not None
    assert np.array_equal(rows.weight, np.abs(x)[:, 1])
    assert read_rows(ReadOptions(tmp_path / "x.npy", weight="0")).columns == (1, 2)
    with pytest.raises(RowsError, match="--weight: column '1' is also in --columns"):
        read_rows(ReadOptions(tmp_path / "x.npy", ("0-1",), weight="1"))


class TestNpz:
    def test_which_array(self, tmp_path: Path, x: np.ndarray) -> None:
        file = tmp_path / "d.npz"
        np.savez(file, X=x, Z=x[:, :2], y=np.arange(len(x)))
        assert read_rows(ReadOptions(file)).x.shape == x.shape
        assert read_rows(ReadOptions(file, array="Z")).x.shape == (len(x), 2)
        with pytest.raises(
            RowsError, match=r"--array Q: there is no such array; it holds X, Z, y\."
        ):
            read_rows(ReadOptions(file, array="Q"))
        with pytest.raises(
            RowsError, match=r"holds an array of shape \(20000,\); rows and columns are needed"
        ):
            read_rows(ReadOptions(file, array="y"))
        np.savez_compressed(file, data=x)
        assert np.array_equal(read_rows(ReadOptions(file)).x, x)
        np.savez(file, a=x, b=x)
        with pytest.raises(
            RowsError,
            match=r"holds 2 arrays \(a, b\); say which holds the rows, e\.g\. --array a\.",
        ):
            read_rows(ReadOptions(file))

    def test_weights_beside_the_rows(self, tmp_path: Path, x: np.ndarray) -> None:
        file = tmp_path / "d.npz"
        np.savez(file, X=np.abs(x), w=np.arange(len(x)), short=np.arange(3))
        rows = read_rows(ReadOptions(file, weight="w"))
        assert rows.columns == (0, 1, 2)
        assert rows.weight is not None
        assert np.array_equal(rows.weight, np.arange(len(x)))
        assert read_rows(ReadOptions(file, weight="2")).columns == (0, 1)
        with pytest.raises(
            RowsError, match=r"weights 'short' have shape \(3,\), but there are 20000 rows"
        ):
            read_rows(ReadOptions(file, weight="short"))
        np.savez(file, X=x, w=np.zeros(len(x)))
        with pytest.raises(RowsError, match="weight column 'w' is zero in every row"):
            read_rows(ReadOptions(file, weight="w"))

    def test_sparse(self, tmp_path: Path) -> None:
        x = scipy.sparse.random(50, 8, density=0.2, format="csc", random_state=0, dtype=np.float32)
        file = tmp_path / "s.npz"
        scipy.sparse.save_npz(file, x)
        rows = read_rows(ReadOptions(file))
        assert rows.x.format == "csr"
        assert rows.x.dtype == np.float32
        assert np.array_equal(rows.x.toarray(), x.toarray())
        assert np.array_equal(
            read_rows(ReadOptions(file, ("5,0-2",))).x.toarray(), x.toarray()[:, [5, 0, 1, 2]]
        )
        with pytest.raises(RowsError, match="--weight: a sparse matrix has no column of weights"):
            read_rows(ReadOptions(file, weight="0"))
        broken = x.tocsr()
        broken.data[-1] = np.nan
        scipy.sparse.save_npz(file, broken)
        last = int(np.flatnonzero(np.diff(broken.indptr))[-1])
        with pytest.raises(
            RowsError, match=rf"a value in row {last} \(rows count from 0\) is not finite"
        ):
            read_rows(ReadOptions(file))


def test_holes_are_named(tmp_path: Path, x: np.ndarray) -> None:
    x[17_000, 1] = np.nan
    for dtype in (None, "float32"):  # as it is, and converted
        with pytest.raises(
            RowsError, match=r"x\.npy: column 1 is empty or not a number \(NaN\) in row 17000"
        ):
            read_rows(ReadOptions(saved(tmp_path, x), dtype=dtype))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.arange(3.0), r"holds an array of shape \(3,\); rows and columns are needed"),
        (np.empty((0, 3)), r"has no rows"),
        (np.array([["a", "b"]]), r"no numeric columns"),
        (
            np.array([[1j, 2]]),
            r"no numeric columns \(it has columns 0 \(complex128\), 1 \(complex128\)\)",
        ),
        (np.array([[1, "a"]], dtype=object), r"cannot be read as npy.*Python objects"),
    ],
)
def test_what_cannot_be_clustered(tmp_path: Path, content: np.ndarray, message: str) -> None:
    with pytest.raises(RowsError, match=message):
        read_rows(ReadOptions(saved(tmp_path, content)))


@pytest.mark.parametrize("part", [8, 60, 0.5])
@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_truncated_files(tmp_path: Path, x: np.ndarray, part: float, kind: str) -> None:
    file = tmp_path / f"x.{kind}"
    if kind == "npy":
        np.save(file, x)
    else:
        np.savez_compressed(file, X=x)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(part) or int(part * len(whole))])
    with pytest.raises(
        RowsError, match=f"cannot be read as {kind}; it is truncated or not such a file"
    ):
        read_rows(ReadOptions(file))


def test_damaged_data_in_an_npz(tmp_path: Path, x: np.ndarray) -> None:
    file = tmp_path / "x.npz"
    np.savez_compressed(file, X=x)
    content = bytearray(file.read_bytes())
    content[1000:1100] = bytes(100)
    file.write_bytes(content)
    with pytest.raises(RowsError, match="cannot be read as npz"):
        read_rows(ReadOptions(file))


class TestKindOfFile:
    def test_known_by_its_first_bytes(self, tmp_path: Path, x: np.ndarray) -> None:
        saved(tmp_path, x).rename(tmp_path / "x")
        assert read_rows(ReadOptions(tmp_path / "x")).x.shape == x.shape

    def test_refused(self, tmp_path: Path, x: np.ndarray) -> None:
        (tmp_path / "notes.doc").write_text("words")
        for file, message in (
            (tmp_path / "no.csv", "no.csv: no such file"),
            (tmp_path / "none", "none: no such file"),
            (tmp_path / "notes.doc", r"notes.doc: unknown kind of file; known are Parquet, CSV"),
        ):
            with pytest.raises(RowsError, match=message):
                read_rows(ReadOptions(file))

    def test_options_for_other_kinds(self, tmp_path: Path, x: np.ndarray) -> None:
        file = saved(tmp_path, x)
        with pytest.raises(
            RowsError, match=r"--array X: only npz files hold several arrays, and .*x.npy is npy"
        ):
            read_rows(ReadOptions(file, array="X"))
        with pytest.raises(RowsError, match="--header, --no-header: only CSV files"):
            read_rows(ReadOptions(file, header=False))
        with pytest.raises(RowsError, match=r"--weight w: .*there is no column 'w'"):
            read_rows(ReadOptions(file, weight="w"))
