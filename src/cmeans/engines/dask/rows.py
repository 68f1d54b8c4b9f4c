"""Rows that Dask holds, partition by partition, on its workers."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ...data.column_facts import are_alike
from ...data.row_source import RowArray, RowsError, StoredRows
from ..threads import ThreadEngine
from .columns import DaskColumn
from .dask_api import column_in_parts, empty_chunk, is_array, is_frame, memory_limits, settled, started
from .shards import as_rows, look, some_rows

NUMBERS = "biuf"  # NumPy's kinds that are real numbers
FAIR = 1.05  # times a thread's equal share of the rows
AT_ONCE = 4  # a worker's memory, divided by this, may be partitions that one task needs


class DaskRows(StoredRows):
    """The rows of a Dask array or data frame, persisted on the workers; only rows requested by number are transferred here.

    Partitions are futures with the graph that made them: partitions lost with a worker are computed again.
    """

    elsewhere = True
    function: Callable[[RowArray], RowArray] | None = None  # applied to partitions where they are read
    answers_stay = True  # what is said of each row is an array on the workers too, as a collection is asked about

    def __init__(self, x: Any, client: Any, estimator_name: str, memory_per_worker: int | None = None, *, holes: bool = False) -> None:
        where, (dtype, columns) = "a Dask data frame" if is_frame(x) else "a Dask array", type_and_columns(x, estimator_name)
        parts = started(client, x, as_rows, np.dtype(dtype), estimator_name)
        looks = client.gather(client.map(look, parts, holes=holes, pure=False))
        kept = [number for number, seen in enumerate(looks) if seen.shape[0]]
        if not kept:
            raise ValueError(f"{estimator_name}: X is {where} without rows; at least one row is needed.")
        super().__init__(where, columns, dtype, sum(looks[number].shape[0] for number in kept))
        self.client, self.memory_per_worker = client, memory_per_worker
        self.holes = any(seen.holes for seen in looks)
        starts = [0, *accumulate(seen.shape[0] for seen in looks)]
        for number in kept:
            self._complain(estimator_name, number, starts[number], looks[number])
        self.parts = [parts[number] for number in kept]  # futures of (b, d) arrays, none of them empty
        self.starts = np.array([0, *accumulate(looks[number].shape[0] for number in kept)])

    def engine(self, here: ThreadEngine) -> Any:
        from .engine import DaskSession

        return DaskSession(here, self)

    def mapped(self, function: Callable[[RowArray], RowArray]) -> DaskRows:
        rows = copy(self)
        rows._samples = {}
        rows.function = function if self.function is None else partial(_both, self.function, function)
        return rows

    def places(self) -> list[str]:
        """Return a worker for each partition: the one that holds it, unless its load would far exceed the others'."""
        settled(self.client, self.parts)  # those of a lost worker are being recomputed
        if any(part.cancelled() for part in self.parts):
            raise RowsError(f"the rows of {self.where} are lost: their scheduler was restarted; fit again.")
        where, threads, sizes = self.client.who_has(self.parts), self.client.nthreads(), np.diff(self.starts)
        if not threads:
            raise RowsError("no Dask worker is left; start some, with enough memory for the partitions, and fit again.")
        enough = FAIR * self.shape[0] / sum(threads.values())
        load, places = dict.fromkeys(threads, 0.0), []
        for part, size in zip(self.parts, map(int, sizes), strict=True):
            holders = [worker for worker in where.get(part.key) or () if worker in load and load[worker] + size / threads[worker] <= enough]
            place = holders[0] if holders else min(load, key=lambda worker: load[worker] + size / threads[worker])
            load[place] += size / threads[place]
            places.append(place)
        return places

    def groups(self, places: list[str]) -> list[list[int]]:
        """Return the partitions that one task sums: all of a worker, or, where they may not all be in its memory at once, some of them."""
        limits, size, groups = memory_limits(self.client), self.shape[1] * self.dtype.itemsize, dict[str, list[list[int]]]()
        held = dict.fromkeys(places, 0)  # bytes of the last group of each worker
        for number, (place, n_rows) in enumerate(zip(places, np.diff(self.starts).tolist(), strict=True)):
            most, there = limits.get(place) or np.inf, groups.setdefault(place, [[]])
            if there[-1] and AT_ONCE * (held[place] + n_rows * size) > most:
                there.append([])
                held[place] = 0
            there[-1].append(number)
            held[place] += n_rows * size
        return [group for there in groups.values() for group in there]

    def memory(self, n_threads: int) -> int:
        largest = int(np.diff(self.starts).max())
        return (n_threads + 1) * largest * self.shape[1] * self.dtype.itemsize

    def column(self, values: Any, check: Callable[[Any, int], Any], name: str, estimator_name: str) -> DaskColumn:
        """Return a Dask array or series as numbers beside the rows; `check` makes them of each part, from the number of its first row."""
        sizes = np.diff(self.starts).tolist()
        column = column_in_parts(self.client, values, sizes)
        if isinstance(column, tuple):
            raise ValueError(f"{estimator_name}: {name} has shape {column}; one entry for each of the {self.shape[0]} rows is needed.")
        return DaskColumn(self, self.client.map(check, column, self.starts[:-1].tolist(), pure=False))

    def parts_of(self, other: Any) -> list[Any]:
        """Return one argument for each partition: a column's parts, an array's (n,), those of a list, or the same value for all."""
        if isinstance(other, DaskColumn):
            return other.parts
        if isinstance(other, list):
            return other
        if not isinstance(other, np.ndarray) or are_alike(other):
            return [other[0] if isinstance(other, np.ndarray) else other] * len(self.parts)
        return [other[start:stop] for start, stop in pairwise(self.starts)]

    def brought_of(self, parts: list[Any], which: Any) -> RowArray:
        """Return rows of futures that are parted as the rows are, by numbers or a slice."""
        if isinstance(which, slice):
            start, stop, _ = which.indices(self.shape[0])
            pieces = self._brought(self.between(start, stop), parts)
            return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        numbers = np.searchsorted(self.starts, which, side="right") - 1
        order = np.argsort(numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], np.arange(len(parts) + 1))
        places = [(number, order[a:b]) for number, (a, b) in enumerate(pairwise(bounds)) if b > a]
        pieces = self._brought([(number, np.asarray(which)[place] - self.starts[number]) for number, place in places], parts)
        out = np.empty((len(which), *pieces[0].shape[1:]), pieces[0].dtype)
        for (_, place), piece in zip(places, pieces, strict=True):
            out[place] = piece
        return out

    def between(self, start: int, stop: int) -> list[tuple[int, Any]]:
        """Return the partitions that hold rows start ... stop - 1, and which of their rows these are."""
        first, last = (int(n) for n in np.searchsorted(self.starts, [start, stop - 1], side="right") - 1)
        wanted = []
        for number in range(first, last + 1):
            at = int(self.starts[number])
            wanted.append((number, slice(max(start - at, 0), min(stop, int(self.starts[number + 1])) - at)))
        return wanted

    def _read(self, start: int, stop: int) -> RowArray:
        rows = self.brought_of(self.parts, slice(start, stop))
        return rows if self.function is None else self.function(rows)

    def _take(self, rows: Any, at_once: int, n_threads: int) -> RowArray:
        if not len(rows):
            return np.empty((0, self.shape[1]), self.dtype)
        taken = self.brought_of(self.parts, rows)
        return taken if self.function is None else self.function(taken)

    def _brought(self, wanted: list[tuple[int, Any]], parts: list[Any]) -> list[Any]:
        """Return some rows of some partitions, selected on the workers."""
        if not wanted:
            return [np.empty((0, self.shape[1]), self.dtype)]
        numbers, which = zip(*wanted, strict=True)
        brought: list[Any] = self.client.gather(self.client.map(some_rows, [parts[number] for number in numbers], which, pure=False))
        return [np.ascontiguousarray(piece) for piece in brought]

    def _complain(self, estimator_name: str, number: int, start: int, seen: Any) -> None:
        d = self.shape[1]
        if len(seen.shape) != 2 or seen.shape[1] != d:
            raise RowsError(
                f"{estimator_name}: partition {number} of {self.where} has shape {seen.shape}, where {d} columns were announced."
            )
        if seen.bad is not None:
            row, column, what = seen.bad
            partial = ', or take kernel="linear" and missing="partial"' if what == "NaN" else ""
            raise ValueError(
                f"{estimator_name}: Input X contains {what}, first in partition {number} at its row {row} (row {start + row} of all), "
                "column "
                f"{self.columns[column]!r}. Remove or impute such rows, mend the column{partial}."
            )


