"""`cmeans stream` as a process: slow writers, readers that leave, signals, and the one nobody can
catch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import cmeans as library
from cli.command import Command
from cli.streams import csv, groups
from cmeans.cli.stream.run import StreamRun
from cmeans.cli.stream.sources import Source
from cmeans.persistence.model_file import read_metadata

COMMAND = [sys.executable, "-m", "cmeans.cli", "stream"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="POSIX signals and pipes"),
]


def started(*words: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def test_slow_writers_get_answers_and_a_signal_ends_the_wait(tmp_path: Path) -> None:
    x, _ = groups(30)
    process = started(
        "-c", 3, "--kernel", "linear", "--wait", 0.1, "--checkpoint", tmp_path / "s.safetensors"
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(csv(x))
    process.stdin.write(b"1,2")  # a line that is not yet whole
    lines = [process.stdout.readline() for _ in range(31)]  # they come while more may come
    assert [line.split(b",")[0] for line in lines] == [
        b"row",
        *(str(row).encode() for row in range(30)),
    ]
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    end = (
        "30 rows were clustered, 0 more read but not yet clustered; their state is in "
        f"{tmp_path / 's.safetensors'}."
    )
    assert err.decode().splitlines()[-1] == f"cmeans: interrupted; {end}"
    assert b"Traceback" not in err
    assert library.load(tmp_path / "s.safetensors").n_samples_seen_ == 30


def test_rows_that_wait_are_told(tmp_path: Path) -> None:
    out = tmp_path / "l.csv"
    words = ["--chunk-size", 20, "--out", out, "--checkpoint", tmp_path / "s.safetensors"]
    process = started("-c", 3, "--kernel", "linear", *words)
    assert process.stdin is not None
    process.stdin.write(csv(groups(50)[0]))
    while not out.exists() or out.read_bytes().count(b"\n") < 41:  # two chunks
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    end = (
        "40 rows were clustered, 10 more read but not yet clustered; their state is in "
        f"{tmp_path / 's.safetensors'}."
    )
    assert err.decode().splitlines()[-1] == f"cmeans: interrupted; {end}"
    assert [int(line.split(",")[0]) for line in out.read_text().splitlines()[1:]] == list(range(40))


@pytest.mark.parametrize(
    ("owner", "name", "end"),
    [
        (
            Source,
            "_of_lines",
            "0 rows were clustered, 0 more read but not yet clustered; there is no state yet.",
        ),
        (
            StreamRun,
            "_take",
            "0 rows were clustered, 50 more read but not yet clustered; there is no state yet.",
        ),
        (
            StreamRun,
            "_keep",
            "50 rows were clustered, 0 more read but not yet clustered; without --checkpoint their "
            "state is gone.",
        ),
    ],
)
def test_an_interrupt_at_any_time(
    cmeans: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    end: str,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "x.csv").write_bytes(csv(groups(50)[0]))
    monkeypatch.setattr(owner, name, interrupted)
    ended = cmeans(
        "stream", tmp_path / "x.csv", "-c", 3, "--kernel", "linear", "--out", tmp_path / "l.csv"
    )
    assert ended.code == 130
    assert ended.err.splitlines()[-1] == f"cmeans: interrupted; {end}"


def test_a_reader_that_leaves(tmp_path: Path) -> None:
    process = started(
        "-c",
        3,
        "--kernel",
        "linear",
        "--chunk-size",
        1000,
        "--checkpoint",
        tmp_path / "s.safetensors",
        "-q",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    x = csv(groups(1000)[0])
    process.stdin.write(x)
    assert process.stdout.readline() == b"row,label\n"
    process.stdout.close()
    with suppress(BrokenPipeError):
        while True:
            process.stdin.write(x.partition(b"\n")[2])
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stdin.close()
    process.stderr.close()
    assert process.wait(60) == 141  # 128 + SIGPIPE
    stream = read_metadata(tmp_path / "s.safetensors")["metadata"]["stream"]
    assert (
        stream["clustered"]
        == stream["rows"]
        == library.load(tmp_path / "s.safetensors").n_samples_seen_
    )


@pytest.mark.minutes  # test_stream_resume.py ends streams at every place, fuzz/ kills a few
def test_killed_and_resumed(cmeans: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(csv(groups(12_000)[0]))
    words = [
        "-c",
        3,
        "--landmarks",
        40,
        "--chunk-size",
        200,
        "--checkpoint-every",
        1,
        "--tol",
        0.01,
        "--jobs",
        1,
    ]

    def places(run: str) -> list[Path | str]:
        return ["--checkpoint", tmp_path / run / "s.safetensors", "--out", tmp_path / run / "l.csv"]

    for run in ("whole", "torn"):
        (tmp_path / run).mkdir()
    process = started(tmp_path / "x.csv", *words, *places("torn"))
    while not (tmp_path / "torn" / "s.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert cmeans("stream", tmp_path / "x.csv", *words, *places("torn"), "--resume").code == 0
    assert cmeans("stream", tmp_path / "x.csv", *words, *places("whole")).code == 0
    for name in ("l.csv", "s.safetensors"):
        assert (tmp_path / "torn" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert len(list((tmp_path / "torn").iterdir())) == 2  # what the killed run was writing is gone
