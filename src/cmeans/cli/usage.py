"""Errors in the words of a command line, each as one line that says what to give instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, get_args, get_origin

_NUMBERS = {int: "a whole number", float: "a number"}


def usage_line(error: Any, command: str, words: Sequence[str]) -> str:
    """Return the line for an error of usage that typer found in the words of a command."""
    look = f"{command} -h shows all that there is."
    if (flag := getattr(error, "option_name", None)) is not None:
        if not hasattr(error, "possibilities"):
            return f"{flag}: needs a value; {look}"
        near = " or ".join(sorted(error.possibilities or ()))
        return f"{flag}: {command} has no such option; " + (f"is it {near}?" if near else look)
    word = getattr(error, "param", None)
    if word is None:
        text = str(error.message).rstrip(".")
        text = f"{text[:1].lower()}{text[1:]}"
        return text if text.endswith("?") else f"{text}; {look}"
    if hasattr(error, "param_type"):  # it is missing
        return f"{command.removeprefix('cmeans ')} needs {_shown(word)}; {look}"
    flag, value = _given(word.opts, words)
    wanted = _wanted(error.ctx.command.callback, word.name)
    said = f"give {wanted}" if wanted else str(error.message).rstrip(".")
    return f"{flag} {value}".rstrip() + f": {said}."


def _shown(word: Any) -> str:
    """Return the name of an argument, or an option with what it takes."""
    metavar = word.metavar or word.name.upper()
    return metavar if word.param_type_name == "argument" else f"{word.opts[0]} {metavar}"


def _given(flags: Iterable[str], words: Sequence[str]) -> tuple[str, str]:
    """Return an option and its value as they stand in the words; the last one, which counts."""
    found = next(iter(flags)), ""
    for at, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in flags:
            found = flag, value if equals else "".join(words[at + 1 : at + 2])
    return found


def _wanted(callback: Callable[..., Any] | None, name: str) -> str:
    """Return what an option takes, in words; none where only its own check can say it."""
    parameters = {} if callback is None else inspect.signature(callback).parameters
    if name not in parameters:
        return ""
    kinds, spec = get_args(parameters[name].annotation)[:2]
    for kind in (
        get_args(kinds) if get_origin(kinds) is not Literal and get_args(kinds) else [kinds]
    ):
        if get_origin(kind) is Literal:
            return f"one of {', '.join(get_args(kind))}"
        if kind in _NUMBERS:
            low = "" if spec.min is None else f" from {spec.min:g}"
            return _NUMBERS[kind] + low + ("" if spec.max is None else f" to {spec.max:g}")
    return ""
