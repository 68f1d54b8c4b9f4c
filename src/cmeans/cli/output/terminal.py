"""Messages and a progress bar on stderr, never on stdout."""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from ...runtime.progress import Progress, listening
from ...runtime.user_warnings import one_line
from .standard_streams import at_terminal, message, standard_output

_STAGES = {"sample": "sample", "pilot": "fuzzy pilot", "fit": "fit", "grow": "cluster trial", "assign": "assign"}
_BETWEEN_DRAWINGS = 0.05  # seconds


@dataclass(frozen=True)
class Screen:
    """Output of messages. `quiet` leaves warnings and errors."""

    quiet: bool = False
    for_people: bool = False  # a summary follows that people read, with warnings and advice

    def say(self, text: str) -> None:
        if not self.quiet:
            message(f"cmeans: {one_line(text)}")

    def warn(self, text: str) -> None:
        message(f"cmeans: warning: {one_line(text)}")

    def fail(self, text: str) -> None:
        message(f"cmeans: {one_line(text)}")

    @contextmanager
    def telling(self, logger: str) -> Iterator[None]:
        """Print what is logged inside the block."""
        source, handler = logging.getLogger(logger), _Saying(self)
        level = source.level
        source.setLevel(logging.INFO)
        source.addHandler(handler)
        try:
            yield
        finally:
            source.removeHandler(handler)
            source.setLevel(level)

    @contextmanager
    def progress(self, tol: float) -> Iterator[None]:
        """Draw the progress of every fit inside the block, where stderr is a terminal and `quiet` is not set."""
        console = Console(stderr=True)
        if self.quiet or not console.is_terminal:
            yield
            return
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=16), TextColumn("{task.fields[standing]}"), TimeElapsedColumn())
        with Bar(*columns, console=console, transient=True) as bar, listening(_Painter(bar, Forecast(tol))):
            yield

    @contextmanager
    def counting(self) -> Iterator[Callable[[int, int], None]]:
        """Provide a function that draws the counts of rows and clusters where `progress` would; not over labels on the same terminal."""
        console = Console(stderr=True)
        if self.quiet or not console.is_terminal or at_terminal():
            yield lambda _rows, _clusters: None
            return
        columns = (TextColumn("{task.completed:,} rows in {task.fields[n_clusters]} clusters, {task.fields[speed]}"), TimeElapsedColumn())
        with Bar(*columns, console=console, transient=True) as bar:
            task, first = bar.add_task("", total=None, n_clusters=0, speed="", visible=False), list[tuple[int, float]]()

            def draw(n_rows: int, n_clusters: int) -> None:
                first[:] = first or [(n_rows, time.monotonic())]  # earlier runs and the wait for the first rows do not count for the speed
                speed = (n_rows - first[0][0]) / max(time.monotonic() - first[0][1], 1e-3)
                bar.update(task, completed=n_rows, n_clusters=n_clusters, speed=f"{speed:,.0f} rows/s", visible=True)

            yield draw


class _Saying(logging.Handler):
    def __init__(self, screen: Screen) -> None:
        super().__init__(logging.INFO)
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        self._screen.say(record.getMessage())


@dataclass
class Forecast:
    """Forecast of a fit's remaining time: sweeps shrink the movement by some factor, and it ends at `tol`."""

    tol: float
    movements: deque[float] = field(default_factory=lambda: deque(maxlen=6))
    _sweep_ended: float | None = None
    _seconds: float | None = None  # per sweep, smoothed

    def note(self, progress: Progress, now: float) -> None:
        """Record the end of a sweep."""
        if progress.sweep == 1:
            self.movements.clear()
        if progress.movement is not None:
            self.movements.append(progress.movement)
        if self._sweep_ended is not None:
            last = now - self._sweep_ended
            self._seconds = last if self._seconds is None else 0.7 * self._seconds + 0.3 * last
        self._sweep_ended = now

    def sweeps_left(self, progress: Progress) -> int:
        """Sweeps left in this restart, if the movement shrinks at the same rate; at most those allowed."""
        allowed = progress.max_sweeps - progress.sweep
        first, last = (self.movements[0], self.movements[-1]) if self.movements else (0.0, 0.0)
        if not 0 < last < first < math.inf or self.tol <= 0:  # infinite where the number of clusters has changed
            return allowed
        shrinks = (math.log(last) - math.log(first)) / (len(self.movements) - 1)
        return min(allowed, max(0, math.ceil((math.log(self.tol) - math.log(last)) / shrinks))) if shrinks else allowed

    def seconds_left(self, progress: Progress) -> float | None:
        """Seconds left for this restart and later ones, assumed to be as long; None where unknown."""
        if self._seconds is None or progress.stage in ("assign", "grow") or progress.max_sweeps >= UNLIMITED:  # their number is unknown
            return None
        here = self.sweeps_left(progress)
        return self._seconds * (here + (progress.n_runs - progress.run - 1) * (progress.sweep + here))


UNLIMITED = 10**6  # a limit of sweeps from which on there is no forecast


class _Painter:
    """Draws the progress of a fit as one line of a terminal."""

    def __init__(self, bar: Bar, forecast: Forecast) -> None:
        self._bar, self._forecast = bar, forecast
        self._task: TaskID | None = None
        self._drawn = 0.0
        self._objective: float | None = None

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        ends_sweep = progress.objective is not None
        if ends_sweep:
            self._objective = progress.objective
            self._forecast.note(progress, now)
        # A fit reports far more often than an eye can see.
        if now - self._drawn < _BETWEEN_DRAWINGS:
            return
        self._drawn = now
        words: dict[str, Any] = {"description": described(progress), "total": progress.n_rows, "completed": progress.rows_done}
        words["standing"] = standing(progress, self._objective, self._forecast.seconds_left(progress))
        if self._task is None:
            self._task = self._bar.add_task(**words)
        else:
            self._bar.update(self._task, **words)


def described(progress: Progress) -> str:
    start = f" {progress.run + 1}/{progress.n_runs}" if progress.n_runs > 1 else ""
    if progress.stage == "grow":
        start = f" {progress.run + 1}"
    limit = f"/{progress.max_sweeps}" if progress.max_sweeps < UNLIMITED else ""
    sweep = "" if progress.stage == "assign" else f", sweep {progress.sweep}{limit}"
    return f"{_STAGES.get(progress.stage, progress.stage)}{start}{sweep}"


def standing(progress: Progress, objective: float | None, seconds_left: float | None) -> str:
    words = [f"{progress.rows_done:,}/{progress.n_rows:,} rows"]
    if objective is not None:
        words.append(f"objective {objective:.6g}")
    if seconds_left is not None:
        words.append(f"about {int(seconds_left) // 60}:{int(seconds_left) % 60:02d} left")
    return ", ".join(words)


def print_report(parts: Iterable[str | list[Sequence[str]]]) -> None:
    """Print lines, and tables whose first row names the columns, on stdout. Lines are not broken, so that commands can be copied."""
    with standard_output() as stream:
        console = Console(file=stream, highlight=False, markup=False)
        block = "█" if console.encoding.startswith("utf") else "#"
        for part in parts:
            if isinstance(part, str):
                console.print(part, soft_wrap=True)
                continue
            table = Table(box=None, pad_edge=True, show_header=any(part[0]))
            for name in part[0]:
                table.add_column(name, justify="left" if name == "" else "right")
            for row in part[1:]:
                table.add_row(*(Text(cell.replace("█", block)) for cell in row))
            console.print(table)
