"""What has been measured for a paper: one JSON file, a cell a line, so that a run goes on where the
last one ended."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
Cells = dict[str, Cell]


def key(*parts: Any) -> str:
    """The name of a cell."""
    return " | ".join(map(str, parts))


class Results:
    """Measured cells by their keys. Several processes may write in turn."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Cells:
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def add(self, key: str, **values: Any) -> None:
        """Further values of a cell: lists grow, other things are replaced."""

        def grow(cells: Cells) -> None:
            cell = cells.setdefault(key, {})
            for name, value in values.items():
                cell[name] = (
                    cell.get(name, []) + _short(value) if isinstance(value, list) else _short(value)
                )

        self._change(grow)

    def forget(self, which: Callable[[str], bool]) -> None:
        """Drop cells, so that they are measured anew."""

        def drop(cells: Cells) -> None:
            for key in [key for key in cells if which(key)]:
                del cells[key]

        self._change(drop)

    def _change(self, change: Callable[[Cells], None]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            cells = self.read()
            change(cells)
            lines = ",\n".join(
                f"{json.dumps(name)}: {json.dumps(cells[name])}" for name in sorted(cells)
            )
            scratch = self.path.with_suffix(".part")
            scratch.write_text("{\n" + lines + "\n}\n")
            scratch.replace(self.path)
        finally:
            os.close(folder)


def _short(value: Any) -> Any:
    """Six digits: what a page shows, and what a line can be read at."""
    if isinstance(value, list):
        return [_short(item) for item in value]
    if isinstance(value, dict):
        return {name: _short(item) for name, item in value.items()}
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:  # NumPy's numbers
        value = value.item()
    return float(f"{value:.6g}") if isinstance(value, float) else value
