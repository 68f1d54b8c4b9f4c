"""A disk that is full, fails, or takes few bytes at a time: after each fault the old file or the
new one is there, whole, nothing else is left, and one line names the file and the cause."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cmeans.storage.atomic import WriteError
from storage.kinds_of_files import KINDS

TESTS = Path(__file__).parent.parent
CAUSES = {"full": "No space left on device", "error": "Input/output error"}
SMALL = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=900k none "$0" && exec "$@"']

Lines = list[dict[str, Any]]


def failing(work: Path, *how: str, library: Path | None = None) -> Lines:
    """Run all cases in a process of its own, with a disk of its own or under a library."""
    place = work / "place"
    place.mkdir()
    words = [sys.executable, "-m", "storage.failing_disk", str(place), *how]
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    more = {"PYTHONPATH": path, "TMPDIR": str(work)}
    if library is not None:
        more["LD_PRELOAD"] = str(library)
    ended = subprocess.run(
        words if library is not None else [*SMALL, str(place), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | more,
        cwd=TESTS,
    )
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and a C compiler")
    built = tmp_path_factory.mktemp("library") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run(
        [compiler, "-O1", "-shared", "-fPIC", "-Werror", "-o", built, source], check=True
    )
    return built


@pytest.fixture(scope="module")
def lines(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """What one process says of all that the library can do."""
    work = tmp_path_factory.mktemp("faults")
    return failing(work, "error", "short", "unreadable", library=library)


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("disk")
    try:
        subprocess.run([*SMALL, str(place), "true"], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("needs Linux, and a namespace of mounts")


def check(lines: Lines, cause: str) -> None:
    """What holds of every file after every fault."""
    for line in lines:
        if line["said"] is None:
            assert line["found"] == 1, line
            assert len(line["after"]) == len(line["before"]), line
            continue
        assert "\n" not in line["said"]
        assert cause in line["said"], line
        assert "/place/" in line["said"], line
        if line["kind"] != "results":
            assert (line["found"], line["after"]) == (0, line["before"]), line


@pytest.mark.slow  # a process that tries some sixty faults
def test_a_full_disk(small_disk: None, tmp_path: Path) -> None:
    lines = failing(tmp_path, "full")
    check(lines, CAUSES["full"])
    kinds = {line["kind"] for line in lines if line["said"] is not None}
    assert kinds == {*KINDS, "checkpoint", "stream", "results"}
    results = [line for line in lines if line["kind"] == "results"]
    nothing = [line for line in results if line["said"] and "Written" not in line["said"]]
    assert all((line["found"], line["after"]) == (0, line["before"]) for line in nothing)
    some = [line for line in results if line["said"] and "Written" in line["said"]]
    own = ("labels.parquet", "model.safetensors", "run.toml")
    assert {tuple(line["after"]) for line in some} == {own}
    assert all(line["found"] == 1 for line in some)  # the new model
    told = {re.sub(r"/\S+/", "", line["said"]) for line in some}
    full = f"{CAUSES['full']}. Written: "
    assert told == {
        f"cmeans: cannot write labels.parquet: {full}model.safetensors. cmeans predict makes the "
        "labels from the model. labels.parquet is of a former run.",
        f"cmeans: cannot write run.toml: {full}labels.parquet, model.safetensors. run.toml is of a "
        "former run.",
        f"cmeans: cannot write summary.json: {full}labels.parquet, model.safetensors, run.toml.",
    }
    assert len(results) == len(nothing) + len(some) + 1


@pytest.mark.slow  # a process that tries some hundred faults
def test_a_disk_that_fails(lines: Lines) -> None:
    lines = [line for line in lines if line["how"] == "error"]
    check(lines, CAUSES["error"])
    kinds = {line["kind"] for line in lines if line["said"] is not None}
    assert kinds == {*KINDS, "checkpoint", "stream", "results"}


@pytest.mark.slow  # the same process
def test_a_disk_that_takes_few_bytes_at_a_time(lines: Lines) -> None:
    lines = [line for line in lines if line["how"] == "short"]
    assert len(lines) == len(KINDS) + 3
    check(lines, "")
    assert all(line["said"] is None for line in lines)


@pytest.mark.slow  # the same process
def test_rows_that_cannot_be_read(lines: Lines) -> None:
    lines = [line for line in lines if line["how"] == "unreadable"]
    assert {line["kind"] for line in lines if line["said"] is not None} == {"Parquet", "CSV", "npy"}
    for line in lines:
        if line["said"] is not None:
            assert CAUSES["error"] in line["said"], line
            assert "/place/" in line["said"], line


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("step", ["mkdir", "fsync", "replace"])
def test_a_step_that_fails(
    kind: str, number: int, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, write, read = KINDS[kind]
    file = tmp_path / name
    said = list[str]()
    for nth in range(9):
        write(0, file)
        calls = 0
        real = getattr(os, step)

        def failing_once(*words: Any, real: Any = real, nth: int = nth, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == nth + 1:
                raise OSError(number, os.strerror(number))
            return real(*words, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, step, failing_once)
            expected = f"cannot write {re.escape(str(file))}: {os.strerror(number)}."
            try:
                write(1, file)
            except WriteError as error:
                said.append(str(error))
        assert all(re.search(expected, line) for line in said)
        assert [path.name for path in tmp_path.iterdir()] == [name]
        if calls <= nth:
            assert (read(file), len(said)) == (1, nth)
            return
        assert read(file) in (0, 1)
    pytest.fail("it never ends")
