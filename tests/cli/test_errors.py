"""What a wrong command line gets: exit code 2 and one line that says what came and what to do; a
fault of ours gets 1."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from cli.command import Command, Ended
from cmeans.cli import fitting
from cmeans.cli.errors import verdict

pytestmark = pytest.mark.slow


def shown(page: str) -> str:
    """How a message points to a page of the documentation."""
    pages = Path(__file__).resolve().parents[2] / "docs"
    title = (pages / f"{page}.md").read_text().splitlines()[0].removeprefix("# ")
    return f"as the documentation shows on its page '{title}'"


def refused(ended: Ended) -> str:
    """The one line of a refusal."""
    assert ended.code == 2, ended
    assert ended.out == ""
    lines = [
        line
        for line in ended.err.splitlines()
        if not line.startswith(("cmeans: reading", "cmeans: fitting"))
    ]
    assert len(lines) == 1, ended.err
    assert lines[0].startswith("cmeans: ")
    assert "Traceback" not in ended.err
    return lines[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--columns", "a,text"], "column 'text' (text) holds no numbers."),
        (["--columns", "a,zz"], "there is no column 'zz'"),
        (["--weight", "zz"], "--weight zz: "),
        (["--columns", "a,w", "--weight", "w"], "--weight: column 'w' is also in --columns"),
        (["--columns", "a", "--gamma", "wide"], "--gamma wide: give a number or scale or median."),
        (["--columns", "a", "--gamma", "nan"], "--gamma nan: give a number or scale or median."),
        (["--columns", "a", "--m", "two"], "--m two: give a number or auto."),
        (["--columns", "a", "--m", "1"], "--m 1.0: m must be greater than 1"),
        (
            ["--columns", "a", "--m", "2", "--method", "hard"],
            "--m: --method hard has none; it belongs to fuzzy, possibilistic and noise_fuzzy.",
        ),
        (
            ["--columns", "a", "--pilot-m", "2"],
            "--pilot-m: --method fuzzy has none; it belongs to possibilistic and adaptive.",
        ),
        (
            ["--columns", "a", "--eta-scale", "2"],
            "--eta-scale: --method fuzzy has none; it belongs to possibilistic.",
        ),
        (
            ["--columns", "a", "--method", "soft"],
            "--method soft: unknown method; known are hard, two-step, ",
        ),
        (
            ["--columns", "a", "--temperature", "2"],
            "--temperature: --method fuzzy has none; it belongs to entropy.",
        ),
        (
            ["--columns", "a", "--method", "entropy", "--temperature", "0"],
            "--temperature 0.0: T must be auto or a number greater than 0",
        ),
        (
            ["--columns", "a", "--method", "polynomial_fuzzy", "--beta", "1"],
            "--beta 1.0: beta must be less than 1",
        ),
        (
            ["--columns", "a", "--method", "polynomial_fuzzy", "--beta", "-0.5"],
            "--beta -0.5: beta must be a number of at least 0",
        ),
        (
            ["--columns", "a", "--method", "entropy", "--beta", "0.5"],
            "--beta: --method entropy has none;",
        ),
        (
            ["--columns", "a", "--method", "entropy", "--temperature", "1", "--m", "2"],
            "--m: --method entropy has none;",
        ),
        (
            ["--columns", "a", "--landmarks", "some"],
            "--landmarks some: give a whole number or auto or none.",
        ),
        (
            ["--columns", "a", "--landmarks", "0"],
            "--landmarks 0: --landmarks must be auto, none or a whole number of at least 1.",
        ),
        (["--columns", "a", "--landmarks", "100000"], "landmarks"),
        (["--columns", "a", "--clusters", "1000"], "clusters"),
        (["--columns", "a", "--memory-budget", "much"], "--memory-budget much: "),
        (["--columns", "a", "--array", "X"], "--array X: only npz files hold several arrays"),
        (["--columns", "a", "--no-header"], "--header, --no-header: only CSV files"),
    ],
)
def test_wrong_words(
    cmeans: Command, table: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    assert message in refused(
        cmeans("fit", table, "--clusters", 3, *words, "--out", tmp_path / "o")
    )
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.parquet", None, "no.parquet: no such file."),
        ("e.csv", b"", "e.csv: is empty."),
        (
            "t.parquet",
            b"PAR1 and then nothing",
            "t.parquet: cannot be read as Parquet; it is damaged or not such a file",
        ),
        (
            "t.npy",
            b"\x93NUMPY\x01",
            "t.npy: cannot be read as npy; it is truncated or not such a file",
        ),
        (
            "t.npz",
            b"PK\x03\x04",
            "t.npz: cannot be read as npz; it is truncated or not such a file",
        ),
        ("m.csv", b"a,b\n1,2\n3,x\n", "m.csv: line 3: column 'b' holds 'x', no number."),
        (
            "n.csv",
            b"a,b\nx,y\n",
            "n.csv: no numeric columns; left out: 'a' (1), 'b' (1) (categories; --categorical a,b)",
        ),
        ("u.docx", b"words", "u.docx: unknown kind of file"),
        (
            "p.PNG",
            b"\x89PNG\r\n",
            f"p.PNG: is a picture; its pixels become rows, {shown('images')}.",
        ),
        (
            "x.csv",
            "shop,kind,note\n"
            + "".join(f"main,{'bcd'[at % 3]},a note on customer {at}\n" for at in range(30)),
            "left out: 'shop' (the same in the first rows), 'kind' (3) (categories; --categorical "
            f"kind), 'note' (text); texts become vectors first, {shown('topics')}.",
        ),
    ],
)
def test_wrong_files(
    cmeans: Command, tmp_path: Path, name: str, content: bytes | str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    assert message in refused(
        cmeans("fit", tmp_path / name, "--clusters", 2, "--out", tmp_path / "o")
    )
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "grö\x81e,b\n1,2\n".encode("latin1"),
            "is not text in UTF-8 (byte 0xF6 at place 3 of line 1); --encoding says in what it is.",
        ),
        (b"a,b\r1,2\r3\r", "line 3: has 1 field where 2 belong."),
        (
            b"a,b\n1,2\n3,\xe4\x81\n",
            "line 3: column 'b' is not text in UTF-8 (byte 0xE4).",
        ),
        (None, "is a pipe, no plain file; write the rows to a file first."),
    ],
)
def test_wrong_text(cmeans: Command, tmp_path: Path, content: bytes | None, message: str) -> None:
    file, train = tmp_path / "x.csv", tmp_path / "train.csv"
    train.write_text("a,b\n" + "1,2\n3,4\n" * 9)
    assert cmeans("fit", train, "-c", 2, "--out", tmp_path / "o").code == 0
    if content is not None:
        file.write_bytes(content)
    elif hasattr(os, "mkfifo"):
        os.mkfifo(file)
    else:
        pytest.skip("no named pipes here")
    line = f"cmeans: {file}: {message}"
    assert refused(cmeans("fit", file, "-c", 2, "--out", tmp_path / "p")).startswith(line)
    assert refused(
        cmeans("predict", tmp_path / "o" / "model.safetensors", file, "--out", tmp_path / "l.csv")
    ).startswith(line)
    assert not (tmp_path / "p").exists()
    assert not (tmp_path / "l.csv").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text here")
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "npy"])
def test_names_of_files_that_are_not_utf8(cmeans: Command, tmp_path: Path, ending: str) -> None:
    x, file = np.random.default_rng(0).normal(size=(30, 2)), tmp_path / f"plain.{ending}"
    rows = pa.table({"a": x[:, 0], "b": x[:, 1]})
    if ending == "parquet":
        pq.write_table(rows, file)
    elif ending == "arrow":
        pa.feather.write_feather(rows, file)
    elif ending == "npy":
        np.save(file, x)
    else:
        with pa.output_stream(str(file)) as stream:
            pa.csv.write_csv(rows, stream)
    named = tmp_path / os.fsdecode(b"gr\xf6\xdfe.%s" % ending.encode())
    file.rename(named)
    summary = cmeans("fit", named, "-c", 2, "--out", tmp_path / "o").summary
    assert summary["file"] == str(named)
    assert json.loads((tmp_path / "o" / "summary.json").read_text()) == summary
    assert (
        cmeans(
            "predict", tmp_path / "o" / "model.safetensors", named, "--out", tmp_path / "l.csv"
        ).summary["rows"]
        == 30
    )
    if ending in ("csv", "parquet", "arrow"):
        summary = cmeans(
            "stream", named, "-c", 2, "--out", tmp_path / "l.csv", "--checkpoint", tmp_path / "s"
        ).summary
        assert summary["source"] == str(named)
        assert (
            cmeans(
                "stream",
                named,
                "--out",
                tmp_path / "l.csv",
                "--checkpoint",
                tmp_path / "s",
                "--resume",
            ).summary["rows"]
            == 30
        )


def test_wrong_places(cmeans: Command, table: Path, tmp_path: Path) -> None:
    assert "cannot be written (" in refused(
        cmeans("fit", table, "--clusters", 2, "--columns", "a", "--out", table)
    )
    own = tmp_path / "labels.parquet"
    own.write_bytes(table.read_bytes())
    line = refused(cmeans("fit", own, "--clusters", 2, "--columns", "a", "--out", tmp_path))
    assert "the labels would overwrite the input file" in line
    assert own.read_bytes() == table.read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ["fit"],
        ["fit", "x.csv"],
        ["fit", "x.csv", "--clusters", "0", "--out", "o"],
        ["fit", "x.csv", "--clusters", "two", "--out", "o"],
        ["fit", "x.csv", "--clusters", "2", "--out", "o", "--kernel", "round"],
        ["fit", "x.csv", "--clusters", "2", "--out", "o", "--method", "soft"],
        ["fit", "x.csv", "--clusters", "2", "--out", "o", "--wrong"],
        ["predict", "model"],
        ["conjure"],
    ],
)
def test_misuse_exits_2(cmeans: Command, words: list[str]) -> None:
    ended = cmeans(*words)
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err


def test_help_and_version(cmeans: Command) -> None:
    for words in (
        ["--help"],
        ["fit", "--help"],
        ["predict", "--help"],
        ["info", "--help"],
        ["demo", "--help"],
    ):
        assert cmeans(*words).code == 0
    version = cmeans("--version")
    assert (version.code, version.out.split()[0]) == (0, "cmeans")


def test_a_fault_of_ours_exits_1(
    cmeans: Command, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(fitting, "save", broken)
    words = ["fit", table, "--clusters", 2, "--columns", "a", "--out", tmp_path / "o"]
    ended = cmeans(*words, "--quiet")
    assert ended.code == 1
    assert ended.err.splitlines()[-1].startswith(
        "cmeans: a fault of cmeans, not of your input: RuntimeError: two lines (run again with "
        "--debug"
    )
    assert not (tmp_path / "o").exists()
    assert "Traceback" in cmeans(*words, "--debug").err


def test_debug_shows_where_input_was_refused(cmeans: Command, tmp_path: Path) -> None:
    ended = cmeans("fit", tmp_path / "no.csv", "--clusters", 2, "--out", tmp_path / "o", "--debug")
    assert ended.code == 2
    assert "Traceback" in ended.err
    assert ended.err.splitlines()[-1] == f"cmeans: {tmp_path / 'no.csv'}: no such file."


def test_verdicts() -> None:
    assert verdict(KeyboardInterrupt()) == (130, "interrupted; nothing was written.")
    assert verdict(OSError(28, "No space left on device", "f")) == (2, "f: No space left on device")
    assert verdict(ValueError("a\n b")) == (2, "a b")
    code, line = verdict(MemoryError("Unable to allocate 7.28 TiB"))
    assert code == 1
    assert line.startswith("out of memory (Unable to allocate")
