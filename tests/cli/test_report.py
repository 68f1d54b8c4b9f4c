"""The summary that a person reads at a terminal, and the advice in it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import cmeans as library
from cli.command import Command
from cmeans import open_blocks
from cmeans.cli import registration
from cmeans.cli.output.next_steps import clearness, next_steps, spreads
from cmeans.cli.output.report import of_fit

SUMMARY = {
    "rows": 100, "sizes": [60, 40], "n_clusters_found": 2, "noise": 0, "scale": "standard", "method": "fuzzy", "m": 1.8, "id": None,
    "method_options": {"m": "auto"}, "clearness": None, "converged": True, "n_iter": 5, "warnings": [], "file": "x.csv",
    "outputs": {"model": "o/model.safetensors"}, "column_names": ["a", "b"], "covariance": None,
}  # fmt: skip
ARGUMENTS = ["fit", "x.csv", "--clusters", "2", "--m=3", "--out", "o"]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "_at_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.usefixtures("terminal")
def test_people_read_a_summary_and_programs_json(
    cmeans: Command, table: Path, tmp_path: Path
) -> None:
    words = [
        "fit",
        table,
        "-c",
        3,
        "--out",
        tmp_path / "o",
        "--kernel",
        "rbf",
        "--landmarks",
        40,
        "--id",
        "text",
    ]
    shown = cmeans(*words, "--columns", "a,b,c,d", "--quiet")
    assert (shown.code, shown.err) == (0, "")
    for text in (
        f"3 clusters in 150 rows of {table}\n",
        "columns: a, b, c, d\n",
        "method: fuzzy (kernel rbf, gamma ",
        " cluster  rows  share",
        "%  ████",
        "clear: mean largest membership of a cluster's rows (1: beyond doubt); 0.",
        "40 landmarks leave out ",
        f"written: {tmp_path / 'o' / 'labels.parquet'}, ",
        f"    cmeans predict {tmp_path / 'o' / 'model.safetensors'} NEW.parquet --id text --out "
        "labels-of-new.parquet\n",
    ):
        assert text in shown.out
    streamed = cmeans("stream", table, "-c", 3, "--columns", "a,b,c,d", "--out", tmp_path / "s.csv")
    assert f"150 rows of {table} clustered\n" in streamed.out
    assert " cluster  rows  share" in streamed.out
    told = cmeans(*words, "--json")
    assert told.summary == json.loads((tmp_path / "o" / "summary.json").read_text())
    shown = cmeans(
        "predict", tmp_path / "o" / "model.safetensors", table, "--out", tmp_path / "p.parquet"
    )
    assert f"150 rows of {table}, labelled by" in shown.out
    assert f"written: {tmp_path / 'p.parquet'}" in shown.out
    assert (
        cmeans(
            "predict",
            tmp_path / "o" / "model.safetensors",
            table,
            "--out",
            tmp_path / "p.parquet",
            "--json",
        ).summary["rows"]
        == 150
    )


@pytest.mark.usefixtures("terminal")
def test_warnings_are_in_the_summary_once_and_advice_can_be_copied(
    cmeans: Command, table: Path, tmp_path: Path
) -> None:
    shown = cmeans(
        "fit",
        table,
        "-c",
        3,
        "--columns",
        "a,b,c,d",
        "--max-iter",
        1,
        "--out",
        tmp_path / "o",
        "--seed",
        1,
    )
    assert "warning: stopped at --max-iter 1 " in shown.out
    assert "warning:" not in shown.err
    step = next(
        step
        for step in json.loads((tmp_path / "o" / "summary.json").read_text())["next"]
        if "--max-iter" in step["command"]
    )
    assert f"  {step['why']}:\n    {step['command']}\n" in shown.out
    again = cmeans(*shlex.split(step["command"])[1:], "--json")
    assert again.summary["converged"]
    assert again.summary["seed"] == 1


@pytest.mark.usefixtures("terminal")
def test_the_demo_is_read_by_people(cmeans: Command, tmp_path: Path) -> None:
    shown = cmeans("demo", "--out", tmp_path / "demo", "--quiet")
    assert (shown.code, shown.err) == (0, "")
    assert "3 clusters in 178 rows of" in shown.out
    assert shown.out.count("    cmeans ") == 3


@pytest.mark.parametrize(
    ("facts", "command"),
    [
        ({}, None),
        ({"scale": "none"}, "fit x.csv --clusters 2 --m=3 --out o --scale auto"),
        ({"scale": "none", "method": "adaptive", "method_options": {"scaling": "range"}}, None),
        (
            {"converged": False, "n_iter": 300},
            "fit x.csv --clusters 2 --m=3 --out o --max-iter 1200",
        ),
        ({"sizes": [60, 0, 40]}, "fit x.csv --m=3 --out o -c 2"),
        ({"warnings": ["x: 1 pairs of centres coincide."]}, "fit x.csv --m=3 --out o -c 1"),
        (
            {"warnings": ["x: the clusters have collapsed"], "method_options": {"m": 3.0}},
            "fit x.csv --clusters 2 --out o --m auto",
        ),
        ({"clearness": {"unclear": 0.4}}, "fit x.csv --clusters 2 --out o --m 1.4"),
        (
            {
                "method": "entropy",
                "clearness": {"unclear": 0.4},
                "sizes": [1, 2, 3],
                "n_clusters_found": 3,
            },
            "fit x.csv --m=3 --out o -c 2",
        ),
        (
            {"method": "adaptive", "noise": 40, "method_options": {}},
            "fit x.csv --clusters 2 --m=3 --out o --sparsity 0",
        ),
    ],
)
def test_advice_follows_from_facts(facts: dict[str, object], command: str | None) -> None:
    steps = next_steps(ARGUMENTS, {**SUMMARY, **facts}, {"a": 1000.0, "b": 1.0}, {})
    assert [step["command"] for step in steps[:-2]] == (
        [] if command is None else [f"cmeans {command}"]
    )
    assert " --out o --names A,B" in steps[-2]["command"]
    assert steps[-2]["command"].endswith(" --with-rows --report")
    assert (
        steps[-1]["command"]
        == "cmeans predict o/model.safetensors NEW.csv --out labels-of-new.parquet"
    )
    if "scale" in facts and command is not None:
        assert (
            steps[0]["why"]
            == "'a' varies 1,000 times as much as 'b' and outweighs it; bring columns to one scale"
        )


def test_how_clear_clusters_are(blobs: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    x = blobs[0]
    soft = library.FuzzyCMeans(3, kernel="linear", random_state=0).fit(x)
    found, u = clearness(soft, x), soft.memberships_
    assert found["clusters"] == pytest.approx(
        [u[soft.labels_ == j].max(axis=1).mean() for j in range(3)]
    )
    assert found["mean"] == pytest.approx(u.max(axis=1).mean())
    assert found["unclear"] == (u.max(axis=1) < 0.5).mean()
    hard = library.KernelKMeans(3, kernel="linear", random_state=0).fit(x)
    d = np.sort(np.linalg.norm(x[:, None] - hard.cluster_centers_, axis=2), axis=1)
    found = clearness(hard, x)
    assert found["clusters"] == pytest.approx(
        [(1 - d[:, 0] / d[:, 1])[hard.labels_ == j].mean() for j in range(3)]
    )
    noisy = library.AdaptivePossibilisticCMeans((1, 6), sparsity=0, random_state=0).fit(x)
    assert clearness(noisy, x)["unclear"] is None
    np.save(tmp_path / "x.npy", x)
    stored = open_blocks(tmp_path / "x.npy")
    assert clearness(hard, stored) is None
    assert spreads(stored, "abcd", 1) == pytest.approx(
        dict(zip("abc", x.std(axis=0), strict=False))
    )
    assert spreads(x * [1, 0, 1, 1], "abcd", 0).keys() == {"a", "c", "d"}


def test_rows_in_their_files_many_clusters_and_noise(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(0).normal(size=(600, 2))
    np.save(tmp_path / "x.npy", x)
    monkeypatch.setattr("cmeans.cli.fit_rows.SHARE", 10**12)  # of the budget: nothing fits
    words = ["-c", 30, "--kernel", "linear", "--memory-budget", "1GB", "--method", "hard"]
    summary = cmeans("fit", tmp_path / "x.npy", *words, "--out", tmp_path / "o").summary
    lines = list(
        of_fit({**summary, "noise": 7, "clearness": None, "column_names": list(range(12))})
    )
    [clusters] = [part for part in lines if isinstance(part, list)]
    assert len(clusters) == 1 + 20 + 2
    assert [row[0] for row in clusters[-2:]] == ["10 more", "none"]
    assert (
        "  how clear they are is not computed, as that takes another pass over rows that are not "
        "in memory" in lines
    )
    assert "  columns: 0, 1, 2, 3, 4, 5, 6, 7, ... (12 in all)" in lines
    assert pq.read_table(tmp_path / "o" / "labels.parquet").num_rows == 600


def test_a_long_tail_is_told_with_its_skewness() -> None:
    first = next_steps(ARGUMENTS, SUMMARY, {"a": 1.0}, {"a": 2.4, "spend": 9.1})[0]
    assert first["why"] == "'spend': skewness 9, and 1 more column; take logarithms of long tails"
    assert first["command"].endswith("--scale log")
