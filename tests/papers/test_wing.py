"""The wing for the papers stands on public interfaces alone: documented hooks, and names of rooms
that are not private."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import cmeans
from sources import imported, tree

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((Path(cmeans.__file__).parent / "papers").rglob("*.py"))
# Of the room that estimators share: the fit to subclass, its records, and what checks parameters
# and makes spaces and starts of them.
OF_FITTING = {
    *("arguments", "kernel_evidence", "landmark_choice", "search", "validation"),
    *("fit", "fitted_attributes", "geometry", "init", "prediction", "procedure", "space"),
    *("expected_space", "fit_plan", "memory", "ways", "streams"),
}


def hooks() -> set[str]:
    """What CONTRIBUTING.md offers to estimators of one's own."""
    section = (
        (ROOT / "CONTRIBUTING.md")
        .read_text()
        .partition("## An estimator of one's own")[2]
        .partition("\n## ")[0]
    )
    return set(re.findall(r"`(_[a-z_]+)", section))


def private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def own_names(path: Path) -> set[str]:
    """Private names that a file defines."""
    nodes = list(ast.walk(tree(path)))
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return defined | {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }


def test_it_imports_no_private_name_and_of_fitting_what_estimators_share() -> None:
    for path in FILES:
        for name in imported(path):
            parts = name.split(".")
            if parts[0] == "cmeans":
                assert not any(map(private, parts)), f"{path.name} imports {name}"
                assert parts[1] != "fitting" or parts[2] in OF_FITTING, (
                    f"{path.name} imports {name}"
                )


def test_it_uses_documented_hooks_alone() -> None:
    for path in FILES:
        used = {
            node.attr
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Attribute) and private(node.attr)
        }
        assert used - own_names(path) <= hooks(), path.name


def test_every_documented_hook_is_there() -> None:
    streams, adaptive = cmeans.StreamingFuzzyCMeans, cmeans.AdaptivePossibilisticCMeans
    missing = {
        name
        for name in hooks()
        if not (
            hasattr(streams, name) or hasattr(adaptive, name) or hasattr(cmeans.KernelKMeans, name)
        )
    }
    assert not missing


def test_nothing_below_imports_it() -> None:
    for path in sorted(Path(cmeans.__file__).parent.rglob("*.py")):
        room = path.relative_to(Path(cmeans.__file__).parent).parts[0]
        above = room in ("papers", "persistence", "__init__.py", "cli")
        if not above and "papers" in path.read_text(encoding="utf-8"):
            assert not any(name.startswith("cmeans.papers") for name in imported(path)), path
