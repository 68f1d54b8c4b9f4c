"""Progress messages of a fit, sent to listeners after each task of rows and after each sweep.

Results do not depend on them. The command line draws its progress bar from them, and `verbose`
writes lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """State of a fit. One message is sent after each task of rows, and one with the objective after
    each sweep."""

    # "pilot" (the fuzzy run before a possibilistic one), "search", "fit", "assign" (the last pass),
    # or "trial": one of the fits that a choice is made by, in place of what happens in it
    stage: str
    run: int  # 0-based number of the running start
    n_runs: int  # number of starts (`n_init`)
    sweep: int  # 1-based number of the running sweep
    max_sweeps: int
    rows_done: int  # rows done so far in this sweep
    n_rows: int
    objective: float | None = None  # only in the message that ends a sweep
    # largest move of a centre, relative to the stopping rule's scale (stop at <= tol)
    movement: float | None = None


TRIAL = "trial"
Listener = Callable[[Progress], None]


@dataclass(frozen=True)
class Reporter:
    """Sends the messages of one run of one stage to the listeners of a fit."""

    listeners: tuple[Listener, ...] = ()
    stage: str = "fit"
    run: int = 0
    n_runs: int = 1

    def emit(
        self,
        stage: str,
        sweep: int,
        max_sweeps: int,
        rows_done: int,
        n_rows: int,
        objective: float | None = None,
        movement: float | None = None,
    ) -> None:
        """Send one message."""
        for listener in self.listeners:
            listener(
                Progress(
                    stage,
                    self.run,
                    self.n_runs,
                    sweep,
                    max_sweeps,
                    rows_done,
                    n_rows,
                    objective,
                    movement,
                )
            )


SILENT = Reporter()

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("cmeans_listeners", default=())


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call `listener` with a `Progress` during every fit and prediction inside the block (this
    thread and context only)."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def trials(most: int) -> Iterator[Callable[[], None]]:
    """Tell listeners of trials, of which there are so many at most, in place of the fits inside the
    block; provide the function to call after each."""
    listeners, ended = _listeners.get(), 0

    def tell() -> None:
        nonlocal ended
        ended += 1
        reporter = Reporter(listeners, TRIAL, ended - 1, max(most, ended))
        reporter.emit(TRIAL, 1, 1, ended, max(most, ended))

    token = _listeners.set(())
    try:
        yield tell
    finally:
        _listeners.reset(token)


def current_listeners() -> tuple[Listener, ...]:
    """Listeners of this context: asked once, where a fit or a prediction begins, and handed down
    from there."""
    return _listeners.get()
