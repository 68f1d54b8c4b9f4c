"""Outputs are never written over inputs or each other, whatever their names look like."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import cmeans
from cmeans.data.files.discovery import files_of
from cmeans.storage.overwriting import lies_in, refuse_overwriting

X = np.random.default_rng(0).normal(size=(60, 3)) + 5 * np.repeat(np.eye(3), 20, axis=0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    np.save(tmp_path / "v.npy", X)
    return tmp_path / "v.npy"


def other_names(file: Path) -> dict[str, str]:
    """Other names of one file."""
    os.symlink(file, file.parent / "symbolic.npy")
    os.link(file, file.parent / "hard.npy")
    os.symlink(file.parent, file.parent / "folder")
    return {
        "itself": str(file),
        "relative": os.path.relpath(file),
        "dots": str(file.parent / "folder" / ".." / file.parent.name / file.name),
        "symbolic link": str(file.parent / "symbolic.npy"),
        "hard link": str(file.parent / "hard.npy"),
        "through a folder": str(file.parent / "folder" / file.name),
    }


NAMES = ["itself", "relative", "dots", "symbolic link", "hard link", "through a folder"]


class TestIdentity:
    @pytest.mark.parametrize("name", NAMES)
    def test_an_input_by_any_name(self, file: Path, name: str) -> None:
        with pytest.raises(
            ValueError,
            match=r"--out x would overwrite the input file .*v\.npy; choose another name",
        ):
            refuse_overwriting({"--out x": other_names(file)[name]}, [file.parent / "other", file])

    def test_two_outputs_that_are_not_there_yet(self, tmp_path: Path) -> None:
        os.symlink(tmp_path, tmp_path / "folder")
        os.symlink(tmp_path / "new", tmp_path / "dangling")
        for other in (
            tmp_path / "folder" / "new",
            tmp_path / "dangling",
            Path(os.path.relpath(tmp_path / "new")),
        ):
            with pytest.raises(ValueError, match="--b is --a too; they must be different files"):
                refuse_overwriting({"--a": tmp_path / "new", "--b": other}, [])
        refuse_overwriting(
            {"--a": tmp_path / "new", "--b": tmp_path / "newer", "--c": tmp_path / "no" / "new"},
            [tmp_path / "gone"],
        )

    def test_open_files(self, file: Path) -> None:
        with file.open("rb") as opened:
            with pytest.raises(
                ValueError, match="would overwrite the input file of standard input"
            ):
                refuse_overwriting({"--out x": file}, [opened.fileno()])
            with pytest.raises(
                ValueError, match=r"standard output would overwrite the input file .*v\.npy"
            ):
                refuse_overwriting({"standard output": opened.fileno()}, [file])

    def test_links_in_a_circle(self, tmp_path: Path) -> None:
        os.symlink(tmp_path / "circle", tmp_path / "circle")
        refuse_overwriting(
            {"--a": tmp_path / "circle", "--b": tmp_path / "circle" / "x"}, [tmp_path / "x"]
        )
        assert not lies_in(tmp_path / "circle" / "x", tmp_path / "other")

    def test_inside_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "rows" / "deep").mkdir(parents=True)
        os.symlink(tmp_path / "rows" / "deep", tmp_path / "elsewhere")
        assert lies_in(tmp_path / "elsewhere" / "new" / "file", tmp_path / "rows")
        assert lies_in(tmp_path / "rows", tmp_path / "elsewhere" / "..")
        assert not lies_in(tmp_path / "rows-too" / "file", tmp_path / "rows")

    def test_maps(self, file: Path) -> None:
        rows = np.load(file, mmap_mode="r")
        assert files_of(np.asarray(rows)[3:, :2]) == (str(file),)
        assert files_of(X) == ()
        assert files_of([[1.0]]) == ()


class TestPredictTo:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("rows", ["path", "folder", "opened", "part", "mapped"])
    def test_rows_are_not_written_over(self, file: Path, name: str, rows: str) -> None:
        model = cmeans.KernelKMeans(3, kernel="linear", random_state=0).fit(X)
        before = file.read_bytes()
        given = {
            "path": lambda: file,
            "folder": lambda: file.parent,
            "opened": lambda: cmeans.open_blocks(file),
            "part": lambda: (
                cmeans.open_blocks(str(file.parent / "v*.npy")).part(3, 20).mapped(np.negative)
            ),
            "mapped": lambda: np.load(file, mmap_mode="r")[:30],
        }[rows]()
        with pytest.raises(
            ValueError,
            match=r"KernelKMeans.predict_to\(out=.*\) would overwrite the input file .*npy; choose "
            r"another name",
        ):
            model.predict_to(given, other_names(file)[name])
        assert file.read_bytes() == before

    def test_other_files_are(self, file: Path) -> None:
        model = cmeans.KernelKMeans(3, kernel="linear", random_state=0).fit(X)
        (file.parent / "labels.npy").write_bytes(b"of a former run")
        model.predict_to(file, file.parent / "labels.npy")
        assert np.array_equal(np.load(file.parent / "labels.npy"), model.predict(X))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", ["path", "array"])
def test_a_checkpoint_replaces_no_rows(file: Path, name: str, rows: str) -> None:
    before = file.read_bytes()
    with pytest.raises(
        ValueError,
        match=r"checkpoint: .*npy is no checkpoint of a fit, and is not written over; give another "
        r"name",
    ):
        cmeans.KernelKMeans(
            3, random_state=0, engine=cmeans.ThreadEngine(checkpoint=other_names(file)[name])
        ).fit(file if rows == "path" else X)
    assert file.read_bytes() == before
    assert np.array_equal(np.load(file.parent / "hard.npy"), X)
