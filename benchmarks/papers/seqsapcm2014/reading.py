"""What the cells say: lines from the far row, from all starts, and how they agree with what is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..results import Cell, Cells
from .printed import CLASSES, NAMES, TABLES, Line, Row

MISSING = "*(not measured)*"
GRM_SLACK = 0.05  # the paper stopped a little earlier


def cell_of(cells: Cells, table: int, row: Row) -> Cell | None:
    return cells.get(f"table {table} | {row}")


def lines(cell: Cell) -> list[Line]:
    """All lines of a cell; of Tables 2 to 4 the first is that from the far row."""
    return [Line(*values) for values in zip(*(cell[field] for field in Line._fields), strict=True)]


def far_line(cells: Cells, table: int, row: Row) -> Line | None:
    cell = cell_of(cells, table, row)
    return None if cell is None else lines(cell)[0]


def agreement(printed: Line, line: Line) -> str:
    """ "=" as printed, "~" the right number of clusters and SR within a point."""
    general = 0.0 if printed.general is None or line.general is None else abs(printed.general - line.general)
    if (line.found, line.rand, line.success) == (printed.found, printed.rand, printed.success) and general <= GRM_SLACK + 1e-9:
        return "="
    return "~" if line.found == printed.found and abs(line.success - printed.success) <= 1.0 else ""


def difference(printed: Line, line: Line) -> str:
    """Ours less printed, of all four."""
    general = "-" if printed.general is None or line.general is None else f"{line.general - printed.general:+.2f}"
    parts = [f"{line.found - printed.found:+d}", f"{line.rand - printed.rand:+.2f}", general, f"{line.success - printed.success:+.2f}"]
    return " ".join("0" if part in ("+0", "+0.00", "-0.00") else part for part in parts)


def mean_line(found: Sequence[Line]) -> Line:
    """Means of lines with one number of clusters."""
    general = [line.general for line in found if line.general is not None]
    rand, success = (float(np.mean([getattr(line, field) for line in found])) for field in ("rand", "success"))
    return Line(found[0].found, rand, float(np.mean(general)) if general else None, success)


def most_found(cell: Cell) -> tuple[int, int]:
    """The number of clusters found most often, and how often."""
    return Counter(cell["found"]).most_common(1)[0]


def hits(printed: Line, found: Sequence[Line]) -> int:
    return sum(agreement(printed, line) == "=" for line in found)


def tally(cells: Cells, table: int) -> Counter[str]:
    """How the lines from the far row agree with the print."""
    marks: Counter[str] = Counter()
    for row in TABLES[table]:
        line = far_line(cells, table, row)
        if line is not None and row.printed is not None:
            marks[agreement(row.printed, line)] += 1
    return marks


def rows_of(table: int, method: str) -> list[Row]:
    return [row for row in TABLES[table] if row.method == method]


def outcome(cells: Cells, table: int, row: Row) -> tuple[int, float] | None:
    """Clusters found and SR: from the far row; of Experiment 1 the number found most often, and the mean SR of all runs."""
    cell = cell_of(cells, table, row)
    if cell is None:
        return None
    if table == 1:
        return most_found(cell)[0], float(np.mean(cell["success"]))
    return cell["found"][0], cell["success"][0]


def best_success(cells: Cells, table: int, method: str, which: Callable[[Row], bool] | None = None) -> float | None:
    values = [
        found[1] for row in rows_of(table, method) if (which is None or which(row)) and (found := outcome(cells, table, row)) is not None
    ]
    return max(values, default=None)


def sequential(cells: Cells, table: int) -> tuple[int, float, str] | None:
    """SeqSAPCM: clusters found, SR, how often; of Experiment 1 with the lambda that finds the three clusters most often."""
    found = []
    for row in rows_of(table, "SeqSAPCM"):
        cell = cell_of(cells, table, row)
        if cell is not None:
            right = cell["found"].count(CLASSES[table])
            found.append((right, row, cell))
    if not found:
        return None
    right, row, cell = max(found, key=lambda one: one[0])
    if table != 1:
        return cell["found"][0], cell["success"][0], f"lambda {row.sparsity:g}"
    own = [line for line in lines(cell) if line.found == CLASSES[1]]
    success = mean_line(own).success if own else float(np.mean(cell["success"]))
    return most_found(cell)[0], success, f"lambda {row.sparsity:g}, {right} of {len(cell['found'])} draws"


def measured_tables(cells: Cells, method: str = "SeqSAPCM") -> list[int]:
    return [table for table in NAMES if any(cell_of(cells, table, row) for row in rows_of(table, method))]


def counted(values: Sequence[Any]) -> str:
    """What came how often: 3 (17), 2 (3)."""
    return ", ".join(f"{value:g} ({times})" for value, times in Counter(values).most_common())
