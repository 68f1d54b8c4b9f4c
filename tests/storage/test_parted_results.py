"""Results by row in a folder, as the files of the rows lie."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cmeans

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

X = np.random.default_rng(0).normal(size=(30, 2)) + 9.0 * (np.arange(30) % 2)[:, None]
MODEL = cmeans.KernelKMeans(2, kernel="linear", random_state=0).fit(X)
DAYS = {"day=1/a.parquet": slice(0, 7), "day=1/b.parquet": slice(7, 7), "day=2/a.pq": slice(7, 30)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, rows in DAYS.items():
        file = tmp_path / "rows" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(dict(zip("xy", X[rows].T, strict=True))), file, row_group_size=5)
    return tmp_path


def labels_of(folder: Path) -> dict[str, list[int]]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {
        file.relative_to(folder).as_posix(): pq.ParquetFile(file).read()["label"].to_pylist()
        for file in files
    }


def expected(labels: np.ndarray) -> dict[str, list[int]]:
    return {
        str(Path(name).with_suffix(".parquet")): labels[rows].tolist()
        for name, rows in DAYS.items()
    }


def test_labels_lie_as_their_rows_do(folder: Path) -> None:
    counts = MODEL.predict_to(folder / "rows", folder / "labels")
    assert counts.tolist() == np.bincount(MODEL.labels_).tolist()
    assert labels_of(folder / "labels") == expected(MODEL.labels_)
    (folder / "opened").mkdir()  # an empty folder is as good as none
    opened = cmeans.open_blocks(folder / "rows")
    fitted = cmeans.FuzzyCMeans(2, random_state=0)
    fitted.fit_predict_to(opened, folder / "opened", memberships=False)
    assert labels_of(folder / "opened") == expected(fitted.labels_)
    assert sorted(file.name for file in folder.iterdir()) == ["labels", "opened", "rows"]


@pytest.mark.parametrize(
    "model", [cmeans.AutoClustering(2, candidates=["plain"]), cmeans.ConnectivityClustering(2)]
)
def test_of_models_without_sweeps(model: Any, folder: Path) -> None:
    fitted = model.fit(folder / "rows")
    fitted.predict_to(folder / "rows", folder / "labels")
    assert labels_of(folder / "labels") == expected(fitted.labels_)
    model.fit_predict_to(folder / "rows", folder / "again")
    assert labels_of(folder / "again") == expected(fitted.labels_)


def test_in_a_store() -> None:
    store = pytest.importorskip("fsspec").filesystem("memory")
    for name, rows in (("a", X[:10]), ("b", X[10:])):
        with store.open(f"/parted/rows/{name}.npy", "wb") as file:
            np.save(file, rows)
    MODEL.predict_to("memory://parted/rows", "memory://parted/labels")
    found = cmeans.open_blocks("memory://parted/labels").read(0, 30)[:, 0]
    np.testing.assert_array_equal(found, MODEL.labels_)


@pytest.mark.parametrize(
    ("rows", "out", "said"),
    [
        ("rows", "there", "is there already; name a folder that is new or empty"),
        ("rows", "rows/labels", "all of which is read as rows"),
        ("lines.csv", "labels", "lines.csv does not. Write one file"),
        (None, "labels", "has an unknown ending; known are .parquet"),
    ],
)
def test_what_cannot_be_is_one_line(folder: Path, rows: str | None, out: str, said: str) -> None:
    (folder / "there").mkdir()
    (folder / "there" / "old.parquet").touch()
    np.savetxt(folder / "lines.csv", X, delimiter=",")
    before = sorted(folder.rglob("*"))
    with pytest.raises(ValueError, match=said):
        MODEL.predict_to(X if rows is None else folder / rows, folder / out)
    assert sorted(folder.rglob("*")) == before


def test_nothing_is_left_of_what_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(ValueError, match=r"cannot write .*: No space left"):
        MODEL.predict_to(folder / "rows", folder / "labels")
    assert [file.name for file in folder.iterdir()] == ["rows"]
