"""Rows that Dask holds, partition by partition, on its workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import added
from ..parts.arrow_rows import float_type
from ..parts.columns import Column
from ..parts.orders import Each, Made
from ..parts.partitions import HeldPartitions
from ..parts.rows import HeldRows
from ..parts.sums import leaf
from .dask_api import (
    by_row,
    column_in_parts,
    empty_chunk,
    is_array,
    is_collection,
    is_frame,
)
from .holder import DaskHolder
from .tasks import Opaque, taken, value_of

NUMBERS = "biuf"  # NumPy's kinds that are real numbers


class DaskPartitions(HeldPartitions):
    """Partitions whose sums are added in a tree where they lie, and whose columns may be Dask's."""

    holder: DaskHolder

    def total(self, asked: Any) -> Any:
        n_leaves = len(self.numbers)
        sums = Made(leaf, (asked, Each(range(n_leaves)), n_leaves))
        return added(one for _, one in self.answers(sums)).whole

    def column(
        self, values: Any, check: Callable[[Any, int], Any], name: str, estimator_name: str
    ) -> Column:
        if not is_collection(values):
            return super().column(values, check, name, estimator_name)
        parts = column_in_parts(self.holder.client, values, self.sizes)
        if isinstance(parts, tuple):
            raise ValueError(
                f"{estimator_name}: {name} has shape {parts}; one entry for each of the "
                f"{self.n_rows} rows is needed."
            )
        return Column(self, Made(check, (Each(parts), Each(self.first_rows))))

    def answer(self, column: Column) -> Any:
        """Return a Dask array whose chunks are made where the partitions are, and stay there.

        Nothing binds their tasks to a worker: the scheduler would never come back to one for a
        worker that is gone, and here nobody sends them anew.
        """
        holder = self.holder
        holder.free()
        work, arguments = self.order(column.parts, frozenset(), range(len(self.numbers)))
        name = holder.new_name()
        shared = f"cmeans-order-{name}-all"
        tasks = {
            f"cmeans-column-{name}-{number}": (value_of, holder.task(shared, [number], arguments))
            for number in self.numbers
        }
        futures = holder.started({shared: (taken, Opaque(work)), **tasks}, list(tasks), {})
        return by_row(futures, self.sizes, column.dtype, holder.client)


class DaskRows(HeldRows):
    """The rows of a Dask array or data frame, persisted on the workers; only rows requested by
    number are transferred here."""

    partitions: DaskPartitions
    _parted = DaskPartitions

    def __init__(self, holder: DaskHolder, *words: Any, **more: Any) -> None:
        super().__init__(holder, *words, **more)
        width = self.shape[1] * self.dtype.itemsize
        holder.sizes = {
            number: size * width
            for number, size in zip(self.partitions.numbers, self.partitions.sizes, strict=True)
        }


def type_and_columns(x: Any, estimator_name: str) -> tuple[Any, tuple[Any, ...]]:
    """Return the float type that holds a collection's numbers, and the names or positions of its
    columns."""
    if is_frame(x):
        if getattr(x, "ndim", 2) != 2:
            raise ValueError(
                f"{estimator_name}: X is a Dask series; pass a data frame of features, e.g. "
                "series.to_frame()."
            )
        kinds = dict(zip(x.columns, x.dtypes, strict=True))
        numbers = {str(one) for one in kinds.values() if getattr(one, "kind", "O") in NUMBERS}
        single = {one for one in numbers if one.lower() == "float32"}
        words = {name: str(kind) for name, kind in kinds.items()}
        dtype = float_type(words, single, numbers, estimator_name)
        names = list(x.columns)
        named_all = all(isinstance(name, str) for name in names)
        return dtype, tuple(names if named_all else range(len(names)))
    if not is_array(x):
        raise ValueError(
            f"{estimator_name}: X is a {type(x).__name__} of Dask; pass a Dask array or data "
            "frame, or what it computes."
        )
    if x.ndim != 2:
        raise ValueError(
            f"{estimator_name}: expected a 2-D array of rows and features, got one of shape "
            f"{x.shape}. Reshape your data."
        )
    if x.dtype.kind not in NUMBERS:
        raise ValueError(f"{estimator_name}: X has dtype {x.dtype}; real numbers are needed.")
    kind = type(empty_chunk(x))
    if not issubclass(kind, np.ndarray):
        raise ValueError(
            f"{estimator_name}: X has chunks of {kind.__name__}; NumPy arrays are needed, "
            "x.map_blocks(...) makes them."
        )
    if not np.isfinite(x.shape[1]) or x.shape[1] == 0:
        raise ValueError(
            f"{estimator_name}: X has shape {x.shape}; the number of features must be known and "
            "not 0: call x.compute_chunk_sizes()."
        )
    return (np.float32 if x.dtype == np.float32 else np.float64), tuple(range(x.shape[1]))
