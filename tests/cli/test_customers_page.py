"""The page "Customers: from a CSV to segments next month", followed as it is written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from cli.command import Command
from inspection.page_record import Record

pytestmark = pytest.mark.slow
PAGE = Path(__file__).resolve().parents[2] / "docs" / "customers.md"


@pytest.mark.filterwarnings("ignore::cmeans.DataWarning")
def test_the_commands_of_the_page(
    cmeans: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    first, _ = re.findall(r"^```python\n(.*?)^```", text, flags=re.S | re.M)
    exec(compile(first, "docs/customers.md", "exec", dont_inherit=True), {})
    look, select, fit, predict, beside = (
        cmeans(*shlex.split(line)).summary for line in re.findall(r"^    cmeans (.*)$", text, re.M)
    )
    told = " ".join([*look["warnings"], *(step["why"] for step in look["next"])])
    quoted = re.findall(r"^- `(.*?)`|(?<=here )`(.*?)`", text.replace("\n  ", " "), flags=re.M)
    for line in filter(None, sum(quoted, ())):
        assert line in told
    assert select["n_clusters"] == 3
    assert look["left_out"] == ["Kunde", "seit", "Tarif"]
    assert sorted(path.name for path in Path("segments").iterdir()) == [
        "labels.parquet",
        "model.safetensors",
        "report.html",
        "run.toml",
        "summary.json",
    ]
    table = pd.read_csv("neu.csv")
    assert [*table.columns[:7]] == ["Kunde", "seit", "Tarif", "Alter", "Umsatz", "label", "cluster"]
    assert set(table["cluster"]) == {"A", "B", "C"}
    assert [*predict["changed"]] == ["shares", "far", "columns"]
    months = Record(Path("months.html").read_text(encoding="utf-8"))
    assert (beside["rows"], months.facts["count"]) == (600, 800)
    assert [card["name"] for card in months.partition()["cards"]] == ["A", "B", "C"]
    assert fit["categories"] == {"Tarif": ["frei", "groß", "größer"]}
