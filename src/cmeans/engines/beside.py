"""Which engine runs where rows are."""

from __future__ import annotations

from ..data.arrays import Array, is_stored
from .base import Engine
from .dask.engine import DaskEngine
from .threads import ThreadEngine


def engine_beside(x: Array, n_jobs: int | None) -> Engine:
    """Return the engine of the workers that hold the rows `x`; of rows that are here, one of so many threads."""
    return DaskEngine() if is_stored(x) and x.elsewhere else ThreadEngine(n_jobs)
