"""A paper, the reading of its results, and one run of it."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import threadpoolctl

from ..harness import DataError, header, quiet
from ..template import Claim, judged, render
from .pictures import save
from .results import Cell, Cells, Results

STAGE = "stage | "  # keys of the seconds that stages took


class PaperReading:
    """Numbers taken from the cells of a paper, by the names that its template, claims and figures
    use. It has no state but the cells."""

    modules: tuple[Any, ...] = ()  # whose constants templates show

    def __init__(self, cells: Cells) -> None:
        self.cells = cells

    def names(self) -> dict[str, Any]:
        """Public methods, constants of the module, and `modules` by their names."""
        given = {
            name: value
            for name, value in vars(sys.modules[type(self).__module__]).items()
            if name.isupper()
        }
        given |= {module.__name__.rpartition(".")[2]: module for module in self.modules}
        return given | {
            name: getattr(self, name)
            for name in dir(self)
            if not name.startswith("_") and name != "names"
        }

    def values(self, key: str, field: str) -> list[Any]:
        """All trials; none where nothing was measured."""
        return self.cells.get(key, {}).get(field, [])

    def keyed(self, beginning: str, names: Iterable[str]) -> dict[str, Cell]:
        """Of some names those that have a cell under `beginning`, with it."""
        return {
            name: self.cells[key]
            for name in names
            if (key := f"{beginning} | {name}") in self.cells
        }

    def stages(self, field: str) -> dict[str, Any]:
        """The seconds of stages ("seconds"), or why they were left out ("reason")."""
        return {
            key.removeprefix(STAGE): cell[field]
            for key, cell in self.cells.items()
            if key.startswith(STAGE) and field in cell
        }

    def machine(self) -> str:
        """The machine of the first stage that was measured, and which stages other versions of
        cmeans measured; empty where none was."""
        stages = self.stages("machine")
        first, by_version = next(iter(stages.values()), ""), defaultdict(list)
        for title, machine in stages.items():
            by_version[machine.split("\n")[1].partition(",")[0]].append(title)
        if len(by_version) < 2:
            return first
        return "\n".join(
            [first, *(f"{version}: {'; '.join(titles)}" for version, titles in by_version.items())]
        )

    def clock(self) -> str:
        """Of the seconds of fits; earlier versions measured those of the wall."""
        clocks = self.stages("clock")
        earlier = [title for title in self.stages("machine") if title not in clocks]
        if not clocks:
            return "wall seconds"
        quoted = ", ".join(f'"{title}"' for title in earlier)
        return f"processor seconds{f' (wall seconds in the stages {quoted})' if quoted else ''}"

    def minutes(self, *, exact: bool = False) -> float:
        return minutes(self.cells, exact=exact)


class Paper(NamedTuple):
    """`measure` fills the results with what they lack; all else is made from the results alone."""

    name: str
    title: str
    measure: Callable[[Run], None]
    reading: Callable[[Cells], PaperReading]
    figures: dict[str, Callable[[Any], Any]]  # what each is made by; None: there is nothing to draw
    # cells that no run measures but one with exact; None: there are none
    only_exact: Callable[[str], bool] | None = None

    def draw(self, cells: Cells, folder: Path) -> None:
        for name, make in self.figures.items():
            figure = make(self.reading(cells))
            if figure is not None:
                save(figure, folder, f"{self.name}-{name}")

    def claims(self, cells: Cells, which: str = "claims") -> list[Claim]:
        return judged(f"papers/{self.name}/claims.toml", self.reading(cells).names(), which)

    def page(self, cells: Cells) -> str:
        return render(
            f"papers/{self.name}/page.md",
            self.reading(cells).names() | {"claims": partial(self.claims, cells)},
        )

    def forget(self, results: Results, beginning: str, *, exact: bool) -> None:
        """Drop cells whose key begins so; with exact=False only those that a run without exact
        fills again."""

        def kept(key: str) -> bool:
            return not exact and (
                _of_exact_stage(key) or (self.only_exact is not None and self.only_exact(key))
            )

        results.forget(lambda key: key.startswith(beginning) and not kept(key))


@dataclass
class Run:
    """One run of a paper: where its results go, and how much of it is asked for.

    quick : reduced sizes, which show that everything works and no more. exact : also what needs all
        kernel values of 70,000 rows.
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
            seconds_before = before.get(key, {}).get("seconds", 0.0)
            words = {"machine": header(), "clock": "processor"}
            self.results.add(key, seconds=seconds_before + seconds, **words)
            print(f"   {title}: {seconds:.0f} s", flush=True)

    def trials(self, key: str, count: int, trial: Callable[[int], dict[str, Any]]) -> Cell:
        """A cell of `count` trials, those run now that are missing: each names its numbers, which
        are kept in lists."""
        cell = self.results.read().get(key, {})
        for number in range(len(next(iter(cell.values()), [])), count):
            started = time.perf_counter()
            found = trial(number)
            self.results.add(key, **{name: [value] for name, value in found.items()})
            print(
                f"      {key} [{number + 1}/{count}] {_said(found)} "
                f"({time.perf_counter() - started:.1f} s)",
                flush=True,
            )
        return self.results.read()[key]

    def nth(self, key: str, number: int, trial: Callable[[], dict[str, Any]]) -> None:
        """The trial of that number, counted from 0, where the cell lacks it."""
        self.trials(key, number + 1, lambda _: trial())

    def once(self, key: str, work: Callable[[], dict[str, Any]]) -> Cell:
        """A cell measured in one go, whatever it holds."""
        if key not in self.results.read():
            started = time.perf_counter()
            self.results.add(key, **work())
            print(f"      {key} ({time.perf_counter() - started:.1f} s)", flush=True)
        return self.results.read()[key]

    def side_by_side(
        self, work: Callable[..., dict[str, Any]], jobs: dict[str, tuple[Any, ...]]
    ) -> None:
        """`work(*arguments)` of every key that has no cell yet, kept as soon as it is there: one
        process a core, one thread each."""
        there = self.results.read()
        missing = {key: arguments for key, arguments in jobs.items() if key not in there}
        if not missing:
            return
        with ProcessPoolExecutor(
            min(joblib.cpu_count(), len(missing)), initializer=_one_thread
        ) as pool:
            futures = {pool.submit(work, *arguments): key for key, arguments in missing.items()}
            for future in as_completed(futures):
                self.once(futures[future], future.result)


def _one_thread() -> None:
    quiet()
    threadpoolctl.threadpool_limits(1)


def _said(found: dict[str, Any]) -> str:
    return "  ".join(
        f"{name} {value:.4g}" for name, value in found.items() if isinstance(value, (int, float))
    )


def minutes(cells: Cells, *, exact: bool = False) -> float:
    """The minutes of all stages together; those that only --exact runs apart."""
    stages = [
        cell
        for key, cell in cells.items()
        if key.startswith(STAGE) and _of_exact_stage(key) == exact
    ]
    return sum(cell.get("seconds", 0.0) for cell in stages) / 60


def _of_exact_stage(key: str) -> bool:
    return key.startswith(STAGE) and "exact" in key
