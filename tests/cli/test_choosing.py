"""`cmeans fit` without a number of clusters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.command import Command


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """Three groups by a column that is a hundred times as narrow as the other."""
    rng, y = np.random.default_rng(0), np.arange(150) % 3
    file = tmp_path / "groups.csv"
    rows = np.stack([rng.normal(0, 0.2, 150) + 3 * y, rng.normal(0, 300, 150)], axis=1)
    np.savetxt(file, rows, delimiter=",", header="a,b", comments="")
    return file


@pytest.mark.parametrize("words", [(), ("-c", "auto"), ("-c", "2-8")])
def test_the_rows_say_how_many(
    cmeans: Command, groups: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    summary = cmeans("fit", groups, *words, "--out", tmp_path / "out").summary
    assert summary["n_clusters"] == summary["n_clusters_found"] == 3
    assert summary["scale"] == "unit"
    assert sorted(summary["sizes"]) == pytest.approx([50, 50, 50], abs=1)


def test_options_of_a_method_need_one(cmeans: Command, groups: Path, tmp_path: Path) -> None:
    ended = cmeans("fit", groups, "--m", 1.5, "--out", tmp_path / "out")
    assert ended.code == 2
    assert "--m: belongs to a method" in ended.err
