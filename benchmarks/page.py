"""The Markdown pages, from stored results: what `page.md` shows of them, for readers, and the
targets that `targets_page.md` holds them to, for those who work on speed."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from . import growth
from .template import render

OWN = "own"  # environment of the contestants that are ours
TARGETS = Path(__file__).with_name("targets.md")


def write(results: dict[str, Any], path: Path) -> None:
    """The page and its figure, and the targets beside this file where the page is the one in the
    documentation."""
    by_point = sorted(results.values(), key=lambda result: result["point"])
    pictures = {}
    for name, result in results.items():
        picture = path.with_name(f"{path.stem}-{name}.png")
        if "lines" in result and growth.figure(result, picture):
            pictures[name] = picture.name
    names = {
        "stem": path.stem,
        "machines": machines(results),
        "loads": [result["machine"]["load"] for result in results.values()],
        "environments": environments(results),
        "quick": any(result["quick"] for result in results.values()),
        "minutes": sum(result["took"] for result in results.values()) / 60,
        "by_point": by_point,
        "gains": [gain for result in results.values() for gain in gains(result)],
        "turns": "every_size" in results,
        "sections": sorted(results.items(), key=lambda item: (item[1]["point"] or 99, item[0])),
        "pictures": pictures,
    }
    functions = {function.__name__: function for function in (contest, shown, span, verdict)}
    path.write_text(render("page.md", names | functions))
    if path.parent.name == "docs":
        TARGETS.write_text(render("targets_page.md", names | functions))


def gains(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Each other package of a contest beside our contestant of the same type of numbers."""
    records = contest(result.get("contestants", ()))
    ours = [record for record in records if record["environment"] == OWN]
    lines = []
    for record in records:
        if record["environment"] == OWN:
            continue
        same = [own for own in ours if own["words"].get("dtype") == record["words"].get("dtype")]
        own = (same or ours)[0]
        pairs = zip(record["seconds"], own["seconds"], strict=False)
        ratios = [theirs / here for theirs, here in pairs]
        lines.append(
            {
                "work": result["title"],
                "package": f"{record['name']} beside {own['name']}",
                "ratio": statistics.median(ratios),
                "low": min(ratios),
                "high": max(ratios),
                "objective": record["cost"] / own["cost"],
            }
        )
    return lines


def machines(results: dict[str, Any]) -> dict[str, list[str]]:
    """Machines whose lines differ, and the jobs that ran on each."""
    lines: dict[str, list[str]] = {}
    for name, result in results.items():
        here = result["machine"]
        line = (
            f"{here['cpu']}, {here['cpus']} CPUs of which {here['threads']} are used, "
            f"{here['memory_gb']:.0f} GB, {here['system']}"
        )
        lines.setdefault(line, []).append(f"{name} (load {here['load']:.1f} before)")
    return lines


def environments(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Versions and libraries of every environment, as the contestants themselves say."""
    seen: dict[str, dict[str, Any]] = {}
    records = [
        record
        for result in results.values()
        for record in result.get("contestants", ())
        if "machine" in record
    ]
    for record in records:
        name, greeting = record["environment"], record["machine"]
        here = seen.setdefault(
            name, {"name": name, "python": greeting["python"], "packages": {}, "pools": {}}
        )
        here["packages"] |= dict.fromkeys(
            f"{package} {version}" for package, version in greeting["packages"].items()
        )
        here["packages"] |= dict.fromkeys(
            [record["requirement"].replace("==", " ")] if record["requirement"] else []
        )
        here["pools"] |= dict.fromkeys(greeting["pools"])
    return [seen[name] for name in sorted(seen)]


def contest(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Contestants that ran, with what is made of their numbers: paired with the first, and beside
    the best."""
    there = [record for record in records if record["seconds"] and record["objective"]]
    costs = [statistics.median(record["objective"]) for record in there]
    ratios = [
        [own / first for own, first in zip(record["seconds"], there[0]["seconds"], strict=False)]
        for record in there
    ]
    beside = [
        {"cost": cost, "above": cost / min(costs) - 1, "ratios": of}
        for cost, of in zip(costs, ratios, strict=True)
    ]
    return [record | more for record, more in zip(there, beside, strict=True)]


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


def shown(cell: Any) -> str:
    """Numbers at three digits."""
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)
