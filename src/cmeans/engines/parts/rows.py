"""Rows that a holder has, part by part."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import Any, Self

import numpy as np

from ...data.row_source import RowArray, StoredRows
from .beside import float_rows
from .checks import look, refuse_partition, same_rows
from .holder import Holder
from .orders import Each, Made, RowsOfPart
from .partitions import HeldPartitions


class HeldRows(StoredRows):
    """The rows of a holder. Only those that are asked for by number come here."""

    elsewhere = True
    partitions: HeldPartitions
    parts: Made  # what stands for the rows of the parts
    # applied to parts where they are read
    function: Callable[[RowArray], RowArray] | None = None
    _parted = HeldPartitions

    def __init__(
        self,
        holder: Holder,
        columns: tuple[Any, ...],
        dtype: Any,
        estimator_name: str,
        engine: Any,
        *,
        holes: bool = False,
        answers_stay: bool = True,
    ) -> None:
        """`engine`: who asks the holder."""
        whole = self._parted(holder, list(range(holder.n_parts)), answers_stay=answers_stay)
        read = Made(float_rows, (RowsOfPart(), np.dtype(dtype)))
        looks = list(whole.in_order(Made(look, (read, holes))))
        kept = [number for number, seen in enumerate(looks) if seen.shape[0]]
        if not kept:
            raise ValueError(
                f"{estimator_name}: X is {holder.where} without rows; at least one row is needed."
            )
        starts = [0, *accumulate(looks[number].shape[0] for number in kept)]
        super().__init__(holder.where, columns, dtype, starts[-1])
        names = [f"partition {number} of {holder.where}" for number in kept]
        for number, name, start in zip(kept, names, starts, strict=False):
            refuse_partition(looks[number], estimator_name, name, start, self.columns)
        self.holes = any(seen.holes for seen in looks)
        self.answers_stay, self.engine = answers_stay, engine
        self.partitions = self._parted(holder, kept, answers_stay=answers_stay)
        self.partitions.starts = np.array(starts)
        marks = Each([looks[number].mark for number in kept])
        # what stands for the rows themselves, held against the first reading
        self.parts = Made(same_rows, (read, marks, Each(names), holder.advice))

    def mapped(self, function: Callable[[RowArray], RowArray]) -> Self:
        rows = copy(self)
        rows._samples = {}
        rows.function = (
            function if self.function is None else partial(_both, self.function, function)
        )
        return rows

    def memory(self, n_threads: int) -> int:
        largest = int(np.diff(self.partitions.starts).max())
        return (n_threads + 1) * largest * self.shape[1] * self.dtype.itemsize

    def _read(self, start: int, stop: int) -> RowArray:
        return self._brought(slice(start, stop)) if stop > start else self._none()

    def _take(self, rows: Any, at_once: int, n_threads: int) -> RowArray:
        return self._brought(rows) if len(rows) else self._none()

    def _brought(self, which: Any) -> RowArray:
        rows = self.partitions.bring(self.parts, which)
        return rows if self.function is None else self.function(rows)

    def _none(self) -> RowArray:
        return np.empty((0, self.shape[1]), self.dtype)


def _both(first: Callable[[Any], Any], second: Callable[[Any], Any], x: Any) -> Any:
    return second(first(x))


def of_pair(pair: Any, which: int) -> Made:
    """Return one of two values that are made together."""
    return Made(itemgetter(which), (pair,))