def _both(first: Callable[[Any], Any], second: Callable[[Any], Any], x: Any) -> Any:
    return second(first(x))


def type_and_columns(x: Any, estimator_name: str) -> tuple[Any, tuple[Any, ...]]:
    """Return the float type that holds a collection's numbers, and the names or positions of its columns."""
    if is_frame(x):
        if getattr(x, "ndim", 2) != 2:
            raise ValueError(f"{estimator_name}: X is a Dask series; pass a data frame of features, e.g. series.to_frame().")
        kinds = dict(zip(x.columns, x.dtypes, strict=True))
        others = [name for name, kind in kinds.items() if getattr(kind, "kind", "O") not in NUMBERS]
        if others:
            named = ", ".join(f"{name!r} ({kinds[name]})" for name in others[:10])
            raise ValueError(f"{estimator_name}: columns of X that are not numbers: {named}. Drop or encode them.")
        single = all(kind.kind == "f" and kind.itemsize == 4 for kind in kinds.values())
        names = list(x.columns)
        named_all = all(isinstance(name, str) for name in names)
        return (np.float32 if single else np.float64), tuple(names if named_all else range(len(names)))
    if not is_array(x):
        raise ValueError(f"{estimator_name}: X is a {type(x).__name__} of Dask; pass a Dask array or data frame, or what it computes.")
    if x.ndim != 2:
        raise ValueError(f"{estimator_name}: expected a 2-D array of rows and features, got one of shape {x.shape}. Reshape your data.")
    if x.dtype.kind not in NUMBERS:
        raise ValueError(f"{estimator_name}: X has dtype {x.dtype}; real numbers are needed.")
    kind = type(empty_chunk(x))
    if not issubclass(kind, np.ndarray):
        raise ValueError(f"{estimator_name}: X has chunks of {kind.__name__}; NumPy arrays are needed, x.map_blocks(...) makes them.")
    if not np.isfinite(x.shape[1]) or x.shape[1] == 0:
        raise ValueError(
            f"{estimator_name}: X has shape {x.shape}; the number of features must be known and not 0: call x.compute_chunk_sizes()."
        )
    return (np.float32 if x.dtype == np.float32 else np.float64), tuple(range(x.shape[1]))
