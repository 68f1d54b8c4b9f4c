"""Benchmarks are run by hand; that they can be started is seen here."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
OWN = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", OWN)
def test_every_module_is_imported(name: str) -> None:
    importlib.import_module(f"benchmarks.{name}")


def test_lines_of_every_size_have_names_of_their_own() -> None:
    from benchmarks.every_size import lines

    names = [line.name for line in lines()]
    assert len(set(names)) == len(names) > 20
