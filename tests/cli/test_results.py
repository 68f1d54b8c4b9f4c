from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
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


def leftover(folder: Path, pid: int, realm: str | None = None, began: str | None = None) -> Path:
    began = staging._beginning(pid) if began is None else began
    path = folder / f"{PREFIX}{pid}-{began}-{realm or staging._realm()}-abc"
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


DAY = 86_400


def aged(path: Path, days: int) -> Path:
    then = time.time() - DAY * days
    for part in (*path.iterdir(), path):
        os.utime(part, (then, then))
    return path


def test_leftovers_of_killed_runs_are_removed_those_of_living_ones_stay(tmp_path: Path) -> None:
    leftover(tmp_path, dead_process())
    alive = leftover(tmp_path, os.getpid())
    (tmp_path / f"{PREFIX}mine").write_text("a file that only looks like one")
    with results_folder(tmp_path):
        pass
    assert names(tmp_path) == sorted([alive.name, f"{PREFIX}mine"])


def test_a_number_that_another_process_has_by_now(tmp_path: Path) -> None:
    if not staging._beginning(os.getpid()):
        pytest.skip("nobody tells when a process began")
    leftover(tmp_path, os.getpid(), began="1")
    with results_folder(tmp_path):
        pass
    assert names(tmp_path) == []


def test_processes_elsewhere_cannot_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those of another machine nor those of another container, whose name may be the same
    and whose numbers mean nothing here: their fits may last for days."""
    host = socket.gethostname()
    elsewhere = leftover(tmp_path, dead_process(), realm="elsewhere")
    kept = [elsewhere, aged(leftover(tmp_path, 1, realm="elsewhere"), 20)]
    written_to = aged(leftover(tmp_path, 2, realm="elsewhere"), 40)
    (written_to / "labels.parquet").touch()
    aged(leftover(tmp_path, 3, realm="elsewhere"), 40)
    aged(leftover(tmp_path, 4, realm=host), 40)
    with results_folder(tmp_path):
        pass
    assert names(tmp_path) == sorted(path.name for path in [*kept, written_to])
    staging._realm.cache_clear()
    own = staging._realm()
    try:
        monkeypatch.setattr(os, "readlink", lambda _: "pid:[1]")
        staging._realm.cache_clear()
        assert (staging._realm() != own) == Path("/proc/self/ns/pid").exists()
    finally:
        staging._realm.cache_clear()


def test_names_of_folders_are_on_the_disk_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut takes a new folder, and with it all that was flushed inside."""
    flushed = list[Path]()
    monkeypatch.setattr(results, "flush_names", flushed.append)
    with results_folder(tmp_path / "new" / "deep"):
        pass
    assert flushed == [tmp_path / "new", tmp_path]


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
