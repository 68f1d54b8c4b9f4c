"""Rows that a holder has, part by part, and how its answers are waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from itertools import accumulate, count
from operator import itemgetter
from typing import Any, Self
from uuid import uuid4

import numpy as np

from ...data.row_source import RowArray, RowsError, StoredRows
from ..base import added
from .beside import float_rows, some_rows
from .checks import look, refuse_partition, same_rows
from .columns import Column, Partitions
from .holder import Holder
from .orders import Each, Made, RowsOfPart, Work, keys_of, sent

LOSSES = 5  # times in a row that nothing comes of an order before it is given up
TIMES = 2  # that what is known has been forgotten, from which on it is sent each time


class HeldPartitions(Partitions):
    """The parts of a holder that have rows; what stands for numbers by row is the way to make
    them."""

    def __init__(self, holder: Holder, numbers: list[int], *, answers_stay: bool) -> None:
        """`numbers`: of the holder, for each part."""
        self.holder, self.numbers, self.answers_stay = holder, numbers, answers_stay
        self.starts = np.zeros(len(numbers) + 1, np.int64)
        self.name, self._orders, self._known = uuid4().hex, count(), set[str]()
        self._lacked = Counter[str]()  # how often what was known has been forgotten
        self.struck: list[bool] = []  # interrupts that nobody has heard

    def order(self, asked: Any, known: frozenset[str], parts: Any) -> tuple[Work, dict[int, Any]]:
        """Return an order to some parts, and what is sent to each alone, by the holder's number of
        it. What is `known` there is not sent."""
        slots: list[Each] = []
        work = Work(sent(asked, known, slots), f"{self.name}-{next(self._orders)}")
        return work, {
            self.numbers[part]: tuple(each.values[part] for each in slots) for part in parts
        }

    def total(self, asked: Any) -> Any:
        """Return the sum of the answers of all parts."""
        return added(self.in_order(asked))

    def answers(self, asked: Any, parts: Any = None) -> Iterator[tuple[int, Any]]:
        """Yield the answer of each part, or of some, as it comes, with the number of the part; each
        once, asked for again until it is there."""
        left = set(range(len(self.numbers)) if parts is None else parts)
        forgetful, losses = set[int](), 0
        while left and losses < LOSSES:
            if self.struck:
                self.struck.clear()
                raise KeyboardInterrupt
            before = len(left), len(forgetful)
            kept = frozenset(key for key in self._known if self._lacked[key] < TIMES)
            lacking = set[str]()
            for some, known in [(left - forgetful, kept), (left & forgetful, frozenset())]:
                work, arguments = self.order(asked, known, sorted(some))
                at = {self.numbers[part]: part for part in some}
                for number, answer in self.holder.ask(work, arguments) if arguments else ():
                    part = at.get(number, -1)
                    if part not in left or answer.order != work.order:
                        continue  # it has come before, or was asked for by an earlier order
                    if answer.lacks:
                        forgetful.add(part)
                        lacking.add(answer.lacks)
                        continue
                    left.discard(part)
                    yield part, answer.told()
            self._lacked.update(lacking)
            losses = losses + 1 if before == (len(left), len(forgetful)) else 0
        if left:
            raise RowsError(
                f"{LOSSES} times in one pass no answer has come of {len(left)} parts of "
                f"{self.holder.where}; give workers more memory, or make smaller parts."
            )
        self._known |= keys_of(asked)

    def in_order(self, asked: Any, parts: Any = None) -> Iterator[Any]:
        """Yield the answers in the order of the parts."""
        waiting: dict[int, Any] = {}
        order = iter(range(len(self.numbers)) if parts is None else parts)
        part = next(order, None)
        for number, value in self.answers(asked, parts):
            waiting[number] = value
            while part in waiting:
                yield waiting.pop(part)
                part = next(order, None)

    def map(self, function: Callable[..., Any], *columns: Any) -> Made:
        return Made(function, columns)

    def parts_of(self, values: Any) -> Any:
        parts = super().parts_of(values)
        if isinstance(values, Column):
            return parts
        alike = parts and all(part is parts[0] for part in parts)
        return parts[0] if alike else Each(parts)

    def gather(self, parts: Any) -> list[Any]:
        return list(self.in_order(parts))

    def selected(self, parts: Any, wanted: list[tuple[int, Any]]) -> list[Any]:
        which = dict(wanted)
        values = [which.get(part) for part in range(len(self.numbers))]
        return list(self.in_order(Made(some_rows, (parts, Each(values))), list(which)))

    def first(self, parts: Any, function: Callable[[Any], Any]) -> Any:
        return next(self.in_order(Made(function, (parts,)), [0]))

    def column(
        self, values: Any, check: Callable[[Any, int], Any], name: str, estimator_name: str
    ) -> Column:
        if not isinstance(values, Column) or values.rows is not self:
            raise ValueError(
                f"{estimator_name}: {name} is not of the same rows as X in {self.holder.where}; "
                "give an array of one entry for each row."
            )
        return Column(self, Made(check, (values.parts, Each(self.first_rows))))

    def answer(self, column: Column) -> Column:
        return column


class PartedRows(StoredRows):
    """Rows that others hold. Only rows that are asked for by number come here."""

    elsewhere = True
    partitions: Partitions
    parts: Any  # what stands for the rows of the parts
    # applied to parts where they are read
    function: Callable[[RowArray], RowArray] | None = None

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


class HeldRows(PartedRows):
    """The rows of a holder."""

    partitions: HeldPartitions
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


def _both(first: Callable[[Any], Any], second: Callable[[Any], Any], x: Any) -> Any:
    return second(first(x))


def of_pair(pair: Any, which: int) -> Made:
    """Return one of two values that are made together."""
    return Made(itemgetter(which), (pair,))
