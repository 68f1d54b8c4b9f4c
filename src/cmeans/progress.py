"""Who watches a fit: listeners hear of every group of rows folded and of every sweep ended.

The mathematics never asks whether anybody listens. A command line draws a bar with it, `verbose` writes lines,
scikit-learn's callbacks are called from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """Where a fit stands. One is sent after each group of rows, and one with the objective after each sweep."""

    stage: str  # "pilot" (the fuzzy run before a possibilistic one), "fit" or "assign" (the last pass)
    run: int  # 0-based number of the start that is running
    n_runs: int  # how many starts there are (`n_init`)
    sweep: int  # 1-based number of the sweep that is running
    max_sweeps: int
    rows_done: int  # rows folded so far in this sweep
    n_rows: int
    objective: float | None = None  # only in the message that ends a sweep
    movement: float | None = None  # largest move of a centre, relative to the stopping rule's scale (stop at <= tol)


@dataclass(frozen=True)
class Place:
    """Which run of which stage a solver works on: for progress messages only."""

    stage: str = "fit"
    run: int = 0
    n_runs: int = 1


FIT = Place()

Listener = Callable[[Progress], None]

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("cmeans_listeners", default=())


@contextmanager
def watching(listener: Listener) -> Iterator[None]:
    """Call `listener` with a `Progress` during every fit inside the block (this thread and context only)."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def anybody_listens() -> bool:
    """Whether messages go anywhere in this context."""
    return bool(_listeners.get())


def tell(progress: Progress) -> None:
    """Send one message to every listener of this context."""
    for listener in _listeners.get():
        listener(progress)
