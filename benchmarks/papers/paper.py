"""What a paper is to `python -m benchmarks.papers`, and what one run of it is given."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..harness import DataError, header
from .results import Cell, Cells, Results

STAGE = "stage | "  # keys of the seconds that stages took
REPRODUCED, BETTER, NOT = "reproduced", "better", "not reproduced"


class Claim(NamedTuple):
    """What a paper says, where, and what came of it here: one line of the table in docs/papers/index.md."""

    text: str
    where: str
    verdict: str
    why: str


class Paper(NamedTuple):
    """`measure` fills the results with what they lack; all else is made from the results alone."""

    name: str
    title: str
    measure: Callable[[Run], None]
    draw: Callable[[Cells, Path], None]
    page: Callable[[Cells], str]
    claims: Callable[[Cells], list[Claim]]
    only_exact: Callable[[str], bool] | None = None  # cells that no run measures but one with exact; None: there are none

    def forget(self, results: Results, beginning: str, *, exact: bool) -> None:
        """Drop cells whose key begins so; with exact=False only those that a run without exact fills again."""

        def kept(key: str) -> bool:
            return not exact and (_of_exact_stage(key) or (self.only_exact is not None and self.only_exact(key)))

        results.forget(lambda key: key.startswith(beginning) and not kept(key))


@dataclass
class Run:
    """One run of a paper: where its results go, and how much of it is asked for.

    quick : reduced sizes, which show that everything works and no more. exact : also what needs all kernel values of 70,000 rows.
    """

    results: Results
    quick: bool = False
    exact: bool = False
    exact_folder: Path = Path("docs/papers/exact")  # labels of exact runs

    def stage(self, title: str, work: Callable[[], None]) -> None:
        """A part of the run: its seconds are kept; where its data are absent, the reason is."""
        key, before, started = STAGE + title, self.results.read(), time.perf_counter()
        print(f"   {title}", flush=True)
        try:
            work()
        except DataError as error:
            self.results.add(key, reason=f"no data: {error}")
            print(f"   {title}: left out: no data: {error}", flush=True)
            return
        seconds = time.perf_counter() - started
        if self.results.read() != before:  # what was there already took no time
            self.results.add(key, seconds=before.get(key, {}).get("seconds", 0.0) + seconds, machine=header())
            print(f"   {title}: {seconds:.0f} s", flush=True)

    def trials(self, key: str, count: int, trial: Callable[[int], dict[str, Any]]) -> Cell:
        """A cell of `count` trials, those run now that are missing: each names its numbers, which are kept in lists."""
        cell = self.results.read().get(key, {})
        for number in range(len(next(iter(cell.values()), [])), count):
            started = time.perf_counter()
            found = trial(number)
            self.results.add(key, **{name: [value] for name, value in found.items()})
            print(f"      {key} [{number + 1}/{count}] {_said(found)} ({time.perf_counter() - started:.1f} s)", flush=True)
        return self.results.read()[key]

    def once(self, key: str, work: Callable[[], dict[str, Any]]) -> Cell:
        """A cell measured in one go, whatever it holds."""
        if key not in self.results.read():
            started = time.perf_counter()
            self.results.add(key, **work())
            print(f"      {key} ({time.perf_counter() - started:.1f} s)", flush=True)
        return self.results.read()[key]


def _said(found: dict[str, Any]) -> str:
    return "  ".join(f"{name} {value:.4g}" for name, value in found.items() if isinstance(value, (int, float)))


def measured_on(cells: Cells) -> str:
    """The machine of the first stage that was measured; empty where none was."""
    return next((cell["machine"] for key, cell in cells.items() if key.startswith(STAGE) and "machine" in cell), "")


def minutes(cells: Cells, *, exact: bool = False) -> float:
    """What the stages took, all together; those that only --exact runs apart."""
    stages = [cell for key, cell in cells.items() if key.startswith(STAGE) and _of_exact_stage(key) == exact]
    return sum(cell.get("seconds", 0.0) for cell in stages) / 60


def _of_exact_stage(key: str) -> bool:
    return key.startswith(STAGE) and "exact" in key
