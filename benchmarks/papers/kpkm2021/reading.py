"""What the cells say: the best width of a method, who is best how often, shares of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..results import Cell, Cells
from .methods import OURS, SCORES, UCI
from .times import COMPARED, STARTS

MISSING = "*(not measured)*"
LEVEL = 5e-4  # objectives closer than this share count as level


def mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def widths(cells: Cells, beginning: str) -> dict[str, Cell]:
    """Of a method on a set, the cells of all widths."""
    return {key[len(beginning) + 3 :]: cell for key, cell in cells.items() if key.startswith(f"{beginning} | ")}


def best(cells: Cells, beginning: str) -> tuple[str, Cell] | None:
    """The width with the highest mean NMI, and its cell."""
    tried = widths(cells, beginning)
    return max(tried.items(), key=lambda item: mean(item[1]["nmi"])) if tried else None


def on_set(cells: Cells, name: str, method: str) -> Cell | None:
    found = best(cells, f"uci | {name} | {method}")
    return None if found is None else found[1]


def measured_sets(cells: Cells, methods: Sequence[str] = OURS) -> list[str]:
    return [name for name in UCI if f"uci | {name}" in cells and all(on_set(cells, name, method) for method in methods)]


def winners(cells: Cells, name: str, score: str, methods: Sequence[str] = OURS) -> list[str]:
    """The best methods of a set, level to three digits."""
    means = {method: round(mean((on_set(cells, name, method) or {})[SCORES[score]]), 3) for method in methods}
    return [method for method, value in means.items() if value == max(means.values())]


def wins(cells: Cells, score: str, methods: Sequence[str] = OURS) -> dict[str, int]:
    """On how many sets each method is best; ties count for all."""
    won = [winners(cells, name, score, methods) for name in measured_sets(cells, methods)]
    return {method: sum(method in names for names in won) for method in methods}


def ratios(cells: Cells, name: str, method: str) -> tuple[float, float] | None:
    """Mean and lowest objective at gamma = 1 / median, over the mean of kernel k-means from random rows."""
    keys = [f"uci | {name} | {which} | 1" for which in (method, "KKM")]
    if keys[0] not in cells and method == "KPKM batched" and cells.get(f"uci | {name}", {}).get("solver") == "batched":
        keys[0] = f"uci | {name} | KPKM | 1"
    if any("objective" not in cells.get(key, {}) for key in keys):
        return None
    own, unit = cells[keys[0]]["objective"], mean(cells[keys[1]]["objective"])
    return mean(own) / unit, min(own) / unit


def steps_of(cells: Cells) -> list[float]:
    return [step for step in STARTS if any(f"times | {name} | AGP {step:g}" in cells for name in COMPARED)]


def compared(cells: Cells) -> list[str]:
    return [name for name in COMPARED if f"times | {name} | FAGP" in cells and f"times | {name}" in cells]


def share(cells: Cells, name: str, step: float) -> float | None:
    """FAGP's processor time in per cent of AGP's in closed form: the median of pairs from the same start."""
    fast, slow = cells.get(f"times | {name} | FAGP"), cells.get(f"times | {name} | AGP {step:g}")
    if fast is None or slow is None:
        return None
    return 100 * float(np.median([a / b for a, b in zip(fast["seconds"], slow["seconds"], strict=False)]))


def dense_cells(cells: Cells) -> dict[tuple[int, float], Cell]:
    keys = [key.split(" | ") for key in cells if key.startswith("times | dense | ")]
    sizes = sorted(((int(rows), float(step)) for _, _, rows, step in keys), key=lambda size: (-size[1], size[0]))
    return {(rows, step): cells[f"times | dense | {rows} | {step:g}"] for rows, step in sizes}


def dense_share(cell: Cell) -> float:
    return 100 * float(np.median(np.array(cell["dense FAGP"]) / np.array(cell["dense AGP"])))


def same_end(cells: Cells) -> tuple[int, int]:
    """Runs of AGP that end in FAGP's partition, and all of them."""
    same = [value for key, cell in cells.items() if key.startswith("times | ") and " | AGP " in key for value in cell["same"]]
    return sum(same), len(same)


def descents(cells: Cells) -> dict[str, Cell]:
    return {name: cells[f"figure 6 | {name}"] for name in UCI if f"figure 6 | {name}" in cells}


def listed(names: Sequence[Any]) -> str:
    words = [str(name) for name in names]
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words) or "none"


def parted(cells: Cells, kernel: str, method: str, starts: str = "one") -> tuple[int, int] | None:
    """Draws of disc and ring without error, and all of them."""
    cell = cells.get(f"ring | {kernel} | {method}")
    return None if cell is None else (sum(value == 1.0 for value in cell[starts]), len(cell[starts]))
