"""Numbers that are too large or too small to compute with: messages name the row, among all that
were given."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cmeans import (
    FuzzyCMeans,
    KernelKMeans,
    LandmarkGraph,
    PossibilisticCMeans,
    Search,
    StreamingFuzzyCMeans,
)
from cmeans.kernels import Polynomial
from limited import limited

X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0, 0, 0], [9, 0, 0]], 30, axis=0)
ROW = r"Row 17 is the first such one, with {} in column 1 \(rows count from 0\)\."


def spoilt(dtype: Any = np.float64) -> np.ndarray:
    """Two rows of which the squares are beyond the type."""
    rows = X.astype(dtype)
    rows[[40, 17], 1] = (1e300, 1e200) if dtype is np.float64 else (1e30, 1e25)
    return rows


@pytest.mark.parametrize("cls", [KernelKMeans, FuzzyCMeans, PossibilisticCMeans])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_first_row_is_named(cls: Any, dtype: Any) -> None:
    message = f"^{cls.__name__}.*" + ROW.format(r"1e\+200" if dtype is np.float64 else r"1e\+25")
    with pytest.raises(ValueError, match=message):
        cls(2, kernel="linear", random_state=0).fit(spoilt(dtype))
    model = cls(2, kernel="linear", random_state=0).fit(X.astype(dtype))
    for answer in (
        model.predict,
        model.memberships,
        model.transform,
        model.score,
        model.outlier_score,
    ):
        with pytest.raises(ValueError, match=message):
            answer(spoilt(dtype))


@pytest.mark.parametrize(
    "make", [sparse.csr_array, lambda rows: pytest.importorskip("array_api_strict").asarray(rows)]
)
def test_in_other_forms(make: Any) -> None:
    with pytest.raises(ValueError, match=ROW.format(r"1e\+200")):
        FuzzyCMeans(2, random_state=0).fit(X).predict(make(spoilt()))


def test_among_joined_rows_and_in_stored_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.concatenate([X[:1], X[:1], spoilt()])
    with pytest.raises(ValueError, match=r"Row 19 is the first such one"):
        KernelKMeans(2, kernel="linear", search=Search(join_equal_rows=True)).fit(rows)
    np.save(tmp_path / "rows.npy", rows)
    limited(monkeypatch, loaded_bytes=0, block_rows=8, least_task_rows=8)
    model = FuzzyCMeans(2, random_state=0).fit(X)
    for answer in (
        FuzzyCMeans(2, random_state=0).fit,
        model.predict,
        lambda file: model.predict_to(file, tmp_path / "out.npy"),
    ):
        with pytest.raises(
            ValueError, match=r"Row 19 is the first such one, with 1e\+200 in column 1"
        ):
            answer(tmp_path / "rows.npy")


def test_columns_have_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"Row 17 is the first such one, with .* in column 'b'"):
        FuzzyCMeans(2).fit(pandas.DataFrame(spoilt(), columns=list("abc")))


def test_without_a_row_that_is_out_of_range_the_largest_number_is_named() -> None:
    rows = X.copy()
    rows[[5, 8], [2, 0]] = [-1e40, 1e40]
    with pytest.raises(
        ValueError, match=r"Row 5 holds the largest number of X, -1e\+40 in column 2"
    ):
        KernelKMeans(2, kernel=Polynomial(degree=9)).fit(rows)


def test_rows_on_a_sphere_and_in_a_graph() -> None:
    rows = X.copy()
    rows[23] = [0.0, -1e-200, 0.0]
    for answer in (
        KernelKMeans(2, kernel="linear", metric="cosine").fit,
        FuzzyCMeans(2, metric="cosine").fit(X).predict,
    ):
        with pytest.raises(
            ValueError,
            match=r"squares are out of range.* Row 23 is the first such one, with -1e-200 in "
            r"column 1",
        ):
            answer(rows)
    with pytest.raises(ValueError, match=ROW.format(r"1e\+200")):
        LandmarkGraph(2, random_state=0).fit(spoilt())


def test_a_chunk_of_a_stream() -> None:
    stream = StreamingFuzzyCMeans(2, random_state=0).partial_fit(X)
    with pytest.raises(ValueError, match=ROW.format(r"1e\+200")):
        stream.partial_fit(spoilt())
    assert stream.n_samples_seen_ == len(X)


def test_rows_that_wait_for_a_stream_to_begin() -> None:
    """They would be refused with all that come after them."""
    stream = StreamingFuzzyCMeans(3, random_state=0)
    with pytest.raises(
        ValueError, match=r"^StreamingFuzzyCMeans: .* Row 1 is the first such one, with 1e\+200"
    ):
        stream.partial_fit(spoilt()[16:18])
    assert stream.partial_fit(X[:2]).labels_.tolist() == [-1, -1]
    assert stream.partial_fit(X).n_samples_seen_ == len(X) + 2


# a row that is far from all others has a centre of its own
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("words", "dtype", "large"),
    [
        ({}, np.float64, np.logspace(144, 156, 5)),
        ({"kernel": "rbf"}, np.float64, np.logspace(150, 158, 3)),
        ({"kernel": "polynomial"}, np.float64, [1.6788e51, 1.778279410038923e51, 1e53]),
        ({"rule": "hard", "noise": None}, np.float32, np.logspace(15, 20, 5)),
    ],
)
def test_what_a_stream_has_taken_does_not_end_it(words: Any, dtype: Any, large: Any) -> None:
    """Rows of any size are taken or refused by their number, and ordinary ones go on being taken,
    the same whether others were refused before them or not."""
    for value in large:
        rows, stream = X.astype(dtype), StreamingFuzzyCMeans(3, random_state=0, **words)
        rows[17, 1] = value
        for _ in range(2):
            before, said = stream.partial_fit(X.astype(dtype))._stream, ""
            try:
                stream.partial_fit(rows)
            except ValueError as error:
                said = str(error)
            refused = re.match("StreamingFuzzyCMeans.* Row 17 ", said) is not None
            assert refused == bool(said) == (stream._stream is before)
        stream.partial_fit(X.astype(dtype))
        assert np.isfinite(stream._stream.past.spread).all()


def test_a_number_that_vanishes_is_not_blamed_for_one_that_is_too_large() -> None:
    rows = spoilt()
    rows[3] = [0.0, 1e-200, 0.0]
    with pytest.raises(ValueError, match=ROW.format(r"1e\+200")):
        FuzzyCMeans(2, random_state=0).fit(rows)


def test_dask_says_in_which_chunk() -> None:
    array = pytest.importorskip("dask.array")
    model = FuzzyCMeans(2, random_state=0).fit(X)
    rows = X.copy()
    rows[17, 1] = 1e200
    with pytest.raises(
        ValueError,
        match=r"Row 2 is the first such one.*Rows are counted within a chunk of X, which begins at "
        r"row 15\.",
    ):
        model.predict(array.from_array(rows, chunks=(15, 3))).compute()
