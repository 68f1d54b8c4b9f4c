"""Access to Typer: options, arguments and commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, get_type_hints

import typer
from typer import Exit, Typer, echo

__all__ = ["Exit", "Typer", "argument", "call", "echo", "new_app", "option", "taking"]

T = TypeVar("T")


def new_app(name: str, text: str) -> Typer:
    return typer.Typer(
        name=name,
        help=text,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def call(app: Typer, name: str, arguments: list[str]) -> None:
    """Run one command line; ends in SystemExit."""
    typer.main.get_command(app).main(args=arguments, prog_name=name)


def option(panel: str | None, text: str, *names: str, shown: str | bool = True, **more: Any) -> Any:
    """Return an option of one panel of the help; `shown` is the default that the help shows."""
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=shown, **more)


def argument(text: str, metavar: str) -> Any:
    return typer.Argument(metavar=metavar, help=text, show_default=False)


def taking(record: type[T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Return a decorator that makes a function of one record a command with the record's fields as options, in its signature for Typer."""
    kinds = get_type_hints(record, include_extras=True)
    signature = inspect.signature(record)
    options = [parameter.replace(annotation=kinds[name]) for name, parameter in signature.parameters.items()]

    def commanding(function: Callable[[T], None]) -> Callable[..., None]:
        @wraps(function)
        def command(**given: Any) -> None:
            function(record(**given))

        command.__annotations__ = kinds
        command.__signature__ = signature.replace(parameters=options, return_annotation=None)  # type: ignore[attr-defined]
        return command

    return commanding
