"""Standard output and error that are closed, full, or that nobody reads: a clear error or a quiet
end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import numpy as np
import pytest

import cmeans as library
from cli.command import Command
from cli.streams import csv, groups

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")]

FIT = "-c 3 --kernel linear"
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("streams")
    x = groups(60)[0]
    np.save(place / "x.npy", x)
    (place / "x.csv").write_bytes(csv(x))
    library.save(library.FuzzyCMeans(3, kernel="linear", random_state=0).fit(x), place / "m")
    return place


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of the shell, in which `cmeans` is the command."""
    script = f'cmeans() {{ "{sys.executable}" -m cmeans.cli "$@"; }}\n{line}'
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("line", "code", "err"),
    [
        pytest.param(
            f"cmeans fit x.npy {FIT} --out o <&- >&- 2>&-", 0, "", marks=pytest.mark.minutes
        ),
        pytest.param(
            "cmeans --help >/dev/full",
            2,
            "cmeans: standard output: No space left on device\n",
            marks=FULL,
        ),
    ],
)
def test_closed_or_full(folder: Path, line: str, code: int, err: str) -> None:
    ended = shell(line, folder)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", err)


def test_only_standard_output_is_open(folder: Path) -> None:
    """To which the summary is written."""
    ended = shell(f"cmeans fit x.npy {FIT} --out o <&- 2>&-", folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["outputs"]["labels"] == str(Path("o") / "labels.parquet")


@pytest.mark.parametrize(
    ("words", "code", "err"),
    [
        ("info m", 2, "cmeans: standard output: is closed.\n"),
        (f"stream x.csv -q {FIT}", 2, "cmeans: standard output: is closed; give --out FILE.\n"),
        (f"stream x.csv -q {FIT} --out l.csv", 0, ""),
    ],
)
def test_standard_output_is_closed(
    cmeans: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, words: str, code: int, err: str
) -> None:
    """As Python tells a process of it: there is no such file."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdout", None)
    ended = cmeans(*words.split())
    assert (ended.code, ended.err) == (code, err)


def stands_for(name: str, file: TextIO, patch: pytest.MonkeyPatch) -> None:
    """Let a file be the standard output or error of this process."""
    for known in (name, f"__{name}__"):
        patch.setattr(sys, known, file)


@FULL
def test_standard_output_is_full(
    cmeans: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with monkeypatch.context() as patch, open("/dev/full", "w") as full:
        stands_for("stdout", full, patch)
        ended = cmeans("stream", "x.csv", "-q", *FIT.split())
    assert (ended.code, ended.err) == (2, "cmeans: standard output: No space left on device\n")


@FULL
def test_standard_error_is_full(
    cmeans: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with monkeypatch.context() as patch, open("/dev/full", "w") as full:
        stands_for("stderr", full, patch)
        assert cmeans("fit", "x.npy", *FIT.split(), "--out", "o").code == 0


def test_messages_go_nowhere_where_standard_error_is_closed(
    cmeans: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not to standard output, among the labels."""
    monkeypatch.chdir(folder)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        ended = cmeans("stream", "x.csv", *FIT.split())
        sys.stderr.close()  # the null device by now
    lines = ended.out.splitlines()
    assert (ended.code, lines[0], len(lines)) == (0, "row,label", 61)


def unread() -> int:
    """A pipe whose reader has left before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize("words", [f"fit x.npy -q {FIT} --out o", f"stream x.csv -q {FIT}"])
def test_nobody_reads(
    cmeans: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(folder)
    with monkeypatch.context() as patch, open(unread(), "w") as pipe:
        stands_for("stdout", pipe, patch)
        ended = cmeans(*words.split())
    assert (ended.code, ended.err) == (141, "")
    if words.startswith("fit"):
        assert {path.name for path in (folder / "o").iterdir()} == {
            "labels.parquet",
            "model.safetensors",
            "run.toml",
            "summary.json",
        }


def test_nobody_reads_the_version(folder: Path) -> None:
    """Of a process, whose end writes what was left."""
    writing = unread()
    ended = subprocess.run(
        [sys.executable, "-m", "cmeans.cli", "--version"],
        cwd=folder,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr.strip()) == (141, "")
