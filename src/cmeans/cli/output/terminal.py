"""Messages and a progress bar on stderr, never on stdout."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ...runtime.progress import listening
from ...runtime.progress_bar import (
    Bar,
    Console,
    Painter,
    Table,
    Text,
    TextColumn,
    TimeElapsedColumn,
    columns_of_bar,
)
from ...runtime.tables import of_words
from ...runtime.user_warnings import one_line, printable
from .standard_streams import at_terminal, message, standard_output


@dataclass(frozen=True)
class Screen:
    """Output of messages. `quiet` leaves warnings and errors."""

    quiet: bool = False
    for_people: bool = False  # a summary follows that people read, with warnings and advice
    strict: bool = False  # what would be a warning of the rows ends the command

    def say(self, text: str) -> None:
        if not self.quiet:
            message(f"cmeans: {one_line(text)}")

    def warn(self, text: str) -> None:
        message(f"cmeans: warning: {one_line(text)}")

    def fail(self, text: str) -> None:
        message(f"cmeans: {one_line(text)}")

    @contextmanager
    def telling(self, logger: str, put: Callable[[str], str]) -> Iterator[None]:
        """Print what is logged inside the block, as `put` puts it, each line once: members of a
        consensus say the same."""
        source, handler = logging.getLogger(logger), _Saying(self, put)
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
        """Draw the progress of every fit inside the block, where stderr is a terminal and `quiet`
        is not set."""
        console = Console(stderr=True)
        if self.quiet or not console.is_terminal:
            yield
            return
        with (
            Bar(*columns_of_bar(), console=console, transient=True) as bar,
            listening(Painter(bar, tol)),
        ):
            yield

    @contextmanager
    def counting(self) -> Iterator[Callable[[int, int], None]]:
        """Provide a function that draws the counts of rows and clusters where `progress` would; not
        over labels on the same terminal."""
        console = Console(stderr=True)
        if self.quiet or not console.is_terminal or at_terminal():
            yield lambda _rows, _clusters: None
            return
        columns = (
            TextColumn(
                "{task.completed:,} rows in {task.fields[n_clusters]} clusters, "
                "{task.fields[speed]}"
            ),
            TimeElapsedColumn(),
        )
        with Bar(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=None, n_clusters=0, speed="", visible=False)
            first = list[tuple[int, float]]()

            def draw(n_rows: int, n_clusters: int) -> None:
                # earlier runs and the wait for the first rows do not count for the speed
                first[:] = first or [(n_rows, time.monotonic())]
                speed = (n_rows - first[0][0]) / max(time.monotonic() - first[0][1], 1e-3)
                bar.update(
                    task,
                    completed=n_rows,
                    n_clusters=n_clusters,
                    speed=f"{speed:,.0f} rows/s",
                    visible=True,
                )

            yield draw


class _Saying(logging.Handler):
    def __init__(self, screen: Screen, put: Callable[[str], str]) -> None:
        super().__init__(logging.INFO)
        self._screen, self._put, self._said = screen, put, set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        text = self._put(record.getMessage())
        if text not in self._said:
            self._said.add(text)
            self._screen.say(text)


def print_report(parts: Iterable[str | list[Sequence[str]]]) -> None:
    """Print lines, and tables whose first row names the columns, on stdout. Lines are not broken,
    so that commands can be copied."""
    with standard_output() as stream:
        # text is shown to the letter
        console = Console(file=stream, highlight=False, markup=False, emoji=False)
        block = "█" if console.encoding.startswith("utf") else "#"
        for part in parts:
            if isinstance(part, str):
                console.print(printable(part), soft_wrap=True)
                continue
            table = Table(box=None, pad_edge=True, show_header=any(part[0]))
            for name, words in zip(part[0], of_words(part[1:], len(part[0])), strict=True):
                left = words or name == ""
                table.add_column(Text(printable(name)), justify="left" if left else "right")
            for row in part[1:]:
                table.add_row(*(Text(printable(cell.replace("█", block))) for cell in row))
            console.print(table)
