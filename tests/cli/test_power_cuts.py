"""A power cut at any moment of a command: each of its files is the old one or the new one, whole,
and what a file says of another is true."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import cmeans as library
from cli.command import Command
from cli.streams import LINEAR, csv, groups
from cmeans.cli.stream.state import SavedStream
from cmeans.storage.lock import LOCK
from storage.crashes import each_end, each_state, recorded

pytestmark = pytest.mark.slow


def run_of(folder: Path) -> dict[str, int]:
    """The number of clusters that each file of results tells, and the summary where there is
    one."""
    found = {}
    for file in folder.iterdir():
        if file.name == LOCK:  # whose owner has ended: nobody reads it
            continue
        if file.suffix == ".parquet":
            table = pq.read_table(file)
            assert len(table) == 90
            found[file.name] = len(table.column_names) - 1
        elif file.suffix == ".safetensors":
            found[file.name] = library.load(file).n_clusters_
        elif file.suffix == ".html":
            text = file.read_text()
            assert text.rstrip().endswith("</html>")
            found[file.name] = 3 if "3 clusters" in text else 2
        elif file.suffix == ".toml":
            found[file.name] = tomllib.loads(file.read_text())["clusters"]
        else:
            found[file.name] = json.loads(file.read_text())["n_clusters"]
    return found


def test_results_of_a_fit(cmeans: Command, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", groups(90)[0])
    out = tmp_path / "out"
    words = ["fit", tmp_path / "x.npy", "--kernel", "linear", "-q", "--report", "--out", out, "-c"]
    assert cmeans(*words, 2).code == 0
    with recorded(out) as disk:
        assert cmeans(*words, 3).code == 0
    seen = set[tuple[int, ...]]()
    for step, left in each_state(disk, tmp_path):
        found = run_of(left)
        if "summary.json" in found:
            assert (len(found), len(set(found.values()))) == (5, 1), (step, found)
        seen.add(tuple(sorted(found.values())))
    assert {(2,) * 5, (2,) * 4, (2, 2, 2, 3), (2, 2, 3, 3), (3,) * 4, (3,) * 5} <= seen
    ends = [run_of(left) for left in each_end(disk, tmp_path)]
    assert all(len(end) == 5 and {*end.values()} == {3} for end in ends)


@pytest.mark.parametrize("former", [pytest.param(False, marks=pytest.mark.minutes), True])
def test_a_state_and_the_labels_that_it_records(
    cmeans: Command, tmp_path: Path, former: bool
) -> None:
    (tmp_path / "x.csv").write_bytes(csv(groups(300)[0]))
    folder = tmp_path / "run"
    folder.mkdir()

    def words(where: Path, source: Path) -> list[object]:
        return [
            *("stream", source, *LINEAR, "-q", "--chunk-size", 50, "--checkpoint-every", 2),
            *("--out", where / "l.csv", "--checkpoint", where / "s"),
        ]

    if former:  # which the first lines come from
        (tmp_path / "first.csv").write_bytes(csv(groups(300)[0][:120]))
        assert cmeans(*words(folder, tmp_path / "first.csv")).code == 0
        (tmp_path / "first.csv").write_bytes((tmp_path / "x.csv").read_bytes())
    source = tmp_path / ("first.csv" if former else "x.csv")
    with recorded(folder) as disk:
        assert cmeans(*words(folder, source), *(["--resume"] if former else [])).code == 0
    whole = (folder / "l.csv").read_bytes()
    assert whole.count(b"\n") == 301
    found = set[int]()
    for step, left in each_state(disk, tmp_path):
        if not (left / "s").exists():
            assert not former
            continue
        state = SavedStream.load(left / "s")
        assert state.written is not None
        kept = (left / "l.csv").read_bytes()[: state.written.bytes]
        assert kept == whole[: state.written.bytes], step
        found.add(state.place.rows)
        assert cmeans(*words(left, source), "--resume").code == 0
        assert (left / "l.csv").read_bytes() == whole, step
    assert found == ({120, 220, 300} if former else {100, 200, 300})
    for left in each_end(disk, tmp_path):
        assert (left / "l.csv").read_bytes() == whole
        assert SavedStream.load(left / "s").place.rows == 300
