"""How a message writes an argument: as Python has it here, as an option where a command is typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Spelling = Callable[..., str]  # of a name alone, or of a name and its value


def in_python(name: str, *value: Any) -> str:
    """`columns`, or `columns=['a', 'b']`."""
    return f"{name}={value[0]!r}" if value else name


def one_line(text: object) -> str:
    """Messages of other libraries may run over several lines; ours never do."""
    return " ".join(str(text).split())
