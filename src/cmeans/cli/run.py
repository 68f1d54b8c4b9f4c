"""One command line, from its words to its exit code. What a command needs is loaded when it is
called."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .app import COMMANDS, Typer, invoke, new_app
from .errors import DONE, FAULT, INTERRUPTED, UNREAD, verdict
from .loading import nothing_is_garbage
from .output.standard_streams import NAME as STANDARD_OUTPUT
from .output.standard_streams import open_closed_streams, silence
from .output.terminal import Screen

E = TypeVar("E", bound=BaseException)
COMPLETION = "_CMEANS_COMPLETE"  # variable of a shell that asks for completion


def app_for(arguments: list[str]) -> Typer:
    """Return the command line that serves these arguments; where they name no command and no shell
    asks how a word may go on, one that knows names and help alone."""
    if COMPLETION in os.environ or not COMMANDS.keys().isdisjoint(arguments):
        with nothing_is_garbage():
            from .commands import app

        return app
    named = new_app()
    for name, text in COMMANDS.items():
        named.command(name, help=text)(_not_called)
    return named


def _not_called() -> None:
    """Stand for a command in the list of commands."""


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    open_closed_streams()
    with _terminable():
        try:
            invoke(app_for(arguments), arguments)
            code = DONE
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            interrupt = _cause(end, KeyboardInterrupt) or KeyboardInterrupt()
            if code == FAULT and _cause(end, BrokenPipeError) is not None:
                code = UNREAD
        except KeyboardInterrupt as end:
            code, interrupt = INTERRUPTED, end
        except OSError as error:  # of help or the version, which typer writes
            silence(sys.stdout)
            code, line = verdict(OSError(error.errno, error.strerror, STANDARD_OUTPUT))
            Screen().fail(line)
    if code == INTERRUPTED:  # typer prints nothing then
        Screen().fail(verdict(interrupt)[1])
    return code


def _cause(end: BaseException | None, kind: type[E]) -> E | None:
    """Return the error of that kind that typer turned into an exit, if any."""
    while end is not None and not isinstance(end, kind):
        end = end.__cause__ or end.__context__
    return end


@contextmanager
def _terminable() -> Iterator[None]:
    """Make SIGTERM end a command as Ctrl-C does, so that it cleans up. Python allows handlers in
    the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former or signal.SIG_DFL)
