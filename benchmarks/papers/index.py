"""docs/papers/index.md: all claims of the five papers in one table, what came of them, and how long it took."""

from __future__ import annotations

from pathlib import Path

from . import NAMES, paper
from .markdown import page as joined
from .markdown import table
from .paper import minutes
from .results import Cells, Results


def read(folder: Path) -> dict[str, Cells]:
    return {name: cells for name in NAMES if (cells := Results(folder / f"{name}.json").read())}


def page(folder: Path) -> str:
    results = read(folder)
    return joined(_head(), _claims(results), _times(results))


def write(folder: Path) -> None:
    (folder / "index.md").write_text(page(folder))


def _head() -> str:
    return """
# The papers, reproduced

Five papers define what this library computes. Each has a page: the printed number, ours, the difference, and a sentence where they differ.
Pages and figures are written by `python -m benchmarks.papers all` from the results stored beside them; no number of ours is typed by hand.
`--quick` runs all of it on reduced sizes in under two minutes.
"""


def _claims(results: dict[str, Cells]) -> str:
    rows = []
    for name, cells in results.items():
        for claim in paper(name).claims(cells):
            rows.append([f"[{name}]({name}.md)", claim.text, claim.where, f"**{claim.verdict}**", claim.why])
    return "## What they claim\n\n" + table(["paper", "claim", "where", "here", "why"], rows)


def _times(results: dict[str, Cells]) -> str:
    rows = [
        [f"[{paper(name).title}]({name}.md)", f"{minutes(cells):.0f}", _or_none(minutes(cells, exact=True))]
        for name, cells in results.items()
    ]
    total, exact = (sum(minutes(cells, exact=which) for cells in results.values()) for which in (False, True))
    rows.append(["all", f"{total:.0f}", _or_none(exact)])
    said = "Minutes, of all that was measured; parts measured anew count each time."
    return f"## How long it takes\n\n{said}\n\n" + table(["", "minutes", "and with `--exact`"], rows)


def _or_none(value: float) -> str:
    return f"+{value:.0f}" if value else ""
