from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from cli.command import Command
from cmeans.cli import registration
from cmeans.cli.selection import usual_scale
from cmeans.selection import evidence

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three draws without clusters of each shape are enough where clusters stand apart."""
    monkeypatch.setattr(evidence, "MOST", evidence.FEWEST)


WORDS = ("--columns", "a,b,c", "--scale", "unit", "--kernel", "linear")


def test_json_for_programs(cmeans: Command, table: Path) -> None:
    summary = cmeans("select", table, "--clusters", "2-6", *WORDS).summary
    assert summary["n_clusters"] == 3
    assert summary["table"]["n_clusters"] == [2, 3, 4, 5, 6]
    assert summary["reason"].startswith("3 clusters")
    assert not list(table.parent.glob("*.safetensors"))


def test_the_fit_to_make_next(
    cmeans: Command, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (step,) = cmeans(
        "select", table, "-c", "2-5", "--by", "silhouette", "--method", "hard", *WORDS
    ).summary["next"]
    program, *words = shlex.split(step["command"])
    assert program == "cmeans"
    assert cmeans(*words).summary["n_clusters_found"] == 3


def test_columns_of_other_units_are_scaled_as_the_advice_says(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pay outweighs the ages that tell the clusters, unless columns are scaled."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = np.c_[np.repeat([20.0, 45.0, 70.0], 60) + rng.normal(size=180), rng.normal(4e4, 9e3, 180)]
    np.savetxt("x.csv", x, delimiter=",", header="age,pay", comments="")
    found = cmeans("select", "x.csv", "-c", "2-5", "--kernel", "linear").summary
    assert (found["n_clusters"], found["scale"]) == (3, "unit")
    words = shlex.split(found["next"][0]["command"])[1:]
    assert cmeans(*words).summary["scale"] == "unit"
    plain = cmeans("select", "x.csv", "-c", "2-5", "--kernel", "linear", "--scale", "none").summary
    assert plain["n_clusters"] != 3
    assert plain["next"] == [] or plain["next"][0]["command"].count("--scale none") == 1


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        ({}, "auto"),
        ({"kernel": "rbf"}, "auto"),
        ({"kernel": "cosine"}, "none"),
        ({"metric": "cosine"}, "none"),
    ],
)
def test_directions_are_not_scaled(words: dict[str, str], scale: str) -> None:
    assert usual_scale(words) == scale


def test_names_and_categories(cmeans: Command, tmp_path: Path) -> None:
    """Rows of which the plan and the place say the cluster, with a name each; what is advised
    carries both options on."""
    kinds = ("basic,town", "plus,village", "family,city")
    lines = [f"r{row},{row % 7},{kinds[row % 3]}" for row in range(150)]
    (tmp_path / "shop.csv").write_text("\n".join(["customer,visits,plan,place", *lines]))
    words = ("-c", "2-4", "--refits", 0, "--scale", "unit", "--id", "customer")
    texts = ("--categorical", "plan,place")
    summary = cmeans("select", tmp_path / "shop.csv", *words, *texts).summary
    assert summary["columns"] == 7
    assert summary["n_clusters"] == 3
    assert "--id customer --categorical plan,place" in summary["next"][0]["command"]
    left_out = cmeans("select", tmp_path / "shop.csv", *words)
    assert (
        "left out: 'plan' (3), 'place' (3) (categories; --categorical plan,place)" in left_out.err
    )


def test_a_table_for_people(cmeans: Command, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(registration, "_at_terminal", lambda: True)
    shown = cmeans("select", table, "-c", "2,3,5", "--refits", 2, "--sample", 100, *WORDS)
    assert shown.code == 0, shown.err
    assert "3 clusters in 150 rows" in shown.out
    head, *rows = shown.out.splitlines()[2:6]
    assert re.split("  +", head.strip()) == [
        *("clusters", "silhouette", "by chance", "beyond chance", "Xie-Beni", "stability", "+-")
    ]
    assert [row.replace(">", "").split()[0] for row in rows] == ["2", "3", "5"]
    assert [">" in row for row in rows] == [False, True, False]
    assert "  beyond chance decides, the largest is the best\n" in shown.out
    assert "  by chance: the silhouette of rows without clusters" in shown.out
    assert "cmeans fit" in shown.out
    shown = cmeans("select", table, "-c", "2,3", "--method", "gaussian", "--refits", 0)
    assert "  BIC decides, the least is the best\n" in shown.out
    assert "silhouette" not in shown.out
    words = ("--by", "stability", "--refits", 2, "--sample", 100)
    shown = cmeans("select", table, "-c", "2,3", *words, *WORDS)
    assert "  stability decides, the most clusters within +- of the best are taken\n" in shown.out


def test_a_picture_and_a_table(cmeans: Command, table: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    summary = cmeans(
        "select", table, "-c", "2-4", "--refits", 0, "--out", tmp_path / "o", *WORDS
    ).summary
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "run.toml",
        "selection.csv",
        "selection.json",
        "selection.png",
    ]
    assert (tmp_path / "o" / "selection.png").read_bytes().startswith(b"\x89PNG")
    head, *rows = (tmp_path / "o" / "selection.csv").read_text().splitlines()
    assert head.split(",") == list(summary["table"])
    assert [int(row.split(",")[0]) for row in rows] == [2, 3, 4]
    assert json.loads((tmp_path / "o" / "selection.json").read_text()) == summary
    assert "--out clusters" in summary["next"][0]["command"]
    wrong = cmeans("select", table, "--sample", "some")
    assert wrong.code == 2
    assert "--sample some: give a number of rows, all, or auto" in wrong.err
    ended = cmeans("select", table, "--out", table / "o")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1


def test_refits(cmeans: Command, table: Path) -> None:
    few = cmeans("select", table, "-c", "2-4", "--by", "stability", "--refits", 3, *WORDS).summary
    assert len(few["table"]["stability"]) == len(few["table"]["stability_error"]) == 3
    assert "refits agree" in few["reason"]
    assert "--refits" not in few["next"][0]["command"]
    assert (
        "stability"
        not in cmeans("select", table, "-c", "2-4", "--refits", 0, *WORDS).summary["table"]
    )
    ended = cmeans("select", table, "--by", "bic", "-q")
    assert (ended.code, ended.err) == (
        2,
        "cmeans: --by bic: --method fuzzy has none; give auto, silhouette, xie_beni, stability, or "
        "another method.\n",
    )
    ended = cmeans("select", table, "--by", "stability", "--refits", 0)
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("clusters", ["1-5", "5-3", "two", "", "2-"])
def test_numbers_that_are_none(cmeans: Command, table: Path, clusters: str) -> None:
    ended = cmeans("select", table, "--clusters", clusters)
    assert ended.code == 2
    assert "2-20" in ended.err
    assert len(ended.err.splitlines()) == 1


def test_methods_that_find_the_number(cmeans: Command, table: Path) -> None:
    ended = cmeans("select", table, "--method", "adaptive")
    assert ended.code == 2
    assert "--method adaptive" in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--temperature 1", "--temperature: --method fuzzy has none; it belongs to entropy."),
        (
            "--method hard --eta-scale 2",
            "--eta-scale: --method hard has none; it belongs to possibilistic.",
        ),
    ],
)
def test_options_of_other_methods(cmeans: Command, table: Path, words: str, message: str) -> None:
    ended = cmeans("select", table, "-c", "2-3", *words.split())
    assert (ended.code, ended.err.strip()) == (2, f"cmeans: {message}")
