"""What a command says where the disk is full: which file, and what the system said; the exit code
is 2, and nothing is half written."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cli.command import Command, Ended
from cli.streams import LINEAR, csv, groups
from cmeans import FuzzyCMeans
from cmeans.cli import fitting
from cmeans.data.files.row_table import RowTable
from cmeans.data.row_source import StoredRows
from cmeans.storage import atomic
from cmeans.storage.atomic import WriteError
from full_disk import files_end_at


def refused(ended: Ended) -> str:
    assert (ended.code, ended.out) == (2, ""), ended
    [line] = ended.err.splitlines()
    return line


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", groups(3_000)[0])
    return tmp_path / "x.npy"


@pytest.mark.parametrize(("size", "name"), [(500, "labels.parquet"), (5_000, "model.safetensors")])
def test_fit(cmeans: Command, rows: Path, tmp_path: Path, size: int, name: str) -> None:
    """Hard labels take less room than the model does."""
    words = [
        "fit",
        rows,
        "--clusters",
        3,
        "--landmarks",
        300,
        "--method",
        "hard",
        "-q",
        "--out",
        tmp_path / "o",
    ]
    with files_end_at(size):
        assert (
            refused(cmeans(*words))
            == f"cmeans: cannot write {tmp_path / 'o' / name}: File too large."
        )
    assert list(tmp_path.iterdir()) == [rows]


def test_fit_with_a_checkpoint(cmeans: Command, rows: Path, tmp_path: Path) -> None:
    words = ["fit", rows, *LINEAR, "-q", "--out", tmp_path / "o", "--checkpoint"]
    with files_end_at(100):
        assert (
            refused(cmeans(*words, tmp_path / "c"))
            == f"cmeans: cannot write {tmp_path / 'c'}: File too large."
        )
    assert (
        refused(cmeans(*words, tmp_path / "no" / "c"))
        == f"cmeans: cannot write {tmp_path / 'no' / 'c'}: No such file or directory."
    )
    assert list(tmp_path.iterdir()) == [rows]


@pytest.mark.parametrize("ending", ["parquet", "csv", "npy"])
def test_predict(cmeans: Command, rows: Path, tmp_path: Path, ending: str) -> None:
    assert cmeans("fit", rows, *LINEAR, "-q", "--out", tmp_path / "o").code == 0
    out = tmp_path / f"p.{ending}"
    with files_end_at(2_000):
        ended = cmeans("predict", tmp_path / "o" / "model.safetensors", rows, "--out", out, "-q")
    assert ended.code == 2
    assert ended.err.splitlines()[-1] == f"cmeans: cannot write {out}: File too large."
    assert sorted(tmp_path.iterdir()) == [tmp_path / "o", rows]


def test_stream(cmeans: Command, tmp_path: Path) -> None:
    x, state, labels, summary = (
        tmp_path / "x.csv",
        tmp_path / "s",
        tmp_path / "l.csv",
        tmp_path / "m.json",
    )
    x.write_bytes(csv(groups(400)[0]))
    words = [
        "stream",
        x,
        *LINEAR,
        "-q",
        "--chunk-size",
        100,
        "--out",
        labels,
    ]
    with files_end_at(2_000):
        assert (
            refused(cmeans(*words, "--checkpoint", state, "--checkpoint-every", 1))
            == f"cmeans: cannot write {state}: File too large."
        )
        assert refused(cmeans(*words)) == f"cmeans: {labels}: File too large"
    assert sorted(tmp_path.iterdir()) == [labels, x]
    with files_end_at(20):
        words = ["stream", x, *LINEAR, "-q", "--summary", summary]
        ended = cmeans(*words)
    assert ended.code == 2
    assert ended.err == f"cmeans: cannot write {summary}: File too large.\n"


def test_demo(cmeans: Command, tmp_path: Path) -> None:
    with files_end_at(2_000):
        ended = cmeans("demo", "--out", tmp_path / "d", "-q")
    assert (
        refused(ended) == f"cmeans: cannot write {tmp_path / 'd' / 'wine.parquet'}: File too large."
    )
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("full", ["for labels", "for a model beside them"])
def test_a_model_goes_before_its_labels(
    cmeans: Command, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    """Where there is room for one of them: it can make the labels, which cannot make a model."""
    out, save = tmp_path / "o", fitting.save

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def saved(model: Any, path: Path, **words: Any) -> None:
        if (path.parent / "labels.parquet").exists():
            raise WriteError(errno.ENOSPC, "No space left on device", str(path))
        save(model, path, **words)

    with monkeypatch.context() as patch:
        if full == "for labels":
            patch.setattr(RowTable, "append", no_room)
        else:
            patch.setattr(fitting, "save", saved)
        ended = cmeans("fit", rows, *LINEAR, "-q", "--out", out)
    assert refused(ended) == (
        f"cmeans: cannot write {out / 'labels.parquet'}: No space left on device. Written: "
        f"{out / 'model.safetensors'}. cmeans predict makes the labels from the model."
    )
    assert [file.name for file in out.iterdir()] == ["model.safetensors"]
    words = ["predict", out / "model.safetensors", rows, "--out", tmp_path / "l.npy", "-q"]
    assert cmeans(*words).code == 0


class Unread(StoredRows):
    """Three million rows of no file, of which none may be read."""

    def __init__(self) -> None:
        super().__init__("nowhere", ["a", "b", "c"], np.float64, 3_000_000)

    def memory(self, n_threads: int) -> int:
        return 0

    def _read(self, start: int, stop: int) -> np.ndarray:
        raise AssertionError("rows are read")


def free(monkeypatch: pytest.MonkeyPatch, nbytes: int) -> None:
    monkeypatch.setattr(atomic.shutil, "disk_usage", lambda _: SimpleNamespace(free=nbytes))


@pytest.mark.parametrize(
    ("ending", "words", "of_a_row"),
    [
        ("npy", {}, 4),
        ("csv", {"memberships": True}, 2 + 4 * 4),
        ("parquet", {"memberships": True}, 4 * 4),
        ("parquet", {"top_k": 2, "memberships": True}, 2 * 4),
    ],
)
def test_room_is_asked_for_before_any_row_is_read(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    ending: str,
    words: dict[str, Any],
    of_a_row: int,
) -> None:
    model = FuzzyCMeans(4, kernel="linear", m=2.0, random_state=0)
    fitted = FuzzyCMeans(4, kernel="linear", m=2.0, random_state=0).fit(groups(100)[0])
    out, least = tmp_path / f"labels.{ending}", 3_000_000 * of_a_row
    for work in (model.fit_predict_to, fitted.predict_to):
        free(monkeypatch, least - 1)
        with pytest.raises(WriteError, match=f"cannot write .*labels.{ending}: it takes at least"):
            work(Unread(), out, **words)
        free(monkeypatch, least)
        with pytest.raises(AssertionError, match="rows are read"):
            work(Unread(), out, **words)
    assert not list(tmp_path.iterdir())


def test_a_command_without_room_ends_before_its_work(
    cmeans: Command, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cmeans("fit", rows, *LINEAR, "-q", "--out", tmp_path / "o").code == 0
    free(monkeypatch, 1_000)
    takes = "it takes at least {}, and 1 kB are free there."
    words = ["predict", tmp_path / "o" / "model.safetensors", rows, "-q", "--out"]
    out = tmp_path / "p.npy"
    assert refused(cmeans(*words, out)) == f"cmeans: cannot write {out}: {takes.format('12 kB')}"
    soft = ["fit", rows, *LINEAR, "-q", "--out", tmp_path / "new"]
    name = tmp_path / "new" / "labels.parquet"
    assert refused(cmeans(*soft)) == f"cmeans: cannot write {name}: {takes.format('36 kB')}"
    assert sorted(tmp_path.iterdir()) == [tmp_path / "o", rows]
