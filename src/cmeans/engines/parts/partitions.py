"""The parts of rows that a holder has, how they are asked, and how answers are waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from ...data.column_facts import are_alike
from ...data.row_source import RowsError
from ..base import added
from .beside import some_rows
from .columns import Column
from .holder import Holder
from .orders import Each, Made, Work, keys_of, sent

LOSSES = 5  # times in a row that nothing comes of an order before it is given up


class HeldPartitions:
    """The parts of a holder that have rows. Numbers beside the rows are parted alike; what stands
    for them, their `parts`, is the way to make them (`orders`)."""

    def __init__(self, holder: Holder, numbers: list[int], *, answers_stay: bool) -> None:
        """`numbers`: of the holder, for each part; `answers_stay`: what is said of each row stays
        there too, as rows that users hold there are asked about."""
        self.holder, self.numbers, self.answers_stay = holder, numbers, answers_stay
        # the number of the first row of each partition, and of all rows
        self.starts = np.zeros(len(numbers) + 1, np.int64)
        self.name, self._orders, self._known = uuid4().hex, count(), set[str]()
        self._lacked = Counter[str]()  # how often what was known has been forgotten
        self.struck: list[bool] = []  # interrupts that nobody has heard

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def sizes(self) -> list[int]:
        """The number of rows of each."""
        return [int(size) for size in np.diff(self.starts)]

    @property
    def first_rows(self) -> list[int]:
        """The number of the first row of each."""
        return [int(start) for start in self.starts[:-1]]

    def between(self, start: int, stop: int) -> list[tuple[int, slice]]:
        """Return the partitions that hold rows start ... stop - 1, and which of their rows these
        are."""
        first, last = (
            int(n) for n in np.searchsorted(self.starts, [start, stop - 1], side="right") - 1
        )
        begins = [(number, int(self.starts[number])) for number in range(first, last + 1)]
        return [
            (k, slice(max(start - at, 0), min(stop, int(self.starts[k + 1])) - at))
            for k, at in begins
        ]

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
            kept = frozenset(
                key for key in self._known if self._lacked[key] < self.holder.times_forgotten
            )
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

    def parts_of(self, values: Any) -> Any:
        """Return one argument for each partition: a column's parts, an array's (n,), those of a
        list, or the same value for all."""
        if isinstance(values, Column):
            return values.parts
        if isinstance(values, list):
            return Each(values)
        if not isinstance(values, np.ndarray):
            return values
        if are_alike(values):
            return values[0]
        return Each([values[start:stop] for start, stop in pairwise(self.starts)])

    def bring(self, parts: Any, which: Any) -> npt.NDArray[Any]:
        """Return some rows of the parts of a column, by numbers or a slice; they are selected where
        they are."""
        if isinstance(which, slice):
            start, stop, _ = which.indices(self.n_rows)
            pieces = self._brought(self.between(start, stop), parts)
            return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        numbers = np.searchsorted(self.starts, which, side="right") - 1
        order = np.argsort(numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], np.arange(len(self.starts)))
        places = [(number, order[a:b]) for number, (a, b) in enumerate(pairwise(bounds)) if b > a]
        pieces = self._brought(
            [(number, np.asarray(which)[place] - self.starts[number]) for number, place in places],
            parts,
        )
        out = np.empty((len(which), *pieces[0].shape[1:]), pieces[0].dtype)
        for (_, place), piece in zip(places, pieces, strict=True):
            out[place] = piece
        return out

    def _brought(self, wanted: list[tuple[int, Any]], parts: Any) -> list[Any]:
        if not wanted:
            return [np.empty(0)]
        pieces = self.in_order(self.cut(parts, wanted), [part for part, _ in wanted])
        return [np.ascontiguousarray(piece) for piece in pieces]

    def cut(self, parts: Any, wanted: list[tuple[int, Any]]) -> Made:
        """Return what stands for rows of some parts: of each the number of its partition, and their
        numbers in it or a slice."""
        which = dict(wanted)
        values = [which.get(part) for part in range(len(self.numbers))]
        return Made(some_rows, (parts, Each(values)))

    def column(
        self, values: Any, check: Callable[[Any, int], Any], name: str, estimator_name: str
    ) -> Column:
        """Return numbers (n,) that are parted among the same as a column beside the rows; `check`
        makes them of each part, from the number of its first row."""
        if not isinstance(values, Column) or values.rows is not self:
            raise ValueError(
                f"{estimator_name}: {name} is not of the same rows as X in {self.holder.where}; "
                "give an array of one entry for each row."
            )
        return Column(self, Made(check, (values.parts, Each(self.first_rows))))

    def answer(self, column: Column) -> Any:
        """Return a column as users are given it."""
        return column
