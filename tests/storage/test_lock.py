"""Outputs that one process at a time writes."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cmeans.storage.lock import LOCK, locked

HOLDER = """
import sys
from pathlib import Path
from cmeans.storage.lock import locked
with locked(Path(sys.argv[1]), "--out"):
    sys.stdout.write("held\\n")
    sys.stdout.flush()
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(output: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes to an output."""
    words = [sys.executable, "-c", HOLDER, str(output)]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.fixture(params=["folder", "file", "link"])
def output(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An output as it may be named; a link to it is the same."""
    if request.param == "folder":
        (tmp_path / "out").mkdir()
        return tmp_path / "out"
    if request.param == "link":
        (tmp_path / "real.csv").touch()
        (tmp_path / "out").symlink_to("real.csv")
    return tmp_path / "out"


def locks(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(f"{LOCK}*")]


@pytest.mark.slow  # another process
def test_one_process_at_a_time(output: Path, tmp_path: Path) -> None:
    with held_elsewhere(output) as process:
        message = (
            f"--out {output}: process {process.pid} on {socket.gethostname()} writes there; wait "
            "for it, or choose another name."
        )
        for _ in range(2):
            with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
                locked(output, f"--out {output}").__enter__()
        if output.is_symlink():
            with pytest.raises(ValueError, match="writes there"):
                locked(tmp_path / "real.csv", "--out").__enter__()
        with locked(tmp_path / "other.csv", "--out"):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert locks(tmp_path)
        with locked(output, "--out"):  # nobody has it any more
            pass
    assert not locks(tmp_path)


def test_in_one_process(output: Path, tmp_path: Path) -> None:
    with locked(output, "--out"):
        with pytest.raises(ValueError, match=f"process {os.getpid()} on "):
            locked(output, "--out").__enter__()
        assert len(locks(tmp_path)) == 1
    assert not locks(tmp_path)
    with pytest.raises(KeyError), locked(output, "--out"):
        raise KeyError
    assert not locks(tmp_path)


def test_another_machine_is_believed(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text("17 elsewhere")
    message = (
        f"--out: process 17 on elsewhere writes there; wait for it, or choose another name; if it "
        f"has ended, remove {tmp_path / LOCK}."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        locked(tmp_path, "--out").__enter__()
    (tmp_path / LOCK).write_text(f"17 {socket.gethostname()}")  # whose process is dead
    with locked(tmp_path, "--out"):
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()} {socket.gethostname()}"


def test_where_no_lock_can_be_written_there_is_none(tmp_path: Path) -> None:
    for place in (tmp_path / "none" / "out.csv", tmp_path / ("x" * 250) / "out"):
        with locked(place, "--out"):
            pass
    with locked(tmp_path / ("x" * 250), "--out"):  # a name as long as names may be
        assert len(locks(tmp_path)) == 1


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")

    def refusing(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refusing)
    with locked(tmp_path, "--out"):
        pass
    (tmp_path / LOCK).write_text("17 elsewhere")
    with pytest.raises(ValueError, match="process 17 on elsewhere"):
        locked(tmp_path, "--out").__enter__()
