from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cli.command import Command
from cmeans.cli.errors import InputError
from cmeans.cli.output import results
from cmeans.cli.output.results import results_folder, staged_file
from cmeans.storage import atomic as staging
from cmeans.storage.atomic import PREFIX, staged


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def leftover(folder: Path, pid: int, host: str | None = None) -> Path:
    path = folder / f"{PREFIX}{pid}-{host or staging._host()}-abc"
    path.mkdir()
    (path / "labels.parquet").write_text("half")
    return path


def dead_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait(60)
    return process.pid


def test_files_appear_together_and_replace_old_ones(tmp_path: Path) -> None:
    for name in ("a", "seal", "other"):
        (tmp_path / name).write_text("old")
    with staged(tmp_path, seal="seal") as place:
        for name in ("a", "b", "seal"):
            (place / name).write_text("new")
        assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a", "b", "other", "seal"]
    assert [(tmp_path / name).read_text() for name in ("a", "b", "seal", "other")] == [
        "new",
        "new",
        "new",
        "old",
    ]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_on_any_exception_nothing_appears(tmp_path: Path, error: type[BaseException]) -> None:
    def half() -> None:
        with (
            results_folder(tmp_path / "new" / "deep"),
            staged(tmp_path / "new" / "deep", seal="b") as place,
        ):
            (place / "a").write_text("half")
            raise error

    with pytest.raises(error):
        half()
    assert names(tmp_path) == []


def test_the_seal_goes_first_and_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "seal").write_text("old")
    seen: list[tuple[str, bool]] = []
    replace = Path.replace

    def watched(path: Path, target: Path) -> Path:
        seen.append((target.name, (tmp_path / "seal").exists()))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", watched)
    with staged(tmp_path, seal="seal") as place:
        for name in ("z", "seal", "a"):
            (place / name).write_text("new")
    assert seen == [("a", False), ("z", False), ("seal", False)]


def test_one_file(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    with staged_file(file) as place:
        assert place.suffix == ".csv"
        place.write_text("1")
    with pytest.raises(ZeroDivisionError), staged_file(file) as place:
        place.write_text(str(1 / 0))
    assert file.read_text() == "1"
    assert names(tmp_path) == ["labels.csv"]


def test_leftovers_of_killed_runs_are_removed_those_of_living_ones_stay(tmp_path: Path) -> None:
    leftover(tmp_path, dead_process())
    alive, fresh_elsewhere = (
        leftover(tmp_path, os.getpid()),
        leftover(tmp_path, 1, host="elsewhere"),
    )
    old_elsewhere = leftover(tmp_path, 2, host="elsewhere")
    os.utime(old_elsewhere, (0, 0))
    (tmp_path / f"{PREFIX}mine").write_text("a file that only looks like one")
    with results_folder(tmp_path):
        pass
    assert names(tmp_path) == sorted([alive.name, fresh_elsewhere.name, f"{PREFIX}mine"])


def test_a_folder_that_cannot_be_written_fails_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "deep"):
        with pytest.raises(InputError, match="cannot be written"), results_folder(out):
            pytest.fail("the work began")
    with (
        pytest.raises(
            InputError, match=r"--out .*: cannot be written \(No such file or directory\)"
        ),
        staged_file(tmp_path / "no" / "f"),
    ):
        pytest.fail("the work began")
    assert names(tmp_path) == ["file"]


def test_an_interrupt_while_the_folder_is_made_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(results, "remove_leftovers", interrupted)
    with pytest.raises(KeyboardInterrupt), results_folder(tmp_path / "new"):
        pytest.fail("the work began")
    assert names(tmp_path) == []


def test_other_threads_may_write_too(tmp_path: Path) -> None:
    def write() -> None:
        with staged(tmp_path, seal="s") as place:
            (place / "s").write_text("1")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join(60)
    assert names(tmp_path) == ["s"]


@pytest.mark.slow  # every command
@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode here")
def test_names_that_are_not_utf_8(cmeans: Command, tmp_path: Path) -> None:
    """Work is not lost for the name of its results, wherever that occurs."""
    odd = os.fsdecode(b"\xff")
    rows, out = tmp_path / f"{odd}.csv", tmp_path / odd
    names = ["id,a,b", *(f"r{i},{i % 2 * 9},{i % 7}" for i in range(40))]
    rows.write_text("\n".join(names))
    kept = ["--checkpoint", tmp_path / f"state{odd}"]
    assert cmeans("fit", rows, "-c", 2, "--id", "id", "--out", out, "--report", *kept).code == 0
    model = out / "model.safetensors"
    for ending in (".csv", ".parquet"):
        file = tmp_path / f"p{odd}{ending}"
        assert cmeans("predict", model, rows, "--id", "id", "--out", file).code == 0
        assert file.stat().st_size
    assert cmeans("report", model, rows, "--out", tmp_path / f"{odd}.html").code == 0
    assert (
        cmeans("select", rows, "-c", "2-3", "--refits", 0, "--out", tmp_path / f"s{odd}").code == 0
    )
    state = ["--checkpoint", tmp_path / f"stream{odd}", "--summary", tmp_path / f"sum{odd}"]
    words = ["stream", rows, "--columns", "a,b", *state, "--out", tmp_path / f"l{odd}.csv"]
    assert cmeans(*words, "-c", 2).code == 0
    assert cmeans(*words, "--resume").code == 0
    assert (tmp_path / f"sum{odd}").stat().st_size
