"""Formatting of arguments in messages: in Python's syntax here, as an option in the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Spelling = Callable[..., str]  # of a name alone, or of a name and its value


def in_python(name: str, *value: Any) -> str:
    """Return an argument as Python writes it: `columns`, or `columns=['a', 'b']`."""
    return f"{name}={value[0]!r}" if value else name


def one_line(text: object) -> str:
    """Return the text in one line: messages of other libraries may have several. Control characters from files are escaped."""
    line = " ".join(str(text).split())
    return line if line.isprintable() else "".join(map(_shown, line))


def _shown(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()
