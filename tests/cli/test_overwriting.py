"""Every output of a command is compared with every input and every other output, by which file it
is."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import cmeans as library
from cli.command import Command, Ended
from cli.streams import csv, groups, table
from cmeans.persistence.model_file import read_metadata
from cmeans.storage.lock import locked

FIT = ["--clusters", 3, "--kernel", "linear", "-q"]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in" / "v.npy", groups(90)[0])
    return tmp_path / "in" / "v.npy"


def links(file: Path, ending: str = "") -> list[Path]:
    """The file, and other names of it in its own folder's parent."""
    folder = file.parent.parent
    os.symlink(file, folder / f"symbolic{ending}")
    os.link(file, folder / f"hard{ending}")
    return [file, folder / f"symbolic{ending}", folder / f"hard{ending}"]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(ended: Ended, message: str) -> None:
    assert ended.code == 2, ended
    assert (ended.out, len(ended.err.splitlines())) == ("", 1), ended
    assert message in ended.err


@pytest.mark.parametrize("given", ["v.npy", "", "*.npy"])
def test_fit_keeps_no_checkpoint_in_its_input(
    cmeans: Command, rows: Path, tmp_path: Path, given: str
) -> None:
    names = links(rows)
    before = contents(tmp_path)
    for name in names:
        for resume in ([], ["--resume"]):
            ended = cmeans(
                "fit",
                rows.parent / given,
                *FIT,
                "--checkpoint",
                name,
                "--out",
                tmp_path / "o",
                *resume,
            )
            refused(
                ended,
                f"--checkpoint {name} would overwrite the input file {rows}; choose another name.",
            )
    assert contents(tmp_path) == before


@pytest.mark.parametrize("output", ["labels.parquet", "model.safetensors", "summary.json"])
def test_fit_keeps_no_checkpoint_in_its_results(
    cmeans: Command, rows: Path, tmp_path: Path, output: str
) -> None:
    out = tmp_path / "o"
    os.symlink(out, tmp_path / "link")
    ended = cmeans("fit", rows, *FIT, "--checkpoint", tmp_path / "link" / output, "--out", out)
    refused(
        ended,
        f"--checkpoint {tmp_path / 'link' / output} is --out {out}: the {output.partition('.')[0]} "
        "too; they must be different",
    )
    assert not out.exists()
    assert cmeans("fit", rows, *FIT, "--out", out).code == 0
    before = contents(tmp_path)
    refused(
        cmeans("fit", rows, *FIT, "--checkpoint", out / output, "--out", out),
        "they must be different files",
    )
    refused(
        cmeans("fit", rows, *FIT, "--checkpoint", out / output, "--out", tmp_path / "p"),
        f"{output} is no checkpoint of a fit",
    )
    assert contents(tmp_path) == before


