"""The command line without its commands: what they are called, help and version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Annotated, Any

import typer
from typer import Context, Exit, Typer
from typer.core import TyperGroup

from ..runtime.shown_addresses import for_people
from ..runtime.user_warnings import one_line
from ..runtime.version import __version__
from .errors import WRONG_INPUT
from .output.standard_streams import message
from .usage import usage_line

__all__ = [
    "COMMANDS",
    "Context",
    "Exit",
    "Typer",
    "argument",
    "invoke",
    "new_app",
    "option",
    "wrong_usage",
]

_WrongUsage: Any = typer.BadParameter.__base__  # of click, or of what typer has in its place

COMMANDS = {
    "fit": "Cluster the rows of a file: labels.parquet, model.safetensors, summary.json and "
    "run.toml, which repeats the run, in DIR, the summary on stdout.",
    "select": "Say how many clusters the rows of a file show: each number is judged on a sample, "
    "beside rows without clusters.",
    "predict": "Label new rows with a model. Columns, categories and scaling are those of the fit; "
    "--columns names others, in the model's order.",
    "report": "Show what a model found in the rows of a file: a page for any browser, in one file, "
    "with pictures and tables.",
    "explore": "Explore the rows of a file on a page: how many clusters, what they are like, where "
    "a row lies. One file for any browser, without a network.",
    "index": "Make the cells of a vector index: centroids and assignments that faiss and Lance "
    "read, none larger than --balance allows.",
    "stream": "Cluster rows as they come, each once: labels at once, and a model that goes on "
    "learning. From a pipe, a file or a folder.",
    "info": "Say what a model file holds.",
    "demo": "Cluster a real data set that comes with scikit-learn, from the file to the labels, in "
    "a few seconds.",
}


def option(panel: str | None, text: str, *names: str, shown: str | bool = True, **more: Any) -> Any:
    """Return an option of one panel of the help; `shown` is the default that the help shows."""
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=shown, **more)


def wrong_usage(text: str) -> Exception:
    """Return the error of a word of the command line."""
    return typer.BadParameter(text)


def argument(text: str, metavar: str) -> Any:
    return typer.Argument(metavar=metavar, help=text, show_default=False)


class _Commands(TyperGroup):
    """Commands, listed as above, whose errors of usage are one line, with control characters
    escaped."""

    def list_commands(self, _ctx: Any) -> list[str]:
        return list(COMMANDS)

    def invoke(self, ctx: Any) -> Any:
        with _plain_usage(ctx.obj):
            return super().invoke(ctx)

    def make_context(self, *arguments: Any, **words: Any) -> Any:
        with _plain_usage(words.get("obj")):
            return super().make_context(*arguments, **words)


@contextmanager
def _plain_usage(words: Sequence[str] | None) -> Iterator[None]:
    """Report a wrong word of the command line as one line; help that is shown for want of any words
    goes its way."""
    try:
        yield
    except _WrongUsage as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        words = words or ()
        command = " ".join(["cmeans", *(word for word in words[:1] if word in COMMANDS)])
        message(f"cmeans: {one_line(usage_line(error, command, words))}")
        raise Exit(WRONG_INPUT) from None


def new_app() -> Typer:
    """Return the command line without its commands."""
    app = Typer(
        name="cmeans",
        cls=_Commands,
        help="Hard, fuzzy and possibilistic c-means in kernel space. Start with: cmeans demo",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def _root(
        version: Annotated[
            bool, typer.Option("--version", help="Show the version and exit.")
        ] = False,
    ) -> None:
        if version:
            typer.echo(f"cmeans {__version__}")
            raise Exit

    return app


def invoke(app: Typer, arguments: list[str]) -> None:
    """Run the command of a command line; it ends by SystemExit."""
    shown = [for_people(word) for word in arguments]  # in commands that are advised
    _command_of(app).main(args=arguments, prog_name="cmeans", obj=shown)


@lru_cache(maxsize=2)
def _command_of(app: Typer) -> Any:
    """Return the command that typer makes of the functions of an app, all of whose words it reads:
    once, for one process may run many command lines."""
    return typer.main.get_command(app)
