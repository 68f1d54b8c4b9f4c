"""What a fit would take is told, and a budget that is too small refused, before rows are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cmeans as package
from cli.command import Command
from cmeans.data.files.group_cache import RowGroups
from limited import limited


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows of a file that is large enough to be planned."""
    limited(monkeypatch, loaded_bytes=0, canonical_rows=0)
    x = np.random.default_rng(0).normal(size=(4_000, 5))
    columns = {f"c{j}": column for j, column in enumerate(x.T)}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=1_000)
    return tmp_path / "x.parquet"


@pytest.fixture
def unread(rows: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, of which no row may be read."""

    def read(*_: object) -> None:
        raise AssertionError("rows are read")

    monkeypatch.setattr(RowGroups, "_read", read)
    return rows


def test_a_plan_does_nothing(cmeans: Command, unread: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("fit", unread, "-c", 3, "--method", "hard", "--kernel", "linear", "--scale", "unit")
    told = cmeans(*words, "--plan", "--out", out).summary
    assert not out.exists()
    assert (told["command"], told["n_rows"], told["n_columns"]) == ("plan", 4_000, 5)
    plan = package.KernelKMeans(3, kernel="linear").plan(np.zeros((4_000, 5)))
    assert (told["memory"], told["row_visits"]) == (plan.memory, plan.row_visits)


@pytest.mark.parametrize("command", ["fit", "select"])
def test_a_budget_is_refused_before_a_scaling_reads(
    cmeans: Command, unread: Path, tmp_path: Path, command: str
) -> None:
    words = ("-c", 3, "--out", tmp_path / "out") if command == "fit" else ()
    ended = cmeans(command, unread, *words, "--scale", "standard", "--memory-budget", "2MB")
    assert ended.code == 2
    assert "--memory-budget 2000000" in ended.err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_reports_and_labels_of_a_model_with_names(
    cmeans: Command, rows: Path, tmp_path: Path
) -> None:
    """Columns are chosen by their names, so nobody is told that they have none."""
    model = package.KernelKMeans(3, kernel="linear", random_state=0).fit(str(rows))
    assert model.feature_names_in_.tolist() == [f"c{j}" for j in range(5)]
    package.save(model, tmp_path / "model.safetensors", rows=False)
    for command, out in (("report", "page.html"), ("predict", "labels.parquet")):
        ended = cmeans(command, tmp_path / "model.safetensors", rows, "--out", tmp_path / out)
        assert ended.summary["warnings"] == []
