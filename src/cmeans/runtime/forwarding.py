"""Attributes of a class that are those of an object which it holds."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TypeVar

C = TypeVar("C", bound=type)


def forwards(field: str, *names: str) -> Callable[[C], C]:
    """Return a class decorator: attributes and methods of these names are those of the object that
    a field holds."""

    def complete(cls: C) -> C:
        for name in names:
            setattr(cls, name, property(attrgetter(f"{field}.{name}")))
        return cls

    return complete
