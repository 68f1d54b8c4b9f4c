"""The command as a process: its entry point, what signals do to it, what it says without its
extra."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from cli.command import Command
from cmeans.cli import main
from cmeans.cli.loading import nothing_is_garbage

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "cmeans.cli"]
WORDS = ["--clusters", "30", "--landmarks", "100", "--tol", "0", "--jobs", "2"]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows whose fit, to the last of its many sweeps, takes far longer than a test waits."""
    file = tmp_path_factory.mktemp("large") / "large.npy"
    np.save(file, np.random.default_rng(0).normal(size=(10_000, 20)).astype(np.float32))
    return file


@contextmanager
def started(file: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    """A long fit that has read its rows; it does not outlive the test."""
    command = [*COMMAND, "fit", str(file), *WORDS, "--max-iter", "100000", "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        while "fitting" not in (line := process.stderr.readline()):
            assert line, "the command ended before the fit began"
        time.sleep(0.5)
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupted_fit_leaves_its_centres_and_nothing_else(
    large: Path, tmp_path: Path
) -> None:
    """While threads are at work; each signal between sweeps is in test_fit_interrupted.py."""
    out = tmp_path / "o"
    with started(large, out) as process:
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == ""
    assert "Traceback" not in stderr
    if out.exists():
        said = (
            r"cmeans: interrupted after \d+ sweeps?; the centres so far are in "
            r".*model\.safetensors\."
        )
        assert [path.name for path in out.iterdir()] == ["model.safetensors"]
    else:  # so soon that there were none
        said = r"cmeans: interrupted before there were centres; nothing was written\."
    assert re.fullmatch(said, stderr.splitlines()[-1])


def test_the_exit_code_and_the_streams(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "x.csv", np.random.default_rng(0).normal(size=(40, 2)), delimiter=",")
    good = subprocess.run(
        [*COMMAND, "fit", "x.csv", "--clusters", "2", "--out", "o"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert good.returncode == 0, good.stderr
    assert json.loads(good.stdout)["outputs"]["labels"] == str(Path("o") / "labels.parquet")


def demo_without(module: str) -> subprocess.CompletedProcess[str]:
    """The demo in a process where this module cannot be imported."""
    code = (
        f"import sys; sys.modules[{module!r}] = None; import cmeans.cli; "
        "sys.exit(cmeans.cli.main(['demo']))"
    )
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("missing", ["typer", "rich", "pyarrow"])
def test_without_the_extra(missing: str) -> None:
    ended = demo_without(missing)
    expected = f'cmeans: the command needs {missing}; run: python -m pip install "cmeans[cli]"\n'
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", expected)


def test_a_missing_module_of_another_kind_is_a_fault(
    cmeans: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cmeans.cli.commands", None)
    with pytest.raises(ModuleNotFoundError, match=r"cmeans\.cli\.commands"):
        cmeans("demo")


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_is_looked_for_as_before(was_on: bool) -> None:
    (gc.enable if was_on else gc.disable)()
    try:
        assert main(["fit"]) == 2
        with pytest.raises(ImportError), nothing_is_garbage():
            import cmeans.no_such_module  # noqa: F401
        assert gc.isenabled() == was_on
    finally:
        gc.enable()
