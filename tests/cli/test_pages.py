"""`cmeans report` and `cmeans fit --report`."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command import Command
from cmeans.runtime.numerals import in_digits
from inspection.page_record import Record

pytest.importorskip("jinja2")


def test_a_page_of_a_fit_and_of_its_model(cmeans: Command, table: Path, tmp_path: Path) -> None:
    ended = cmeans(
        "fit",
        table,
        "-c",
        3,
        "--columns",
        "a,b,c,d",
        "--id",
        "text",
        "--scale",
        "standard",
        "--report",
        "--out",
        tmp_path / "o",
    )
    assert ended.code == 0, ended.err
    page = Path(ended.summary["outputs"]["report"]).read_text()
    assert "Clusters of blobs.parquet" in page
    assert "t1" in Record(page).ids()
    assert f"cmeans fit {table} -c 3" in page
    assert all("high" in words or "low" in words for words in ended.summary["like"])
    again = cmeans(
        "report",
        tmp_path / "o" / "model.safetensors",
        table,
        "--id",
        "text",
        "--title",
        "Blobs",
        "--out",
        tmp_path / "p.html",
    )
    assert again.code == 0, again.err
    assert again.summary["outputs"] == {"report": str(tmp_path / "p.html")}
    other = (tmp_path / "p.html").read_text()
    assert "<h1>Blobs</h1>" in other
    assert Record(other).facts == Record(page).facts | {"title": "Blobs"}


def test_values_are_in_the_units_of_the_file(
    cmeans: Command, table: Path, tmp_path: Path, blobs
) -> None:
    cmeans(
        "fit",
        table,
        "-c",
        3,
        "--method",
        "hard",
        "--kernel",
        "linear",
        "--columns",
        "a,b,c,d",
        "--scale",
        "unit",
        "--report",
        "--out",
        tmp_path,
    )
    x, groups = blobs
    page = (tmp_path / "report.html").read_text()
    assert f">{in_digits(x[groups == 2, 3].mean())}</td>" in page


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--out", "page.txt"], "ends in .html"),
        (["--out", "nowhere/page.html"], "nowhere"),
        (["--id", "none"], "none"),
        (["--columns", "a"], "fitted on 4"),
    ],
)
def test_bad_input_is_one_line(
    cmeans: Command, table: Path, tmp_path: Path, monkeypatch, words, match
) -> None:
    monkeypatch.chdir(tmp_path)
    cmeans("fit", table, "-c", 3, "--columns", "a,b,c,d", "--out", "o")
    ended = cmeans("report", "o/model.safetensors", table, *words)
    assert ended.code == 2
    assert match in ended.err
    assert (
        len([line for line in ended.err.splitlines() if not line.startswith("cmeans: reading")])
        == 1
    )
    assert not list(tmp_path.glob("*.html"))


def test_a_model_that_is_none(cmeans: Command, table: Path, tmp_path: Path) -> None:
    assert (
        cmeans("report", tmp_path / "no.safetensors", table, "--out", tmp_path / "p.html").code == 2
    )
    assert cmeans("report", table, table, "--out", tmp_path / "p.html").code == 2
