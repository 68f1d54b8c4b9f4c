"""The command line as a whole: the commands there are, help and version. What a command needs is loaded when it is called."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

import typer
from typer import Context, Exit
from typer.core import TyperGroup

from ..runtime.user_warnings import printable
from ..runtime.version import __version__
from .errors import DONE, FAULT, INTERRUPTED, UNREAD, verdict
from .output.standard_streams import NAME as STANDARD_OUTPUT
from .output.standard_streams import open_closed_streams, silence
from .output.terminal import Screen

__all__ = ["COMMANDS", "Context", "Exit", "argument", "new_app", "option", "run"]

E = TypeVar("E", bound=BaseException)
_WrongUsage: Any = typer.BadParameter.__base__  # of click, or of what typer has in its place

COMMANDS = {
    "fit": "Cluster the rows of a file: labels.parquet, model.safetensors and summary.json in DIR, the summary on stdout.",
    "select": "Say how many clusters the rows of a file show: each number is judged on a sample, beside rows without clusters.",
    "predict": "Label new rows with a model. Columns, categories and scaling are those of the fit; --columns names others, "
    "in the model's order.",
    "report": "Show what a model found in the rows of a file: a page for any browser, in one file, with pictures and tables.",
    "stream": "Cluster rows as they come, each once: labels at once, and a model that goes on learning. From a pipe, a file or a folder.",
    "info": "Say what a model file holds.",
    "demo": "Cluster a real data set that comes with scikit-learn, from the file to the labels, in a few seconds.",
}


def option(panel: str | None, text: str, *names: str, shown: str | bool = True, **more: Any) -> Any:
    """Return an option of one panel of the help; `shown` is the default that the help shows."""
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=shown, **more)


def argument(text: str, metavar: str) -> Any:
    return typer.Argument(metavar=metavar, help=text, show_default=False)


class _Commands(TyperGroup):
    """Commands whose errors show the words of a command line with control characters escaped."""

    def invoke(self, ctx: Any) -> Any:
        with _printable():
            return super().invoke(ctx)

    def make_context(self, *arguments: Any, **words: Any) -> Any:
        with _printable():
            return super().make_context(*arguments, **words)


@contextmanager
def _printable() -> Iterator[None]:
    try:
        yield
    except _WrongUsage as error:
        error.message = printable(error.message)
        raise


def new_app() -> typer.Typer:
    """Return the command line without its commands."""
    app = typer.Typer(
        name="cmeans",
        cls=_Commands,
        help="Hard, fuzzy and possibilistic c-means in kernel space. Start with: cmeans demo",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def _root(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
        if version:
            typer.echo(f"cmeans {__version__}")
            raise Exit

    return app


def app_for(arguments: list[str]) -> typer.Typer:
    """Return the command line that serves these arguments; where they name no command, one that knows names and help alone."""
    if not COMMANDS.keys().isdisjoint(arguments):
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
            typer.main.get_command(app_for(arguments)).main(args=arguments, prog_name="cmeans", obj=arguments)
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
    """Make SIGTERM end a command as Ctrl-C does, so that it cleans up. Python allows handlers in the main thread only."""
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
