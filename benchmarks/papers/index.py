"""docs/papers/index.md: all claims of the papers in one table, what came of them, and how long it
took."""

from __future__ import annotations

from pathlib import Path

from ..template import render
from . import NAMES, paper
from .paper import minutes
from .results import Results


def page(folder: Path) -> str:
    results = {name: cells for name in NAMES if (cells := Results(folder / f"{name}.json").read())}
    lines = [
        {"name": name, "claim": claim}
        for name, cells in results.items()
        for claim in paper(name).claims(cells)
    ]
    took = {
        f"[{paper(name).title}]({name}.md)": [minutes(cells), minutes(cells, exact=True)]
        for name, cells in results.items()
    }
    took["all"] = [sum(column) for column in zip(*took.values(), strict=True)] or [0, 0]
    times = [
        {"title": title, "minutes": most, "exact": exact} for title, (most, exact) in took.items()
    ]
    return render("papers/index.md", {"lines": lines, "times": times})


def write(folder: Path) -> None:
    (folder / "index.md").write_text(page(folder))
