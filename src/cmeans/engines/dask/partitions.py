"""The partition of rows among the workers of a Dask client; parts of numbers by row are futures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from ..parts.beside import some_rows
from ..parts.columns import Column, Partitions
from .dask_api import by_row, column_in_parts


@dataclass(frozen=True, eq=False)
class DaskPartitions(Partitions):
    """Futures have the graph that made them: parts lost with a worker are computed again."""

    client: Any
    starts: npt.NDArray[Any]
    answers_stay: bool = True

    def map(self, function: Callable[..., Any], *columns: Any) -> list[Any]:
        futures: list[Any] = self.client.map(function, *columns, pure=False)
        return futures

    def gather(self, parts: list[Any]) -> list[Any]:
        return list(self.client.gather(parts))

    def selected(self, parts: list[Any], wanted: list[tuple[int, Any]]) -> list[Any]:
        numbers, which = zip(*wanted, strict=True)
        return self.gather(self.map(some_rows, [parts[number] for number in numbers], which))

    def first(self, parts: list[Any], function: Callable[[Any], Any]) -> Any:
        return self.client.submit(function, parts[0], pure=False).result()

    def column(
        self, values: Any, check: Callable[[Any, int], Any], name: str, estimator_name: str
    ) -> Column:
        parts = column_in_parts(self.client, values, self.sizes)
        if isinstance(parts, tuple):
            raise ValueError(
                f"{estimator_name}: {name} has shape {parts}; one entry for each of the "
                f"{self.n_rows} rows is needed."
            )
        return Column(self, self.map(check, parts, self.first_rows))

    def answer(self, column: Column) -> Any:
        return by_row(column.parts, self.sizes, self.client)
