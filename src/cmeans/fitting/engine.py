"""The engine of an estimator: the one that it is given, or that of the kind of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..data.arrays import Array
from ..data.blocks import Blocks
from ..engines import Engine, count_threads, engine_of_rows
from ..runtime.user_warnings import naming
from .rows.finite import names_of
from .rows.out_of_range import naming_the_row


class RunsPasses:
    """Mixin of the parameters that say who runs passes, and how many threads do."""

    n_jobs: int | None
    engine: Engine | None

    def _engine_of(self, x: Array) -> Engine:
        """Return the parameter `engine`, checked; where there is none, the workers that hold the
        rows `x`, or threads."""
        if (given := check_engine(self)) is not None:
            return given
        return engine_of_rows(x, self.n_jobs)

    @contextmanager
    def _engine(self, blocks: Blocks) -> Iterator[Engine]:
        """Provide the engine that runs passes over these rows."""
        with (
            self._engine_of(blocks.x).opened(blocks.x) as engine,
            naming(type(self).__name__),
            naming_the_row(blocks, engine, names_of(self)),
        ):
            yield engine


def check_engine(estimator: Any) -> Engine | None:
    """Return the parameter `engine`, or None where there is none; refuse what is no engine, and
    `n_jobs` beside one."""
    name, engine, n_jobs = type(estimator).__name__, vars(estimator).get("engine"), estimator.n_jobs
    if engine is None:
        count_threads(n_jobs, name)
        return None
    if not isinstance(engine, Engine):
        raise ValueError(
            f"{name}(engine={engine!r}): give an engine, such as cmeans.ThreadEngine() or "
            "cmeans.DaskEngine(), or None for threads."
        )
    if n_jobs is not None:
        raise ValueError(
            f"{name}(n_jobs={n_jobs!r}, engine={engine!r}): an engine counts its own threads; "
            "leave n_jobs out, and give "
            f"engine=cmeans.ThreadEngine(n_jobs={n_jobs!r}) for threads."
        )
    return engine
