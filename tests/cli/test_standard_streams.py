"""Standard output and error that are closed, full, or that nobody reads: a clear error or a quiet
end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
        ("cmeans info m >&-", 2, "cmeans: standard output: is closed.\n"),
        (f"cmeans fit x.npy {FIT} --out o <&- >&- 2>&-", 0, ""),
        pytest.param(
            "cmeans --help >/dev/full",
            2,
            "cmeans: standard output: No space left on device\n",
            marks=FULL,
        ),
        pytest.param(
            f"cmeans stream x.csv -q {FIT} >/dev/full",
            2,
            "cmeans: standard output: No space left on device\n",
            marks=FULL,
        ),
        pytest.param(f"cmeans fit x.npy {FIT} --out o >/dev/null 2>/dev/full", 0, "", marks=FULL),
    ],
)
def test_closed_or_full(folder: Path, line: str, code: int, err: str) -> None:
    ended = shell(line, folder)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", err)


@pytest.mark.parametrize(
    ("words", "code", "err"),
    [
        ("", 2, "cmeans: standard output: is closed; give --out FILE.\n"),
        ("--out l.csv", 0, ""),
    ],
)
def test_a_stream_where_standard_output_is_closed(
    cmeans: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, words: str, code: int, err: str
) -> None:
    """As Python tells a process of it: there is no such file."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "stdout", None)
    ended = cmeans("stream", "x.csv", "-q", *FIT.split(), *words.split())
    assert (ended.code, ended.err) == (code, err)


def test_messages_go_nowhere_where_standard_error_is_closed(folder: Path) -> None:
    """Not to standard output, among the labels."""
    ended = shell(f"cmeans stream x.csv {FIT} 2>&-", folder)
    assert (ended.returncode, ended.stdout.splitlines()[0], len(ended.stdout.splitlines())) == (
        0,
        "row,label",
        61,
    )


@pytest.mark.parametrize(
    "words", [f"fit x.npy -q {FIT} --out o", f"stream x.csv -q {FIT}", "--version"]
)
def test_nobody_reads(folder: Path, words: str) -> None:
    """The reader has left before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "cmeans.cli", *words.split()]
    ended = subprocess.run(
        command,
        cwd=folder,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr.strip()) == (141, "")
    if words.startswith("fit"):
        assert {path.name for path in (folder / "o").iterdir()} == {
            "labels.parquet",
            "model.safetensors",
            "summary.json",
        }
