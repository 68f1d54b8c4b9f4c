"""What a fit on landmarks says of the whole kernel, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cmeans as library
from cli.command import Command
from cmeans import Landmarks, Search
from cmeans.cli import registration
from cmeans.fitting.landmark_choice import landmarks_from
from cmeans.fitting.search import search_from

pytestmark = pytest.mark.slow

KEYS = {
    "n_landmarks",
    "rank",
    "residual",
    "residual_interval",
    "cost_bounds",
    "comparison_error",
    "rows_measured",
}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_the_summary_the_model_and_info_say_the_same(
    cmeans: Command, table: Path, out: Path
) -> None:
    words = (
        "--clusters",
        3,
        "--columns",
        "a,b,c",
        "--scale",
        "unit",
        "--kernel",
        "rbf",
        "--landmarks",
        40,
        "--weight",
        "w",
        "--out",
        out,
    )
    summary = cmeans("fit", table, *words).summary
    certificate = summary["approximation"]
    assert set(certificate) == KEYS
    assert certificate["n_landmarks"] == 40 == summary["n_landmarks"]
    assert certificate["rows_measured"] == 150
    assert 0 < certificate["residual"] < 1
    assert certificate["residual_interval"] == [certificate["residual"]] * 2
    low, high = certificate["cost_bounds"]
    assert 0 < low < high
    assert low <= summary["objective"] * (1 + 1e-6)
    assert json.loads((out / "summary.json").read_text())["approximation"] == certificate
    model = out / "model.safetensors"
    assert cmeans("info", model).summary["fitted"]["approximation_"] == certificate
    kept = library.load(model).approximation_
    assert (kept.residual, list(kept.cost_bounds)) == (
        certificate["residual"],
        certificate["cost_bounds"],
    )


@pytest.mark.parametrize(
    "words", [("--kernel", "linear"), ("--landmarks", "none"), ("--method", "adaptive")], ids=str
)
def test_without_landmarks_there_is_none(
    cmeans: Command, table: Path, out: Path, words: tuple[str, ...]
) -> None:
    number = () if "adaptive" in words else ("--clusters", 3)
    summary = cmeans(
        "fit", table, *number, "--columns", "a,b", "--scale", "unit", *words, "--out", out
    ).summary
    assert summary["approximation"] is None
    assert cmeans("info", out / "model.safetensors").summary["fitted"].get("approximation_") is None


def test_people_are_shown_it_too(
    cmeans: Command, table: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    cmeans(
        "fit",
        table,
        "--clusters",
        3,
        "--columns",
        "a,b",
        "--scale",
        "unit",
        "--kernel",
        "rbf",
        "--landmarks",
        40,
        "--out",
        out,
    )
    monkeypatch.setattr(registration, "_at_terminal", lambda: True)
    shown = cmeans("info", out / "model.safetensors")
    assert shown.code == 0
    assert "approximation_" in shown.out
    assert "comparison_error" in shown.out


def test_the_words_of_acceleration_reach_the_estimator(
    cmeans: Command, table: Path, out: Path
) -> None:
    """And `none` is None, not silence."""
    fit = ("fit", table, "--clusters", 3, "--columns", "a,b", "--scale", "unit", "--out", out)
    for words, search, landmarks in (
        ((), Search(), Landmarks()),
        (("--acceleration", "none"), Search(acceleration=None), Landmarks()),
        (("--acceleration", "anderson"), Search(), Landmarks()),
        (("--progressive",), Search(), Landmarks()),
        (("--all-rows",), Search(progressive=False), Landmarks()),
        (("--join-equal-rows", "true"), Search(join_equal_rows=True), Landmarks()),
        (("--join-equal-rows", "false"), Search(join_equal_rows=False), Landmarks()),
        (("--landmark-tol", "0.2"), Search(), Landmarks(tol=0.2)),
    ):
        assert cmeans(*fit, *words).code == 0
        model = library.load(out / "model.safetensors")
        assert search_from(model.search, "") == search
        assert landmarks_from(model.landmarks, "") == landmarks


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--acceleration", "fast"), "--acceleration"),
        (("--method", "hard", "--acceleration", "anderson"), "--acceleration"),
        (("--method", "adaptive", "--progressive"), "--progressive"),
        (("--join-equal-rows", "sometimes"), "--join-equal-rows"),
        (("--method", "adaptive", "--join-equal-rows", "true"), "--join-equal-rows"),
        (("--landmark-tol", "-1"), "--landmark-tol"),
        (("--landmark-tol", "nan"), "landmark"),
    ],
    ids=str,
)
def test_words_that_do_not_fit_are_refused(
    cmeans: Command, table: Path, out: Path, words: tuple[str, ...], said: str
) -> None:
    number = () if "adaptive" in words else ("--clusters", 3)
    ended = cmeans("fit", table, *number, "--columns", "a,b", *words, "--out", out)
    assert ended.code == 2
    assert said in ended.err
    assert not (out / "summary.json").exists()
