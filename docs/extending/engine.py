"""An engine of your own: a loop that runs the tasks of a pass one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cmeans.engines import Engine, Pass


class SerialEngine(Engine):
    """Run every pass in the thread that calls it."""

    def map(self, rows: Any, over: Pass[Any]) -> Iterator[Any]:
        prepared = over.prepare(rows)
        for task in range(rows.n_tasks):
            yield over.work(rows, task, prepared)
