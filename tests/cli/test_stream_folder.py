"""Folders of Parquet files: in the order of their names, each once, and while they arrive."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cli.command import Command
from cli.streams import LINEAR, answers, by_hand, groups, refused, table
from cmeans.cli.stream import sources
from cmeans.persistence.model_file import read_metadata

Action = Callable[[], Any]


class Clock:
    """Stands for the module `time`: every sleep passes at once, and before it ends something may
    happen."""

    def __init__(self, *actions: Action | None) -> None:
        self.now, self.actions, self.naps = 0.0, list(actions), list[float]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.naps.append(seconds)
        action = self.actions.pop(0) if self.actions else None
        if action is not None:
            action()


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.fixture
def incoming(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def test_each_file_once_in_the_order_of_names(
    cmeans: Command, incoming: Path, tmp_path: Path
) -> None:
    x, _ = groups(100)
    parts = {"b.parquet": x[30:60], "a.parquet": x[:30], "c.parquet": x[60:]}
    for name, part in parts.items():
        pq.write_table(table(part), incoming / name)
    pq.write_table(table(x), incoming / ".hidden.parquet")
    (incoming / "notes.txt").write_text("no rows")
    found = answers(
        cmeans(
            "stream",
            incoming,
            *LINEAR,
            "--chunk-size",
            40,
            "--checkpoint",
            tmp_path / "s.safetensors",
        )
    )
    assert found["row"].to_pylist() == list(range(100))
    assert found["label"].to_pylist() == by_hand(x, 40)[1]
    place = read_metadata(tmp_path / "s.safetensors")["metadata"]["stream"]
    assert place["files"] == {"a.parquet": 0, "b.parquet": 30, "c.parquet": 60}
    assert (place["rows"], place["source"]) == (100, str(incoming))


def test_columns_are_found_by_name_in_every_file(cmeans: Command, incoming: Path) -> None:
    x, _ = groups(90)
    w = np.linspace(1, 2, 90)
    pq.write_table(table(x[:40], w=w[:40]), incoming / "1.parquet")
    pq.write_table(
        table(x[40:], w=w[40:], more=["t"] * 50).select(["w", "more", "c", "a", "b"]),
        incoming / "2.parquet",
    )
    found = answers(
        cmeans("stream", incoming, *LINEAR, "--chunk-size", 30, "--columns", "2,0", "--weight", "3")
    )
    assert found["label"].to_pylist() == by_hand(x[:, [2, 0]], 30, w)[1]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            pa.table({"a": [1.0], "b": [1.0]}),
            "2.parquet: lacks column 'c' of the model; it has columns 'a', 'b'.",
        ),
        (
            pa.table({"a": ["x"], "b": [1.0], "c": [1.0]}),
            "2.parquet: column 'a' (text) holds no numbers.",
        ),
        (None, "2.parquet: cannot be read as Parquet; it is damaged or not such a file"),
    ],
)
def test_a_file_that_does_not_fit_ends_the_run(
    cmeans: Command, incoming: Path, tmp_path: Path, second: pa.Table | None, message: str
) -> None:
    x, _ = groups(50)
    pq.write_table(table(x), incoming / "1.parquet")
    if second is None:
        (incoming / "2.parquet").write_bytes(b"PAR1")
    else:
        pq.write_table(second, incoming / "2.parquet")
    words = [
        "stream",
        incoming,
        "--chunk-size",
        20,
        "--checkpoint",
        tmp_path / "s.safetensors",
        "--out",
        tmp_path / "l.csv",
    ]
    assert message in refused(cmeans(*words, *LINEAR))
    assert read_metadata(tmp_path / "s.safetensors")["metadata"]["stream"]["clustered"] == 40
    pq.write_table(table(x), incoming / "2.parquet")  # mended
    assert cmeans(*words, "--resume").code == 0
    assert (
        pa.csv.read_csv(tmp_path / "l.csv")["label"].to_pylist()
        == by_hand(np.concatenate([x, x]), 20)[1]
    )


def test_a_followed_folder_grows(
    cmeans: Command, incoming: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, _ = groups(140)
    pq.write_table(table(x[30:70]), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()

    def write(name: str, rows: slice) -> Action:
        return lambda: pq.write_table(table(x[rows]), incoming / name)

    clock = Clock(
        None,
        write("b.parquet", slice(0, 30)),
        lambda: (incoming / "c.parquet").write_bytes(whole[:200]),
        None,
        lambda: (incoming / "c.parquet").write_bytes(whole),
        write("a.parquet", slice(70, 140)),  # comes late, though its name is the first
        None,
        interrupt,
    )
    monkeypatch.setattr(sources, "time", clock)
    words = [
        "stream",
        incoming,
        "--chunk-size",
        50,
        "--checkpoint",
        tmp_path / "s.safetensors",
        "--out",
        tmp_path / "l.csv",
    ]
    ended = cmeans(*words, *LINEAR, "--follow")
    assert ended.code == 130
    assert ended.err.splitlines()[-1].startswith(
        "cmeans: interrupted; 100 rows were clustered, 40 more read but not yet clustered;"
    )
    complaint = (
        f"cmeans: warning: {incoming / 'c.parquet'}: cannot be read as Parquet, or not "
        "yet; it is tried again."
    )
    assert [line for line in ended.err.splitlines() if "warning" in line] == [complaint]
    assert set(clock.naps) == {1.0}

    write("0.parquet", slice(0, 10))()
    assert cmeans(*words, "--resume").summary["rows"] == 150
    assert (
        pa.csv.read_csv(tmp_path / "l.csv")["label"].to_pylist()
        == by_hand(np.concatenate([x, x[:10]]), 50)[1]
    )
    place = read_metadata(tmp_path / "s.safetensors")["metadata"]["stream"]
    assert list(place["files"]) == ["b.parquet", "c.parquet", "a.parquet", "0.parquet"]


def test_rows_do_not_wait_for_the_next_file(
    cmeans: Command, incoming: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, _ = groups(40)
    pq.write_table(table(x), incoming / "1.parquet")
    clock = Clock(None, None, interrupt)
    monkeypatch.setattr(sources, "time", clock)
    monkeypatch.setattr("cmeans.cli.stream.batches.time", clock)
    ended = cmeans(
        "stream", incoming, *LINEAR, "--follow", "--wait", 4, "--out", incoming.parent / "l.csv"
    )
    assert "40 rows were clustered, 0 more read but not yet clustered" in ended.err
    assert clock.naps == [4, 4, 4]


def test_an_unfinished_file_that_is_gone_is_told(
    cmeans: Command, incoming: Path, tmp_path: Path
) -> None:
    x, _ = groups(100)
    words = ["stream", incoming, "--chunk-size", 40, "--checkpoint", tmp_path / "s.safetensors"]
    pq.write_table(table(x[:40]), incoming / "1.parquet")
    assert cmeans(*words, *LINEAR).code == 0
    (incoming / "1.parquet").unlink()
    pq.write_table(table(x[40:]), incoming / "2.parquet")
    ended = cmeans(*words, "--resume")
    assert answers(ended)["row"].to_pylist() == list(range(40, 100))
    assert (
        "1.parquet: is gone; an earlier run has read 40 rows of it, and whatever else it held is "
        "left out." in ended.err
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_or_a_folder_among_the_files(cmeans: Command, incoming: Path) -> None:
    """Opening a pipe would wait for ever."""
    pq.write_table(table(groups(30)[0]), incoming / "1.parquet")
    (incoming / "2.parquet").mkdir()
    assert "2.parquet: is a folder, no plain file" in refused(cmeans("stream", incoming, *LINEAR))
    (incoming / "2.parquet").rmdir()
    os.mkfifo(incoming / "2.parquet")
    assert "2.parquet: is a pipe, no plain file" in refused(cmeans("stream", incoming, *LINEAR))


def test_refusals(cmeans: Command, incoming: Path) -> None:
    for words, message in (
        ([], "in: holds no .parquet files; --follow waits for some."),
        (["--no-header"], "--header, --no-header: "),
    ):
        assert message in refused(cmeans("stream", incoming, *LINEAR, *words))