def test_fit_writes_no_result_over_its_input(cmeans: Command, rows: Path, tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    os.link(rows, tmp_path / "o" / "model.safetensors")
    before = contents(tmp_path)
    refused(
        cmeans("fit", rows, *FIT, "--out", tmp_path / "o"),
        f"the model would overwrite the input file {rows}",
    )
    assert contents(tmp_path) == before


def test_checkpoints_of_a_fit_are_written_over(cmeans: Command, rows: Path, tmp_path: Path) -> None:
    kept = tmp_path / "fit.checkpoint"
    for _ in range(2):
        assert cmeans("fit", rows, *FIT, "--checkpoint", kept, "--out", tmp_path / "o").code == 0
    before = kept.read_bytes()
    assert (
        cmeans("fit", rows, *FIT, "--checkpoint", kept, "--out", tmp_path / "p", "--resume").code
        == 0
    )
    assert kept.read_bytes() == before


@pytest.mark.parametrize("given", ["v.npy", "*.npy"])
def test_predict_writes_over_neither_rows_nor_model(
    cmeans: Command, rows: Path, tmp_path: Path, given: str
) -> None:
    assert cmeans("fit", rows, *FIT, "--out", tmp_path / "o").code == 0
    model = tmp_path / "o" / "model.safetensors"
    os.link(model, tmp_path / "model.csv")
    names = [*links(rows, ".npy"), tmp_path / "model.csv"]
    before = contents(tmp_path)
    for name in names:
        refused(
            cmeans("predict", model, rows.parent / given, "--out", name, "-q"),
            f"--out {name} would overwrite the input file",
        )
    assert contents(tmp_path) == before


class TestStream:
    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "x.csv").write_bytes(csv(groups(60)[0]))
        return tmp_path / "in" / "x.csv"

    @pytest.mark.parametrize("option", ["--out", "--checkpoint", "--summary"])
    @pytest.mark.parametrize("piped", [False, True])
    def test_the_source(
        self,
        cmeans: Command,
        source: Path,
        tmp_path: Path,
        option: str,
        piped: bool,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        names = links(source, ".csv")
        before = contents(tmp_path)
        with source.open() as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            for name in names:
                input_file = "of standard input" if piped else source
                ended = cmeans("stream", *([] if piped else [source]), *FIT, option, name)
                refused(
                    ended,
                    f"{option} {name} would overwrite the input file {input_file}; choose another "
                    "name.",
                )
        assert contents(tmp_path) == before

    def test_labels_appended_to_their_source(
        self,
        cmeans: Command,
        source: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        os.link(source, tmp_path / "hard")
        before = contents(tmp_path)
        with (tmp_path / "hard").open("ab") as raw, io.TextIOWrapper(raw) as stdout:
            monkeypatch.setattr(sys, "stdout", stdout)
            assert cmeans("stream", source, *FIT).code == 2
            monkeypatch.undo()
        assert contents(tmp_path) == before

    def test_files_of_a_folder(self, cmeans: Command, tmp_path: Path) -> None:
        import pyarrow.parquet as pq

        (tmp_path / "in").mkdir()
        file = tmp_path / "in" / "a.parquet"
        pq.write_table(table(groups(60)[0]), file)
        names = links(file, ".csv")[1:]
        before = contents(tmp_path)
        for name in names:
            refused(
                cmeans("stream", file.parent, *FIT, "--out", name),
                f"would overwrite the input file {file}",
            )
        later = tmp_path / "in" / "b.parquet"
        refused(
            cmeans("stream", file.parent, *FIT, "--checkpoint", later),
            f"{later}: lies in {file.parent}, whose .parquet files are read",
        )
        assert contents(tmp_path) == before

    def test_two_outputs(self, cmeans: Command, source: Path, tmp_path: Path) -> None:
        (tmp_path / "l.csv").write_text("former labels")
        os.link(tmp_path / "l.csv", tmp_path / "s.safetensors")
        before = contents(tmp_path)
        ended = cmeans(
            "stream",
            source,
            *FIT,
            "--out",
            tmp_path / "l.csv",
            "--checkpoint",
            tmp_path / "s.safetensors",
        )
        refused(
            ended,
            f"--out {tmp_path / 'l.csv'} is --checkpoint {tmp_path / 's.safetensors'} too; they "
            "must be different files.",
        )
        assert contents(tmp_path) == before

    def test_a_state_replaces_nothing_but_a_state(
        self, cmeans: Command, source: Path, tmp_path: Path
    ) -> None:
        x = groups(60)[0]
        library.save(library.KernelKMeans(3, kernel="linear").fit(x), tmp_path / "k")
        library.save(
            library.StreamingFuzzyCMeans(3, kernel="linear").partial_fit(x), tmp_path / "mine"
        )
        library.KernelKMeans(
            3, kernel="linear", engine=library.ThreadEngine(checkpoint=tmp_path / "fit")
        ).fit(x)
        (tmp_path / "text").write_text("words")
        (tmp_path / "empty").touch()
        before = contents(tmp_path)
        for name in ("k", "mine", "fit", "text", "empty"):
            kept = tmp_path / name
            ended = cmeans(
                "stream", source, *FIT, "--checkpoint", kept, "--out", tmp_path / "l.csv"
            )
            refused(
                ended,
                f"--checkpoint {kept}: is no state of a stream, and is not written over; give "
                "another name, or remove it first.",
            )
        assert contents(tmp_path) == before
        for name in ("k", "mine", "text", "empty"):
            ended = cmeans(
                "fit", source, *FIT, "--checkpoint", tmp_path / name, "--out", tmp_path / "o"
            )
            refused(
                ended,
                f"--checkpoint: {tmp_path / name} is no checkpoint of a fit, and is not written "
                "over",
            )
        assert contents(tmp_path) == before
        for _ in range(2):  # the second state replaces the first
            assert (
                cmeans(
                    "stream",
                    source,
                    *FIT,
                    "--checkpoint",
                    tmp_path / "s",
                    "--out",
                    tmp_path / "l.csv",
                ).code
                == 0
            )
        assert read_metadata(tmp_path / "s")["metadata"]["stream"]["clustered"] == 60


def test_an_output_that_another_command_writes_is_refused(cmeans: Command, tmp_path: Path) -> None:
    """Before anything is read or written; also the checkpoint, of whatever command."""
    rows, out, kept = tmp_path / "rows.csv", tmp_path / "out", tmp_path / "state"
    rows.write_text("a,b\n" + "\n".join(f"{i % 2 * 9},{i}" for i in range(40)))
    stream = ["stream", rows, "-c", 2, "--out", tmp_path / "l.csv", "--checkpoint", kept]
    fit = ["fit", rows, "-c", 2, "--out", out, "--checkpoint", tmp_path / "fit.state"]
    choose = ["select", rows, "-c", "2-3", "--refits", 0, "--checkpoint", tmp_path / "fit.state"]
    for words, held in (
        (stream, tmp_path / "l.csv"),
        (stream, kept),
        (fit, out),
        (fit, tmp_path / "fit.state"),
        (choose, tmp_path / "fit.state"),
    ):
        with locked(held, "it"):
            ended = cmeans(*words)
        assert ended.code == 2
        option = "--out" if held in (out, tmp_path / "l.csv") else "--checkpoint"
        assert re.fullmatch(
            rf"cmeans: {option} {re.escape(str(held))}: process {os.getpid()} on .* writes there; "
            r"wait for it, or choose another name\.",
            ended.err.splitlines()[-1],
        )
        assert not (tmp_path / "l.csv").exists()
        assert not (out / "summary.json").exists()
        out.mkdir(exist_ok=True)  # a lock lies in a folder that is there
    for words in (stream, fit, choose):
        assert cmeans(*words).code == 0
    assert not [*tmp_path.rglob(".cmeans*")]


class TestFilesOfOthers:
    """A folder of results may hold files of the same names that are none."""

    def test_a_fit(self, cmeans: Command, rows: Path, tmp_path: Path) -> None:
        out = tmp_path / "o"
        out.mkdir()
        pq.write_table(table(groups(90)[0]), out / "labels.parquet")
        (out / "model.safetensors").write_bytes(b"of somebody else")
        before = contents(out)
        ended = cmeans("fit", rows, *FIT, "--out", out)
        assert (ended.code, ended.err) == (
            2,
            f"cmeans: --out {out}: labels.parquet, model.safetensors in it are not of a former run "
            "of this command; name another folder, or take --overwrite.\n",
        )
        assert contents(out) == before
        assert cmeans("fit", rows, *FIT, "--out", out, "--overwrite").code == 0
        assert pq.read_table(out / "labels.parquet").column_names[0] == "label"

    def test_beside_those_of_a_run(self, cmeans: Command, rows: Path, tmp_path: Path) -> None:
        out = tmp_path / "o"
        assert cmeans("fit", rows, *FIT, "--out", out).code == 0
        assert cmeans("fit", rows, *FIT, "--out", out).code == 0  # its own
        (out / "report.html").write_text("notes")
        assert cmeans("fit", rows, *FIT, "--out", out).code == 0  # none that it would write
        ended = cmeans("fit", rows, *FIT, "--out", out, "--report")
        assert (ended.code, "report.html in it is not of a former run" in ended.err) == (2, True)
        assert (out / "report.html").read_text() == "notes"

    def test_what_another_run_does_not_write(
        self, cmeans: Command, rows: Path, tmp_path: Path
    ) -> None:
        """A page and labels of the run before would be of other clusters than all beside them."""
        out = tmp_path / "o"
        out.mkdir()
        (out / "notes.html").write_text("notes")
        more = ("--report", "--labels-as", "csv")
        assert cmeans("fit", rows, *FIT, "--out", out, *more).code == 0
        assert {"report.html", "labels.csv"} <= {path.name for path in out.iterdir()}
        assert cmeans("fit", rows, *FIT, "--out", out).code == 0
        names = {path.name for path in out.iterdir()}
        assert {"labels.parquet", "notes.html"} <= names
        assert names.isdisjoint({"report.html", "labels.csv"})

    def test_of_a_run_that_was_broken_off(
        self, cmeans: Command, rows: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "o"
        assert cmeans("fit", rows, *FIT, "--out", out).code == 0
        (out / "summary.json").unlink()
        assert cmeans("fit", rows, *FIT, "--out", out).code == 0
        (out / "summary.json").write_text('{"command": "of another program"}')
        ended = cmeans("fit", rows, *FIT, "--out", out)
        assert (ended.code, "summary.json in it is not of a former run" in ended.err) == (2, True)

    def test_select(self, cmeans: Command, rows: Path, tmp_path: Path) -> None:
        out = tmp_path / "o"
        out.mkdir()
        (out / "selection.csv").write_text("notes")
        words = [
            "select",
            rows,
            "-c",
            "2-3",
            "--refits",
            0,
            "--kernel",
            "linear",
            "-q",
            "--out",
            out,
        ]
        ended = cmeans(*words)
        assert (ended.code, "selection.csv in it is not of" in ended.err) == (2, True)
        assert contents(out) == {str(out / "selection.csv"): b"notes"}
        assert cmeans(*words, "--overwrite").code == 0
        assert cmeans(*words).code == 0
