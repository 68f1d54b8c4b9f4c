"""The engine of rows for which none is asked."""

from __future__ import annotations

from ..data.arrays import Array, is_stored
from .base import Engine
from .dask.engine import DaskEngine
from .threads import ThreadEngine


def engine_of_rows(x: Array, n_jobs: int | None) -> Engine:
    """Return the workers that hold the rows, or threads where none do."""
    return DaskEngine() if is_stored(x) and x.elsewhere else ThreadEngine(n_jobs)
