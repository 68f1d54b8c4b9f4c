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
    known = np.repeat(["low", "top", "mid"], 40)
    lines = [
        f"{i},{s:.2f},{a:.1f},says {i},{s / 9:.1f},{a / 9:.2f},{k}"
        for i, s, a, k in zip(ids, spend, age, known, strict=True)
    ]
    head = "id,spend,age,note,x,y,known"
    (tmp_path / "customers.csv").write_text("\n".join([head, *lines]))
    later = "\n".join([head, *lines[:30]]).replace("says", "sagt für")  # told of, not raised
    (tmp_path / "later.csv").write_text(later, encoding="cp1252")
    return tmp_path / "customers.csv"


def shown(file: Path) -> Record:
    return Record(file.read_text(encoding="utf-8"))


def test_a_page_of_a_file(cmeans: Command, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    beside = ["--coordinates", "x,y", "--against", "known"]
    ended = cmeans("explore", file, "--id", "id", "--texts", "note", *beside, "--out", out)
    assert ended.code == 0, ended.err
    assert (ended.summary["rows"], ended.summary["outputs"]) == (120, {"page": str(out)})
    text = out.read_text(encoding="utf-8")
    found = Record(text)
    assert found.ids()[:4] == IDS
    assert [len(one["cards"]) for one in found.facts["partitions"]][found.facts["chosen"]] == 3
    candidate, known = (one for one in found.facts["partitions"][-2:])
    assert (candidate["series"], known["name"]) == (False, "known: 3 clusters")
    assert {card["name"]: card["size"] for card in known["cards"]} == {
        "low": 40,
        "mid": 40,
        "top": 40,
    }
    assert set(found.columns()) == {"spend", "age"}  # places and labels are no data
    values, (x, y) = found.columns(), found.plane(1).T
    np.testing.assert_allclose(np.c_[x, y] * 9, np.c_[values["spend"], values["age"]], atol=0.6)
    assert "customers.csv" in text
    assert found.columns()["spend"].max() > 5000  # in the units of the file
    assert not list(tmp_path.glob("*.safetensors"))


def test_a_page_of_a_model(cmeans: Command, file: Path, tmp_path: Path) -> None:
    words = ["--columns", "spend,age", "--scale", "standard"]
    cmeans("fit", file, "-c", 2, *words, "--out", tmp_path / "o")
    model, out = tmp_path / "o" / "model.safetensors", tmp_path / "page.html"
    ended = cmeans("explore", file, "--model", model, "--out", out, "--title", "Mine")
    assert ended.code == 0, ended.err
    found = shown(out)
    assert (found.facts["title"], len(found.partition()["cards"])) == ("Mine", 2)
    for against in (model, tmp_path / "o" / "labels.parquet"):
        ended = cmeans("explore", file, "--model", model, "--against", against, "--out", out)
        assert ended.code == 0, ended.err
        found = shown(out)
        other = found.facts["partitions"][-1]
        assert other["name"].endswith(": 2 clusters")
        assert sorted(card["size"] for card in other["cards"]) == [40, 80]
    places = tmp_path / "places.csv"
    places.write_text("\n".join(f"{n},{n % 7}" for n in range(120)))
    beside = ["--against", tmp_path / "later.csv", "--coordinates", places]
    ended = cmeans("explore", file, "--id", "id", "--model", model, *beside, "--out", out)
    assert ended.code == 0, ended.err
    found = shown(out)
    assert (found.facts["count"], found.facts["sets"]) == (150, ["customers.csv", "later.csv"])
    assert found.ids()[120:] == found.ids()[:30]
    assert np.isnan(found.plane(1)[:, 0]).sum() == 30  # the later rows have no places
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
        (["--out", tmp_path / "p.html", "--against", "nobody"], "neither a file nor a column"),
        (["--out", tmp_path / "p.html", "--coordinates", "x,z"], "neither a file nor columns"),
    ):
        ended = cmeans("explore", file, *words)
        assert (ended.code, ended.err.count("\n"), said in ended.err) == (2, 1, True)
