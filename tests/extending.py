"""The files of docs/extending, imported as a user's modules are, and forgotten afterwards."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from cmeans.kernels import KERNELS
from cmeans.rules import RULES
from cmeans.runtime.stored_classes import STORED

FOLDER = Path(__file__).parents[1] / "docs" / "extending"


@contextmanager
def imported(name: str) -> Iterator[ModuleType]:
    """Import a file; afterwards the tables are what they were."""
    tables = [(table, dict(table)) for table in (RULES, KERNELS, STORED)]
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]
        for table, before in tables:
            table.clear()
            table.update(before)
