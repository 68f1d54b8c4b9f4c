"""The classes whose objects a file may hold: reading a file builds these alone, and imports
nothing."""

from __future__ import annotations

from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])

STORED: dict[str, type[Any]] = {}  # by their names in files


def stored(cls: Class) -> Class:
    """Let files hold objects of a frozen dataclass, by its fields; a decorator.

    The library's classes are known by their names, others by their modules too, so that no class
    takes the place of another.
    """
    STORED[_name_in_files(cls)] = cls
    return cls


def stored_name(cls: type[Any]) -> str | None:
    """Return the name of a class in files; None where files cannot hold its objects."""
    name = _name_in_files(cls)
    return name if STORED.get(name) is cls else None


def _name_in_files(cls: type[Any]) -> str:
    own = cls.__module__.startswith("cmeans.")
    return cls.__name__ if own else f"{cls.__module__}.{cls.__qualname__}"


def enter(table: dict[str, type[Any]], cls: type[Any]) -> None:
    """Let a table know a class by its `name`, where it has one of its own; ValueError where that is
    another class's."""
    name = cls.__dict__.get("name", "")
    known = table.get(name, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(
            f"{cls.__name__}: the name {name!r} is that of "
            f"{known.__module__}.{known.__qualname__}; give another."
        )
    if name:
        table[name] = cls


class UnknownClassError(ValueError):
    """A file holds an object of a class that is not known."""

    def __init__(self, name: str) -> None:
        module = name.rpartition(".")[0]
        if module:
            where = f"import its module ({module}) first"
        else:
            where = "a later version of cmeans may know it"
        super().__init__(
            f"it holds an object of the class {name}, which is not known here: {where}"
        )


def stored_class(name: str) -> type[Any]:
    """Return the class of a name in a file; UnknownClassError where it has not been imported."""
    if name not in STORED:
        raise UnknownClassError(name)
    return STORED[name]
