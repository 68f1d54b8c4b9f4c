"""Live streams by the command: clusters that come and go, scores, alerts, and what goes along."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from cli.command import Command
from cli.streams import csv, groups

CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])


def arrivals(n: int = 900) -> tuple[np.ndarray, np.ndarray]:
    """Three clusters, of which the third comes when the first has gone."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) < n // 2, rng.integers(0, 2, n), rng.integers(1, 3, n))
    return (CENTRES[y] + rng.normal(size=(n, 2))).round(4), y


def written(file: Path, x: np.ndarray) -> Path:
    lines = [f"t{i},dev{i % 3},{row[0]},{row[1]}" for i, row in enumerate(x.tolist())]
    file.write_text("\n".join(["when,device,a,b", *lines, ""]))
    return file


def columns(file: Path) -> dict[str, list[str]]:
    lines = [line.split(",") for line in file.read_text().splitlines()]
    return dict(zip(lines[0], map(list, zip(*lines[1:], strict=True)), strict=True))


def test_clusters_come_and_go(cmeans: Command, tmp_path: Path) -> None:
    x, y = arrivals()
    rows, out, events = written(tmp_path / "x.csv", x), tmp_path / "l.csv", tmp_path / "events.csv"
    words = ("--id", "device", "--time", "when", "--outlier-score", "--alert", 0.999)
    ended = cmeans(
        "stream", rows, "--out", out, "--events", events, *words, "--chunk-size", 50, "--metrics",
        0.01,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    summary, table = json.loads(ended.out), columns(out)
    assert list(table) == ["row", "device", "when", "label", "outlier_score", "alert"]
    assert [text.strip('"') for text in table["when"]] == [f"t{i}" for i in range(900)]
    labels = np.array(table["label"], int)
    assert adjusted_rand_score(y[100:], labels[100:]) > 0.8
    score = np.array(table["outlier_score"], float)
    np.testing.assert_array_equal(np.array(table["alert"], int), score >= 0.999)
    assert summary["alerts"] == np.count_nonzero(score >= 0.999)
    log = columns(events)
    assert log["event"][0] == "opens"
    assert "sleeps" in log["event"]
    assert set(log["cluster"]) == {"0", "1", "2"}
    assert "longest delay" in ended.err
    assert summary["cluster_numbers"] == [0, 1, 2]


def test_a_cluster_that_opens_in_a_large_chunk_is_no_alarm(cmeans: Command, tmp_path: Path) -> None:
    rows = written(tmp_path / "x.csv", arrivals(3000)[0])
    words = ("--alert", 0.9999, "--chunk-size", 2000, "--out", tmp_path / "l.csv")
    assert cmeans("stream", rows, *words).summary["alerts"] < 20  # 231 rows of it are in its chunk


def test_resumed_to_the_same_bits(cmeans: Command, tmp_path: Path) -> None:
    x, _ = arrivals()
    whole, part = tmp_path / "whole", tmp_path / "part"
    for folder in (whole, part):
        folder.mkdir()

    def run(folder: Path, n: int, *words: object) -> None:
        rows = written(folder / "x.csv", x[:n])
        names = ("--out", folder / "l.csv", "--events", folder / "e.csv")
        kept = ("--checkpoint", folder / "state", "--chunk-size", 100)
        ended = cmeans("stream", rows, *names, *kept, *words)
        assert ended.code == 0, ended.err

    run(whole, 900)
    run(part, 500)
    with (part / "e.csv").open("a") as log:  # of a run that was killed before its state was kept
        log.write("640,opens,9,\n")
    run(part, 900, "--resume")
    for name in ("l.csv", "e.csv"):
        assert (whole / name).read_bytes() == (part / name).read_bytes()
    ended = cmeans("stream", whole / "x.csv", "--checkpoint", whole / "state", "--resume", "-c", 3)
    assert ended.code == 2
    assert "was begun without a number of clusters" in ended.err


def test_text_is_left_out(cmeans: Command, tmp_path: Path) -> None:
    rows = written(tmp_path / "x.csv", arrivals(60)[0])
    ended = cmeans("stream", rows, "-c", 2)
    assert ended.code == 0
    assert "left out: 'when' (identifiers; --id when), 'device' (3) (categories;" in ended.err


def test_outlier_scores_of_told_clusters(cmeans: Command, tmp_path: Path) -> None:
    x = np.r_[groups(200)[0], [[500.0, 500, 500]]]
    rows = tmp_path / "x.csv"
    rows.write_bytes(csv(x))
    ended = cmeans("stream", rows, "-c", 3, "--chunk-size", 100, "--outlier-score", "--alert", 0.9)
    last = ended.out.splitlines()[-1].split(",")
    assert float(last[2]) > 0.9
    assert last[3] == "1"


@pytest.mark.slow  # it waits for as long as a row does
def test_rows_of_a_pipe_have_labels_while_it_is_open(cmeans: Command, tmp_path: Path) -> None:
    pipe, out = tmp_path / "pipe", tmp_path / "l.csv"
    os.mkfifo(pipe)
    rows = csv(arrivals(40)[0], "a,b")
    found: list[int] = []

    def write() -> None:
        with pipe.open("wb", buffering=0) as end:
            end.write(rows)
            until = time.monotonic() + 20
            while time.monotonic() < until and not (out.exists() and out.stat().st_size):
                time.sleep(0.02)
            found.append(len(out.read_text().splitlines()) if out.exists() else 0)

    writer = threading.Thread(target=write)
    writer.start()
    assert cmeans("stream", pipe, "--out", out).code == 0
    writer.join()
    assert found == [41]  # with the names


def test_another_file_is_no_log_of_events(cmeans: Command, tmp_path: Path) -> None:
    rows, state = written(tmp_path / "x.csv", arrivals(100)[0]), tmp_path / "state"
    assert cmeans("stream", rows, "--out", tmp_path / "l.csv", "--checkpoint", state).code == 0
    (tmp_path / "e.csv").write_text("a,b\n")
    ended = cmeans(
        "stream", rows, "--out", tmp_path / "l.csv", "--checkpoint", state, "--resume", "--events",
        tmp_path / "e.csv",
    )  # fmt: skip
    assert ended.code == 2
    assert "holds something else" in ended.err
