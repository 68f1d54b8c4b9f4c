"""Docstrings that describe every parameter: what several estimators share is written once, and copied when a class is made."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

C = TypeVar("C", bound=type)

PARAMETERS = "    Parameters\n    ----------\n"
ENTRY = re.compile(r"    (\w+(?:, \w+)*) : .*\n(?:(?:        .*)?\n(?=        )|        .*\n)*")
DEFAULT = re.compile(r"\Adefault=.*|(?<= )default=.*")


def shares_parameters(other: type) -> Callable[[C], C]:
    """Return a class decorator: parameters that the docstring leaves out are described as in that of `other`."""

    def complete(cls: C) -> C:
        if cls.__doc__ and other.__doc__:  # python -OO leaves none
            cls.__doc__ = completed(cls.__doc__, other.__doc__, inspect.signature(cls).parameters)
        return cls

    return complete


def completed(text: str, theirs: str, parameters: Mapping[str, inspect.Parameter]) -> str:
    """Put the missing entries behind the last one of the section "Parameters", each with the default that it has here."""
    end, own = _entries(text)
    described = {name for names, _ in own for name in names}
    copies = [
        _with_default(entry, parameters[names[0]].default)
        for names, entry in _entries(theirs)[1]
        if not described.intersection(names) and set(names) <= set(parameters)
    ]
    return text[:end] + "".join(copies) + text[end:]


def _entries(text: str) -> tuple[int, list[tuple[list[str], str]]]:
    """Return where the entries of "Parameters" end, and their names and texts."""
    end = text.index(PARAMETERS) + len(PARAMETERS)
    found = list[tuple[list[str], str]]()
    while entry := ENTRY.match(text, end):
        found.append((entry[1].split(", "), entry[0]))
        end = entry.end()
    return end, found


def _with_default(entry: str, default: object) -> str:
    if not isinstance(default, str | int):  # the others are alike everywhere
        return entry
    head, newline, below = entry.partition("\n")
    written = f'"{default}"' if isinstance(default, str) else str(default)
    return DEFAULT.sub(lambda _: f"default={written}", head) + newline + below
