"""The panel of benchmarks says what differs, and uses nothing that a refactoring may move."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from benchmarks import panel
from benchmarks.panel.__main__ import compare, main, record
from benchmarks.panel.arrays import differences

X = np.array([[1.0, 0.0], [2.0, np.inf]])
PUBLIC = {"cmeans", "cmeans.cli"}  # with what `cmeans` exports


@pytest.mark.parametrize(
    ("now", "line"),
    [
        (np.nextafter(X, np.inf), "x: 3 of 4 numbers differ, by at most 4.44e-16 (of inf)"),
        (X * [1.0, -1.0] * [1.0, -1.0], None),
        (X - [[0.0, 0.0], [0.0, 0.0]], None),
        (np.where(X == 0, -0.0, X), "x: 1 of 4 numbers differ"),
        (X.astype(np.float32), "x: was float64 (2, 2), is float32 (2, 2)"),
        (X[:1], "x: was float64 (2, 2), is float64 (1, 2)"),
        (np.array("text"), "x: was float64 (2, 2), is <U4 ()"),
    ],
)
def test_a_bit_that_differs_is_told(now: np.ndarray, line: str | None) -> None:
    lines = differences({"x": X}, {"x": now})
    assert len(lines) == (line is not None)
    assert line is None or lines[0].startswith(line)


def test_arrays_that_come_and_go_are_told() -> None:
    assert differences({"x": X}, {"y": X}) == ["x: is gone", "y: is new"]


def test_record_and_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> dict[str, object]:
        raise ValueError("no such name")

    cases = {
        "a": lambda: {"x": X, "why": "converged"},
        "b": lambda: {"x": [1, 2]},
        "c": lambda: {"x": None},
    }
    file = tmp_path / "before.npz"
    assert record(cases, file) == 0
    assert compare(cases, file, lambda _: True) == 0
    changed = {"a": lambda: {"x": X, "why": "stopped"}, "b": fails, "d": lambda: {"x": 1.0}}
    capsys.readouterr()
    assert compare(changed, file, lambda _: True) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[:-1] == [
        "a",
        "    why: was converged, is stopped",
        "b",
        "    ends with ValueError: no such name",
        "c",
        "    missing here: no such case, or a package that it needs is not installed",
        "d",
        "    missing in the file: record it with the code before the change",
    ]
    assert told[-1].startswith("4 cases")
    assert told[-1].endswith("4 differ or are missing")
    assert compare({"c": cases["c"]}, file, lambda name: name == "c") == 0


def test_two_cases_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for action in ("record", "compare"):
        assert main([action, str(tmp_path / "before.npz"), "--only", "hard, landmarks"]) == 0
    assert "the same to the last bit" in capsys.readouterr().out


def test_cases_use_public_names_alone() -> None:
    for file in Path(panel.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else names
            assert {name for name in names if name and name.startswith("cmeans")} <= PUBLIC, file
            if isinstance(node, ast.Attribute):
                assert not node.attr.startswith("_") or node.attr == "__name__", (
                    f"{file}: {node.attr}"
                )
