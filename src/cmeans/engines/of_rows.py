"""Rows, and numbers beside them, as the engine of their place holds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..data.arrays import Array, is_stored
from .base import Engine
from .dask.dask_api import is_collection
from .dask.engine import DaskEngine
from .parts.columns import Column
from .ray import RayEngine
from .spark import SparkEngine
from .threads import ThreadEngine

# of engines that are taken for what they hold
KINDS: tuple[type[Engine], ...] = (DaskEngine, SparkEngine, RayEngine)


def engine_of_rows(x: Array, n_jobs: int | None) -> Engine:
    """Return the workers that hold the rows, or threads where none do."""
    held: Engine | None = x.engine if is_stored(x) else None
    return ThreadEngine(n_jobs) if held is None else held


def rows_held(x: Any, engine: Any, estimator_name: str, *, holes: bool) -> Any:
    """Return rows that workers hold as stored rows, all others as they are. `engine`: the parameter
    of an estimator; `holes`: values may be missing. Errors name `estimator_name`."""
    given = (engine,) if isinstance(engine, Engine) else ()
    for one in (*given, *(kind() for kind in KINDS)):
        if one.holds(x):
            return one.held(x, estimator_name, holes=holes)
    return x


def column_beside(
    x: Array, values: Any, check: Callable[[Any, int], Any], name: str, estimator_name: str
) -> Column | None:
    """Return numbers by row that stay on workers beside the rows `x`, each part of them checked;
    None where rows or numbers are here."""
    if isinstance(values, Column):
        return values
    if not (is_stored(x) and x.elsewhere and is_collection(values)):
        return None
    column: Column = x.partitions.column(values, check, name, estimator_name)
    return column


def brought(values: Any) -> Any:
    """Return what workers hold as an array here, all else as it is."""
    return values.compute() if isinstance(values, Column) or is_collection(values) else values
