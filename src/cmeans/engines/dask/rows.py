"""Rows that Dask holds, partition by partition, on its workers."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from ...data.row_source import RowsError
from ..parts.checks import look, refuse_partition
from ..parts.rows import PartedRows
from .dask_api import empty_chunk, is_array, is_frame, memory_limits, settled, started
from .partitions import DaskPartitions
from .shards import as_rows

NUMBERS = "biuf"  # NumPy's kinds that are real numbers
FAIR = 1.05  # times a thread's equal share of the rows
AT_ONCE = 4  # a worker's memory, divided by this, may be partitions that one task needs


class DaskRows(PartedRows):
    """The rows of a Dask array or data frame, persisted on the workers; only rows requested by
    number are transferred here.

    Partitions are futures with the graph that made them: partitions lost with a worker are computed
    again.
    """

    partitions: DaskPartitions

    def __init__(
        self,
        x: Any,
        client: Any,
        estimator_name: str,
        memory_per_worker: int | None = None,
        *,
        holes: bool = False,
        answers_stay: bool = True,
    ) -> None:
        where, (dtype, columns) = (
            "a Dask data frame" if is_frame(x) else "a Dask array",
            type_and_columns(x, estimator_name),
        )
        parts = started(client, x, as_rows, np.dtype(dtype), estimator_name)
        looks = client.gather(client.map(look, parts, holes=holes, pure=False))
        kept = [number for number, seen in enumerate(looks) if seen.shape[0]]
        if not kept:
            raise ValueError(
                f"{estimator_name}: X is {where} without rows; at least one row is needed."
            )
        super().__init__(where, columns, dtype, sum(looks[number].shape[0] for number in kept))
        self.client, self.memory_per_worker = client, memory_per_worker
        self.holes = any(seen.holes for seen in looks)
        starts = [0, *accumulate(seen.shape[0] for seen in looks)]
        for number in kept:
            name = f"partition {number} of {where}"
            refuse_partition(looks[number], estimator_name, name, starts[number], self.columns)
        # futures of (b, d) arrays, none of them empty
        self.parts = [parts[number] for number in kept]
        self.partitions = DaskPartitions(
            client,
            np.array([0, *accumulate(looks[number].shape[0] for number in kept)]),
            answers_stay,
        )

        self.answers_stay = answers_stay
        self.marks = [(looks[number].mark, f"partition {number} of {where}") for number in kept]

    @property
    def starts(self) -> Any:
        """The number of the first row of each partition, and of all rows."""
        return self.partitions.starts

    def places(self) -> list[str]:
        """Return a worker for each partition: the one that holds it, unless its load would far
        exceed the others'."""
        settled(self.client, self.parts)  # those of a lost worker are being recomputed
        if any(part.cancelled() for part in self.parts):
            raise RowsError(
                f"the rows of {self.where} are lost: their scheduler was restarted; fit again."
            )
        where = self.client.who_has(self.parts)
        threads = self.client.nthreads()
        sizes = np.diff(self.starts)
        if not threads:
            raise RowsError(
                "no Dask worker is left; start some, with enough memory for the partitions, and "
                "fit again."
            )
        enough = FAIR * self.shape[0] / sum(threads.values())
        load, places = dict.fromkeys(threads, 0.0), []
        for part, size in zip(self.parts, map(int, sizes), strict=True):
            holders = [
                worker
                for worker in where.get(part.key) or ()
                if worker in load and load[worker] + size / threads[worker] <= enough
            ]
            place = (
                holders[0]
                if holders
                else min(load, key=lambda worker: load[worker] + size / threads[worker])
            )
            load[place] += size / threads[place]
            places.append(place)
        return places

    def groups(self, places: list[str]) -> list[list[int]]:
        """Return the partitions that one task sums: all of a worker, or, where they may not all be
        in its memory at once, some of them."""
        limits = memory_limits(self.client)
        size = self.shape[1] * self.dtype.itemsize
        groups = dict[str, list[list[int]]]()
        held = dict.fromkeys(places, 0)  # bytes of the last group of each worker
        for number, (place, n_rows) in enumerate(
            zip(places, np.diff(self.starts).tolist(), strict=True)
        ):
            most, there = limits.get(place) or np.inf, groups.setdefault(place, [[]])
            if there[-1] and AT_ONCE * (held[place] + n_rows * size) > most:
                there.append([])
                held[place] = 0
            there[-1].append(number)
            held[place] += n_rows * size
        return [group for there in groups.values() for group in there]


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
        others = [name for name, kind in kinds.items() if getattr(kind, "kind", "O") not in NUMBERS]
        if others:
            named = ", ".join(f"{name!r} ({kinds[name]})" for name in others[:10])
            raise ValueError(
                f"{estimator_name}: columns of X that are not numbers: {named}. Drop or encode "
                "them."
            )
        single = all(kind.kind == "f" and kind.itemsize == 4 for kind in kinds.values())
        names = list(x.columns)
        named_all = all(isinstance(name, str) for name in names)
        return (np.float32 if single else np.float64), tuple(
            names if named_all else range(len(names))
        )
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
