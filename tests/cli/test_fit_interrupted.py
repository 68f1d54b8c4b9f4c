"""`cmeans fit` that is stopped, killed or finds the disk full: what is left is whole, and it goes
on from there."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import cmeans as library
from cli.command import Command
from cmeans.solvers import fixed_point
from cmeans.storage import row_writer

pytestmark = pytest.mark.slow

WORDS = [
    "-c",
    "5",
    "--method",
    "fuzzy",
    "--m",
    "1.5",
    "--kernel",
    "rbf",
    "--landmarks",
    "30",
    "--n-init",
    "3",
    "--seed",
    "3",
    "--quiet",
]

KILLED_IN_A_CHECKPOINT = """
import os, signal
from cmeans.storage import codec
write, written = codec.save_file, []

def half(arrays, path, header):
    write(arrays, path, header)
    written.append(path)
    if len(written) == 3:
        os.truncate(path, os.path.getsize(path) // 2)
        os.kill(os.getpid(), signal.SIGKILL)

codec.save_file = half
"""
KILLED_IN_AN_OUTPUT = """
import os, signal
from cmeans.solvers import fixed_point
from cmeans.storage import row_writer

def half(path, *words):
    path.write_bytes(b"half of a file")
    os.kill(os.getpid(), signal.SIGKILL)

row_writer.row_file = half
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 4)) + 3.0 * rng.normal(size=(5, 4))[rng.integers(5, size=3000)]
    file = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(file, x)
    return file


def command(before: str, *words: object) -> list[str]:
    return [
        sys.executable,
        "-c",
        f"{before}\nfrom cmeans.cli import main\nimport sys; sys.exit(main())",
        *map(str, words),
    ]


def run(before: str, *words: object) -> subprocess.CompletedProcess[str]:
    """In a process of its own, of which the fault may make what it likes; what goes well runs in
    this one."""
    return subprocess.run(
        command(before, *words), capture_output=True, text=True, check=False, timeout=120
    )


def labels(folder: Path) -> np.ndarray:
    return pq.read_table(folder / "labels.parquet")["label"].to_numpy()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(KILLED_IN_A_CHECKPOINT, id="checkpoint"),
        # fuzz/ kills fits that write their results, at random moments
        pytest.param(KILLED_IN_AN_OUTPUT, id="output", marks=pytest.mark.minutes),
    ],
)
def test_killed_at_the_worst_moment(
    cmeans: Command, fault: str, rows: Path, tmp_path: Path
) -> None:
    out, file, whole = tmp_path / "out", tmp_path / "fit.checkpoint", tmp_path / "whole"
    words = ["fit", rows, *WORDS, "--checkpoint", file, "--checkpoint-minutes", 0]
    assert cmeans("fit", rows, *WORDS, "--out", whole).code == 0
    ended = run(fault, *words, "--out", out)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert not [path for path in out.glob("*") if not path.name.startswith(".")]
    again = cmeans(*words, "--out", out, "--resume")
    assert again.code == 0, again.err
    assert np.array_equal(labels(out), labels(whole))
    first, second = (json.loads((folder / "summary.json").read_text()) for folder in (whole, out))
    assert (first["objective"], first["n_iter"]) == (second["objective"], second["n_iter"])
    assert sorted(path.name for path in out.iterdir()) == [
        "labels.parquet",
        "model.safetensors",
        "run.toml",
        "summary.json",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fit.checkpoint", "out", "whole"]


def test_a_full_disk(
    cmeans: Command, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "labels.parquet")

    out, file = tmp_path / "out", tmp_path / "fit.checkpoint"
    words = ["fit", rows, *WORDS, "--out", out, "--checkpoint", file]
    with monkeypatch.context() as patch:
        patch.setattr(row_writer, "row_file", full)
        ended = cmeans(*words)
    assert (ended.code, ended.err) == (2, "cmeans: labels.parquet: No space left on device\n")
    assert not out.exists()
    assert cmeans(*words, "--resume").code == 0
    assert len(labels(out)) == 3000


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_a_signal_leaves_the_centres_so_far_and_a_fit_that_can_go_on(
    cmeans: Command, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of Ctrl-C, after two sweeps; SIGTERM ends a fit in test_process.py."""
    out, file = tmp_path / "out", tmp_path / "fit.checkpoint"
    words = ["fit", rows, *WORDS, "--out", out, "--checkpoint", file]
    advance, swept = fixed_point._Loop.advance, []

    def interrupted(loop, now):
        now = advance(loop, now)
        swept.append(now)
        if len(swept) == 2:
            signal.raise_signal(signal.SIGINT)
        return now

    with monkeypatch.context() as patch:
        patch.setattr(fixed_point._Loop, "advance", interrupted)
        ended = cmeans(*words)
    assert ended.code == 130
    assert (
        f"the centres so far are in {out / 'model.safetensors'}; go on with --resume --checkpoint "
        f"{file}." in ended.err
    )
    model = library.load(out / "model.safetensors")
    assert len(model.predict(np.load(rows))) == 3000
    assert [path.name for path in out.iterdir()] == ["model.safetensors"]
    again = cmeans(*words, "--resume")
    assert again.code == 0, again.err
    whole = cmeans("fit", rows, *WORDS, "--out", tmp_path / "whole")
    assert again.summary["objective"] == whole.summary["objective"]


def test_words_that_do_not_go_together(cmeans: Command, rows: Path, tmp_path: Path) -> None:
    for words, said in (
        (["--resume"], "--resume: needs --checkpoint FILE"),
        (["--resume", "--checkpoint", tmp_path / "no"], "there is no"),
        (["--top-k", 9], "give 1 ... 5"),
        (
            ["--method", "hard", "--top-k", 2],
            "--top-k, --threshold: --method hard has no memberships",
        ),
    ):
        given = [
            word for word in WORDS if not ("--method" in map(str, words) and word in ("--m", "1.5"))
        ]
        ended = cmeans("fit", rows, *given, "--out", tmp_path / "o", *words)
        assert ended.code == 2
        assert said in ended.err
        assert not (tmp_path / "o").exists()


def test_no_checkpoint_is_named_that_is_not_there(
    cmeans: Command, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cmeans.fitting.ways.by_sweeps.build_geometry", interrupted)
    ended = cmeans("fit", rows, *WORDS, "--checkpoint", tmp_path / "c", "--out", tmp_path / "o")
    assert (ended.code, ended.err) == (
        130,
        "cmeans: interrupted before there were centres; nothing was written.\n",
    )
