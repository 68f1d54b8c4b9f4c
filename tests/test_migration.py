"""The page for those who come from another package: both sides run, and agree where the page says
so."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from cmeans.fitting.gone_words import GONE, PRINTED

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "migration.md").read_text(encoding="utf-8")
SECTIONS = {
    title: text
    for title, text in re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", PAGE, flags=re.M)
    if "```python" in text
}


@pytest.mark.parametrize("title", SECTIONS)
def test_both_sides(title: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", SECTIONS[title], flags=re.S)[1]
    missing = [
        name
        for name in re.findall(r"^(?:from|import) (\w+)", code, flags=re.M)
        if find_spec(name) is None
    ]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    exec(compile(code, title, "exec", dont_inherit=True), {"__name__": "__main__"})
    printed = capsys.readouterr().out.split()
    assert printed
    assert set(printed) <= {"True", "1.0"}


def test_every_row_of_the_first_table_leads_somewhere() -> None:
    titles = re.findall(r"^## (.*)$", PAGE, flags=re.M)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    linked = set(re.findall(r"\]\(#([\w-]+)\)", PAGE))
    assert linked == anchors


def test_the_table_of_gone_words_is_the_one_of_the_errors() -> None:
    printed = [(word, f"{place}({word}=...)") for word, (_, place) in PRINTED.items()]
    lines = [f"| `{word}` | `{place}` |" for word, place in (*GONE.items(), *printed)]
    assert "\n".join(["| 1.0.0 | now |", "|---|---|", *lines]) in PAGE
