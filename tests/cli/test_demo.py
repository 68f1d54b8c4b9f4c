from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from cli.command import Command
from cmeans.cli.demo import purity
from cmeans.cli.output.results import read_labels


def test_the_demo_and_the_commands_it_ends_with(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = cmeans("demo")
    summary = ended.summary
    assert summary["agreement"]["adjusted_rand_index"] > 0.8
    assert summary["agreement"]["purity"] > 0.9
    assert summary["agreement"]["predict_equals_fit"]
    assert all(Path(path).is_file() for path in summary["outputs"].values())
    first = read_labels(tmp_path / "cmeans-demo" / "labels.parquet")
    assert cmeans("fit", "--config", "cmeans-demo/run.toml").code == 0
    assert (first == read_labels(tmp_path / "cmeans-demo" / "labels.parquet")).all()
    for step in summary["next"]:
        assert step["command"] in ended.err
        again = cmeans(*shlex.split(step["command"])[1:])
        assert again.code == 0, again.err
    assert (first == read_labels(tmp_path / "cmeans-demo" / "labels.parquet")).all()
    assert (
        json.loads((tmp_path / "cmeans-demo" / "summary.json").read_text())["objective"]
        == summary["objective"]
    )


def test_purity() -> None:
    assert purity([0, 0, 1, 1], [5, 5, 7, 7]) == 1
    assert purity([0, 0, 1, 1], [0, 0, 0, 1]) == 0.75
