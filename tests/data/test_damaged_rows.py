"""Sparse rows whose numbers point beyond their own arrays: refused where they come in, as compiled
code would follow them anywhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import cmeans
from cmeans.data.damage import sparse_damage
from cmeans.data.row_source import RowsError
from cmeans.metrics import generalized_rand_measure
from cmeans.validity import partition_coefficient, xie_beni
from every_estimator import EVERY_NAME, build
from sweep_choices import pairs

rng = np.random.default_rng(0)
ROWS = rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.5) + np.repeat(
    [[0.0], [4.0], [8.0]], 20, axis=0
) * (rng.random((60, 6)) < 0.7)


def entry(number: int) -> Callable[[sparse.csr_array], None]:
    return lambda x: x.indices.__setitem__(7, number)


def pointer(place: int, number: int) -> Callable[[sparse.csr_array], None]:
    return lambda x: x.indptr.__setitem__(place, number)


def other(
    name: str, change: Callable[[np.ndarray], np.ndarray]
) -> Callable[[sparse.csr_array], None]:
    return lambda x: setattr(x, name, change(getattr(x, name)))


DAMAGE: dict[str, tuple[Callable[[sparse.csr_array], None], str]] = {
    "beyond the last column": (entry(6), "run from 0 to 6, and may run from 0 to 5"),
    "far beyond": (entry(2**30), f"run from 0 to {2**30}"),
    "negative": (entry(-1), "run from -1 to 5"),
    "far below": (entry(-(2**30)), "run from -1073741824"),
    "falling": (pointer(5, 10**6), "falls after number 5"),
    "a row that ends before it begins": (pointer(30, 1), "falls after number 29"),
    "negative start": (pointer(0, -1000), "begins at -1000"),
    "later start": (pointer(0, 1), "begins at 1"),
    "beyond the end": (pointer(-1, 10**6), "ends at 1000000, and it has"),
    "before the end": (other("indptr", lambda a: np.minimum(a, a[-1] - 1)), "and it has"),
    "too few pointers": (other("indptr", lambda a: a[:-1]), "where 61 whole numbers belong"),
    "too few columns": (other("indices", lambda a: a[:-1]), "and it has"),
    "too few values": (other("data", lambda a: a[:-1]), "whole numbers belong"),
    "fractions": (other("indices", lambda a: a + 0.5), "of float64"),
}


def spoilt(damage: str, form: type = sparse.csr_array) -> sparse.csr_array:
    x = form(ROWS)
    DAMAGE[damage][0](x)
    return x


@pytest.mark.parametrize(
    ("name", "damage", "form"), pairs(EVERY_NAME, DAMAGE, [sparse.csr_array, sparse.csr_matrix])
)
def test_fit_refuses_and_names_x(name: str, damage: str, form: type) -> None:
    with pytest.raises(
        ValueError, match=rf"{name}: X is a damaged sparse CSR matrix: its .*{DAMAGE[damage][1]}"
    ):
        build(name).fit(spoilt(damage, form))


@cache
def sound(estimator: type) -> Any:
    return estimator(3, m=1.2, random_state=0).fit(sparse.csr_array(ROWS))


@pytest.mark.parametrize("damage", DAMAGE)
def test_questions_refuse(damage: str) -> None:
    model, x = sound(cmeans.FuzzyCMeans), spoilt(damage)
    for question in (
        "predict",
        "predict_proba",
        "memberships",
        "transform",
        "score",
        "outlier_score",
    ):
        with pytest.raises(ValueError, match=r"FuzzyCMeans: X is a damaged sparse"):
            getattr(model, question)(x)
    with pytest.raises(ValueError, match=r"X is a damaged sparse"):
        xie_beni(model, x)
    with pytest.raises(ValueError, match=r"StreamingFuzzyCMeans: X is a damaged sparse"):
        sound(cmeans.StreamingFuzzyCMeans).partial_fit(x)


@pytest.mark.parametrize("damage", ["beyond the last column", "falling"])
def test_starts_landmarks_and_memberships_refuse(damage: str, tmp_path: Path) -> None:
    x, good = spoilt(damage), sparse.csr_array(ROWS)
    for words in ({}, {"engine": cmeans.ThreadEngine(checkpoint=tmp_path / "fit.checkpoint")}):
        with pytest.raises(ValueError, match=r"landmarks is a damaged sparse"):
            cmeans.FuzzyCMeans(3, landmarks=x, **words).fit(good)
        with pytest.raises(ValueError, match=r"init is a damaged sparse"):
            cmeans.FuzzyCMeans(60, init=x, **words).fit(good)
    with pytest.raises(ValueError, match=r"memberships is a damaged sparse"):
        partition_coefficient(x)
    with pytest.raises(ValueError, match=r"memberships is a damaged sparse"):
        generalized_rand_measure(np.zeros(60), x)


@pytest.mark.parametrize("form", [sparse.csc_array, sparse.coo_array, sparse.bsr_array])
def test_other_formats_are_looked_at_before_they_become_csr(form: type) -> None:
    x = form(ROWS)
    numbers = x.row if x.format == "coo" else x.indices
    numbers[3] = 10**6
    with pytest.raises(
        ValueError, match=rf"X is a damaged sparse {x.format.upper()} matrix.* to 1000000"
    ):
        cmeans.FuzzyCMeans(3).fit(x)


@pytest.mark.parametrize(
    "damage", [name for name in DAMAGE if not name.startswith("too few") and name != "fractions"]
)
def test_files_are_named(damage: str, tmp_path: Path) -> None:
    x, file = spoilt(damage), tmp_path / "rows.npz"
    np.savez(file, data=x.data, indices=x.indices, indptr=x.indptr, shape=x.shape, format="csr")
    for ask in (
        lambda: cmeans.FuzzyCMeans(3).fit(file),
        lambda: cmeans.open_blocks(file),
        lambda: cmeans.open_blocks(file, columns=[1]),
    ):
        with pytest.raises(
            RowsError, match=r"rows\.npz: (is a damaged sparse CSR matrix|cannot be read as npz)"
        ):
            ask()


@pytest.mark.parametrize("form", [sparse.csc_array, sparse.bsr_array])
def test_files_of_other_formats(form: type, tmp_path: Path) -> None:
    x, file = form(ROWS), tmp_path / "rows.npz"
    x.indices[0] = 10**6
    np.savez(file, data=x.data, indices=x.indices, indptr=x.indptr, shape=x.shape, format=x.format)
    with pytest.raises(
        RowsError, match=rf"rows\.npz: is a damaged sparse {x.format.upper()} matrix"
    ):
        cmeans.open_blocks(file)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_columns_in_any_order_and_twice_are_sound(index: type, tmp_path: Path) -> None:
    """They add up, as SciPy has it."""
    good = sparse.csr_array(ROWS)
    turned = [
        np.r_[np.arange(a, b)[::-1], a : min(a + 1, b)]
        for a, b in zip(good.indptr[:-1], good.indptr[1:], strict=True)
    ]
    order, lengths = np.concatenate(turned), [len(part) for part in turned]
    data = good.data[order].copy()
    ends = np.cumsum(lengths)
    for start, stop in zip(ends - lengths, ends, strict=True):
        if stop - start > 1:  # the first entry is there a second time, each with half of it
            data[[stop - 2, stop - 1]] /= 2
    x = sparse.csr_array(
        (data, good.indices[order].astype(index), np.r_[0, ends].astype(index)), shape=good.shape
    )
    assert not x.has_canonical_format
    np.testing.assert_array_equal(x.toarray(), ROWS)
    want = sound(cmeans.FuzzyCMeans)
    np.testing.assert_array_equal(
        cmeans.FuzzyCMeans(3, m=1.2, random_state=0).fit(x).labels_, want.labels_
    )
    np.testing.assert_array_equal(want.predict(x), want.labels_)
    sparse.save_npz(tmp_path / "rows.npz", x)
    np.testing.assert_array_equal(want.predict(tmp_path / "rows.npz"), want.labels_)


@pytest.mark.parametrize(
    "form",
    [
        sparse.csr_array,
        sparse.csc_array,
        sparse.coo_array,
        sparse.bsr_array,
        sparse.lil_array,
        sparse.dia_array,
    ],
)
def test_sound_ones_pass(form: type) -> None:
    for rows in (ROWS, np.zeros((4, 3)), np.eye(5)[:, ::-1], np.zeros((0, 3)), np.ones((1, 1))):
        assert sparse_damage(form(rows)) is None
    assert sparse_damage(sparse.bsr_array(ROWS, blocksize=(4, 3))) is None
