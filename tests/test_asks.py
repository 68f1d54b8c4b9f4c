"""Generic code asks an object for what it needs, not what it is or where it lies. These numbers may
only fall."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "cmeans"
ROOMS = ("spaces", "kernels", "rules")
KINDS_ASKED = {"spaces": 2, "kernels": 1, "rules": 2}
# Where rows are is known to data/ and the engines. Elsewhere these words ask for it.
PLACES = {
    "elsewhere",
    "is_collection",
    "is_stored",
    "whereabouts",
}
PLACES_ASKED = 5


def trees(*without: str) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SRC.rglob("*.py")):
        if path.relative_to(SRC).parts[0] not in without:
            yield path, ast.parse(path.read_text())


def classes_of(room: str) -> set[str]:
    nodes = (
        node for path in (SRC / room).rglob("*.py") for node in ast.parse(path.read_text()).body
    )
    return {node.name for node in nodes if isinstance(node, ast.ClassDef)}


@pytest.mark.parametrize("room", ROOMS)
def test_few_ask_of_what_kind_an_object_is(room: str) -> None:
    classes = classes_of(room)
    asks = [
        f"{path.relative_to(SRC)}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in trees(room)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
        if any(isinstance(name, ast.Name) and name.id in classes for name in ast.walk(node.args[1]))
    ]
    assert len(asks) <= KINDS_ASKED[room], "\n".join(["let the object answer:", *asks])


def test_few_ask_where_rows_are() -> None:
    asks = [
        f"{path.relative_to(SRC)}:{node.lineno}: {name}"
        for path, tree in trees("data", "engines")
        for node in ast.walk(tree)
        for name in [
            node.attr if isinstance(node, ast.Attribute) else node.func.id if called(node) else ""
        ]
        if name in PLACES
    ]
    assert len(asks) <= PLACES_ASKED, "\n".join(["let blocks or the engine do it:", *asks])


def called(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
