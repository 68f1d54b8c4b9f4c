"""Progress of fits as a bar: on a terminal, and in notebooks. rich enters the package in this
file."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from .forecast import Forecast, described, minutes, standing
from .progress import TRIAL, Progress, listening

__all__ = [
    "Bar",
    "Console",
    "Painter",
    "Table",
    "Text",
    "TextColumn",
    "TimeElapsedColumn",
    "columns_of_bar",
    "drawn_in_notebook",
]

BETWEEN_DRAWINGS = 0.05  # seconds
BETWEEN_DISPLAYS = 0.25  # in a notebook, which keeps what it is sent
AFTER = 2.0  # seconds from which on a fit is worth a bar in a notebook
WIDTH = 100  # characters of it
_STYLED = (
    "<pre "
    'style="white-space:pre;overflow-x:auto;line-height:normal;font-family:monospace">{code}</pre>'
)


def columns_of_bar() -> tuple[ProgressColumn, ...]:
    """Return what stands on the line: the stage, the bar, rows and objective, the time."""
    texts = [
        TextColumn(f"{{task.{name}}}")
        for name in ("description", "fields[standing]", "fields[elapsed]")
    ]
    # rich's own column of time stops with the first sweep, which completes the bar
    return texts[0], BarColumn(bar_width=16), *texts[1:]


class Painter:
    """Listener that draws the progress of a fit as one line."""

    def __init__(self, bar: Bar, tol: float) -> None:
        self._bar, self._forecast = bar, Forecast(tol)
        self._task: TaskID | None = None
        self._began, self._drawn = time.monotonic(), 0.0
        self._objective: float | None = None

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.objective is not None or progress.stage == TRIAL:
            self._objective = progress.objective
            self._forecast.note(progress, now)
        # A fit reports far more often than an eye can see.
        if now - self._drawn < BETWEEN_DRAWINGS:
            return
        self._drawn = now
        words: dict[str, Any] = {
            "description": described(progress),
            "total": progress.n_rows,
            "completed": progress.rows_done,
        }
        words["standing"] = standing(
            progress, self._objective, self._forecast.seconds_left(progress)
        )
        words["elapsed"] = minutes(now - self._began)
        if self._task is None:
            self._task = self._bar.add_task(**words)
        else:
            self._bar.update(self._task, **words)


@contextmanager
def drawn_in_notebook(tol: float) -> Iterator[None]:
    """Draw the progress of every fit inside the block below the cell that runs, from two seconds
    on; nothing outside of notebooks.

    The line is rich's, and the notebook's own display shows it, which needs no widgets.
    """
    if not Console().is_jupyter:
        yield
        return
    drawing = _Drawing(tol)
    try:
        with listening(drawing):
            yield
    finally:
        drawing.end()


class _Drawing:
    """Listener that shows one line in a notebook and changes it."""

    def __init__(self, tol: float) -> None:
        self._bar = Bar(
            *columns_of_bar(),
            console=Console(file=io.StringIO(), force_jupyter=False),
            auto_refresh=False,
        )
        self._painter = Painter(self._bar, tol)
        self._shown = time.monotonic() + AFTER - BETWEEN_DISPLAYS
        self._handle: Any = None

    def __call__(self, progress: Progress) -> None:
        self._painter(progress)
        now = time.monotonic()
        if now - self._shown < BETWEEN_DISPLAYS:
            return
        self._shown = now
        console = Console(
            file=io.StringIO(), record=True, width=WIDTH, force_jupyter=False, force_terminal=True
        )
        console.print(self._bar.get_renderable())
        self._show(
            console.export_html(inline_styles=True, code_format=_STYLED, clear=False),
            console.export_text(),
        )

    def end(self) -> None:
        """Take the line away."""
        if self._handle is not None:
            self._show("", "")

    def _show(self, html: str, text: str) -> None:
        from IPython.display import display

        content = {"text/html": html, "text/plain": text}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)
