"""Generic code asks an object for what it needs, not what it is or where it lies. These numbers may
only fall."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from sources import FILES, SOURCE, nodes, room, tree

ROOMS = ("spaces", "kernels", "rules")
KINDS_ASKED = {"spaces": 1, "kernels": 1, "rules": 2}
# Where rows are is known to data/ and the engines. Elsewhere these words ask for it.
PLACES = {
    "elsewhere",
    "is_collection",
    "is_stored",
    "whereabouts",
}
PLACES_ASKED = 5


@cache
def questions() -> tuple[tuple[Path, ast.Call], ...]:
    """Calls of `isinstance` and `issubclass`, with the files they stand in."""
    return tuple(
        (path, node)
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
    )


@pytest.mark.parametrize("room_asked", ROOMS)
def test_few_ask_of_what_kind_an_object_is(room_asked: str) -> None:
    classes = {
        node.name
        for path in FILES
        if room(path) == room_asked
        for node in tree(path).body
        if isinstance(node, ast.ClassDef)
    }
    asks = [
        f"{path.relative_to(SOURCE)}:{node.lineno}: {ast.unparse(node)}"
        for path, node in questions()
        if room(path) != room_asked
        if any(isinstance(name, ast.Name) and name.id in classes for name in ast.walk(node.args[1]))
    ]
    assert len(asks) <= KINDS_ASKED[room_asked], "\n".join(["let the object answer:", *asks])


def test_few_ask_where_rows_are() -> None:
    asks = [
        f"{path.relative_to(SOURCE)}:{node.lineno}: {name}"
        for path in FILES
        if room(path) not in ("data", "engines")
        for node in nodes(path)
        for name in [
            node.attr if isinstance(node, ast.Attribute) else node.func.id if called(node) else ""
        ]
        if name in PLACES
    ]
    assert len(asks) <= PLACES_ASKED, "\n".join(["let blocks or the engine do it:", *asks])


def called(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
