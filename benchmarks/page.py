"""The Markdown page, from stored results."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from . import growth

INTRODUCTION = """\
# Speed beside other packages

`python -m benchmarks` measures what this page shows, keeps it in `{stem}.json` beside this file, and writes the page;
`python -m benchmarks --page` writes it again from the stored results. Every package runs in its own process, on the same number of
threads; the packages take turns, run after run. Times are medians, ratios medians of the ratios of paired runs (least to most in brackets).
A first run, in which packages compile, does not count. A slow package that no target needs has fewer runs. Peak
memory is resident memory beyond the input; as much is touched before each run, because hosts of virtual machines take free memory back.
Objectives come from one function, `benchmarks/judge.py`, in float64: of kernel k-means the full-kernel objective of the labels (of fuzzy
ones, of the largest memberships) on a fixed sample of 10,000 rows, without landmarks; of plain k-means and fuzzy c-means the plain
objective on all rows. Rows are scaled to [0, 1].
"""


def write(results: dict[str, Any], path: Path) -> None:
    """The page, and its figure."""
    parts = [INTRODUCTION.format(stem=path.stem), *header(results)]
    if any(result["quick"] for result in results.values()):
        parts.append("**A smoke run on few rows: its numbers mean nothing.**\n")
    minutes = sum(result["took"] for result in results.values()) / 60
    parts += [f"The whole measurement took {minutes:.0f} minutes.\n", "## Targets\n", checks_table(results)]
    for name, result in sorted(results.items(), key=lambda item: (item[1]["point"] or 99, item[0])):
        parts += [f"## {result['title']}\n", *section(name, result, path)]
    path.write_text("\n".join(parts).rstrip() + "\n")


def header(results: dict[str, Any]) -> list[str]:
    """The machine and the environments: one block for each set of machines' lines that differ."""
    lines: dict[str, list[str]] = {}
    for name, result in results.items():
        here = result["machine"]
        said = f"{here['cpu']}, {here['cpus']} CPUs of which {here['threads']} are used, {here['memory_gb']:.0f} GB, {here['system']}"
        lines.setdefault(said, []).append(f"{name} (load {here['load']:.1f} before)")
    parts = [f"**Machine:** {said}. {', '.join(names) if len(lines) > 1 else _loads(results)}\n" for said, names in lines.items()]
    return [*parts, "| environment | Python | packages | libraries of threads |\n|---|---|---|---|", *environments(results), ""]


def _loads(results: dict[str, Any]) -> str:
    loads = [result["machine"]["load"] for result in results.values()]
    return f"Load of the machine before the jobs: {min(loads):.1f} to {max(loads):.1f}."


def environments(results: dict[str, Any]) -> list[str]:
    """Versions and libraries of every environment, as the contestants themselves say."""
    seen: dict[str, tuple[str, dict[str, None], dict[str, None]]] = {}
    for result in results.values():
        for record in result.get("contestants", ()):
            if "machine" not in record:
                continue
            greeting = record["machine"]
            _, packages, pools = seen.setdefault(record["environment"], (greeting["python"], {}, {}))
            packages.update(dict.fromkeys(f"{name} {version}" for name, version in greeting["packages"].items()))
            packages.update(dict.fromkeys([record["requirement"].replace("==", " ")] if record["requirement"] else []))
            pools.update(dict.fromkeys(greeting["pools"]))
    return [
        f"| {name} | {python} | {', '.join(packages)} | {'; '.join(pools)} |" for name, (python, packages, pools) in sorted(seen.items())
    ]


def checks_table(results: dict[str, Any]) -> str:
    """Everything wanted beside what was measured."""
    lines = ["| point | what | wanted | measured | met |", "|---|---|---|---|---|"]
    for result in sorted(results.values(), key=lambda result: result["point"]):
        for check in result["checks"]:
            lines.append(f"| {result['point']} | {check['text']} | {check['wanted']} | {span(check)} | {verdict(check)} |")
    return "\n".join(lines) + "\n"


def said(check: dict[str, Any]) -> str:
    """A check in one line."""
    return f"{check['text']}: {span(check)}, wanted {check['wanted']}: {verdict(check)}"


def span(check: dict[str, Any]) -> str:
    if check["value"] is None:
        return "-"
    if check["low"] == check["high"]:
        return f"{check['value']:.4g}"
    return f"{check['value']:.4g} ({check['low']:.4g} to {check['high']:.4g})"


def verdict(check: dict[str, Any]) -> str:
    return "not measured" if check["value"] is None else "yes" if check["met"] else "**no**"


def section(name: str, result: dict[str, Any], path: Path) -> list[str]:
    """One job."""
    parts = []
    if "contestants" in result:
        parts += [", ".join(f"{word} {shown(value)}" for word, value in result["words"].items()) + f"; {result['runs']} paired runs.\n"]
        parts += [contest_table(result["contestants"])]
        parts += [f"- {record['name']}: {record['error']}" for record in result["contestants"] if "error" in record]
        parts += [""] * any("error" in record for record in result["contestants"])
    for table in result.get("tables", ()):
        parts += [f"{table['caption']}\n", plain_table(table["columns"], table["rows"])]
    if "lines" in result:
        picture = path.with_name(f"{path.stem}-{name}.png")
        if growth.figure(result, picture):
            parts += [f"![time a row against the number of rows]({picture.name})\n"]
    return parts


def contest_table(records: list[dict[str, Any]]) -> str:
    """Contestants with their times, memory and scores; those that did not run are listed below."""
    columns = [
        "",
        "dtype",
        "runs",
        "seconds",
        "least to most",
        "times the first",
        "first run",
        "peak MB",
        "objective",
        "above the best",
        "Rand index",
    ]
    there = [record for record in records if record["seconds"] and record["objective"]]
    best = min((statistics.median(record["objective"]) for record in there), default=0.0)
    lines = []
    for record in there:
        taken, cost = record["seconds"], statistics.median(record["objective"])
        ratios = [own / first for own, first in zip(taken, there[0]["seconds"], strict=False)]
        lines.append(
            [
                record["name"] + (f" ({record['requirement'].partition('==')[2]})" if record["requirement"] else ""),
                record["words"].get("dtype", ""),
                len(taken),
                statistics.median(taken),
                f"{min(taken):.3g} to {max(taken):.3g}",
                statistics.median(ratios),
                f"{record['warm_up']:.3g}" if record["compiles"] else "-",
                f"{statistics.median(record['peak_mb']):.0f}",
                f"{cost:.8g}",
                f"{cost / best - 1:.1e}",
                f"{statistics.median(record['rand_index']):.3f}",
            ]
        )
    return plain_table(columns, lines)


def plain_table(columns: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table; numbers at three digits."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(shown(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def shown(cell: Any) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)
