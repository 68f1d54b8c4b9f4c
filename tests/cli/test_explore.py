"""`cmeans explore`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.command import Command
from inspection.page_record import Record

pytest.importorskip("jinja2")
IDS = ["00123", "1610521604143693812", "=1+1", "-2.5"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    spend = np.repeat([100.0, 6000.0, 900.0], 40) + rng.normal(size=120)
    age = np.repeat([20.0, 40.0, 70.0], 40) + rng.normal(size=120)
    ids = [*IDS, *(f"c{number}" for number in range(116))]
    lines = [f"{i},{s:.2f},{a:.1f},says {i}" for i, s, a in zip(ids, spend, age, strict=True)]
    (tmp_path / "customers.csv").write_text("\n".join(["id,spend,age,note", *lines]))
    return tmp_path / "customers.csv"


def test_a_page_of_a_file(cmeans: Command, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    ended = cmeans("explore", file, "--id", "id", "--texts", "note", "--out", out)
    assert ended.code == 0, ended.err
    assert (ended.summary["rows"], ended.summary["outputs"]) == (120, {"page": str(out)})
    text = out.read_text(encoding="utf-8")
    found = Record(text)
    assert found.ids()[:4] == IDS
    assert [len(one["cards"]) for one in found.facts["partitions"]][found.facts["chosen"]] == 3
    assert any(not one["series"] for one in found.facts["partitions"])  # candidates
    assert "customers.csv" in text
    assert found.columns()["spend"].max() > 5000  # in the units of the file
    assert not list(tmp_path.glob("*.safetensors"))


def test_a_page_of_a_model(cmeans: Command, file: Path, tmp_path: Path) -> None:
    words = ["--columns", "spend,age", "--scale", "standard"]
    cmeans("fit", file, "-c", 2, *words, "--out", tmp_path / "o")
    model, out = tmp_path / "o" / "model.safetensors", tmp_path / "page.html"
    ended = cmeans("explore", file, "--model", model, "--out", out, "--title", "Mine")
    assert ended.code == 0, ended.err
    found = Record(out.read_text(encoding="utf-8"))
    assert (found.facts["title"], len(found.partition()["cards"])) == ("Mine", 2)
    for more, said in (
        (["--scale", "unit"], "--scale: belongs to a fit"),
        (["-c", "3"], "--clusters: belongs to a fit"),
    ):
        ended = cmeans("explore", file, "--model", model, "--out", out, *more)
        assert (ended.code, said in ended.err) == (2, True)


def test_wrong_words(cmeans: Command, file: Path, tmp_path: Path) -> None:
    for words, said in (
        (["--out", "page.pdf"], "give a file that ends in .html"),
        (["--out", tmp_path / "p.html", "--id", "nobody"], "nobody"),
    ):
        ended = cmeans("explore", file, *words)
        assert (ended.code, ended.err.count("\n"), said in ended.err) == (2, 1, True)
