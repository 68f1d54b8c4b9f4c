"""The same rows come out of every format, whatever is asked of them, and in whatever order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import cmeans
from cmeans.data.files import group_cache
from cmeans.data.limits import Limits
from cmeans.data.row_source import StoredRows
from file_formats import EVERY, NAMED, TEXT, Written

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def tiny_slabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_cache, "LEAST", 2_000)  # so that there are many


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def x(request: pytest.FixtureRequest) -> np.ndarray:
    return np.abs(np.random.default_rng(0).normal(size=(1_003, 5))).astype(request.param)


def opened(path: object, **words: object) -> StoredRows:
    rows = cmeans.open_blocks(path, **words)
    assert isinstance(rows, StoredRows)
    return rows


def by_name(written: Written) -> object:
    return written.__name__


@pytest.mark.parametrize("written", EVERY, ids=by_name)
class TestEveryFormat:
    def test_all_of_them(self, written: Written, tmp_path: Path, x: np.ndarray) -> None:
        rows = opened(written(tmp_path, x))
        assert (rows.shape, rows.ndim, len(rows)) == (x.shape, 2, len(x))
        assert rows.columns == (tuple("abcde") if written in NAMED else tuple(range(5)))
        assert rows.dtype == (np.float64 if written in TEXT else x.dtype)
        assert rows.weight is None
        found = rows.read(0, len(x))
        assert found.flags.c_contiguous
        assert found.dtype == rows.dtype
        assert found.dtype.isnative
        assert np.array_equal(found.astype(x.dtype), x)

    def test_blocks_anywhere_from_many_threads(
        self, written: Written, tmp_path: Path, x: np.ndarray
    ) -> None:
        rows = opened(written(tmp_path, x), dtype=x.dtype.name)
        rng = np.random.default_rng(1)
        ranges = [
            tuple(sorted(pair)) for pair in rng.integers(0, len(x) + 1, size=(60, 2)).tolist()
        ]
        with ThreadPoolExecutor(4) as pool:
            for (start, stop), found in zip(
                ranges, pool.map(lambda pair: rows.read(*pair), ranges), strict=True
            ):
                assert np.array_equal(found, x[start:stop])

    def test_one_after_the_other_from_many_threads(
        self, written: Written, tmp_path: Path, x: np.ndarray
    ) -> None:
        rows = opened(written(tmp_path, x), dtype=x.dtype.name)

        def walked(begin: int) -> np.ndarray:
            return np.concatenate(
                [
                    rows.read(start, min(start + 17, begin + 251))
                    for start in range(begin, begin + 251, 17)
                ]
            )

        with ThreadPoolExecutor(4) as pool:
            assert np.array_equal(
                np.concatenate(list(pool.map(walked, range(0, 1_003, 251))))[: len(x)], x
            )

    def test_some_rows(self, written: Written, tmp_path: Path, x: np.ndarray) -> None:
        rows = opened(written(tmp_path, x), dtype=x.dtype.name)
        some = np.random.default_rng(2).integers(0, len(x), 300)  # with repeats
        assert np.array_equal(rows.take(some, Limits(read_rows=100)), x[some])
        assert rows.take(some[:0]).shape == (0, 5)

    def test_columns_and_a_weight(self, written: Written, tmp_path: Path, x: np.ndarray) -> None:
        names = "abcde" if written in NAMED else range(5)
        path = written(tmp_path, x)
        for columns, places in (
            ([3, 0], [3, 0]),
            ("1-3", [1, 2, 3]),
            ([names[4], "0-1"], [4, 0, 1]),
            (2, [2]),
            (range(2), [0, 1]),
        ):
            rows = opened(path, columns=columns)
            assert rows.columns == tuple(names[at] for at in places)
            assert np.array_equal(rows.read(5, 400).astype(x.dtype), x[5:400, places])
        rows = opened(path, weight=names[1])
        assert rows.columns == tuple(names[at] for at in (0, 2, 3, 4))
        assert np.array_equal(rows.read(0, len(x)).astype(x.dtype), x[:, [0, 2, 3, 4]])
        assert rows.weight is not None
        assert rows.weight.dtype == np.float64
        assert np.array_equal(rows.weight.astype(x.dtype), x[:, 1])

    @pytest.mark.parametrize("dtype", ["float32", "float64", np.float32])
    def test_the_type_that_is_asked_for(
        self, written: Written, tmp_path: Path, x: np.ndarray, dtype: object
    ) -> None:
        rows = opened(written(tmp_path, x), dtype=dtype)
        assert rows.dtype == dtype
        some = x[100:200]
        if written in TEXT:
            some = np.array([[float(str(value)) for value in row] for row in some])
        assert np.array_equal(rows.read(100, 200), some.astype(dtype))

    def test_a_hole_has_a_place(self, written: Written, tmp_path: Path, x: np.ndarray) -> None:
        x[777, 2] = np.nan
        path = written(tmp_path, x)
        with pytest.raises(
            ValueError,
            match=r": column ('c'|2) is empty or not a number \(NaN\) in row \d+ \(rows count from "
            r"0",
        ) as caught:
            opened(path).read(700, 800)
        if isinstance(path, Path) and path.is_file():
            assert " in row 777 " in str(caught.value)

    def test_memory_is_told_and_bounded(
        self, written: Written, tmp_path: Path, x: np.ndarray
    ) -> None:
        rows = opened(written(tmp_path, x))
        assert 0 <= rows.memory(1) <= rows.memory(4) < 2**30
        assert rows.nbytes == rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
        assert "1,003 x 5" in repr(rows)


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint16, np.int64, np.float16])
def test_numbers_of_every_kind(tmp_path: Path, kind: type) -> None:
    x = np.random.default_rng(0).integers(0, 2, size=(50, 3)).astype(kind)
    np.save(tmp_path / "x.npy", x)
    rows = opened(tmp_path / "x.npy")
    assert rows.dtype == (np.float32 if kind in (np.int8, np.float16) else np.float64)
    assert np.array_equal(rows.read(3, 50), x[3:])


def test_weights_beside_the_rows_of_an_npz(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(50, 3))
    np.savez_compressed(tmp_path / "x.npz", rows=x, w=np.arange(50), other=x[:, :1])
    rows = opened(tmp_path / "x.npz", array="rows", weight="w")
    assert rows.columns == (0, 1, 2)
    assert rows.weight is not None
    assert rows.weight.tolist() == list(range(50))
    with pytest.raises(
        ValueError, match=r"holds 3 arrays .*; say which holds the rows, e\.g\. array='rows'"
    ):
        cmeans.open_blocks(tmp_path / "x.npz")


def test_a_sparse_matrix_comes_as_it_is(tmp_path: Path) -> None:
    import scipy.sparse

    x = scipy.sparse.random_array((40, 6), density=0.3, format="csr", rng=0)
    scipy.sparse.save_npz(tmp_path / "s.npz", x)
    found = cmeans.open_blocks(tmp_path / "s.npz", columns=[4, 1])
    assert found.format == "csr"
    assert np.array_equal(found.toarray(), x.toarray()[:, [4, 1]])
