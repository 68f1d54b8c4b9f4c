"""The sources of the package as trees, which tests of the structure go over many times."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import cmeans

SOURCE = Path(cmeans.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, as `ast.walk` yields them."""
    return tuple(ast.walk(tree(path)))


def room(path: Path) -> str:
    """ "spaces" for spaces/landmark.py, "" for the package itself and its public modules."""
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else ""


def imported(path: Path, some: Iterable[ast.AST] | None = None) -> Iterator[str]:
    """Absolute names of what a file imports; relative imports resolved."""
    package = ["cmeans", *path.relative_to(SOURCE).parent.parts]
    for node in nodes(path) if some is None else some:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            own = module == "cmeans" or module.startswith("cmeans.")
            yield from (f"{module}.{alias.name}" if own else module for alias in node.names)
