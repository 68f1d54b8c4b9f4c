from __future__ import annotations

from pathlib import Path

import pytest

from cli.command import Command
from cmeans.cli import registration


@pytest.fixture
def model(cmeans: Command, table: Path, tmp_path: Path) -> Path:
    assert (
        cmeans(
            "fit",
            table,
            "--clusters",
            3,
            "--columns",
            "b,a",
            "--scale",
            "unit",
            "--landmarks",
            50,
            "--out",
            tmp_path / "o",
        ).code
        == 0
    )
    return tmp_path / "o" / "model.safetensors"


def test_json_for_programs(cmeans: Command, model: Path) -> None:
    facts = cmeans("info", model).summary
    assert set(facts) == {
        "model",
        "bytes",
        "estimator",
        "format",
        "version",
        "params",
        "fitted",
        "arrays",
        "metadata",
    }
    assert (facts["estimator"], facts["format"]) == ("FuzzyCMeans", 1)
    assert facts["params"]["n_clusters"] == 3
    assert facts["metadata"]["columns"] == ["b", "a"]
    assert facts["metadata"]["scaling"]["kind"] == "unit"
    assert "memberships_" not in facts["arrays"]


def test_a_table_for_people(cmeans: Command, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(registration, "_at_terminal", lambda: True)
    shown = cmeans("info", model)
    assert (shown.code, shown.err) == (0, "")
    assert "params.n_clusters" in shown.out
    assert "{" not in shown.out.replace("{...", "")
    assert cmeans("info", model, "--json").summary["estimator"] == "FuzzyCMeans"


def test_what_is_no_model(cmeans: Command, table: Path, tmp_path: Path) -> None:
    for file in (table, tmp_path / "no.safetensors", tmp_path):
        ended = cmeans("info", file)
        assert ended.code == 2
        assert str(file) in ended.err
        assert len(ended.err.splitlines()) == 1
