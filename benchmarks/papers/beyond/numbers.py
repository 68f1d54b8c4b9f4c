"""What stored cells say, problem by problem."""

from __future__ import annotations

import numpy as np

from ..results import Cells, mean
from .problems import PROBLEMS
from .runs import METHODS

NOT_MEASURED = "*(not measured)*"


def values(cells: Cells, key: str, field: str) -> np.ndarray:
    """All trials; none where nothing was measured."""
    return np.array(cells.get(key, {}).get(field, []), dtype=float)


def excess(cells: Cells, key: str) -> np.ndarray:
    """Costs of partitions above that of kernel k-means with all kernel values, where they started, per cent."""
    costs, exact = values(cells, key, "cost"), values(cells, f"exact | {key.split(' | ')[1]}", "cost")
    both = min(len(costs), len(exact))
    return 100 * (costs[:both] / exact[:both] - 1)


def residuals(cells: Cells, name: str, size: int) -> dict[str, float]:
    """Mean share of the trace that each sampling leaves out; empty unless all are there."""
    found = {method: mean(values(cells, f"sampling | {name} | {size} | {method}", "residual")) for method in METHODS}
    return {} if None in found.values() else found  # type: ignore[return-value]


def costs(cells: Cells, name: str, size: int) -> dict[str, float]:
    """Mean cost above exact, per cent; empty unless all are there."""
    found = {method: mean(excess(cells, f"sampling | {name} | {size} | {method}")) for method in METHODS}
    return {} if None in found.values() else found  # type: ignore[return-value]


def lines(cells: Cells) -> list[tuple[str, int]]:
    """Problems and numbers of landmarks of which all samplings are there."""
    return [(name, size) for name, problem in PROBLEMS.items() for size in problem.sizes if costs(cells, name, size)]
