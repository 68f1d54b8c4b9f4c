"""Commands made of functions: their words become options of the command line, their errors one
line, and their summaries text for people or JSON."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

from ..data.addresses import place
from ..data.row_source import RowsError
from .app import COMMANDS, Context, Exit, new_app, option
from .config import KEY, config_of, read_config
from .errors import InputError, verdict
from .methods import MethodSpec
from .option_names import option_of
from .option_values import PANELS, SCREEN, ParameterOption, parameter_options
from .output.messages import in_options, own_words
from .output.report import Part
from .output.results import show
from .output.standard_streams import at_terminal as _at_terminal
from .output.standard_streams import message
from .output.terminal import Screen, print_report
from .table_options import TableOptions

app = new_app()

OF_EVERY_COMMAND = {
    "quiet": Annotated[
        bool, option(SCREEN, "Only warnings and errors on stderr.", "--quiet", "-q")
    ],
    "as_json": Annotated[
        bool,
        option(SCREEN, "The summary as JSON at a terminal too; elsewhere it always is.", "--json"),
    ],
    "config": Annotated[
        Path | None,
        option(
            SCREEN,
            "Options of a former run: its run.toml, its summary.json, or a TOML file of your own.",
            "--config",
            metavar="FILE",
            shown=False,
            callback=read_config,
            is_eager=True,
        ),
    ],
    "debug": Annotated[bool, option(SCREEN, "Show the whole traceback of an error.", "--debug")],
}


def command(
    text: Callable[[Any], Iterable[Part]] | None = None,
    methods: Mapping[str, MethodSpec] | None = None,
    table: Mapping[str, tuple[Any, Any]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Return a decorator that makes a function of a screen and options, which returns a summary, a
    command. `text`: the summary as people read it. The parameters of `methods` are options too:
    those that were given come as keywords; the options of a `table`, with their defaults, come as
    one. An error is reported as one line."""
    all_options = parameter_options(methods) if methods else []

    def registered(function: Callable[..., Any]) -> Callable[..., None]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        taken = {*(word.name for word in own), *(table or ())}
        options = [option for option in all_options if option.name not in taken]
        words = [
            word.replace(kind=word.KEYWORD_ONLY)
            for word in own
            if word.kind is not word.VAR_KEYWORD and word.name not in ("table", KEY)
        ]
        words += [_keyword(name, usual, kind) for name, (kind, usual) in (table or {}).items()]
        words += [_keyword(option.name, None, _typed(option)) for option in options]
        words += [
            _keyword(name, None if name == KEY else False, kind)
            for name, kind in OF_EVERY_COMMAND.items()
        ]
        for word in words:
            if getattr(word.annotation, "__origin__", None) in (Path, Path | None):
                word.annotation.__metadata__[0].parser = place  # which knows addresses too
        defaults = {word.name: word.default for word in words}
        keeps_config = KEY in {word.name for word in own}

        @wraps(function)
        def run(
            *, quiet: bool, as_json: bool, debug: bool, config: Path | None, **given: Any
        ) -> None:
            if keeps_config:
                given[KEY] = config_of(given, defaults)
            for_people = text is not None and _at_terminal() and not as_json
            strict = given.get("strict", False)
            with (
                own_words(_words_of(given)),
                _plain_speech(Screen(quiet, for_people, strict), debug) as screen,
            ):
                said = {
                    option: value
                    for option in options
                    if (value := given.pop(option.name)) is not None
                }
                if table:
                    given["table"] = TableOptions({name: given.pop(name) for name in table})
                summary = function(
                    screen,
                    **given,
                    **{option.name: option.value(value) for option, value in said.items()},
                )
                if summary is None:  # of a stream whose labels went to stdout
                    return
                if text is not None and screen.for_people:
                    print_report(text(summary))
                else:
                    show(summary, needed="outputs" not in summary)

        run.__signature__ = inspect.Signature(sorted(words, key=_panel))  # type: ignore[attr-defined]
        run.__annotations__ = {word.name: word.annotation for word in words}
        return app.command(function.__name__, help=COMMANDS[function.__name__])(run)

    return registered


def _words_of(given: Mapping[str, Any]) -> list[str]:
    """Return the words that were given on the command line as values: names of files and columns,
    among others."""
    words = (
        word
        for value in given.values()
        for word in (value if isinstance(value, (list, tuple)) else [value])
    )
    return [str(word) for word in words if isinstance(word, (str, os.PathLike))]


def _keyword(name: str, default: Any, kind: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _typed(parameter: ParameterOption) -> Any:
    """Return the type of a parameter's option for Typer."""
    names, flag = parameter.names, option_of(parameter.name)
    kind: Any = parameter.kind or parameter.number
    more = {"metavar": "|".join(names) or "4GB"} if kind is str else {}
    if names and parameter.number:
        kind = str
        more = {"metavar": "|".join([*names, "N" if parameter.number is int else "NUMBER"])}
    elif parameter.several:
        kind, more = str, {"metavar": "NUMBER[,NUMBER...]"}
    elif names:
        kind = Literal[names]
    flags = {"n_clusters": (flag, "-c"), "search__progressive": (f"{flag}/--all-rows",)}.get(
        parameter.name, (flag,)
    )
    return Annotated[
        kind | None,
        option(parameter.panel, parameter.help, *flags, shown=parameter.default, **more),
    ]


def _panel(word: inspect.Parameter) -> int:
    """Return the place of an option's panel in the help; arguments, which have none, come first."""
    panel = None if word.annotation is Context else word.annotation.__metadata__[0].rich_help_panel
    return list(PANELS).index(panel) if panel in PANELS else -1


@contextmanager
def _plain_speech(screen: Screen, debug: bool) -> Iterator[Screen]:
    """Report any end of a command as one line and an exit code; the traceback only with --debug."""
    try:
        yield screen
    except BrokenPipeError:
        raise  # stdout has no reader any more; typer handles that
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            for text in "".join(traceback.format_exception(error)).splitlines():
                message(text)
        if isinstance(error, KeyboardInterrupt):
            raise
        code, line = verdict(error)
        # which name options themselves
        screen.fail(line if isinstance(error, (InputError, RowsError)) else in_options(line))
        raise Exit(code) from None
