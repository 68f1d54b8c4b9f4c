from __future__ import annotations

from pathlib import Path

from ..results import Cells


def draw(cells: Cells, folder: Path) -> None: ...
